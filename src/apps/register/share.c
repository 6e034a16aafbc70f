/* Rows distributed over ranks: views of a rank's own rows, and results received from the others. */
#include "apps/register/share.h"

#include "apps/register/near_walk.h"
#include "base/memory.h"

#include <string.h>

enum { LEAST = 64 }; /* blocks of rows for each rank: fewer are done before the others have answered */

/* Ranges are made of whole groups, which lists are made for. */
static size_t cut(const atn_ranks *ranks, size_t blocks, int32_t rank) {
    size_t at = NEAR_GROUP * atn_ranks_cut(ranks, (blocks + NEAR_GROUP - 1) / NEAR_GROUP, rank);
    return at < blocks ? at : blocks;
}

reg_range reg_share_range(const reg_engine *e, const reg_side *rows) {
    if (!e->ranks || rows->blocks < LEAST * (size_t)e->ranks->count) return (reg_range){0, rows->blocks, false};
    return (reg_range){cut(e->ranks, rows->blocks, e->ranks->rank), cut(e->ranks, rows->blocks, e->ranks->rank + 1),
                       true};
}

/* ---- views ---- */

enum { VECTORS = 9, MATRICES = 9 };

static void list_vectors(reg_side *side, atn_array **at[VECTORS]) {
    for (int k = 0; k < 3; ++k) at[k] = &side->moved[k];
    for (int k = 0; k < 4; ++k) at[3 + k] = &side->sum[k];
    at[7] = &side->shift;
    at[8] = &side->partner;
}

/* In the order of the vectors. */
static void list_matrices(reg_side *side, atn_array **at[MATRICES]) {
    for (int k = 0; k < 3; ++k) at[k] = &side->moved_rows[k];
    for (int k = 0; k < 4; ++k) at[3 + k] = &side->sum_rows[k];
    at[7] = &side->shift_rows;
    at[8] = &side->partner_rows;
}

void reg_share_free(reg_share *share) {
    atn_array **vector[VECTORS], **matrix[MATRICES];
    list_vectors(&share->side, vector);
    list_matrices(&share->side, matrix);
    for (int k = 0; k < VECTORS; ++k) {
        atn_array_free(*matrix[k]);
        atn_array_free(*vector[k]);
    }
    atn_array_free(share->start);
    *share = (reg_share){0};
}

atn_status reg_share_view(reg_side *rows, atn_array *start, reg_range mine, reg_share *out) {
    atn_array **from[VECTORS], **vector[VECTORS], **matrix[MATRICES];
    int64_t blocks = (int64_t)(mine.end - mine.first), block = (int64_t)rows->block;
    *out = (reg_share){.side = {.device = rows->device,
                                .type = rows->type,
                                .block = rows->block,
                                .blocks = (size_t)blocks,
                                .padded = (size_t)(blocks * block),
                                .count = (size_t)(blocks * block)}};
    list_vectors(rows, from);
    list_vectors(&out->side, vector);
    list_matrices(&out->side, matrix);
    atn_status status = ATN_OK;
    for (int k = 0; k < VECTORS && status == ATN_OK; ++k) {
        status = atn_array_view_range(*from[k], (int64_t)mine.first * block, blocks * block, vector[k]);
        if (status == ATN_OK) status = atn_array_view_matrix(*vector[k], blocks, block, matrix[k]);
    }
    if (status == ATN_OK && start) status = atn_array_view_range(start, (int64_t)mine.first, blocks + 1, &out->start);
    if (status != ATN_OK) reg_share_free(out);
    return status;
}

atn_status reg_share_make(const reg_engine *e, reg_side *rows, const reg_near *near, reg_share *out) {
    return reg_share_view(rows, near ? near->start_array : NULL, reg_share_range(e, rows), out);
}

/* ---- between ranks ---- */

atn_status reg_share_same(const reg_engine *e, void *data, size_t bytes) {
    return e->ranks ? atn_ranks_broadcast(e->ranks, ATN_OK, 0, data, bytes) : ATN_OK;
}

atn_status reg_share_pairs(const reg_engine *e, reg_near *near) {
    if (near->summed || e->remote) return ATN_OK; /* another device lists all rows */
    near->summed = true;
    return atn_ranks_sum(e->ranks, ATN_OK, &near->pairs, 1);
}

/* What a step is about, which all must agree on. */
typedef struct step_head {
    geom_pose rows, columns;
    uint64_t blocks, columns_count;
} step_head;

/* Rows of a rank, `most` of them for each array, behind its head. */
typedef struct parcel {
    const atn_ranks *ranks;
    const reg_side *rows;
    size_t most; /* elements of an array, of the rank that has most */
    size_t bytes;
} parcel;

static size_t elements(const parcel *p, int32_t rank, size_t *first) {
    *first = cut(p->ranks, p->rows->blocks, rank) * p->rows->block;
    return cut(p->ranks, p->rows->blocks, rank + 1) * p->rows->block - *first;
}

static atn_status pack(const parcel *p, atn_array *const *arrays, size_t count, char *to) {
    size_t first, n = elements(p, p->ranks->rank, &first);
    for (size_t k = 0; k < count; ++k) {
        const void *from;
        size_t each = atn_type_bytes(atn_array_info_of(arrays[k]).type);
        atn_status status = atn_array_map_read(arrays[k], &from);
        if (status != ATN_OK) return status;
        memcpy(to, (const char *)from + first * each, n * each);
        to += p->most * each;
    }
    return ATN_OK;
}

static atn_status unpack(const parcel *p, atn_array *const *arrays, size_t count, const char *all) {
    size_t at = sizeof(step_head);
    for (size_t k = 0; k < count; ++k) {
        void *to;
        size_t each = atn_type_bytes(atn_array_info_of(arrays[k]).type);
        atn_status status = atn_array_map_write(arrays[k], &to);
        if (status != ATN_OK) return status;
        for (int32_t rank = 0; rank < p->ranks->count; ++rank) {
            size_t first, n = elements(p, rank, &first);
            memcpy((char *)to + first * each, all + (size_t)rank * p->bytes + at, n * each);
        }
        at += p->most * each;
    }
    return ATN_OK;
}

static atn_status check_heads(const parcel *p, const char *all, const atn_ctx *ctx) {
    for (int32_t rank = 1; rank < p->ranks->count; ++rank)
        if (memcmp(all, all + (size_t)rank * p->bytes, sizeof(step_head)) != 0)
            return atn_fail(ctx, ATN_ERR_INPUT,
                            "register: rank %d is at another step than rank 0; do all read the same files, on machines "
                            "of one kind?",
                            (int)rank);
    return ATN_OK;
}

atn_status reg_share_join(reg_engine *e, reg_side *rows, const reg_side *columns, atn_array *const *arrays,
                          size_t count, atn_status own) {
    parcel p = {.ranks = e->ranks, .rows = rows, .bytes = sizeof(step_head)};
    size_t first;
    for (int32_t rank = 0; rank < e->ranks->count; ++rank) {
        size_t n = elements(&p, rank, &first);
        p.most = n > p.most ? n : p.most;
    }
    for (size_t k = 0; k < count; ++k) p.bytes += p.most * atn_type_bytes(atn_array_info_of(arrays[k]).type);
    char *mine = atn_zalloc(e->ctx, p.bytes), *all = atn_alloc(e->ctx, p.bytes * (size_t)e->ranks->count);
    if (own == ATN_OK && !(mine && all)) own = ATN_ERR_MEMORY;
    if (own == ATN_OK) {
        step_head head;
        memset(&head, 0, sizeof head);
        head.rows = rows->placed, head.columns = columns->placed;
        head.blocks = rows->blocks, head.columns_count = columns->count;
        memcpy(mine, &head, sizeof head);
        own = pack(&p, arrays, count, mine + sizeof head);
    }
    own = atn_ranks_allgather(e->ranks, own, mine, p.bytes, all);
    if (own == ATN_OK && all) own = check_heads(&p, all, e->ctx);
    if (own == ATN_OK && all) own = unpack(&p, arrays, count, all);
    atn_free(e->ctx, mine);
    atn_free(e->ctx, all);
    return own;
}
