/* What all ranks do together, on top of the table: every call begins with how the work of each went so far, so that all
 * stop where one has failed. */
#include "ranks/ranks.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

enum { SHORT = 1 << 16 }; /* bytes of all ranks that are gathered at once */

static atn_status broken(atn_ranks *r, const char *words) {
    r->broken = true;
    return atn_fail(r->ctx, ATN_ERR_IO, "%s", words);
}

/* All know now who failed first: all fail with its words. */
static atn_status share_failure(atn_ranks *r, int32_t first, int32_t status) {
    char message[ATN_MESSAGE_BYTES] = "", words[ATN_RANKS_WORDS] = "";
    if (r->rank == first) strncpy(message, atn_ctx_message(r->ctx), sizeof message - 1);
    if (r->way->broadcast(first, message, sizeof message, words)) return broken(r, words);
    message[sizeof message - 1] = '\0';
    r->over = (atn_status)status;
    return atn_fail(r->ctx, (atn_status)status, "rank %d: %s", (int)first,
                    *message ? message : atn_status_name((atn_status)status));
}

/* A call that began then is over. */
static atn_status waited(atn_ranks *r, double from, atn_status status) {
    r->waited += atn_clock_seconds() - from;
    return status;
}

static atn_status agree(atn_ranks *r, atn_status own) {
    char words[ATN_RANKS_WORDS] = "";
    int32_t mine = (int32_t)own, first = 0;
    if (r->count == 1 || r->broken) return own;
    if (r->over != ATN_OK) return own != ATN_OK ? own : r->over;
    if (r->way->allgather(&mine, sizeof mine, r->states, words)) return broken(r, words);
    while (first < r->count && r->states[first] == ATN_OK) ++first;
    return first == r->count ? ATN_OK : share_failure(r, first, r->states[first]);
}

atn_status atn_ranks_agree(atn_ranks *r, atn_status own) {
    double from = atn_clock_seconds();
    return waited(r, from, agree(r, own));
}

atn_status atn_ranks_broadcast(atn_ranks *r, atn_status own, int32_t root, void *data, size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    double from = atn_clock_seconds();
    atn_status status = agree(r, own);
    if (status == ATN_OK && r->way->broadcast(root, data, bytes, words)) status = broken(r, words);
    return waited(r, from, status);
}

atn_status atn_ranks_allgather(atn_ranks *r, atn_status own, const void *mine, size_t bytes, void *all) {
    char words[ATN_RANKS_WORDS] = "";
    double from = atn_clock_seconds();
    atn_status status = agree(r, own);
    if (status == ATN_OK && r->way->allgather(mine, bytes, all, words)) status = broken(r, words);
    return waited(r, from, status);
}

/* ---- sums ---- */

typedef void join_numbers(double *to, const double *more, size_t count);

static void add(double *to, const double *more, size_t count) {
    for (size_t k = 0; k < count; ++k) to[k] += more[k];
}

static void take_less(double *to, const double *more, size_t count) {
    for (size_t k = 0; k < count; ++k) to[k] = more[k] < to[k] ? more[k] : to[k];
}

size_t atn_ranks_cut(const atn_ranks *r, size_t total, int32_t rank) {
    size_t each = total / (size_t)r->count, rest = total % (size_t)r->count, k = (size_t)rank;
    return each * k + (k < rest ? k : rest);
}

/* Each rank joins its share of the places, which all have sent to it, and sends the result to all. */
static int join_shares(const atn_ranks *r, double *numbers, size_t count, double *room, join_numbers *join,
                       char *words) {
    int32_t n = r->count;
    size_t from = atn_ranks_cut(r, count, r->rank), share = atn_ranks_cut(r, count, r->rank + 1) - from;
    int failed = 0;
    for (int32_t k = 0; k < n && !failed; ++k) {
        int32_t to = (r->rank + k) % n, before = (r->rank + n - k) % n;
        size_t at = atn_ranks_cut(r, count, to), some = atn_ranks_cut(r, count, to + 1) - at;
        failed = r->way->swap(to, numbers + at, some * sizeof *numbers, before, room + (size_t)before * share,
                              share * sizeof *room, words);
    }
    for (int32_t k = 1; k < n && !failed; ++k) join(room, room + (size_t)k * share, share);
    if (!failed) memcpy(numbers + from, room, share * sizeof *room);
    for (int32_t k = 1; k < n && !failed; ++k) {
        int32_t to = (r->rank + k) % n, before = (r->rank + n - k) % n;
        size_t at = atn_ranks_cut(r, count, before), some = atn_ranks_cut(r, count, before + 1) - at;
        failed = r->way->swap(to, numbers + from, share * sizeof *numbers, before, numbers + at, some * sizeof *numbers,
                              words);
    }
    return failed;
}

static int join_short(const atn_ranks *r, double *numbers, size_t count, double *room, join_numbers *join,
                      char *words) {
    int failed = r->way->allgather(numbers, count * sizeof *numbers, room, words);
    for (int32_t k = 1; k < r->count && !failed; ++k) join(room, room + (size_t)k * count, count);
    if (!failed) memcpy(numbers, room, count * sizeof *numbers);
    return failed;
}

static atn_status join_all(atn_ranks *r, atn_status own, double *numbers, size_t count, join_numbers *join) {
    char words[ATN_RANKS_WORDS] = "";
    double from = atn_clock_seconds();
    if (r->count == 1 || count == 0) return atn_ranks_agree(r, own);
    size_t n = (size_t)r->count, few = count * sizeof *numbers * n;
    bool at_once = few <= SHORT;
    double *room = atn_alloc(r->ctx, at_once ? few : (count + n) * sizeof *room);
    atn_status status = agree(r, room || own != ATN_OK ? own : ATN_ERR_MEMORY);
    if (status == ATN_OK && room && (at_once ? join_short : join_shares)(r, numbers, count, room, join, words))
        status = broken(r, words);
    atn_free(r->ctx, room);
    return waited(r, from, status);
}

atn_status atn_ranks_sum(atn_ranks *r, atn_status own, double *numbers, size_t count) {
    return join_all(r, own, numbers, count, add);
}

atn_status atn_ranks_least(atn_ranks *r, atn_status own, double *numbers, size_t count) {
    return join_all(r, own, numbers, count, take_less);
}

atn_status atn_ranks_compare(atn_ranks *r, atn_status own, const void *mine, size_t bytes, int32_t *other) {
    char *all = atn_alloc(r->ctx, (size_t)r->count * bytes);
    *other = 0;
    atn_status status = atn_ranks_allgather(r, own == ATN_OK && !all ? ATN_ERR_MEMORY : own, mine, bytes, all);
    for (int32_t k = r->count - 1; k > 0 && all && status == ATN_OK; --k)
        if (memcmp(all + (size_t)k * bytes, all, bytes) != 0) *other = k;
    atn_free(r->ctx, all);
    return status;
}

/* ---- parcels and messages ---- */

void atn_ranks_free_parcels(const atn_ranks *r, atn_ranks_parcel *parcels) {
    for (int32_t k = 0; k < r->count && parcels; ++k) {
        atn_free(r->ctx, parcels[k].data);
        parcels[k] = (atn_ranks_parcel){0};
    }
}

static int swap_lengths(const atn_ranks *r, const atn_ranks_parcel *out, atn_ranks_parcel *in, char *words) {
    int failed = 0;
    for (int32_t k = 0; k < r->count && !failed; ++k) {
        int32_t to = (r->rank + k) % r->count, from = (r->rank + r->count - k) % r->count;
        uint64_t give = out[to].bytes, take = 0;
        failed = r->way->swap(to, &give, sizeof give, from, &take, sizeof take, words);
        in[from].bytes = (size_t)take;
    }
    return failed;
}

static atn_status exchange(atn_ranks *r, atn_status own, const atn_ranks_parcel *out, atn_ranks_parcel *in) {
    char words[ATN_RANKS_WORDS] = "";
    for (int32_t k = 0; k < r->count; ++k) in[k] = (atn_ranks_parcel){0};
    atn_status status = agree(r, own);
    if (status != ATN_OK) return status;
    if (swap_lengths(r, out, in, words)) return broken(r, words);
    for (int32_t k = 0; k < r->count && status == ATN_OK; ++k) {
        in[k].data = atn_alloc(r->ctx, in[k].bytes);
        if (!in[k].data) status = ATN_ERR_MEMORY;
    }
    status = agree(r, status);
    for (int32_t k = 0; k < r->count && status == ATN_OK; ++k) {
        int32_t to = (r->rank + k) % r->count, from = (r->rank + r->count - k) % r->count;
        if (r->way->swap(to, out[to].data, out[to].bytes, from, in[from].data, in[from].bytes, words))
            status = broken(r, words);
    }
    return status;
}

atn_status atn_ranks_exchange(atn_ranks *r, atn_status own, const atn_ranks_parcel *out, atn_ranks_parcel *in) {
    double from = atn_clock_seconds();
    return waited(r, from, exchange(r, own, out, in));
}

atn_status atn_ranks_gather(atn_ranks *r, atn_status own, const void *mine, size_t bytes, void **all, size_t *total) {
    size_t n = (size_t)r->count, at = 0;
    atn_ranks_parcel *give = atn_zalloc(r->ctx, n * sizeof *give), *take = atn_zalloc(r->ctx, n * sizeof *take);
    *all = NULL;
    *total = 0;
    if (!give || !take) {
        atn_free(r->ctx, take);
        atn_free(r->ctx, give);
        return atn_ranks_agree(r, own != ATN_OK ? own : ATN_ERR_MEMORY);
    }
    for (size_t k = 0; k < n; ++k) give[k] = (atn_ranks_parcel){(void *)(uintptr_t)mine, bytes};
    atn_status status = atn_ranks_exchange(r, own, give, take);
    for (size_t k = 0; k < n && status == ATN_OK; ++k) *total += take[k].bytes;
    if (status == ATN_OK && !(*all = atn_alloc(r->ctx, *total + 1))) status = ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && status == ATN_OK; at += take[k++].bytes)
        if (take[k].bytes) memcpy((char *)*all + at, take[k].data, take[k].bytes);
    atn_ranks_free_parcels(r, take);
    atn_free(r->ctx, take);
    atn_free(r->ctx, give);
    return status;
}

atn_status atn_ranks_send(atn_ranks *r, int32_t to, const void *data, size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    return r->way->send(to, data, bytes, words) ? broken(r, words) : ATN_OK;
}

atn_status atn_ranks_probe(atn_ranks *r, int32_t *from, size_t *bytes, bool *there) {
    char words[ATN_RANKS_WORDS] = "";
    return r->way->probe(from, bytes, there, words) ? broken(r, words) : ATN_OK;
}

atn_status atn_ranks_receive(atn_ranks *r, int32_t from, void *data, size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    return r->way->receive(from, data, bytes, words) ? broken(r, words) : ATN_OK;
}
