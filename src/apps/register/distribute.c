/* Samples of both clouds, registered by all ranks together; distribute_refine.c does the rest from within. */
#include "apps/register/distribute.h"

#include "apps/register/problem.h"
#include "apps/register/share.h"
#include "cloud/part.h"

bool reg_can_distribute(const atn_register_settings *s) {
    return reg_is_polished(s) && s->transform == ATN_TRANSFORM_RIGID && !s->match_species && !s->dense &&
           !s->reproducible && !(s->outlier_distance > 0);
}

void reg_distribution_free(reg_distribution *d) {
    for (int k = 0; k < 2; ++k) {
        atn_cloud_free(d->sample[k]);
        d->sample[k] = NULL;
    }
}

/* Of the rank that has most. */
static atn_status join_peaks(reg_distribution *d, atn_register_result *out) {
    double peak = -(double)out->peak_bytes;
    atn_status status = atn_ranks_least(d->ranks, ATN_OK, &peak, 1);
    out->peak_bytes = (size_t)-peak;
    return status;
}

atn_status reg_register_distributed(atn_device *device, const atn_register_settings *settings, size_t sample,
                                    reg_distribution *d, atn_register_result *out) {
    atn_status status = ATN_OK;
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = cloud_part_sample(d->part[k], sample, &d->sample[k]);
    if (status == ATN_OK)
        status = reg_register_ranks(&device, 1, d->sample[0], d->sample[1], settings, d->ranks, d, out);
    status = atn_ranks_agree(d->ranks, status);
    return status == ATN_OK ? join_peaks(d, out) : status;
}
