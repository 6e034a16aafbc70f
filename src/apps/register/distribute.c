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

/* Bytes that a point takes, of either cloud, while all of a slab are in blocks, and as it was read: measured. */
enum { SLAB = 105, READ = 24 };

size_t reg_distributed_bytes(atn_device *device, const atn_register_settings *settings, size_t sample,
                             const reg_distribution *d) {
    size_t count[2], ranks = (size_t)d->ranks->count;
    for (int k = 0; k < 2; ++k) count[k] = d->part[k]->total < sample ? d->part[k]->total : sample;
    return atn_register_bytes(device, settings, count[0], count[1]) +
           (d->part[0]->total + d->part[1]->total) / ranks * SLAB + (d->keeps ? d->part[0]->total / ranks * READ : 0);
}

/* What the caller allows is for each rank. */
static atn_status check_memory(atn_device *device, const atn_register_settings *settings, size_t sample,
                               const reg_distribution *d) {
    size_t needed = reg_distributed_bytes(device, settings, sample, d);
    if (!settings->most_bytes || needed <= settings->most_bytes) return ATN_OK;
    return atn_fail(d->ranks->ctx, ATN_ERR_MEMORY,
                    "register: %.3g MB are needed on each of %d ranks, %.3g MB may be used; use more ranks, or fewer "
                    "points (a voxel filter)",
                    (double)needed / 1e6, (int)d->ranks->count, (double)settings->most_bytes / 1e6);
}

atn_status reg_register_distributed(atn_device *device, const atn_register_settings *settings, size_t sample,
                                    reg_distribution *d, atn_register_result *out) {
    atn_status status = check_memory(device, settings, sample, d);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = cloud_part_check_weights(d->part[k]);
    status = atn_ranks_agree(d->ranks, status);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = cloud_part_sample(d->part[k], sample, &d->sample[k]);
    if (status == ATN_OK)
        status = reg_register_ranks(&device, 1, d->sample[0], d->sample[1], settings, d->ranks, d, false, out);
    status = atn_ranks_agree(d->ranks, status);
    return status == ATN_OK ? join_peaks(d, out) : status;
}
