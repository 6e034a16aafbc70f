/* Of ten thousand points nearly all of the time on a GPU is that of launches, and of the host's own part. One that
 * evaluates all pairs of them at once has few launches, and is as fast as the cores of its host or faster. */
#include "apps/register/where.h"

#include "apps/register/problem.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "device/backend.h"
#include "device/facts.h"

enum { FEW = 20000, FEWEST = 2000 }; /* points; of which another device makes no use */
enum { CORES = 8 };                  /* that are as fast with them */

/* The host, from one call to the next. */
struct reg_host {
    atn_left left;
    const atn_ctx *ctx;
    atn_device *device;
};

static const char OWNER;

static void drop(atn_left *left) {
    struct reg_host *host = (struct reg_host *)left;
    atn_device_close(host->device);
    atn_free(host->ctx, host);
}

bool reg_all_at_once(const atn_device_info *info, double pairs) {
    static const double LISTS = 2e-4, RATE = 5e8; /* seconds that lists take; pairs a second of a lane, about */
    return pairs < LISTS * RATE * (double)info->cores * (double)info->simd;
}

bool reg_sooner_side_by_side(const atn_device_info *asked, const atn_register_settings *s, size_t most, int32_t cores) {
    bool surfaces = s->method == ATN_REGISTER_EM_ICP || s->method == ATN_REGISTER_GICP || reg_takes_planes(s, NULL);
    bool method = surfaces && !s->compat && !s->dense;
    return method && most <= FEW && !asked->cpu && !atn_backend_facts_of(asked)->threads && cores >= CORES;
}

bool reg_sooner_on_host(const atn_device_info *asked, const atn_register_settings *s, size_t most, int32_t cores) {
    bool there = most >= FEWEST && reg_all_at_once(asked, (double)most * (double)most);
    return !there && reg_sooner_side_by_side(asked, s, most, cores);
}

static struct reg_host *host_of(atn_device *asked) {
    atn_ctx *ctx = atn_device_ctx(asked);
    struct reg_host *host = (struct reg_host *)atn_device_take(asked, &OWNER);
    if (host) return host;
    if (!(host = atn_zalloc(ctx, sizeof *host))) return NULL;
    *host = (struct reg_host){.left = {.owner = &OWNER, .drop = drop}, .ctx = ctx};
    if (atn_device_open_host(ctx, &host->device) == ATN_OK) return host;
    atn_free(ctx, host);
    return NULL;
}

reg_where reg_where_begin(atn_device *asked, const atn_register_settings *settings, size_t most) {
    reg_where where = {.device = asked, .asked = asked};
    if (!reg_sooner_on_host(atn_device_get_info(asked), settings, most, atn_parallel_workers())) return where;
    if ((where.beside = host_of(asked))) where.device = where.beside->device;
    if (where.beside)
        atn_log(atn_device_ctx(asked), ATN_LOG_INFO, "register: at most %zu points: faster on the host than on %s",
                most, atn_device_get_info(asked)->name);
    return where;
}

void reg_where_end(reg_where *where) {
    if (where->beside) atn_device_leave(where->asked, &where->beside->left);
    *where = (reg_where){0};
}
