/* A phase as read from a file: its range, whether it is already unwrapped, freeing it. */
#include "cli/unwrap.h"

#include "base/memory.h"

#include <math.h>

static const double PI = 3.141592653589793;

size_t unwrap_value_bytes(const unwrap_job *job) { return job->options.bits == 64 ? sizeof(double) : sizeof(float); }

void unwrap_phase_free(const unwrap_job *job, unwrap_phase *phase) {
    atn_free(job->call->ctx, phase->value);
    atn_free(job->call->ctx, phase->modulation);
    atn_free(job->call->ctx, phase->intensity);
    atn_free(job->call->ctx, phase->zernike);
    *phase = (unwrap_phase){0};
}

double unwrap_full_scale(const atn_image_info *info) { return info->whole ? ldexp(1, info->bits) - 1 : 0; }

void unwrap_phase_put(const unwrap_job *job, unwrap_phase *phase, size_t k, double value) {
    if (job->options.bits == 64)
        ((double *)phase->value)[k] = value;
    else
        ((float *)phase->value)[k] = (float)value;
    if (!isfinite(value)) return;
    if (value < phase->low) phase->low = value;
    if (value > phase->high) phase->high = value;
}

bool unwrap_is_surface(const unwrap_job *job, const unwrap_phase *phase) {
    static const double ROUNDED = 0.1; /* multiples of 2 pi: numbers of few bits may exceed one a little */
    return !job->rewrap && (phase->heights || phase->high - phase->low > 2 * PI * (1 + ROUNDED));
}
