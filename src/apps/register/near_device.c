/* Lists of near blocks where points are on another device: its kernels make them (programs/near_*.atn), and the host
 * asks how long they are. In three stages: which groups of 32 blocks of the columns are near each block of rows, which
 * blocks in them by their boxes, and which of these candidates by points. Wide blocks, whose points lie far from each
 * other, are in no group, and are cut into parts, which are rows of their own until they are found in a candidate. */
#include "apps/register/engine.h"

#include "base/memory.h"
#include "num/array.h"

#include <math.h>

enum { GROUP = 32 };                /* blocks of a group */
static const double ROUNDED = 1e-5; /* added to the reach, as a share of it, for what rounding takes */

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Where lists begin that are so long. */
static atn_status start_of(reg_engine *e, atn_array *count, atn_array *start) {
    reg_binding bound[] = {{"count", count}, {"start", start}};
    return reg_engine_run(e, REG_NEAR_START, bound, COUNT(bound));
}

/* Sums of two vectors, and the first element of a third. */
enum { TOTALS = 3 };
static atn_status ask(reg_engine *e, atn_array *nodes, atn_array *candidates, atn_array *listed, atn_array *to,
                      double total[TOTALS]) {
    reg_binding bound[] = {{"nodes", nodes}, {"candidates", candidates}, {"listed", listed}, {"total", to}};
    atn_status status = reg_engine_run(e, REG_NEAR_TOTAL, bound, COUNT(bound));
    return status == ATN_OK ? reg_array_get(to, TOTALS, total) : status;
}

/* ---- of a side, once ---- */

static atn_status put_species(reg_side *s) {
    static const int32_t NONE[1] = {0};
    int64_t count = s->species ? (int64_t)s->blocks : 1;
    atn_status status = atn_array_create_vector(s->device, ATN_INT32, count, &s->cover[REG_COVER_SPECIES]);
    return status == ATN_OK ? atn_array_put(s->cover[REG_COVER_SPECIES], s->species ? s->species : NONE, 0) : status;
}

static atn_status allocate_cover(reg_side *s) {
    atn_array **c = s->cover;
    atn_type type = s->type;
    int64_t blocks = (int64_t)s->blocks, groups = (blocks + GROUP - 1) / GROUP;
    atn_status status = ATN_OK;
    for (int k = 0; k < 3 && status == ATN_OK; ++k)
        status = atn_array_view_matrix(s->point[k], blocks, (int64_t)s->block, &c[REG_COVER_POINT + k]);
    if (status == ATN_OK) status = atn_array_create_matrix(s->device, type, 10, blocks, 0, &c[REG_COVER_BOX]);
    if (status == ATN_OK) status = atn_array_create_matrix(s->device, type, 6, groups, 0, &c[REG_COVER_GROUP]);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, blocks, &c[REG_COVER_WIDE]);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, 1, &c[REG_COVER_WIDES]);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, blocks + 1, &c[REG_COVER_START]);
    return status;
}

static atn_status find_boxes(reg_engine *e, reg_side *s) {
    atn_array *const *c = s->cover;
    reg_given wide[] = {{"wide", REG_WIDE * s->usual_radius}};
    reg_binding boxes[] = {{"px", c[REG_COVER_POINT]},
                           {"py", c[REG_COVER_POINT + 1]},
                           {"pz", c[REG_COVER_POINT + 2]},
                           {"box", c[REG_COVER_BOX]}};
    reg_binding groups[] = {{"box", c[REG_COVER_BOX]}, {"group", c[REG_COVER_GROUP]}};
    reg_binding wides[] = {{"box", c[REG_COVER_BOX]}, {"list", c[REG_COVER_WIDE]}, {"count", c[REG_COVER_WIDES]}};
    atn_status status = reg_engine_run(e, REG_NEAR_BOXES, boxes, COUNT(boxes));
    if (status == ATN_OK)
        status = reg_engine_run_given(e, REG_NEAR_GROUPS, NULL, wide, COUNT(wide), groups, COUNT(groups));
    return status == ATN_OK ? reg_engine_run_given(e, REG_NEAR_WIDE, NULL, wide, COUNT(wide), wides, COUNT(wides))
                            : status;
}

/* `of` and `count`: room for which part each point is in, and how many each block has. */
static atn_status find_parts(reg_engine *e, reg_side *s, atn_array *of, atn_array *count, atn_array *total) {
    atn_array **c = s->cover;
    double parts[TOTALS], wide = REG_WIDE * s->usual_radius;
    reg_given numbers[] = {{"wide", wide}, {"edge", wide}};
    reg_binding cut[] = {{"px", c[REG_COVER_POINT]},
                         {"py", c[REG_COVER_POINT + 1]},
                         {"pz", c[REG_COVER_POINT + 2]},
                         {"box", c[REG_COVER_BOX]},
                         {"of", of},
                         {"count", count}};
    atn_status status = reg_engine_run_given(e, REG_NEAR_PARTS, NULL, numbers, COUNT(numbers), cut, COUNT(cut));
    if (status == ATN_OK) status = start_of(e, count, c[REG_COVER_START]);
    if (status == ATN_OK) status = ask(e, count, count, count, total, parts);
    if (status == ATN_OK)
        status = atn_array_create_matrix(s->device, s->type, 6, (int64_t)parts[0], 0, &c[REG_COVER_PART]);
    if (status == ATN_OK)
        status = atn_array_create_vector(s->device, ATN_INT32, (int64_t)parts[0], &c[REG_COVER_OWNER]);
    reg_binding boxes[] = {
        {"px", c[REG_COVER_POINT]},    {"py", c[REG_COVER_POINT + 1]}, {"pz", c[REG_COVER_POINT + 2]}, {"of", of},
        {"start", c[REG_COVER_START]}, {"part", c[REG_COVER_PART]},    {"owner", c[REG_COVER_OWNER]}};
    return status == ATN_OK ? reg_engine_run(e, REG_NEAR_PART_BOXES, boxes, COUNT(boxes)) : status;
}

static atn_status cover(reg_engine *e, reg_side *s) {
    atn_array *of = NULL, *count = NULL, *total = NULL;
    if (s->cover[REG_COVER_SPECIES]) return ATN_OK;
    atn_status status = allocate_cover(s);
    if (status == ATN_OK)
        status = atn_array_create_matrix(s->device, ATN_INT32, (int64_t)s->blocks, (int64_t)s->block, 0, &of);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, (int64_t)s->blocks, &count);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_DP, TOTALS, &total);
    if (status == ATN_OK) status = find_boxes(e, s);
    if (status == ATN_OK) status = find_parts(e, s, of, count, total);
    if (status == ATN_OK) status = put_species(s);
    atn_array_free(of);
    atn_array_free(count);
    atn_array_free(total);
    if (status != ATN_OK) reg_side_park(s);
    return status;
}

/* ---- arrays of a list ---- */

static atn_status allocate(reg_near *near) {
    reg_near_work *w = &near->work;
    atn_device *device = near->rows->device;
    size_t blocks = near->rows->blocks;
    size_t parts = (size_t)near->rows->cover[REG_COVER_PART]->size[0];
    w->nodes = w->nodes > parts ? w->nodes : reg_near_room(8 * parts);
    near->capacity = near->capacity > parts ? near->capacity : reg_near_room(16 * parts);
    const struct {
        atn_array **array;
        size_t count;
    } wanted[] = {{&w->node_count, parts},
                  {&w->node_first, parts + 1},
                  {&w->groups, parts},
                  {&w->candidate_count, parts},
                  {&w->candidate_first, parts + 1},
                  {&w->node, w->nodes},
                  {&w->block, near->capacity},
                  {&w->row, near->capacity},
                  {&w->keep, near->capacity},
                  {&w->rank, near->capacity},
                  {&near->list_array, near->capacity},
                  {&near->start_array, blocks + 1},
                  {&w->listed, 1}};
    atn_status status = reg_array_fit(device, ATN_DP, TOTALS, &w->total);
    for (size_t k = 0; k < COUNT(wanted) && status == ATN_OK; ++k)
        status = reg_array_fit(device, ATN_INT32, wanted[k].count, wanted[k].array);
    return status;
}

/* ---- the stages ---- */

static double reach_of(const reg_near *near) { return near->all ? INFINITY : near->reach * (1 + ROUNDED); }

static atn_status find_nodes(reg_engine *e, reg_near *near) {
    const reg_near_work *w = &near->work;
    atn_array *const *row = near->rows->cover, *const *column = near->columns->cover;
    reg_given numbers[] = {{"reach", reach_of(near)}};
    enum { BOTH = 5 };
    reg_binding bound[BOTH + 2] = {{"part", row[REG_COVER_PART]},
                                   {"group", column[REG_COVER_GROUP]},
                                   {"column", column[REG_COVER_BOX]},
                                   {"list", column[REG_COVER_WIDE]},
                                   {"wides", column[REG_COVER_WIDES]},
                                   {"count", w->node_count},
                                   {"groups", w->groups}};
    atn_status status =
        reg_engine_run_given(e, REG_NEAR_COARSE_COUNT, &near->relative, numbers, COUNT(numbers), bound, COUNT(bound));
    if (status == ATN_OK) status = start_of(e, w->node_count, w->node_first);
    bound[BOTH] = (reg_binding){"first", w->node_first};
    bound[BOTH + 1] = (reg_binding){"node", w->node};
    if (status == ATN_OK)
        status = reg_engine_run_given(e, REG_NEAR_COARSE_FILL, &near->relative, numbers, COUNT(numbers), bound,
                                      COUNT(bound));
    return status;
}

static atn_status find_candidates(reg_engine *e, reg_near *near) {
    const reg_near_work *w = &near->work;
    atn_array *const *row = near->rows->cover, *const *column = near->columns->cover;
    reg_given numbers[] = {{"reach", reach_of(near)},
                           {"wide", REG_WIDE * near->columns->usual_radius},
                           {"gated", near->rows->species && near->columns->species},
                           {"whole_groups", (double)column[REG_COVER_GROUP]->size[0]}};
    enum { BOTH = 9 };
    reg_binding bound[BOTH + 3] = {{"part", row[REG_COVER_PART]},
                                   {"column", column[REG_COVER_BOX]},
                                   {"owner", row[REG_COVER_OWNER]},
                                   {"list", column[REG_COVER_WIDE]},
                                   {"node", w->node},
                                   {"coarse_first", w->node_first},
                                   {"groups", w->groups},
                                   {"row_species", row[REG_COVER_SPECIES]},
                                   {"column_species", column[REG_COVER_SPECIES]},
                                   {"count", w->candidate_count}};
    atn_status status =
        reg_engine_run_given(e, REG_NEAR_CANDIDATE_COUNT, &near->relative, numbers, COUNT(numbers), bound, BOTH + 1);
    if (status == ATN_OK) status = start_of(e, w->candidate_count, w->candidate_first);
    bound[BOTH] = (reg_binding){"first", w->candidate_first};
    bound[BOTH + 1] = (reg_binding){"block", w->block};
    bound[BOTH + 2] = (reg_binding){"row", w->row};
    if (status == ATN_OK)
        status =
            reg_engine_run_given(e, REG_NEAR_CANDIDATES, &near->relative, numbers, COUNT(numbers), bound, COUNT(bound));
    return status;
}

static atn_status take_candidates(reg_engine *e, reg_near *near) {
    const reg_near_work *w = &near->work;
    atn_array *const *row = near->rows->cover, *const *column = near->columns->cover;
    reg_given numbers[] = {{"reach", reach_of(near)}};
    reg_binding test[] = {{"px", row[REG_COVER_POINT]},
                          {"py", row[REG_COVER_POINT + 1]},
                          {"pz", row[REG_COVER_POINT + 2]},
                          {"part", row[REG_COVER_PART]},
                          {"column", column[REG_COVER_BOX]},
                          {"column_part", column[REG_COVER_PART]},
                          {"start", row[REG_COVER_START]},
                          {"column_start", column[REG_COVER_START]},
                          {"owner", row[REG_COVER_OWNER]},
                          {"block", w->block},
                          {"row", w->row},
                          {"first", w->candidate_first},
                          {"keep", w->keep}};
    reg_binding pack[] = {
        {"keep", w->keep}, {"block", w->block}, {"near", near->list_array}, {"rank", w->rank}, {"count", w->listed}};
    reg_binding begin[] = {{"part_start", row[REG_COVER_START]},
                           {"first", w->candidate_first},
                           {"rank", w->rank},
                           {"count", w->listed},
                           {"start", near->start_array}};
    atn_status status =
        reg_engine_run_given(e, REG_NEAR_TEST, &near->relative, numbers, COUNT(numbers), test, COUNT(test));
    if (status == ATN_OK) status = reg_engine_run(e, REG_NEAR_PACK, pack, COUNT(pack));
    return status == ATN_OK ? reg_engine_run(e, REG_NEAR_BEGIN, begin, COUNT(begin)) : status;
}

/* again: there were more nodes or candidates than there was room for; now there is more. */
static atn_status look_at(reg_near *near, const atn_ctx *ctx, const double total[TOTALS], bool *again) {
    if (total[0] >= INT32_MAX / 2 || total[1] >= INT32_MAX / 2)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: more than %d pairs of blocks are near each other",
                        INT32_MAX / 2);
    size_t nodes = (size_t)total[0], candidates = (size_t)total[1];
    *again = nodes > near->work.nodes || candidates > near->capacity;
    if (nodes > near->work.nodes) near->work.nodes = reg_near_room(nodes);
    if (candidates > near->capacity) near->capacity = reg_near_room(candidates);
    near->count = (size_t)total[2];
    return ATN_OK;
}

atn_status reg_near_fill(reg_engine *e, reg_near *near, reg_side *rows, reg_side *columns) {
    const reg_near_work *w = &near->work;
    bool again = true;
    double total[TOTALS];
    atn_status status = cover(e, rows);
    if (status == ATN_OK) status = cover(e, columns);
    while (again && status == ATN_OK) {
        status = allocate(near);
        if (status == ATN_OK) status = find_nodes(e, near);
        if (status == ATN_OK) status = find_candidates(e, near);
        if (status == ATN_OK) status = take_candidates(e, near);
        if (status == ATN_OK) status = ask(e, w->node_count, w->candidate_count, w->listed, w->total, total);
        if (status == ATN_OK) status = look_at(near, e->ctx, total, &again);
    }
    near->pairs = (double)near->count * (double)rows->block * (double)columns->block;
    return status;
}
