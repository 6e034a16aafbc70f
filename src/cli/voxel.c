/* The option --voxel SIZE|auto, for all verbs that accept it. */
#include "base/memory.h"
#include "base/number.h"
#include "cli/register.h"
#include "cloud/cloud.h"
#include "geom/nth.h"

#include <math.h>
#include <string.h>

atn_status atn_cli_voxel_read(atn_cli_call *call, double *edge) {
    const char *text = atn_cli_value(call, "voxel");
    char *end;
    *edge = 0;
    if (!text || strcmp(text, "auto") == 0) return ATN_OK;
    *edge = atn_number_read(text, &end);
    if (end == text || *end || !(*edge > 0) || !isfinite(*edge))
        return atn_cli_misuse(call, "--voxel cannot be '%s'; it takes an edge above 0, or auto", text);
    return ATN_OK;
}

atn_status atn_cli_voxel(const atn_cloud *cloud, double *edge, atn_cloud **out) {
    *out = NULL;
    atn_status status = *edge > 0 ? ATN_OK : atn_cloud_voxel_edge(cloud, edge);
    if (!status) status = atn_cloud_voxels(cloud, *edge, out);
    if (!status && !(cloud->roles & ROLE_BIT(ROLE_WEIGHT))) cloud_drop_role(*out, ROLE_WEIGHT);
    return status;
}

/* Voxels with at least this many points, a tenth of the size of voxels that contain half of all points: smaller ones
 * contain outliers, and would weigh as much as the others. */
static atn_status keep_solid(const atn_cloud *voxels, atn_cloud **out) {
    const atn_ctx *ctx = voxels->ctx;
    const float *weight = atn_cloud_weights(voxels);
    geom_weighed *list = atn_alloc(ctx, voxels->count * sizeof *list);
    uint32_t *kept = atn_alloc(ctx, voxels->count * sizeof *kept);
    atn_status status = list && kept ? ATN_OK : ATN_ERR_MEMORY;
    size_t count = 0;
    for (size_t k = 0; k < voxels->count && !status; ++k)
        list[k] = (geom_weighed){.number = (double)weight[k], .weight = (double)weight[k]};
    double least = status ? 0 : GEOM_SPARSE * geom_weighed_median(list, voxels->count);
    for (size_t k = 0; k < voxels->count && !status; ++k)
        if (!((double)weight[k] < least)) kept[count++] = (uint32_t)k;
    if (!status) status = cloud_select(voxels, kept, count, out);
    atn_free(ctx, list);
    atn_free(ctx, kept);
    return status;
}

enum { FEWEST = 20 }; /* voxels that tell a pose */

atn_status atn_cli_voxel_solid(const atn_cloud *cloud, double *edge, atn_cloud **out) {
    atn_cloud *all = NULL;
    *out = NULL;
    atn_status status = *edge > 0 ? ATN_OK : atn_cloud_voxel_edge(cloud, edge);
    if (!status) status = atn_cloud_voxels(cloud, *edge, &all);
    if (!status) status = keep_solid(all, out);
    atn_cloud_free(all);
    if (!status && (*out)->count < FEWEST && cloud->count >= FEWEST) {
        status = atn_fail(cloud->ctx, ATN_ERR_INPUT,
                          "--voxel: an edge of %.3g leaves %zu of %zu points, too few to register; use a shorter one",
                          *edge, (*out)->count, cloud->count);
        atn_cloud_free(*out);
        *out = NULL;
    }
    if (!status && !(cloud->roles & ROLE_BIT(ROLE_WEIGHT))) cloud_drop_role(*out, ROLE_WEIGHT);
    return status;
}
