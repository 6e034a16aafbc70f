/* Radar scenes of steep terrain: interferograms with layover and shadow, their correlation, and the truth. */
#ifndef ATN_BENCH_LAYOVER_H
#define ATN_BENCH_LAYOVER_H

#include "base/context.h"

typedef struct layover_settings {
    int64_t side;
    uint64_t seed;
    int hills;
    double steep; /* slope of the hills, about; 1 is layover on the side that faces the radar */
    double noise; /* thermal, relative to the signal */
    double turn;  /* radians of phase for a pixel of height */
    int looks;    /* averaged */
} layover_settings;

/* Owns its arrays, side x side: layover_free. */
typedef struct layover {
    float *psi, *correlation;
    double *truth;
    uint8_t *known; /* the pixel sees one place on the ground: the truth holds */
} layover;

atn_status layover_make(const atn_ctx *ctx, const layover_settings *settings, layover *out);
void layover_free(const atn_ctx *ctx, layover *scene);

#endif
