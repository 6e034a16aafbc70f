/* Sums over pairs of points, all of them or those of lists of near blocks: E-steps, nearest points, local shapes. Which
 * ranks make which rows is share.h's. */
#include "apps/register/engine.h"
#include "apps/register/helpers.h"
#include "apps/register/share.h"
#include "apps/register/where.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "num/array.h"

#include <math.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static atn_status dense(reg_engine *e, reg_side *rows, reg_side *columns) {
    atn_kernel *kernel;
    atn_status status = reg_engine_kernel(e, REG_ESTEP, &kernel);
    if (status != ATN_OK) return status;
    reg_binding bound[] = {{"yx", rows->moved[0]},      {"yy", rows->moved[1]},    {"yz", rows->moved[2]},
                           {"xx", columns->moved[0]},   {"xy", columns->moved[1]}, {"xz", columns->moved[2]},
                           {"xw", columns->log_weight}, {"sum", rows->sum[0]},     {"sum_x", rows->sum[1]},
                           {"sum_y", rows->sum[2]},     {"sum_z", rows->sum[3]}};
    e->pairs = (double)rows->count * (double)columns->count;
    return reg_engine_run(e, REG_ESTEP, bound, COUNT(bound));
}

bool reg_all_sooner(const reg_engine *e, const reg_side *rows, const reg_side *columns) {
    bool gated = rows->species && columns->species;
    return e->remote && !gated && !reg_share_range(e, rows).some &&
           reg_all_at_once(atn_device_get_info(e->device), (double)rows->padded * (double)columns->padded);
}

/* The list for this direction: the first side that was ever used as rows has the first. */
static reg_near *list_of(reg_engine *e, const reg_side *rows, const reg_side *columns) {
    return e->near[0].rows == columns && e->near[0].columns == rows ? &e->near[1] : &e->near[0];
}

static atn_status find_near(reg_engine *e, reg_side *rows, reg_side *columns, double reach, double slack,
                            reg_near **out) {
    reg_span span = reg_begin(e);
    *out = list_of(e, rows, columns);
    reg_range mine = reg_share_range(e, rows);
    (*out)->first = mine.some ? mine.first : 0;
    (*out)->end = mine.some ? mine.end : 0;
    atn_status status = reg_near_update(e, *out, rows, columns, &rows->placed, &columns->placed, reach, slack);
    if (status == ATN_OK && mine.some) status = reg_share_pairs(e, *out);
    reg_end(e, REG_LISTS, span);
    return status;
}

static atn_status blocked(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near, atn_array *start) {
    atn_kernel *kernel;
    atn_status status = reg_engine_kernel(e, REG_ESTEP_NEAR, &kernel);
    if (status != ATN_OK) return status;
    reg_binding bound[] = {{"yx", rows->moved_rows[0]},
                           {"yy", rows->moved_rows[1]},
                           {"yz", rows->moved_rows[2]},
                           {"ys", rows->shift_rows},
                           {"xx", columns->moved_rows[0]},
                           {"xy", columns->moved_rows[1]},
                           {"xz", columns->moved_rows[2]},
                           {"xw", columns->log_weight_rows},
                           {"sum", rows->sum_rows[0]},
                           {"sum_x", rows->sum_rows[1]},
                           {"sum_y", rows->sum_rows[2]},
                           {"sum_z", rows->sum_rows[3]},
                           {"start", start},
                           {"near", near->list_array}};
    e->pairs = near->pairs;
    return reg_engine_run(e, REG_ESTEP_NEAR, bound, COUNT(bound));
}

static atn_status sums(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near, atn_array *start) {
    return near ? blocked(e, rows, columns, near, start) : dense(e, rows, columns);
}

/* On the host a run cannot be stopped: a long step is made of several, all as long as the first, which is what its
 * kernel is planned for. Their size is the same on all machines: it may decide about the variant, hence the last
 * digits.
 */
static size_t blocks_of_piece(const reg_engine *e, const reg_side *rows, double pairs) {
    static const double MOST = 1e8; /* pairs of a piece: on two cores a twentieth of a second */
    size_t pieces = e->remote ? 1 : (size_t)fmin(ceil(pairs / MOST), (double)rows->blocks);
    return pieces <= 1 ? rows->blocks : (rows->blocks + pieces - 1) / pieces;
}

/* The piece that begins at a block; the last one has some rows twice. */
static reg_range piece_at(const reg_side *rows, size_t first, size_t blocks) {
    size_t from = first + blocks > rows->blocks ? rows->blocks - blocks : first;
    return (reg_range){from, from + blocks, true};
}

static atn_status in_pieces(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near, double pairs,
                            reg_step *step) {
    atn_array *start = near ? near->start_array : NULL;
    size_t blocks = blocks_of_piece(e, rows, pairs);
    if (blocks == rows->blocks) return step(e, rows, columns, near, start);
    atn_status status = ATN_OK;
    for (size_t first = 0; first < rows->blocks && status == ATN_OK; first += blocks) {
        reg_share piece;
        status = reg_share_view(rows, start, piece_at(rows, first, blocks), &piece);
        if (status == ATN_OK) status = step(e, &piece.side, columns, near, piece.start);
        reg_share_free(&piece);
    }
    return status;
}

/* Is it worth a list? Far reaches take in nearly everything; then whichever was seen to be cheaper. */
static bool worth_lists(const reg_engine *e, const reg_side *rows, const reg_side *columns, double reach) {
    double extent2 = 0, unit = geom_pose_scale(&columns->placed);
    for (int axis = 0; axis < 3; ++axis) {
        double length = (columns->bounds.high[axis] - columns->bounds.low[axis]) * unit;
        extent2 += length * length;
    }
    return !e->settings->dense && reach * reach < 0.25 * extent2 && rows->blocks * columns->blocks > 64 &&
           !reg_all_sooner(e, rows, columns);
}

/* Sums of this rank's rows, and those of the others. near: or all pairs. */
static atn_status estep_shared(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near) {
    reg_share own;
    atn_status status = reg_share_make(e, rows, near, &own);
    if (status == ATN_OK) status = sums(e, &own.side, columns, near, own.start);
    status = reg_share_join(e, rows, columns, rows->sum, COUNT(rows->sum), status);
    reg_share_free(&own);
    return status;
}

atn_status reg_estep(reg_engine *e, reg_side *rows, reg_side *columns, double reach, bool shifted) {
    bool gated = rows->species && columns->species, use = false;
    reg_near *near = NULL;
    atn_status status = ATN_OK;
    if (gated || shifted || worth_lists(e, rows, columns, reach)) {
        status = find_near(e, rows, columns, e->settings->dense ? INFINITY : reach, 0, &near);
        if (status != ATN_OK) return status;
        bool timed = e->cost[0] > 0 && e->cost[1] > 0 && !e->ranks && !e->settings->reproducible;
        double ratio = timed ? e->cost[1] / e->cost[0] : 1.3;
        use = gated || shifted || near->pairs * ratio < (double)rows->count * (double)columns->count;
    }
    double since = atn_clock_seconds(), pairs = use ? near->pairs : (double)rows->count * (double)columns->count;
    if (reg_share_range(e, rows).some)
        status = estep_shared(e, rows, columns, use ? near : NULL);
    else if (reg_helpers_wanted(e, rows, pairs))
        status = reg_helpers_run(e, rows, columns, use ? near : NULL, false, sums);
    else
        status = in_pieces(e, rows, columns, use ? near : NULL, pairs, sums);
    e->pairs = pairs;
    if (status == ATN_OK && (e->wait || atn_device_get_info(e->device)->unified) && e->pairs > 1e6)
        e->cost[use] = (atn_clock_seconds() - since) / e->pairs;
    e->evaluated += e->pairs;
    e->truncated = e->truncated || (use && !near->all);
    return status;
}

static atn_status compat(reg_engine *e, const reg_side *rows, atn_array *const target[3], atn_array *square) {
    reg_binding bound[] = {{"yx", rows->moved[0]},  {"yy", rows->moved[1]}, {"yz", rows->moved[2]},
                           {"xx", target[0]},       {"xy", target[1]},      {"xz", target[2]},
                           {"square", square},      {"sum", rows->sum[0]},  {"sum_x", rows->sum[1]},
                           {"sum_y", rows->sum[2]}, {"sum_z", rows->sum[3]}};
    return reg_engine_run(e, REG_ESTEP_COMPAT, bound, COUNT(bound));
}

static atn_status compat_piece(reg_engine *e, reg_side *rows, atn_array *const target[3], atn_array *square,
                               reg_range range) {
    atn_array *own = NULL;
    reg_share piece;
    atn_status status = reg_share_view(rows, NULL, range, &piece);
    if (status == ATN_OK)
        status = atn_array_view_range(square, (int64_t)(range.first * rows->block), (int64_t)piece.side.padded, &own);
    if (status == ATN_OK) status = compat(e, &piece.side, target, own);
    atn_array_free(own);
    reg_share_free(&piece);
    return status;
}

atn_status reg_estep_compat(reg_engine *e, reg_side *rows, reg_side *columns, atn_array *square) {
    atn_kernel *kernel;
    atn_array *target[3] = {0};
    double pairs = (double)rows->count * (double)columns->count;
    size_t blocks = blocks_of_piece(e, rows, pairs);
    atn_status status = reg_engine_kernel(e, REG_ESTEP_COMPAT, &kernel);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) /* it knows no weights: without what fills up blocks */
        status = atn_array_view_range(columns->moved[axis], 0, (int64_t)columns->count, &target[axis]);
    if (status == ATN_OK && blocks == rows->blocks) status = compat(e, rows, target, square);
    for (size_t first = 0; first < rows->blocks && blocks < rows->blocks && status == ATN_OK; first += blocks)
        status = compat_piece(e, rows, target, square, piece_at(rows, first, blocks));
    for (int axis = 0; axis < 3; ++axis) atn_array_free(target[axis]);
    e->evaluated += e->pairs = pairs;
    return status;
}

typedef struct taking {
    const float *single; /* distances squared: these, */
    const double *wide;  /* or these */
    const int32_t *place;
    double reach2;
    double *distance2;
    int32_t *index;
} taking;

static void take_some(void *user, int64_t from, int64_t to) {
    const taking *t = user;
    for (int64_t k = from; k < to; ++k) {
        double d2 = t->single ? (double)t->single[k] : t->wide[k];
        t->distance2[k] = d2;
        t->index[k] = d2 <= t->reach2 ? t->place[k] : -1;
    }
}

/* Results of the kernel, for the host. */
static atn_status take(reg_side *rows, double reach, double *distance2, int32_t *index) {
    const void *d2, *place;
    bool wide = rows->type == ATN_DP;
    atn_status status = atn_array_map_read(rows->sum[0], &d2);
    if (status == ATN_OK) status = atn_array_map_read(rows->partner, &place);
    if (status != ATN_OK) return status;
    taking t = {.single = wide ? NULL : d2,
                .wide = wide ? d2 : NULL,
                .place = place,
                .reach2 = reach * reach,
                .distance2 = distance2,
                .index = index};
    atn_parallel((int64_t)rows->padded, 16384, take_some, &t);
    return ATN_OK;
}

static atn_status partners(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near, atn_array *start) {
    reg_binding bound[] = {
        {"yx", rows->moved_rows[0]},      {"yy", rows->moved_rows[1]},    {"yz", rows->moved_rows[2]},
        {"xx", columns->moved_rows[0]},   {"xy", columns->moved_rows[1]}, {"xz", columns->moved_rows[2]},
        {"distance2", rows->sum_rows[0]}, {"index", rows->partner_rows},  {"start", start},
        {"near", near->list_array}};
    return reg_engine_run(e, REG_NEAREST, bound, COUNT(bound));
}

static atn_status partners_of_all(reg_engine *e, reg_side *rows, reg_side *columns) {
    reg_binding bound[] = {{"yx", rows->moved[0]},      {"yy", rows->moved[1]},    {"yz", rows->moved[2]},
                           {"xx", columns->moved[0]},   {"xy", columns->moved[1]}, {"xz", columns->moved[2]},
                           {"distance2", rows->sum[0]}, {"index", rows->partner}};
    e->evaluated += e->pairs = (double)rows->count * (double)columns->count;
    return reg_engine_run(e, REG_NEAREST_ALL, bound, COUNT(bound));
}

static atn_status partners_shared(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near) {
    reg_share own;
    atn_status status = reg_share_make(e, rows, near, &own);
    if (status == ATN_OK) status = partners(e, &own.side, columns, near, own.start);
    atn_array *const arrays[] = {rows->sum[0], rows->partner};
    status = reg_share_join(e, rows, columns, arrays, COUNT(arrays), status);
    reg_share_free(&own);
    return status;
}

atn_status reg_partners(reg_engine *e, reg_side *rows, reg_side *columns, double reach, double slack) {
    atn_kernel *kernel;
    reg_near *near;
    if (reg_all_sooner(e, rows, columns)) return partners_of_all(e, rows, columns);
    atn_status status = find_near(e, rows, columns, reach, slack, &near);
    if (status == ATN_OK) status = reg_engine_kernel(e, REG_NEAREST, &kernel);
    if (status != ATN_OK) return status;
    if (reg_share_range(e, rows).some)
        status = partners_shared(e, rows, columns, near);
    else if (reg_helpers_wanted(e, rows, near->pairs))
        status = reg_helpers_run(e, rows, columns, near, true, partners);
    else
        status = in_pieces(e, rows, columns, near, near->pairs, partners);
    e->evaluated += e->pairs = near->pairs;
    return status;
}

atn_status reg_nearest(reg_engine *e, reg_side *rows, reg_side *columns, double reach, double *distance2,
                       int32_t *index) {
    atn_status status = reg_partners(e, rows, columns, reach, 0);
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = take(rows, reach, distance2, index);
    reg_timed(e, REG_FETCH, since);
    return status;
}

enum { SUMS_AROUND = 10 };
static const char *const AROUND[SUMS_AROUND] = {"mass", "mx", "my", "mz", "mxx", "mxy", "mxz", "myy", "myz", "mzz"};

static atn_status look_around_all(reg_engine *e, reg_side *rows, reg_side *columns, atn_array *vector[SUMS_AROUND]) {
    reg_binding bound[7 + SUMS_AROUND] = {
        {"yx", rows->moved[0]},    {"yy", rows->moved[1]},    {"yz", rows->moved[2]},     {"xx", columns->moved[0]},
        {"xy", columns->moved[1]}, {"xz", columns->moved[2]}, {"xw", columns->log_weight}};
    for (int k = 0; k < SUMS_AROUND; ++k) bound[7 + k] = (reg_binding){AROUND[k], vector[k]};
    return reg_engine_run(e, REG_AROUND_ALL, bound, COUNT(bound));
}

static atn_status look_around_near(reg_engine *e, reg_side *rows, reg_side *columns, double reach,
                                   atn_array *vector[SUMS_AROUND]) {
    reg_near near = {0};
    atn_array *matrix[SUMS_AROUND] = {0};
    reg_binding bound[9 + SUMS_AROUND] = {{"yx", rows->moved_rows[0]},     {"yy", rows->moved_rows[1]},
                                          {"yz", rows->moved_rows[2]},     {"xx", columns->moved_rows[0]},
                                          {"xy", columns->moved_rows[1]},  {"xz", columns->moved_rows[2]},
                                          {"xw", columns->log_weight_rows}};
    reg_span span = reg_begin(e);
    atn_status status = reg_near_update(e, &near, rows, columns, &rows->placed, &columns->placed, reach, -1);
    reg_end(e, REG_LISTS, span);
    for (int k = 0; k < SUMS_AROUND && status == ATN_OK; ++k) {
        status = atn_array_view_matrix(vector[k], (int64_t)rows->blocks, (int64_t)rows->block, &matrix[k]);
        bound[7 + k] = (reg_binding){AROUND[k], matrix[k]};
    }
    bound[7 + SUMS_AROUND] = (reg_binding){"start", near.start_array};
    bound[8 + SUMS_AROUND] = (reg_binding){"near", near.list_array};
    if (status == ATN_OK) status = reg_engine_run(e, REG_AROUND, bound, COUNT(bound));
    for (int k = 0; k < SUMS_AROUND; ++k) atn_array_free(matrix[k]);
    reg_near_free(&near, e->ctx);
    return status;
}

/* Sums of a = 2^(log_weight - |d|^2), a d and a d d^T over all columns near each row, or all there are. */
static atn_status look_around(reg_engine *e, reg_side *rows, reg_side *columns, double reach,
                              atn_array *vector[SUMS_AROUND]) {
    atn_status status = ATN_OK;
    for (int k = 0; k < SUMS_AROUND && status == ATN_OK; ++k) {
        status = atn_array_create_vector(e->device, rows->type, (int64_t)rows->padded, &vector[k]);
        if (status == ATN_OK) status = reg_array_open(vector[k]);
    }
    if (status != ATN_OK) return status;
    return reg_all_sooner(e, rows, columns) ? look_around_all(e, rows, columns, vector)
                                            : look_around_near(e, rows, columns, reach, vector);
}

atn_status reg_shapes(reg_engine *e, reg_side *rows, reg_side *columns, double reach, double flattest,
                      atn_array **shape, atn_array **ratio) {
    atn_array *vector[SUMS_AROUND] = {0};
    reg_binding bound[SUMS_AROUND + 2];
    reg_given given[] = {{"flattest", flattest}};
    atn_type type = rows->type;
    *shape = *ratio = NULL;
    atn_status status = look_around(e, rows, columns, reach, vector);
    if (status == ATN_OK) status = atn_array_create_matrix(e->device, type, 6, (int64_t)rows->padded, 0, shape);
    if (status == ATN_OK) status = atn_array_create_vector(e->device, type, (int64_t)rows->padded, ratio);
    if (status == ATN_OK) status = reg_array_open(*shape);
    if (status == ATN_OK) status = reg_array_open(*ratio);
    for (int k = 0; k < SUMS_AROUND; ++k) bound[k] = (reg_binding){AROUND[k], vector[k]};
    bound[SUMS_AROUND] = (reg_binding){"shape", *shape};
    bound[SUMS_AROUND + 1] = (reg_binding){"ratio", *ratio};
    if (status == ATN_OK) status = reg_engine_run_given(e, REG_SHAPES, NULL, given, COUNT(given), bound, COUNT(bound));
    for (int k = 0; k < SUMS_AROUND; ++k) atn_array_free(vector[k]);
    if (status != ATN_OK) {
        atn_array_free(*shape);
        atn_array_free(*ratio);
        *shape = *ratio = NULL;
    }
    return status;
}
