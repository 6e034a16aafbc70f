/* attune convert SCANS OUT.vti: a volume for ParaView. */
#include "cli/convert.h"

#include "base/clock.h"

#include <attune/image.h>

#include <string.h>

/* Steps are for points. */
static atn_status check(atn_cli_call *call) {
    if (call->n_operands != 2) return atn_cli_misuse(call, "a volume is written from one input");
    for (size_t k = 0; k < call->n_given; ++k)
        for (const atn_cli_option *o = call->verb->options; o->name; ++o)
            if (strcmp(o->name, call->given[k].option->name) == 0)
                return atn_cli_misuse(call, "--%s does not apply to a volume, only to points", o->name);
    return ATN_OK;
}

static atn_status print(atn_cli_call *call, const char *path, const atn_volume_info *info, double seconds) {
    if (call->json)
        return atn_cli_print_json(call, json_pack("{s:o,s:[I,I,I],s:I,s:f}", "file", atn_cli_json_text(call->ctx, path),
                                                  "shape", (json_int_t)info->frames, (json_int_t)info->height,
                                                  (json_int_t)info->width, "bits", (json_int_t)info->bits, "seconds",
                                                  seconds));
    atn_cli_progress_end(call);
    fprintf(call->out, "%-10s %s, %lld scans of %lld x %lld (rows x columns), %d bits, %.3g s\n", "written", path,
            (long long)info->frames, (long long)info->height, (long long)info->width, (int)info->bits, seconds);
    return ATN_OK;
}

atn_status atn_cli_convert_volume(atn_cli_call *call) {
    const char *from = call->operands[0], *to = call->operands[call->n_operands - 1];
    double start = atn_clock_seconds();
    atn_volume *volume = NULL;
    atn_status status = check(call);
    if (!status) status = atn_volume_read(call->ctx, from, NULL, &volume);
    if (status) return status;
    atn_volume_info info = atn_volume_info_of(volume);
    status = atn_volume_write(volume, to, info.unit);
    if (!status) status = print(call, to, &info, atn_clock_seconds() - start);
    atn_volume_free(volume);
    return status;
}
