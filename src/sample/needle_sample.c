/* Putting the needle sample together: the tube of the gauge, its mesh, a pose, what the beams hit, scan by scan. */
#include "sample/needle_parts.h"

#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793, CUBE[3] = NEEDLE_CUBE;
enum { FEWEST = 8 };

const atn_needle_sample_settings ATN_NEEDLE_SAMPLE_USUAL = {
    .gauge = 25, .bevel_deg = 22, .tilt_deg = 15, .roll_deg = 45, .shape = {128, 1024, 512}, .noise = 1};

/* Regular walls, nominal: outer and inner diameter in mm. */
static const struct {
    int32_t gauge;
    double outer, inner;
} GAUGES[] = {{20, 0.908, 0.603}, {21, 0.819, 0.514}, {22, 0.718, 0.413}, {23, 0.642, 0.337}, {24, 0.566, 0.311},
              {25, 0.515, 0.260}, {26, 0.464, 0.260}, {27, 0.413, 0.210}, {28, 0.362, 0.184}, {29, 0.337, 0.184},
              {30, 0.312, 0.159}, {31, 0.261, 0.133}, {32, 0.235, 0.108}, {33, 0.210, 0.108}, {34, 0.184, 0.082}};

bool atn_needle_gauge(int32_t gauge, double *outer, double *inner) {
    for (size_t k = 0; k < sizeof GAUGES / sizeof *GAUGES; ++k)
        if (GAUGES[k].gauge == gauge) {
            *outer = GAUGES[k].outer;
            *inner = GAUGES[k].inner;
            return true;
        }
    return false;
}

static bool within(double value, double low, double high) { return value >= low && value <= high; }

static atn_status check(const atn_ctx *ctx, const atn_needle_sample_settings *s, needle_truth *truth) {
    if (!atn_needle_gauge(s->gauge, &truth->outer, &truth->inner))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: there is no gauge %d; there are 20 to 34", s->gauge);
    if (!within(s->bevel_deg, 5, 89))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: a bevel of %g degrees; it must be from 5 to 89", s->bevel_deg);
    if (s->bend != 0 && !within(s->bend, 5, 1e9))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: a bending radius of %g mm; it must be 5 or more, or 0 for a straight needle", s->bend);
    if (!within(s->tilt_deg, 0, 30) || !within(s->roll_deg, 0, 180) || !within(s->noise, 0, 4) ||
        !within(s->missing, 0, 0.9))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: tilt is 0 to 30 degrees, roll 0 to 180, noise 0 to 4, missing 0 to 0.9");
    for (int d = 0; d < 3; ++d) {
        if (s->shape[d] < FEWEST || s->shape[d] > 1 << 16)
            return atn_fail(ctx, ATN_ERR_INPUT,
                            "needle: a volume of %lldx%lldx%lld; scans, rows and columns are %d to "
                            "65536",
                            (long long)s->shape[0], (long long)s->shape[1], (long long)s->shape[2], FEWEST);
        truth->spacing[d] = CUBE[d] / (double)s->shape[2 - d];
    }
    truth->bevel_length = truth->outer / tan(s->bevel_deg * PI / 180);
    if (truth->bevel_length > CUBE[2] - 0.4)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "needle: the bevel would be %.2f mm long, the scan is 3; a steeper bevel or "
                        "a thinner needle fits",
                        truth->bevel_length);
    return ATN_OK;
}

static atn_status copy_mesh(const atn_ctx *ctx, const needle_mesh *from, needle_mesh *to) {
    size_t points = from->vertices * 3 * sizeof(double), normals = from->triangles * 9 * sizeof(double);
    *to = (needle_mesh){.vertices = from->vertices, .triangles = from->triangles, .triangle = from->triangle};
    to->position = atn_alloc(ctx, points);
    to->normals = atn_alloc(ctx, normals);
    if (!to->position || !to->normals) return ATN_ERR_MEMORY;
    memcpy(to->position, from->position, points);
    memcpy(to->normals, from->normals, normals);
    return ATN_OK;
}

/* As many as asked for, each scan as likely; the first and the last stay. */
static void draw_missing(const atn_needle_sample_settings *s, atn_random *random, bool *missing) {
    size_t left = (size_t)s->shape[0] - 2, wanted = (size_t)lround(s->missing * (double)left);
    for (size_t k = 1; k + 1 < (size_t)s->shape[0]; ++k, --left)
        if (atn_random_below(random, left) < wanted) missing[k] = true, --wanted;
}

typedef struct session {
    atn_ctx *ctx;
    const atn_needle_sample_settings *settings;
    atn_needle_sample_progress *progress;
    void *user;
} session;

static atn_status draw_scans(const session *s, needle_optics *optics, atn_needle_sample *out) {
    size_t frames = (size_t)s->settings->shape[0], frame = (size_t)(s->settings->shape[1] * s->settings->shape[2]), all;
    if (!atn_size_mul(frames, frame, &all)) return atn_fail_memory(s->ctx, SIZE_MAX, "scans");
    unsigned char *pixels = atn_zalloc(s->ctx, all);
    atn_status status = pixels ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < frames && status == ATN_OK; ++k) {
        if (!out->missing[k]) needle_scan_draw(optics, k, pixels + k * frame);
        if (s->progress) s->progress(s->user, (double)(k + 1) / (double)frames);
        status = atn_check_cancel(s->ctx);
    }
    if (status == ATN_OK)
        status = atn_volume_create(s->ctx, s->settings->shape, 8, pixels, out->truth.spacing, &out->volume);
    atn_free(s->ctx, pixels);
    return status;
}

static atn_status scan(const session *s, atn_random *random, atn_needle_sample *out) {
    needle_mesh placed;
    needle_tissue tissue;
    needle_map map = {0};
    needle_optics *optics = NULL;
    atn_status status = copy_mesh(s->ctx, &out->mesh, &placed);
    if (status == ATN_OK) {
        needle_place(s->settings, random, &placed, &out->truth, &tissue);
        status = needle_map_make(s->ctx, &placed, out->truth.spacing, s->settings->shape, &map);
    }
    for (size_t k = 0; k < map.columns * map.lines && status == ATN_OK && s->settings->no_needle; ++k)
        map.depth[k] = INFINITY;
    if (s->settings->no_needle) out->truth.tip_in_scan = out->truth.bevel_visible = false;
    if (status == ATN_OK) status = needle_optics_make(s->ctx, s->settings, &tissue, &map, out->truth.spacing, &optics);
    if (status == ATN_OK) {
        draw_missing(s->settings, random, out->missing);
        status = draw_scans(s, optics, out);
    }
    needle_optics_free(optics);
    needle_map_free(s->ctx, &map);
    placed.triangle = NULL; /* the model's */
    needle_mesh_free(s->ctx, &placed);
    return status;
}

atn_status atn_needle_sample_make(atn_ctx *ctx, const atn_needle_sample_settings *settings,
                                  atn_needle_sample_progress *progress, void *user, atn_needle_sample *out) {
    const session work = {.ctx = ctx, .settings = settings, .progress = progress, .user = user};
    atn_random random;
    *out = (atn_needle_sample){.ctx = ctx};
    atn_random_seed(&random, settings->seed);
    atn_status status = check(ctx, settings, &out->truth);
    if (status == ATN_OK) status = needle_mesh_make(ctx, settings, &out->truth, &out->mesh);
    if (status == ATN_OK) {
        out->missing = atn_zalloc(ctx, (size_t)settings->shape[0] * sizeof *out->missing);
        status = out->missing ? scan(&work, &random, out) : ATN_ERR_MEMORY;
    }
    if (status != ATN_OK) atn_needle_sample_free(out);
    return status;
}

void atn_needle_sample_free(atn_needle_sample *sample) {
    if (!sample->ctx) return;
    needle_mesh_free(sample->ctx, &sample->mesh);
    atn_volume_free(sample->volume);
    atn_free(sample->ctx, sample->missing);
    *sample = (atn_needle_sample){0};
}
