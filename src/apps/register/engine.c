/* Kernel handles, made when first wanted, bound and run; each call is timed. */
#include "apps/register/engine.h"
#include "apps/register/where.h"

#include "base/clock.h"
#include "base/compare.h"
#include "base/memory.h"
#include "device/facts.h"
#include "kernel/ahead.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    bool trusted; /* its index arrays are made here */
    bool sums;    /* over soft pairs: with 16 bits, to a unit of a half is near enough */
    int within;   /* the work that its time belongs to; 0: its own */
    bool modest;  /* takes little time: on hosts, what came with the library serves */
    enum {
        LATER,
        AHEAD,
        AHEAD_THERE
    } ahead;    /* nearly every registration takes it, or each whose points are sorted there */
    bool sized; /* how it is computed depends on how many points there are */
} TABLE[REG_WORKS] = {
    [REG_MOVE] = {"move", false, false, 0, true, LATER, false},
    [REG_ESTEP] = {.name = "estep", .sums = true},
    [REG_ESTEP_NEAR] = {.name = "estep_near", .trusted = true, .sums = true},
    [REG_ESTEP_COMPAT] = {.name = "estep_compat", .sums = true},
    [REG_NEAREST] = {"nearest", true, false, 0, false, AHEAD, false},
    [REG_NEAREST_ALL] = {"nearest_all", true, false, REG_NEAREST, false, LATER, true},
    [REG_AROUND] = {"around", true, false, 0, false, AHEAD, false},
    [REG_AROUND_ALL] = {"around_all", true, false, REG_AROUND, false, LATER, true},
    [REG_SHAPES] = {"shapes", true, false, 0, false, AHEAD, false},
    [REG_INHERIT] = {"inherit", true, false, 0, true, AHEAD, false},
    [REG_WEIGHTS] = {"polish_weights", true, false, 0, false, AHEAD, false},
    [REG_WEIGHTS_ALL] = {"polish_all", true, false, REG_NEAREST, false, LATER, true},
    [REG_SAMPLE] = {"polish_sample", true, false, 0, true, AHEAD, false},
    [REG_SUMS] = {"polish_sums", true, false, 0, false, LATER, true},
    [REG_TERMS] = {"polish_terms", true, false, 0, true, AHEAD, false},
    [REG_COPIES] = {"polish_copies", true, false, REG_COVARIANCE, true, LATER, false},
    [REG_MSTEP] = {.name = "mstep"},
    [REG_SPREAD] = {.name = "spread"},
    [REG_CURVE_LOAD] = {"curve_load", true, false, REG_READ, false, AHEAD_THERE, false},
    [REG_CURVE_LOAD64] = {"curve_load64", true, false, REG_READ, false, AHEAD_THERE, false},
    [REG_CURVE_SUMS] = {"curve_sums", true, false, REG_READ, false, AHEAD_THERE, false},
    [REG_CURVE_KEYS] = {"curve_keys", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_SORT_COUNT] = {"sort_count", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_SORT_START] = {"sort_start", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_SORT_SCATTER] = {"sort_scatter", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_CURVE_WORDS] = {"curve_words", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_CURVE_GATHER] = {"curve_gather", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_CURVE_SURVEY] = {"curve_survey", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_CURVE_UNITE] = {"curve_unite", true, false, REG_ORDER, false, AHEAD_THERE, false},
    [REG_CURVE_CROWDS] = {"curve_crowds", true, false, REG_LEVELS, false, AHEAD_THERE, false},
    [REG_CURVE_CELLS] = {"curve_cells", true, false, REG_LEVELS, false, AHEAD_THERE, false},
    [REG_CURVE_MERGE] = {"curve_merge", true, false, REG_LEVELS, false, AHEAD_THERE, false},
    [REG_SIDE_FILL] = {"side_fill", true, false, REG_LEVELS, false, AHEAD_THERE, false},
    [REG_SIDE_BOXES] = {"side_boxes", true, false, REG_LEVELS, false, AHEAD_THERE, false},
    [REG_SIDE_SPACING] = {"side_spacing", true, false, REG_SPACING, false, AHEAD_THERE, false},
    [REG_SIDE_TAKE] = {"side_take", true, false, REG_LEVELS, false, AHEAD_THERE, false},
    [REG_NEAR_BOXES] = {"near_boxes", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_GROUPS] = {"near_groups", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_WIDE] = {"near_wide", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_PARTS] = {"near_parts", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_PART_BOXES] = {"near_part_boxes", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_COARSE_COUNT] = {"near_coarse_count", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_COARSE_FILL] = {"near_coarse_fill", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_CANDIDATE_COUNT] = {"near_candidate_count", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_CANDIDATES] = {"near_candidates", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_TEST] = {"near_test", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_PACK] = {"near_pack", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_BEGIN] = {"near_begin", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_START] = {"near_start", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_NEAR_TOTAL] = {"near_total", true, false, REG_LISTS, false, AHEAD_THERE, false},
    [REG_BUILD] = {.name = "building kernels, first run only"},
    [REG_READ] = {.name = "copy and check points"},
    [REG_ORDER] = {.name = "sort"},
    [REG_SPACING] = {.name = "spacing"},
    [REG_LEVELS] = {.name = "decimate and cut into blocks"},
    [REG_UPLOAD] = {.name = "points to the device"},
    [REG_FETCH] = {.name = "points and partners to the host"},
    [REG_LISTS] = {.name = "near lists"},
    [REG_FIT] = {.name = "fit"},
    [REG_COVARIANCE] = {.name = "covariance"},
    [REG_SEARCH] = {.name = "search for a start"},
    [REG_JUDGE] = {.name = "verdict"},
    [REG_MEASURE] = {.name = "rmse and overlap"},
    [REG_REFINE] = {.name = "all points, distributed"},
};

const char *reg_work_name(int work) { return TABLE[work].name; }

void reg_timed(reg_engine *e, int work, double since) {
    ++e->calls[work];
    e->seconds[work] += atn_clock_seconds() - since;
}

static double all_timed(const reg_engine *e) {
    double sum = 0;
    for (int k = 0; k < REG_WORKS; ++k) sum += e->seconds[k];
    return sum;
}

reg_span reg_begin(const reg_engine *e) { return (reg_span){atn_clock_seconds(), all_timed(e)}; }

void reg_end(reg_engine *e, int work, reg_span span) {
    ++e->calls[work];
    e->seconds[work] += atn_clock_seconds() - span.since - (all_timed(e) - span.timed);
}

/* Kernels stay with the device from call to call: making them ready takes longer than small clouds do. */
struct reg_kernels {
    atn_left left;
    const atn_ctx *ctx;
    atn_device *device;
    atn_kernel *kernel[REG_KERNELS];
    bool meanwhile; /* those that came with the library serve: */
    double spent;   /* seconds, so far, of which the cache */
    double unsaved; /* does not know of these */
    char set[64];   /* what would be built */
};

static void drop_kernels(atn_left *left) {
    struct reg_kernels *k = (struct reg_kernels *)left;
    if (k->unsaved > 0) atn_ahead_spend(k->device, k->set, k->unsaved);
    for (int n = 0; n < REG_KERNELS; ++n) atn_kernel_free(k->kernel[n]);
    atn_free(k->ctx, k);
}

static const void *owner_of(const reg_engine *e) {
    static const char OWNER[2][3];
    return &OWNER[e->settings->reproducible][e->type == ATN_DP ? 2 : e->settings->precision != 16];
}

static atn_status take_kernels(reg_engine *e) {
    struct reg_kernels *k = (struct reg_kernels *)atn_device_take(e->device, owner_of(e));
    if (!k && !(k = atn_zalloc(e->ctx, sizeof *k))) return ATN_ERR_MEMORY;
    k->left = (atn_left){.owner = owner_of(e), .drop = drop_kernels};
    k->ctx = e->ctx;
    k->device = e->device;
    memcpy(e->kernel, k->kernel, sizeof e->kernel);
    e->kernels = k;
    return ATN_OK;
}

static void leave_kernels(reg_engine *e) {
    if (!e->kernels) return;
    memcpy(e->kernels->kernel, e->kernel, sizeof e->kernel);
    atn_device_leave(e->device, &e->kernels->left);
}

/* One array, so that both results are read back at once. */
static atn_status make_sums(reg_engine *e) {
    atn_status status = atn_array_create_vector(e->device, ATN_DP, REG_MOMENTS + REG_TOTALS, &e->sums);
    if (status == ATN_OK) status = reg_array_open(e->sums);
    if (status == ATN_OK) status = atn_array_view_range(e->sums, 0, REG_MOMENTS, &e->moment);
    return status == ATN_OK ? atn_array_view_range(e->sums, REG_MOMENTS, REG_TOTALS, &e->total) : status;
}

bool reg_is_remote(atn_device *device) { return !atn_backend_facts_of(atn_device_get_info(device))->threads; }

atn_status reg_engine_open(atn_device *device, const atn_register_settings *settings, reg_engine *out) {
    bool cpu = atn_device_get_info(device)->cpu;
    *out = (reg_engine){.device = device,
                        .ctx = atn_device_ctx(device),
                        .settings = settings,
                        .type = settings->precision == 64 ? ATN_DP : ATN_SP,
                        .block = cpu ? REG_HOST_BLOCK : REG_LARGEST_BLOCK,
                        .remote = reg_is_remote(device),
                        .wait = settings->profile};
    atn_status status = take_kernels(out);
    if (status == ATN_OK) status = make_sums(out);
    if (status != ATN_OK) reg_engine_close(out);
    return status;
}

/* On a host, two vectors: small blocks leave out most of the far pairs, and their lists are short where points are few.
 * As small ones where all pairs are evaluated: samples are made of blocks, and the more there are the better. */
size_t reg_engine_block(const reg_engine *e, size_t points) {
    enum { FEW = 200000, LEAST = 8 };
    const atn_device_info *info = atn_device_get_info(e->device);
    size_t two = 2 * (size_t)info->simd;
    if (e->remote && reg_all_at_once(info, (double)points * (double)points)) return REG_HOST_BLOCK;
    if (e->block != REG_HOST_BLOCK || points > FEW || two > REG_HOST_BLOCK) return e->block;
    return two < LEAST ? LEAST : two;
}

void reg_engine_reset(reg_engine *e, const atn_register_settings *settings) {
    e->settings = settings;
    for (int k = 0; k < 2; ++k) e->near[k].rows = e->near[k].columns = NULL;
    e->evaluated = e->pairs = 0;
    e->truncated = false;
    memset(e->calls, 0, sizeof e->calls);
    memset(e->seconds, 0, sizeof e->seconds);
}

void reg_engine_forget(reg_engine *e, const reg_side *side) {
    for (int k = 0; k < 2; ++k)
        if (e->near[k].rows == side || e->near[k].columns == side) e->near[k].rows = e->near[k].columns = NULL;
}

void reg_engine_close(reg_engine *e) {
    if (!e->device) return;
    leave_kernels(e);
    atn_array_free(e->moment);
    atn_array_free(e->total);
    atn_array_free(e->sums);
    for (int k = 0; k < 2; ++k) reg_near_free(&e->near[k], e->ctx);
    *e = (reg_engine){0};
}

atn_status reg_engine_kernel(reg_engine *e, reg_kernel which, atn_kernel **out) {
    atn_status status = ATN_OK;
    if (!e->kernel[which]) {
        double since = atn_clock_seconds();
        int how = (TABLE[which].trusted ? ATN_TRUSTED : 0) | (TABLE[which].modest ? ATN_MODEST : 0);
        if (how && !TABLE[which].sized) how |= ATN_ANY_SIZE;
        if (e->settings->reproducible) how |= ATN_REPRODUCIBLE;
        if (TABLE[which].sums && e->settings->precision == 16) how |= ATN_TO_A_HALF;
        if (e->kernels->meanwhile) how |= ATN_MEANWHILE;
        status = atn_kernel_make(e->device, TABLE[which].name, e->type, how, &e->kernel[which]);
        reg_timed(e, REG_BUILD, since);
    }
    *out = e->kernel[which];
    return status;
}

/* On a host, registrations take up to twice as long with kernels that came with the library, and building others takes
 * seconds, for which a process of one registration need not wait: they serve until that happens often. Steps over all
 * pairs are long, and a profile is of kernels as all others have them. */
static bool may_wait(const reg_engine *e) {
    static const double ENOUGH = 2; /* seconds, of all processes */
    const atn_register_settings *s = e->settings;
    bool near = (s->method == ATN_REGISTER_EM_ICP || s->method == ATN_REGISTER_GICP) && !s->dense && !s->compat;
    bool alone = e->single && !e->ranks && !e->helpers;
    if (!near || !alone || e->remote || s->reproducible || s->profile) return false;
    if (!e->kernels->meanwhile) e->kernels->spent = atn_ahead_spent(e->device, e->kernels->set);
    return e->kernels->spent < ENOUGH;
}

/* From now on they are built. */
static void end_meanwhile(reg_engine *e) {
    for (int k = 0; k < REG_KERNELS && e->kernels->meanwhile; ++k) {
        atn_kernel_free(e->kernel[k]);
        e->kernel[k] = NULL;
    }
    e->kernels->meanwhile = false;
}

void reg_engine_took(reg_engine *e, double seconds) {
    if (!e->kernels->meanwhile) return;
    e->kernels->spent += seconds;
    e->kernels->unsaved += seconds;
}

static atn_status build_ahead(reg_engine *e, bool sorts) {
    atn_kernel *kernels[REG_KERNELS];
    int32_t n = 0;
    atn_status status = ATN_OK;
    for (int k = 0; k < REG_KERNELS && status == ATN_OK; ++k)
        if (TABLE[k].ahead == AHEAD || (sorts && TABLE[k].ahead == AHEAD_THERE))
            status = reg_engine_kernel(e, (reg_kernel)k, &kernels[n++]);
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = atn_ahead_build(e->device, e->kernels->set, kernels, n);
    e->seconds[REG_BUILD] += atn_clock_seconds() - since;
    return status;
}

atn_status reg_engine_build_ahead(reg_engine *e, bool sorts) {
    struct reg_kernels *all = e->kernels;
    bool used = e->kernel[REG_NEAREST] || e->kernel[REG_SHAPES];
    if (used && !all->meanwhile) return ATN_OK;
    snprintf(all->set, sizeof all->set, "register %d %d %d", (int)e->type, e->settings->reproducible, sorts);
    bool due = atn_ahead_is_due(e->device, all->set);
    if (due && may_wait(e)) {
        all->meanwhile = true;
        return ATN_OK;
    }
    end_meanwhile(e);
    return due ? build_ahead(e, sorts) : ATN_OK;
}

atn_status reg_engine_plan(reg_engine *e, atn_kernel *kernel) {
    double since = atn_clock_seconds();
    atn_status status = atn_kernel_plan(kernel);
    e->seconds[REG_BUILD] += atn_clock_seconds() - since;
    return status;
}

atn_status reg_engine_run(reg_engine *e, reg_kernel which, const reg_binding *bound, size_t count) {
    atn_kernel *kernel;
    atn_status status = atn_check_cancel(e->ctx);
    if (status == ATN_OK) status = reg_engine_kernel(e, which, &kernel);
    if (status == ATN_OK) status = atn_kernel_give(kernel, bound, count, ATN_NOTHING);
    if (status == ATN_OK) status = reg_engine_plan(e, kernel); /* building is no time of the kernel's */
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = atn_kernel_run(kernel);
    if (status == ATN_OK && e->wait) status = atn_queue_finish(atn_device_queue(e->device));
    reg_timed(e, TABLE[which].within ? TABLE[which].within : (int)which, since);
    return status;
}
#define COUNT(a) (sizeof(a) / sizeof *(a))

static atn_status give_pose(atn_kernel *kernel, const geom_pose *pose) {
    const double *a = pose->a, *b = pose->b;
    return atn_kernel_give(kernel, ATN_NOTHING,
                           ATN_NUMBERS({"a00", a[0]}, {"a01", a[1]}, {"a02", a[2]}, {"a10", a[3]}, {"a11", a[4]},
                                       {"a12", a[5]}, {"a20", a[6]}, {"a21", a[7]}, {"a22", a[8]}, {"b0", b[0]},
                                       {"b1", b[1]}, {"b2", b[2]}));
}

atn_status reg_engine_run_given(reg_engine *e, reg_kernel which, const geom_pose *pose, const reg_given *given,
                                size_t n, const reg_binding *bound, size_t count) {
    atn_kernel *kernel;
    atn_status status = reg_engine_kernel(e, which, &kernel);
    if (status == ATN_OK && pose) status = give_pose(kernel, pose);
    if (status == ATN_OK) status = atn_kernel_give(kernel, ATN_NOTHING, given, n);
    return status == ATN_OK ? reg_engine_run(e, which, bound, count) : status;
}

atn_status reg_bring(reg_engine *e, reg_side *side) {
    double since = atn_clock_seconds();
    if (side->w) return ATN_OK;
    atn_status status = reg_side_unpark(side);
    reg_timed(e, REG_UPLOAD, since);
    return status;
}

atn_status reg_place(reg_engine *e, reg_side *side, const geom_pose *pose) {
    if (side->is_placed && atn_same_bits(&side->placed, pose, sizeof *pose)) return ATN_OK;
    atn_status status = reg_bring(e, side);
    if (status != ATN_OK) return status;
    reg_binding bound[] = {{"px", side->point[0]}, {"py", side->point[1]}, {"pz", side->point[2]},
                           {"mx", side->moved[0]}, {"my", side->moved[1]}, {"mz", side->moved[2]}};
    status = reg_engine_run_given(e, REG_MOVE, pose, NULL, 0, bound, COUNT(bound));
    side->is_placed = status == ATN_OK;
    side->placed = *pose;
    return status;
}
