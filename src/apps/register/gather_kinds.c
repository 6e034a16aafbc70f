/* What is gathered: the arrays of each kind, and the kernels over them. */
#include "apps/register/gather_parts.h"

#include "base/memory.h"
#include "kernel/give.h"

#include <string.h>

/* Lanes: kinds whose launches take long do not hold up those that are asked for often; what reads the same data is in
 * the same lane, and so in order. */
const gather_facts GATHER_FACTS[REG_GATHERS] = {
    [REG_GATHER_SPACING] = {.chain = {{"spacing_nearest", DATA | SUM}},
                            .stays = (size_t)3 * REG_FIT_POINTS,
                            .item = 1,
                            .sums = REG_FIT_POINTS,
                            .most = 1,
                            .lane = 0},
    [REG_GATHER_TURNS] = {.chain = {{"search_turns_step", DATA | SUM}},
                          .stays = (size_t)REG_TURNS_SETS * 3 * REG_TURNS_POINTS,
                          .item = REG_TURNS_ITEM,
                          .sums = REG_TURNS_SUMS,
                          .most = 64,
                          .lane = 2},
    [REG_GATHER_NORMALS] = {.chain = {{"search_normals", DATA | SUM}},
                            .stays = (size_t)2 * REG_LIES_POINTS * 3,
                            .item = 1,
                            .sums = (size_t)REG_LIES_POINTS * 3,
                            .most = 2,
                            .lane = 2},
    [REG_GATHER_LIES] = {.chain = {{"search_near", DATA | NEAREST}, {"search_lies_step", DATA | NEAREST | SUM}},
                         .stays = (size_t)2 * REG_LIES_POINTS * REG_LIES_POINT + REG_BOX * REG_BLOCKS(REG_LIES_POINTS),
                         .item = REG_LIES_ITEM,
                         .sums = REG_LIES_SUMS,
                         .most = REG_LIES_MOST,
                         .lane = 2},
    [REG_GATHER_LOOKS] = {.chain = {{"fitness_look_step", DATA | SUM}},
                          .stays = (size_t)2 * REG_LOOKS_POINTS * (REG_LOOKS_PLANE + 1),
                          .item = REG_LOOKS_ITEM,
                          .sums = REG_LOOKS_SUMS,
                          .most = REG_LOOKS_MOST,
                          .lane = 3},
    [REG_GATHER_NEAREST] = {.chain = {{"fitness_nearest", DATA | SUM}},
                            .item = REG_LOOKS_ITEM,
                            .sums = REG_LOOKS_SAMPLES,
                            .most = REG_LOOKS_MOST,
                            .lane = 3,
                            .data = REG_GATHER_LOOKS},
    [REG_GATHER_PLANES] = {.chain = {{"fitness_planes", DATA | SUM}},
                           .stays = (size_t)2 * REG_FIT_POINTS * 3,
                           .item = 2,
                           .sums = (size_t)REG_FIT_POINTS * REG_PLANES_POINT,
                           .most = 2,
                           .lane = 0},
    [REG_GATHER_EXPECT] = {.chain = {{"fit_expect", DATA | SUM}},
                           .stays = (size_t)2 * REG_FIT_POINTS * REG_EXPECT_POINT,
                           .item = REG_EXPECT_ITEM,
                           .sums = REG_EXPECT_SUMS,
                           .most = 1,
                           .lane = 0},
    [REG_GATHER_MEASURE] = {.chain = {{"fit_measure", DATA | SUM}},
                            .item = REG_EXPECT_ITEM,
                            .sums = REG_MEASURE_SUMS,
                            .most = 1,
                            .lane = 0,
                            .data = REG_GATHER_EXPECT},
    [REG_GATHER_SHAPES] = {.chain = {{"fit_shapes", DATA | SUM}},
                           .stays = (size_t)REG_FIT_POINTS * REG_SHAPES_POINT,
                           .item = 2,
                           .sums = (size_t)REG_FIT_POINTS * REG_SHAPES_SUMS,
                           .most = 1,
                           .lane = 0},
    [REG_GATHER_FIT] = {.chain = {{"fit_pairs", DATA | WEIGHTS | Q},
                                  {"fit_scale", Q | SCALE},
                                  {"fit_sums", DATA | WEIGHTS | Q | SCALE | SUM}},
                        .stays = (size_t)2 * REG_FIT_POINTS * REG_FIT_POINT + REG_BOX * REG_BLOCKS(REG_FIT_POINTS),
                        .item = REG_FIT_ITEM,
                        .sums = REG_FIT_SUMS,
                        .most = REG_FIT_MOST,
                        .lane = 1},
    [REG_GATHER_TERMS] = {.chain = {{"fit_pairs", DATA | WEIGHTS | Q}, {"fit_terms", DATA | WEIGHTS | Q | SUM}},
                          .item = REG_FIT_ITEM,
                          .sums = (size_t)REG_FIT_POINTS * REG_TERMS_POINT,
                          .most = 1,
                          .lane = 1,
                          .data = REG_GATHER_FIT},
};

/* What kernels of a chain leave for the next: of each source point, at each pose of a request, W, the partner and q
 * (programs/fit_pairs.atn), and of all of them the scale (fit_scale.atn); the point that is nearest (search_near.atn).
 */
static const struct {
    const char *name;
    int has;
    atn_type type;
    reg_gathered of; /* the kind whose items have a row each */
    size_t columns;
} LEFT_BETWEEN[LEFT] = {{"w0", WEIGHTS, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"w1", WEIGHTS, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"w2", WEIGHTS, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"w3", WEIGHTS, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"w4", WEIGHTS, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"w5", WEIGHTS, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"partner", WEIGHTS, ATN_INT32, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"q", Q, ATN_SP, REG_GATHER_FIT, REG_FIT_POINTS},
                        {"scale", SCALE, ATN_SP, REG_GATHER_FIT, 1},
                        {"nearest", NEAREST, ATN_INT32, REG_GATHER_LIES, REG_LIES_POINTS}};

/* The kind whose data it reads. */
reg_gathered gather_reads(reg_gathered which) { return GATHER_FACTS[which].stays ? which : GATHER_FACTS[which].data; }

static size_t numbers_of(int32_t clients, reg_gathered which) {
    size_t rows = (size_t)clients * GATHER_FACTS[which].most;
    return (size_t)clients * GATHER_FACTS[which].stays +
           rows * (GATHER_FACTS[which].item + REG_GATHER_PLACE + GATHER_FACTS[which].sums);
}

static size_t left_rows(int32_t clients, int k) { return (size_t)clients * GATHER_FACTS[LEFT_BETWEEN[k].of].most; }

size_t reg_gather_bytes(int32_t clients) {
    size_t numbers = 0;
    for (int k = 0; k < REG_GATHERS; ++k) numbers += numbers_of(clients, (reg_gathered)k);
    for (int k = 0; k < LEFT; ++k) numbers += left_rows(clients, k) * LEFT_BETWEEN[k].columns;
    return numbers * sizeof(float);
}

/* An array of which the host and the device have copies from now on. */
static atn_status make_array(atn_device *device, atn_type type, size_t rows, size_t columns, atn_array **array,
                             void **host) {
    atn_status status = atn_array_create_matrix(device, type, (int64_t)rows, (int64_t)columns, 0, array);
    if (status != ATN_OK) return status;
    atn_array_pin(*array);
    status = atn_array_map_write(*array, host);
    return status == ATN_OK ? atn_array_ready_device(*array, false) : status;
}

static atn_status make_arrays(atn_device *device, int32_t clients, reg_gathered which, gather_kind *out) {
    void *room = NULL, *item = NULL, *place = NULL, *sum = NULL;
    size_t stays = (size_t)clients * GATHER_FACTS[which].stays;
    out->rows = (size_t)clients * GATHER_FACTS[which].most;
    atn_status status = make_array(device, ATN_SP, out->rows, GATHER_FACTS[which].item, &out->item, &item);
    if (status == ATN_OK) status = make_array(device, ATN_INT32, out->rows, REG_GATHER_PLACE, &out->place, &place);
    if (status == ATN_OK) status = make_array(device, ATN_SP, out->rows, GATHER_FACTS[which].sums, &out->sum, &sum);
    if (status == ATN_OK && stays) status = make_array(device, ATN_SP, 1, stays, &out->all, &room);
    if (status == ATN_OK && stays) status = atn_array_view_row(out->all, 0, &out->data);
    out->room = room;
    out->items = item;
    out->places = place;
    out->sums = sum;
    return status;
}

static atn_status open_kernel(reg_gather *g, reg_gathered which, int link, const gather_tier *of, atn_kernel **out) {
    const gather_link *own = &GATHER_FACTS[which].chain[link];
    const atn_kernel *elder = g->kind[which].tier[0].kernel[link];
    atn_array *data = g->kind[gather_reads(which)].data;
    atn_status status =
        elder ? atn_kernel_twin(elder, out) : atn_kernel_make(g->device, own->kernel, ATN_SP, ATN_TRUSTED, out);
    if (status == ATN_OK)
        status = atn_kernel_give(*out, ATN_ARRAYS({"item", of->item}, {"place", of->place}), ATN_NOTHING);
    if (status == ATN_OK && own->has & DATA) status = atn_kernel_give(*out, ATN_ARRAYS({"data", data}), ATN_NOTHING);
    if (status == ATN_OK && own->has & SUM) status = atn_kernel_give(*out, ATN_ARRAYS({"sum", of->sum}), ATN_NOTHING);
    for (int k = 0; k < LEFT && status == ATN_OK; ++k)
        if (own->has & LEFT_BETWEEN[k].has)
            status = atn_kernel_give(*out, ATN_ARRAYS({LEFT_BETWEEN[k].name, g->left_between[k]}), ATN_NOTHING);
    return status == ATN_OK ? atn_kernel_plan(*out) : status;
}

static atn_status open_tier(reg_gather *g, reg_gathered which, size_t rows, gather_tier *out) {
    const gather_kind *of = &g->kind[which];
    out->rows = rows;
    atn_status status =
        atn_array_view_block(of->item, 0, 0, (int64_t)rows, (int64_t)GATHER_FACTS[which].item, &out->item);
    if (status == ATN_OK) status = atn_array_view_block(of->place, 0, 0, (int64_t)rows, REG_GATHER_PLACE, &out->place);
    if (status == ATN_OK)
        status = atn_array_view_block(of->sum, 0, 0, (int64_t)rows, (int64_t)GATHER_FACTS[which].sums, &out->sum);
    for (int k = 0; k < CHAIN && GATHER_FACTS[which].chain[k].kernel && status == ATN_OK; ++k)
        status = open_kernel(g, which, k, out, &out->kernel[k]);
    return status;
}

static atn_status open_kind(reg_gather *g, reg_gathered which) {
    gather_kind *out = &g->kind[which];
    atn_status status = make_arrays(g->device, g->clients, which, out);
    size_t rows = out->rows;
    for (int k = 0; k < TIERS && status == ATN_OK && (k == 0 || rows >= FEWEST_ROWS); ++k, rows /= TIER)
        status = open_tier(g, which, rows, &out->tier[k]);
    return status;
}

static void free_kind(gather_kind *own) {
    for (int k = TIERS - 1; k >= 0; --k) { /* elders last */
        for (int link = 0; link < CHAIN; ++link) atn_kernel_free(own->tier[k].kernel[link]);
        atn_array_free(own->tier[k].item);
        atn_array_free(own->tier[k].place);
        atn_array_free(own->tier[k].sum);
    }
    atn_array_free(own->data);
    atn_array_free(own->all);
    atn_array_free(own->item);
    atn_array_free(own->place);
    atn_array_free(own->sum);
}

static const char OWNER;

static void drop(atn_left *left) {
    reg_gather *g = (reg_gather *)left;
    for (int k = 0; k < REG_GATHERS; ++k) free_kind(&g->kind[k]);
    for (int k = 0; k < LEFT; ++k) atn_array_free(g->left_between[k]);
    atn_free(g->ctx, g->waiting);
    pthread_cond_destroy(&g->asked);
    pthread_mutex_destroy(&g->lock);
    atn_free(g->ctx, g);
}

static bool is_own(const reg_gather *g, reg_gathered which) { return GATHER_FACTS[which].lane % g->lanes == g->lane; }

static atn_status make(atn_device *device, int32_t clients, int32_t lane, int32_t lanes, reg_gather **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    reg_gather *g = atn_zalloc(ctx, sizeof *g);
    *out = NULL;
    if (!g) return ATN_ERR_MEMORY;
    g->left_over = (atn_left){.owner = &OWNER, .drop = drop};
    g->device = device;
    g->ctx = ctx;
    g->clients = clients;
    g->lane = lane;
    g->lanes = lanes;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->asked, NULL);
    g->waiting = atn_zalloc(ctx, (size_t)clients * sizeof *g->waiting);
    atn_status status = g->waiting ? ATN_OK : ATN_ERR_MEMORY;
    for (int k = 0; k < LEFT && status == ATN_OK; ++k)
        if (is_own(g, LEFT_BETWEEN[k].of))
            status = atn_array_create_matrix(device, LEFT_BETWEEN[k].type, (int64_t)left_rows(clients, k),
                                             (int64_t)LEFT_BETWEEN[k].columns, 0, &g->left_between[k]);
    for (int k = 0; k < REG_GATHERS && status == ATN_OK; ++k)
        if (is_own(g, (reg_gathered)k)) status = open_kind(g, (reg_gathered)k);
    if (status == ATN_OK)
        *out = g;
    else
        drop(&g->left_over);
    return status;
}

atn_status reg_gather_open(atn_device *device, int32_t clients, int32_t lane, int32_t lanes, reg_gather **out) {
    reg_gather *g = (reg_gather *)atn_device_take(device, &OWNER);
    if (g && (g->clients != clients || g->lane != lane || g->lanes != lanes)) {
        drop(&g->left_over);
        g = NULL;
    }
    *out = g;
    if (!g) return make(device, clients, lane, lanes, out);
    g->left = 0;
    for (int k = 0; k < REG_GATHERS; ++k) {
        g->kind[k].launches = g->kind[k].requests = g->kind[k].made = 0;
        g->kind[k].seconds = 0;
    }
    return ATN_OK;
}

void reg_gather_close(reg_gather *g) {
    if (!g) return;
    if (!g->broken) {
        atn_device_leave(g->device, &g->left_over);
        return;
    }
    (void)atn_queue_finish(atn_device_queue(g->device)); /* what was begun before it broke copies from its memory */
    drop(&g->left_over);
}
