/* attune register of a pair whose points are distributed over ranks: when that is done, reading, and what is written.
 */
#include "cli/register.h"

#include "apps/register/distribute.h"
#include "base/memory.h"
#include "cloud/part.h"
#include "device/device.h"

#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

enum { FROM_POINTS = 1 << 22, FROM_BYTES = 1 << 25 }; /* of both clouds, of both files: from there on it pays */
enum { FEWEST = 1000 };                               /* points of a sample */

atn_status atn_cli_distribute_read(atn_cli_register *r) {
    static const char *const OTHER[] = {"batch",   "voxel",   "dense",     "compat",   "reproducible",
                                        "species", "outlier", "no-polish", "sigma-end"};
    const char *text = atn_cli_value(r->call, "distribute");
    double points;
    if (!text || strcmp(text, "auto") == 0) return ATN_OK;
    r->distribute = ATN_CLI_DISTRIBUTE_NEVER;
    if (strcmp(text, "no") == 0) return ATN_OK;
    r->distribute = ATN_CLI_DISTRIBUTE_ALWAYS;
    for (size_t k = 0; k < sizeof OTHER / sizeof *OTHER; ++k)
        if (atn_cli_has(r->call, OTHER[k]))
            return atn_cli_misuse(r->call, "--distribute %s does not go with --%s", text, OTHER[k]);
    if (!reg_can_distribute(&r->settings))
        return atn_cli_misuse(r->call, "--distribute %s needs --method em-icp or gicp, and a rigid transform", text);
    atn_status status = atn_cli_read_whole(r->call, "distribute", FEWEST, 0, &points);
    r->sample = (size_t)points;
    return status;
}

static size_t bytes_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

bool atn_cli_may_distribute(const atn_cli_register *r) {
    const atn_cli_call *call = r->call;
    if (r->distribute != ATN_CLI_DISTRIBUTE_AUTO) return r->distribute == ATN_CLI_DISTRIBUTE_ALWAYS;
    bool large = bytes_of(call->operands[0]) + bytes_of(call->operands[1]) >= FROM_BYTES || r->settings.most_bytes;
    const char *output = atn_cli_value(call, "output");
    return call->ranks->count > 1 && large && reg_can_distribute(&r->settings) && !atn_cli_has(call, "voxel") &&
           (!output || cloud_part_can_write(output));
}

/* Both parts; *go: they are to be used. The same on all ranks. */
static atn_status read_parts(atn_cli_register *r, atn_device *device, cloud_part part[2], bool *go) {
    atn_cli_call *call = r->call;
    atn_status status = ATN_OK;
    for (int k = 0; k < 2 && !status; ++k) {
        r->reading.no_properties = k || !atn_cli_has(call, "output");
        status = cloud_part_read(call->ctx, call->operands[k], &r->reading, call->ranks, &part[k]);
    }
    if (status) return status;
    size_t points = part[0].total + part[1].total;
    double needed = (double)atn_register_bytes(device, &r->settings, part[0].total, part[1].total);
    double there = r->settings.most_bytes ? (double)r->settings.most_bytes
                                          : (double)atn_device_free_bytes(device) / (double)call->ranks->count;
    status = atn_ranks_least(call->ranks, ATN_OK, &there, 1);
    bool whole = part[0].faces && atn_cli_has(call, "output"); /* faces would be lost */
    *go = r->distribute == ATN_CLI_DISTRIBUTE_ALWAYS || (!whole && (points >= FROM_POINTS || needed > there));
    return status;
}

/* As many points of each cloud as half of the memory is enough for. */
static size_t sample_of(const atn_cli_register *r, atn_device *device) {
    size_t points = r->sample ? r->sample : REG_DISTRIBUTE_SAMPLE;
    if (r->sample || !r->settings.most_bytes) return points;
    while (points > FEWEST && atn_register_bytes(device, &r->settings, points, points) > r->settings.most_bytes / 2)
        points /= 2;
    return points;
}

static atn_status write_output(const atn_cli_register *r, const cloud_part *part, const atn_register_result *result) {
    atn_cli_call *call = r->call;
    const char *path = atn_cli_value(call, "output");
    char lost[512];
    if (!path) return ATN_OK;
    atn_status status = cloud_part_write(part, result->transform, path);
    if (status || call->ranks->rank) return status;
    atn_cloud_not_written(part->cloud, path, lost, sizeof lost);
    if (*lost)
        fprintf(call->err, "attune %s: %s: dropped, not in this format or not read: %s\n", call->verb->name, path,
                lost);
    return ATN_OK;
}

static atn_status register_parts(atn_cli_register *r, atn_device *device, cloud_part part[2], const double *truth) {
    atn_cli_call *call = r->call;
    atn_register_result result = {0};
    reg_distribution d = {.ranks = call->ranks, .part = {&part[0], &part[1]}, .keeps = atn_cli_has(call, "output")};
    size_t sample = sample_of(r, device);
    atn_status status = reg_register_distributed(device, &r->settings, sample, &d, &result);
    atn_cli_progress_end(call);
    if (!status) status = write_output(r, &part[0], &result);
    atn_cli_registered done = {.source_name = call->operands[0],
                               .target_name = call->operands[1],
                               .source = d.sample[0],
                               .target = d.sample[1],
                               .part = {&part[0], &part[1]},
                               .distribution = &d};
    if (!status && !call->ranks->rank) {
        done.estimated_bytes = reg_distributed_bytes(device, &r->settings, sample, &d);
        status = atn_cli_register_tell(r, &done, &result, truth);
    }
    reg_distribution_free(&d);
    return status;
}

/* What is freed goes back to the system, which other ranks share: else as much again would be held for later. */
static void return_memory(void) {
#ifdef M_MMAP_THRESHOLD
    enum { LARGE = 1 << 18 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

atn_status atn_cli_register_distribute(atn_cli_register *r, atn_device *device, const double *truth, bool *done) {
    atn_cli_call *call = r->call;
    cloud_part part[2] = {{0}, {0}};
    const char *output = atn_cli_value(call, "output");
    atn_status status = read_parts(r, device, part, done);
    if (*done) return_memory();
    if (!status && *done && output) status = cloud_part_check_output(call->ctx, output);
    if (!status && *done) status = register_parts(r, device, part, truth);
    cloud_part_free(&part[0]);
    cloud_part_free(&part[1]);
    return status;
}
