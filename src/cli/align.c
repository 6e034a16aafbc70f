/* attune register A B C ..., or a folder: many scans into one frame. */
#include "cli/align.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>
#include <sys/stat.h>

bool atn_cli_align_wanted(const atn_cli_call *call) {
    struct stat info;
    for (size_t k = 0; k < call->n_operands; ++k)
        if (stat(call->operands[k], &info) == 0 && S_ISDIR(info.st_mode)) return true;
    return call->n_operands > 2;
}

/* What has a meaning for two clouds only. */
static atn_status check(atn_cli_call *call) {
    static const char *const PAIR[] = {"init", "compat", "profile", "distribute"};
    const char *transform = atn_cli_value(call, "transform");
    for (size_t k = 0; k < sizeof PAIR / sizeof *PAIR; ++k)
        if (atn_cli_has(call, PAIR[k])) return atn_cli_misuse(call, "--%s is for two clouds, not for many", PAIR[k]);
    if (transform && strcmp(transform, "rigid") != 0)
        return atn_cli_misuse(call, "--transform %s is for two clouds; multiway registration is rigid", transform);
    struct stat info;
    const char *output = atn_cli_value(call, "output");
    bool folder = output && stat(output, &info) == 0 && S_ISDIR(info.st_mode);
    return folder ? ATN_OK : atn_cli_register_check_files(call);
}

static bool watch(void *user, const atn_align_step *step) {
    atn_cli_register *r = user;
    atn_cli_show_progress(r->call, &(atn_progress){step->doing, (int64_t)step->done, (int64_t)step->count});
    return atn_check_cancel(r->call->ctx) == ATN_OK;
}

static atn_status read_all(atn_cli_align *a) {
    atn_cli_call *call = a->r->call;
    a->r->reading.no_properties = !atn_cli_has(call, "output");
    a->clouds = atn_zalloc(call->ctx, (a->count + 1) * sizeof *a->clouds);
    atn_status status = a->clouds ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < a->count && !status; ++k) {
        atn_cli_progress(call, "reading %zu of %zu ...", k + 1, a->count);
        status = atn_cloud_read(call->ctx, a->paths[k], &a->r->reading, &a->clouds[k]);
        if (!status && atn_cloud_info_of(a->clouds[k]).points == 0)
            status = atn_fail(call->ctx, ATN_ERR_INPUT, "%s: there are no points", a->paths[k]);
    }
    return status;
}

/* All by one edge: that of the first unless it is given. */
static atn_status thin_all(atn_cli_align *a) {
    a->voxel = a->r->voxel;
    a->thin = atn_zalloc(a->r->call->ctx, (a->count + 1) * sizeof *a->thin);
    atn_status status = a->thin ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < a->count && !status; ++k) status = atn_cli_voxel_solid(a->clouds[k], &a->voxel, &a->thin[k]);
    return status;
}

/* Scans that are left out are named on standard error; none placed is a failure. */
static atn_status tell(const atn_cli_align *a) {
    atn_cli_call *call = a->r->call;
    if (a->result.placed < 2) return atn_fail(call->ctx, ATN_ERR_INPUT, "no two of %zu scans match", a->count);
    for (size_t k = 0; k < a->count; ++k)
        if (!a->result.scan[k]->placed)
            fprintf(call->err, "attune register: left out: %s: %s\n", a->paths[k], a->result.scan[k]->reason);
    return ATN_OK;
}

static void free_all(atn_cli_align *a) {
    const atn_ctx *ctx = a->r->call->ctx;
    for (size_t k = 0; k < a->count; ++k) {
        atn_free(ctx, a->paths[k]);
        if (a->clouds) atn_cloud_free(a->clouds[k]);
        if (a->thin) atn_cloud_free(a->thin[k]);
    }
    atn_free(ctx, a->paths);
    atn_free(ctx, a->clouds);
    atn_free(ctx, a->thin);
    atn_free(ctx, a->apart);
    atn_free(ctx, a->has_truth);
    atn_align_free(&a->result);
}

atn_status atn_cli_align_run(atn_cli_register *r, atn_device *device) {
    atn_cli_call *call = r->call;
    atn_cli_align a = {.r = r};
    const char *truth = atn_cli_value(call, "truth");
    atn_align_settings settings = {.pairs = &r->settings, .watch = watch, .watch_user = r};
    if (!atn_cli_has(call, "method")) {
        r->settings.method = ATN_REGISTER_GICP; /* starts are found before */
        r->method = "gicp";
    }
    r->settings.init = ATN_START_DEFAULT;
    atn_status status = check(call);
    if (!status) status = atn_cli_align_list(call, &a.paths, &a.count);
    if (!status) status = read_all(&a);
    if (!status && atn_cli_has(call, "voxel")) status = thin_all(&a);
    if (!status)
        status =
            atn_align(device, a.count, (const atn_cloud *const *)(a.thin ? a.thin : a.clouds), &settings, &a.result);
    atn_cli_progress_end(call);
    if (!status && truth) status = atn_cli_align_truth(&a, truth);
    if (!status) status = atn_cli_align_print(&a);
    if (!status) status = atn_cli_align_write(&a);
    if (!status) status = tell(&a);
    free_all(&a);
    return status;
}
