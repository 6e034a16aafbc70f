/* --voxel SIZE|auto, of all verbs that take it. */
#include "base/number.h"
#include "cli/register.h"
#include "cloud/cloud.h"

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
