/* Two scans of one shape. The angle between the two views is chosen to give the requested overlap. */
#include "sample/scanner.h"

#include "base/memory.h"

#include <math.h>

static const double PI = 3.141592653589793;
enum { PROBES = 3000, MEASURED = 20000, SIDE = SCANNER_SIDE };

/* ---- how much two views share ---- */

static double shared(scanner from, const scanner *other, int probes) {
    int both = 0;
    for (int k = 0; k < probes; ++k) {
        double ray[3], t, p[3];
        scanner_next(&from, ray, &t);
        for (int d = 0; d < 3; ++d) p[d] = from.at[d] + t * ray[d];
        both += scanner_sees(other, p);
    }
    return (1 - SCANNER_OUTLIERS) * both / probes;
}

/* The other view, as far from `view` around `axis` as leaves the overlap wanted. */
static double find_view(const scanner *from, const double view[3], const double axis[3], double wanted,
                        double other[3]) {
    double low = 0, high = PI, r[9];
    for (int k = 0; k < 14; ++k) {
        double angle = 0.5 * (low + high);
        atn_random unused;
        atn_random_seed(&unused, 0);
        scanner_rotation(axis, angle, r);
        scanner_turn(r, view, other);
        scanner sc = scanner_place(from->shape, other, &unused);
        if (shared(*from, &sc, PROBES) > wanted)
            low = angle;
        else
            high = angle;
    }
    scanner_rotation(axis, low, r);
    scanner_turn(r, view, other);
    return low;
}

atn_status atn_scans_make(atn_ctx *ctx, const atn_scans_settings *settings, atn_scans_progress *progress, void *user,
                          atn_scans *out) {
    *out = (atn_scans){.outliers = SCANNER_OUTLIERS};
    shape *s = atn_alloc(ctx, sizeof *s);
    float *squares = atn_alloc(ctx, 3 * sizeof(float[SIDE * SIDE])); /* of both scanners, and room to work */
    if (!s || !squares) {
        atn_free(ctx, squares);
        atn_free(ctx, s);
        return ATN_ERR_MEMORY;
    }
    atn_random random;
    double view[3], other[3], any[3], axis[3];
    scanner_session work = {
        .ctx = ctx, .size = settings->size, .noise = settings->noise, .progress = progress, .user = user, .share = 0.5};
    atn_random_seed(&random, settings->seed);
    sample_shape_make(s, &random);
    sample_shape_direction(&random, view);
    do sample_shape_direction(&random, any);
    while (fabs(view[0] * any[0] + view[1] * any[1] + view[2] * any[2]) > 0.9);
    scanner_cross(view, any, axis);
    scanner_normalise(axis);
    scanner first = scanner_place(s, view, &random);
    first.from = squares;
    scanner_look_around(&first, squares + 2 * SIDE * SIDE);
    out->views_deg = find_view(&first, view, axis, settings->overlap, other) * 180 / PI;
    scanner second = scanner_place(s, other, &random);
    second.from = squares + SIDE * SIDE;
    scanner_look_around(&second, squares + 2 * SIDE * SIDE);
    out->overlap = shared(first, &second, settings->size < MEASURED ? MEASURED / 4 : MEASURED);
    scanner_draw_pose(&random, settings->turn_deg, out->transform);
    atn_status status = scanner_scan(&work, &first, out->transform, &out->source);
    work.from = 0.5;
    if (status == ATN_OK) status = scanner_scan(&work, &second, NULL, &out->target);
    if (status != ATN_OK) atn_scans_free(out);
    atn_free(ctx, squares);
    atn_free(ctx, s);
    return status;
}

void atn_scans_free(atn_scans *scans) {
    atn_cloud_free(scans->source);
    atn_cloud_free(scans->target);
    *scans = (atn_scans){0};
}
