/* Rows of extended XYZ and of POS, one after the other. Numbers have a fixed count of digits behind the point and are
 * printed as whole numbers, 10^d x, with the point put in: tens of millions of rows take seconds. */
#include "cloud/rows.h"
#include "base/lanes.h"
#include "base/leftover.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_VALUES = ROWS_VALUES, MOST_NAME = 64, NUMBER = ATN_NUMBER_TEXT, POS_ROW = 16 };
enum { AT_ONCE = 1 << 18 }; /* bytes that a rank writes at once: a file takes those of one after those of another */

/* The part of one rank. */
typedef struct part {
    atn_ranks *ranks; /* NULL: there are no parts */
    size_t own;       /* rows */
    int fd;           /* of the file that all write; -1: none */
    int leftover;     /* where that file is noted, by each rank: any may be the one that can remove it */
    uint64_t at;      /* in the file, of what comes next */
    uint64_t end;     /* and behind its last row */
    char *buffer;     /* AT_ONCE bytes; owned */
    size_t held;
} part;

struct atn_atom_rows {
    const atn_ctx *ctx;
    atn_writer *writer; /* of ranks the first one's */
    part part;
    char *path;
    size_t rows, added;
    bool pos, species;
    size_t values;
    int digits[MOST_VALUES]; /* behind the point, of each value; negative: a whole number */
    char *made;              /* owned; rows that were made by several cores, a piece of each */
};

static const double POWER[] = {1,   1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                               1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* Of a number below 2^53. */
static int count_digits(uint64_t number) {
    int bits = 64 - __builtin_clzll(number | 1), n = bits * 1233 >> 12; /* log10(2) */
    return n + ((double)number >= POWER[n]);
}

/* The last `count` digits, which end before `end`, two at a time: divisions wait for each other. */
static uint64_t put_digits(char *end, uint64_t number, int count) {
    for (; count > 1; count -= 2, end -= 2) {
        uint64_t rest = number / 100;
        unsigned pair = (unsigned)(number - 100 * rest);
        end[-2] = (char)('0' + pair / 10), end[-1] = (char)('0' + pair % 10);
        number = rest;
    }
    if (count == 0) return number;
    end[-1] = (char)('0' + number % 10);
    return number / 10;
}

/* A value as a whole number, sign apart, and its digits. False: it is too large for that, or no number. */
typedef struct digits {
    uint64_t whole;
    bool negative;
    int before, behind; /* the point */
} digits;

static bool find_digits(double value, int wanted, digits *out) {
    double scaled = value * POWER[wanted < 0 ? 0 : wanted];
    if (!(fabs(scaled) < 9e15)) return false; /* NaN too */
    out->whole = (uint64_t)(fabs(scaled) + 0.5);
    out->negative = scaled < 0 && out->whole;
    out->behind = wanted < 0 ? 0 : wanted;
    int all = count_digits(out->whole);
    out->before = all > out->behind ? all - out->behind : 1;
    return true;
}

/* At most NUMBER bytes. */
static char *put_number(char *at, double value, int wanted) {
    digits d;
    if (!find_digits(value, wanted, &d)) {
        atn_number_print(value, at);
        return at + strlen(at);
    }
    if (d.negative) *at++ = '-';
    char *end = at + d.before + (d.behind > 0) + d.behind;
    uint64_t whole = put_digits(end, d.whole, d.behind);
    if (d.behind > 0) at[d.before] = '.';
    put_digits(at + d.before, whole, d.before);
    return end;
}

static void swap_put(char *at, double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    for (int k = 0; k < 4; ++k) at[k] = (char)(bits >> (24 - 8 * k) & 255);
}

static atn_status rows_make(atn_ctx *ctx, const char *path, size_t rows, atn_atom_rows **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->ctx = ctx;
    (*out)->rows = rows;
    (*out)->path = atn_strdup(ctx, path);
    atn_status status = (*out)->path ? atn_writer_open(ctx, path, &(*out)->writer) : ATN_ERR_MEMORY;
    if (status == ATN_OK) return ATN_OK;
    atn_atom_rows_free(*out);
    *out = NULL;
    return status;
}

void atn_atom_rows_free(atn_atom_rows *r) {
    if (!r) return;
    atn_writer_free(r->writer);
    if (r->part.ranks && r->part.fd >= 0) close(r->part.fd);
    if (r->part.ranks && !r->part.ranks->broken) atn_leftover_forget(r->part.leftover); /* else nobody else may be */
    atn_free(r->ctx, r->part.buffer);
    atn_free(r->ctx, r->made);
    atn_free(r->ctx, r->path);
    atn_free(r->ctx, r);
}

/* ---- the part of a rank ---- */

static atn_status part_flush(atn_atom_rows *r) {
    part *p = &r->part;
    for (size_t done = 0; done < p->held;) {
        ssize_t put = pwrite(p->fd, p->buffer + done, p->held - done, (off_t)p->at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return atn_fail(r->ctx, ATN_ERR_IO, "%s: %s", r->path, strerror(errno));
        done += (size_t)put;
        p->at += (uint64_t)put;
    }
    p->held = 0;
    return ATN_OK;
}

static atn_status emit(atn_atom_rows *r, const char *bytes, size_t length) {
    part *p = &r->part;
    if (!p->ranks) return atn_writer_add(r->writer, bytes, length);
    if (!p->buffer && !(p->buffer = atn_alloc(r->ctx, AT_ONCE))) return ATN_ERR_MEMORY;
    if (length > AT_ONCE - p->held) {
        atn_status status = atn_check_cancel(r->ctx);
        if (status == ATN_OK) status = part_flush(r);
        if (status != ATN_OK) return status;
    }
    memcpy(p->buffer + p->held, bytes, length); /* what is made at once is shorter than the buffer */
    p->held += length;
    return ATN_OK;
}

/* Lengths of all parts say where each begins, behind the head. */
static atn_status place_part(atn_atom_rows *r, atn_status status, uint64_t length) {
    part *p = &r->part;
    uint64_t *all = atn_alloc(r->ctx, (size_t)p->ranks->count * sizeof *all);
    status = atn_ranks_allgather(p->ranks, all ? status : ATN_ERR_MEMORY, &length, sizeof length, all);
    for (int32_t k = 0; k < p->ranks->rank && status == ATN_OK && all; ++k) p->at += all[k];
    p->end = p->at + length;
    atn_free(r->ctx, all);
    return status;
}

atn_status rows_finish_ranks(atn_atom_rows *r, atn_status status) {
    part *p = &r->part;
    if (status == ATN_OK && r->added != p->own)
        status =
            atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %zu rows were announced, %zu were written", r->path, p->own, r->added);
    if (status == ATN_OK) status = part_flush(r);
    if (status == ATN_OK && p->at != p->end)
        status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the rows are not as long as was said", r->path);
    if (p->fd >= 0 && close(p->fd) != 0 && status == ATN_OK)
        status = atn_fail(r->ctx, ATN_ERR_IO, "%s: %s", r->path, strerror(errno));
    p->fd = -1;
    status = atn_ranks_agree(p->ranks, status); /* a full disk of one is the end of all */
    if (status == ATN_OK && r->writer) status = atn_writer_finish(r->writer);
    return atn_ranks_agree(p->ranks, status);
}

/* The first two lines; and what columns there are. */
static atn_status make_head(atn_atom_rows *r, const char *comment, const atn_atom_rows_column *columns,
                            atn_text *head) {
    atn_text_printf(head, "%zu\n%s%sProperties=%s", r->rows, comment ? comment : "", comment ? " " : "",
                    r->species ? "species:S:1" : "");
    for (const atn_atom_rows_column *c = columns; c->name; ++c) {
        if (c->width < 1 || c->digits > 9 || (size_t)c->width > MOST_VALUES - r->values || strlen(c->name) > MOST_NAME)
            return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the column '%.64s' is too wide, or has more than 9 digits",
                            r->path, c->name);
        atn_text_printf(head, "%s%s:%c:%d", c == columns && !r->species ? "" : ":", c->name, c->digits < 0 ? 'I' : 'R',
                        (int)c->width);
        for (int32_t k = 0; k < c->width; ++k) r->digits[r->values++] = (int)c->digits;
    }
    atn_text_add(head, "\n");
    return head->failed ? ATN_ERR_MEMORY : ATN_OK;
}

static atn_status add_head(atn_atom_rows *r, const char *comment, const atn_atom_rows_column *columns) {
    atn_text head = {.ctx = r->ctx};
    atn_status status = make_head(r, comment, columns, &head);
    if (status == ATN_OK && r->writer) status = atn_writer_add(r->writer, atn_text_str(&head), head.length);
    r->part.at = head.length;
    atn_text_free(&head);
    return status;
}

atn_status rows_not_a_file(const atn_ctx *ctx, const char *path) {
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: is not a file, so that several ranks cannot write parts of it", path);
}

/* The first rank makes the file, the others open it where it is until it is whole. */
static atn_status open_part(atn_atom_rows *r, const atn_atom_rows_column *columns) {
    char aside[PATH_MAX] = "";
    part *p = &r->part;
    atn_status status = ATN_OK;
    if (p->ranks->rank == 0) status = atn_writer_open(r->ctx, r->path, &r->writer);
    const char *where = r->writer ? atn_writer_aside(r->writer) : NULL;
    if (status == ATN_OK && r->writer && !where) status = rows_not_a_file(r->ctx, r->path);
    if (status == ATN_OK && where && strlen(where) >= sizeof aside)
        status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the name is too long", r->path);
    if (status == ATN_OK && where) strcpy(aside, where);
    status = atn_ranks_broadcast(p->ranks, status, 0, aside, sizeof aside);
    if (status == ATN_OK && !r->pos) status = add_head(r, NULL, columns);
    if (status == ATN_OK && p->ranks->rank) p->leftover = atn_leftover_add_file(aside);
    if (status == ATN_OK) p->fd = open(aside, O_WRONLY | O_CLOEXEC);
    if (status == ATN_OK && p->fd < 0)
        status = atn_fail(r->ctx, ATN_ERR_IO, "%s: cannot be opened here: %s; is the folder shared by all ranks?",
                          aside, strerror(errno));
    return status;
}

atn_status rows_open_ranks(atn_ctx *ctx, const char *path, size_t rows, size_t own, uint64_t length,
                           const atn_atom_rows_column *columns, atn_ranks *ranks, atn_atom_rows **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    **out = (atn_atom_rows){.ctx = ctx, .rows = rows, .pos = !columns, .species = columns != NULL};
    (*out)->part = (part){.ranks = ranks, .own = own, .fd = -1, .leftover = -1};
    (*out)->path = atn_strdup(ctx, path);
    atn_status status = (*out)->path ? open_part(*out, columns) : ATN_ERR_MEMORY;
    status = place_part(*out, status, columns ? length : POS_ROW * own);
    if (status == ATN_OK) return ATN_OK;
    atn_atom_rows_free(*out);
    *out = NULL;
    return status;
}

atn_status atn_atom_rows_open_xyz(atn_ctx *ctx, const char *path, size_t rows, bool species, const char *comment,
                                  const atn_atom_rows_column *columns, atn_atom_rows **out) {
    atn_status status = rows_make(ctx, path, rows, out);
    if (status != ATN_OK) return status;
    (*out)->species = species;
    status = add_head(*out, comment, columns);
    if (status == ATN_OK) return ATN_OK;
    atn_atom_rows_free(*out);
    *out = NULL;
    return status;
}

atn_status atn_atom_rows_open_pos(atn_ctx *ctx, const char *path, size_t rows, atn_atom_rows **out) {
    *out = NULL;
    if (rows == 0) return atn_fail(ctx, ATN_ERR_INPUT, "%s: POS without atoms would be an empty file", path);
    atn_status status = rows_make(ctx, path, rows, out);
    if (status == ATN_OK) (*out)->pos = true;
    return status;
}

enum { MOST_ROW = MOST_NAME + MOST_VALUES * (NUMBER + 1) + 1 };

/* Into `row`, which has room; returns behind its end. */
static char *make_row(const atn_atom_rows *r, const char *species, const double *values, char *row) {
    char *at = row;
    if (r->pos) {
        for (int k = 0; k < 4; ++k) swap_put(row + 4 * k, values[k]);
        return row + POS_ROW;
    }
    if (r->species) {
        size_t length = species ? strnlen(species, MOST_NAME) : 0;
        if (length == 0) *at++ = 'X';
        for (size_t k = 0; k < length; ++k) *at++ = species[k] > ' ' ? species[k] : '_';
    }
    for (size_t k = 0; k < r->values; ++k) {
        if (at > row) *at++ = ' ';
        at = put_number(at, values[k], r->digits[k]);
    }
    *at++ = '\n';
    return at;
}

/* ---- how long they are ---- */

void rows_ruler_make(const atn_atom_rows_column *columns, rows_ruler *out) {
    *out = (rows_ruler){.fixed = 1}; /* the line feed */
    for (const atn_atom_rows_column *c = columns; c->name; ++c)
        for (int32_t w = 0; w < c->width && out->values < ROWS_VALUES; ++w) {
            int behind = c->digits < 0 ? 0 : (int)c->digits;
            out->digits[out->values] = (int)c->digits;
            out->power[out->values++] = POWER[behind];
            out->fixed += 2 + (size_t)behind + (behind > 0); /* a blank, one digit, and those behind the point */
        }
}

/* The number at one place of each row: what it has beyond `fixed`, its sign and digits before the point other than the
 * first. strange: one is too large for find_digits, or no number. */
ATN_IN_LANES static void measure_place(const double *restrict value, int32_t step, double power, int32_t rows,
                                       double *restrict more, double *restrict strange) {
    double most = 0;
    ATN_LANES(reduction(max : most))
    for (int32_t k = 0; k < rows; ++k) {
        double scaled = value[k * step] * power, size = fabs(scaled);
        strange[k] += size < 9e15 ? 0 : 1;
        more[k] += scaled < 0 && size + 0.5 >= 1 ? 1 : 0;
        most = size > most ? size : most;
    }
    most = most < 9e15 ? most + 0.5 : 9e15;
    for (double least = 10 * power; least <= most; least *= 10) {
        ATN_LANES()
        for (int32_t k = 0; k < rows; ++k) more[k] += fabs(value[k * step] * power) + 0.5 >= least ? 1 : 0;
    }
}

static size_t measure_one(const rows_ruler *ruler, const double *values) {
    char text[NUMBER + 1];
    size_t length = 1;
    for (int32_t c = 0; c < ruler->values; ++c)
        length += 1 + (size_t)(put_number(text, values[c], ruler->digits[c]) - text);
    return length;
}

void rows_measure(const rows_ruler *ruler, size_t count, const char *const *species, const double *values,
                  size_t *lengths) {
    enum { SOME = 64 };
    const int32_t n = ruler->values;
    for (size_t first = 0; first < count; first += SOME) {
        double more[SOME] = {0}, strange[SOME] = {0};
        size_t some = count - first < SOME ? count - first : SOME;
        const double *from = values + first * (size_t)n;
        for (int32_t c = 0; c < n; ++c) measure_place(from + c, n, ruler->power[c], (int32_t)some, more, strange);
        for (size_t k = 0; k < some; ++k) {
            const char *name = species[first + k];
            size_t own = strange[k] > 0 ? measure_one(ruler, from + k * (size_t)n) : ruler->fixed + (size_t)more[k];
            lengths[first + k] = own + (name && *name ? strnlen(name, MOST_NAME) : 1);
        }
    }
}

atn_status atn_atom_rows_add(atn_atom_rows *r, const char *species, const double *values) {
    char row[MOST_ROW];
    ++r->added;
    return emit(r, row, (size_t)(make_row(r, species, values, row) - row));
}

/* ---- many rows ---- */

enum { MAKERS = 32, MADE = 1 << 17 }; /* cores at most; bytes of each, of which the buffer of a file holds more */

typedef struct making {
    const atn_atom_rows *r;
    rows_fill *fill;
    void *user;
    size_t first, end, each; /* rows; of each piece */
    size_t length[MAKERS];   /* bytes of each piece */
} making;

static void make_pieces(void *user, int64_t from, int64_t to) {
    making *m = user;
    for (int64_t p = from; p < to; ++p) {
        char *at = m->r->made + (size_t)p * MADE;
        size_t k = m->first + (size_t)p * m->each, end = k + m->each < m->end ? k + m->each : m->end;
        for (; k < end; ++k) {
            const char *species = NULL;
            double values[MOST_VALUES];
            m->fill(m->user, k, &species, values);
            at = make_row(m->r, species, values, at);
        }
        m->length[p] = (size_t)(at - (m->r->made + (size_t)p * MADE));
    }
}

atn_status rows_add_some(atn_atom_rows *r, size_t count, rows_fill *fill, void *user) {
    making m = {.r = r, .fill = fill, .user = user, .end = count};
    size_t workers = (size_t)atn_parallel_workers();
    atn_status status = ATN_OK;
    if (!r->made) r->made = atn_alloc(r->ctx, (size_t)MAKERS * MADE);
    if (!r->made) return ATN_ERR_MEMORY;
    m.each = MADE / (MOST_NAME + (r->pos ? 4 : r->values) * (NUMBER + 1) + 1);
    if (workers > MAKERS) workers = MAKERS;
    for (; m.first < count && status == ATN_OK; m.first += workers * m.each) {
        size_t pieces = (count - m.first + m.each - 1) / m.each;
        if (pieces > workers) pieces = workers;
        atn_parallel((int64_t)pieces, 1, make_pieces, &m);
        for (size_t p = 0; p < pieces && status == ATN_OK; ++p) status = emit(r, r->made + p * MADE, m.length[p]);
    }
    r->added += count;
    return status;
}

atn_status atn_atom_rows_finish(atn_atom_rows *r) {
    if (r->added != r->rows)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %zu rows were announced, %zu were written", r->path, r->rows,
                        r->added);
    return atn_writer_finish(r->writer);
}
