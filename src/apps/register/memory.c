/* The memory of a registration, estimated before it begins; and into how many parts a source is divided if that exceeds
 * what is available. */
#include "apps/register/problem.h"
#include "apps/register/where.h"

#include "base/parallel.h"
#include "base/sized.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdio.h>

static const double LEVELS = 1.7;  /* all levels together, in points of the finest, */
static const double PLACED = 1.2;  /* and those that are on the device at the same time */
static const double COARSER = 0.3; /* of the points, at most, are left on the level below the finest */
/* Bytes a point of the host's, measured at the peak, which comes after the sort: in order (between what surfaces and
 * what points that fill space take, and between millions of points whose noise hides the finest level, 150, and others,
 * 240 in all), in blocks, what the polish adds; lists of the device; what pairs of ICP, and soft
 * pairs in both directions, take beside. */
enum { COPY = 55, HOST = 26, POLISH = 18, LISTS = 16, PAIRS = 30, SOFT = 110 };
/* What the verdict adds for each point, of so many of a cloud at most, about half of them where there are more: those
 * are from a level. */
enum { JUDGED = 230, MOST_JUDGED = 30000 };
/* Of the search for rivals, however many points there are, and of steps over surfaces while it is there. */
enum { SCENE = 5900000, STEPS = 700000 };
enum { STAGED = 7000000 }; /* pinned memory that points go to another device by */
/* Points that are sorted on a device: bytes a point there, and as many more for each byte of a coordinate; of the
 * host's for samples, planes and terms, of so many of a cloud at most; and of what is done beside it, however many
 * points there are: the search, the verdict, pinned memory. */
enum { SORTED = 28, SAMPLED = 175, MOST_SAMPLED = 130000, BESIDE = 18000000 };

static double coordinate(const atn_register_settings *s) { return s->precision == 64 ? 8 : 4; }

/* Bytes a point on the device: coordinates twice, weights three times, four sums. */
static double on_device(const atn_register_settings *s) { return 13 * coordinate(s) + LISTS; }

typedef struct need {
    double source, target; /* arrays of the device */
    double host;           /* all else */
} need;

static need needs_there(const atn_register_settings *s, double source, double target) {
    double each = SORTED * (1 + coordinate(s));
    return (need){.source = each * source,
                  .target = each * target,
                  .host = SAMPLED * (fmin(source, MOST_SAMPLED) + fmin(target, MOST_SAMPLED)) + BESIDE};
}

static double of_method(const atn_register_settings *s, bool steps) {
    switch (s->method) {
    case ATN_REGISTER_ICP:
    case ATN_REGISTER_ICP_PLANE:
        return steps ? 0 : PAIRS;
    case ATN_REGISTER_CPD:
    case ATN_REGISTER_SOFTASSIGN:
        return SOFT;
    default:
        return 0;
    }
}

static double judged_of(double points) { return points > MOST_JUDGED ? MOST_JUDGED / 2 : points; }

/* remote: the device is another than the host; steps: of surfaces, as gicp takes them; polish: share of the points that
 * take part in it. */
static need needs(const atn_register_settings *s, bool remote, bool steps, double polish, double source,
                  double target) {
    double judged = judged_of(source) + judged_of(target);
    double levels = s->dense || s->compat ? 1 : LEVELS, placed = s->dense || s->compat ? 1 : PLACED;
    return (need){.source = placed * source * on_device(s),
                  .target = placed * target * on_device(s),
                  .host = (source + target) * (COPY + levels * HOST + polish * POLISH + of_method(s, steps)) +
                          (s->compat ? 0 : judged * JUDGED) + SCENE + (steps ? STEPS : 0) + (remote ? STAGED : 0)};
}

size_t atn_register_bytes(atn_device *device, const atn_register_settings *given, size_t source, size_t target) {
    atn_register_settings all, *settings = &all;
    if (ATN_TAKE(NULL, atn_register_settings, given, settings) != ATN_OK) return 0;
    bool steps = reg_is_polished(settings) || reg_takes_planes(settings, NULL);
    bool polish = steps || reg_is_surveyed(settings);
    bool remote = device && reg_is_remote(device) &&
                  !reg_sooner_on_host(atn_device_get_info(device), settings, source > target ? source : target,
                                      atn_parallel_workers());
    need n = remote && reg_goes_to_device(device, settings, source, target)
                 ? needs_there(settings, (double)source, (double)target)
                 : needs(settings, remote, steps, polish, (double)source, (double)target);
    return (size_t)(n.source + n.target + n.host);
}

/* In the unit that people use for so many. */
static void print_bytes(double bytes, char text[32]) {
    static const char *const UNITS[] = {"bytes", "kB", "MB", "GB", "TB"};
    size_t k = 0;
    for (; bytes >= 1000 && k + 1 < sizeof UNITS / sizeof *UNITS; ++k) bytes /= 1000;
    snprintf(text, 32, "%.3g %s", bytes, UNITS[k]);
}

static atn_status refuse(const reg_problem *p, double wanted, double there, const char *where) {
    char needed[32], left[32];
    print_bytes(wanted, needed);
    print_bytes(there, left);
    return atn_fail(p->engine.ctx, ATN_ERR_MEMORY, "register: needs %s%s, %s %s; use fewer points (a voxel filter)",
                    needed, where, left, p->settings->most_bytes ? "may be used" : "are free");
}

atn_status reg_plan_memory(reg_problem *p) {
    enum { MOST_PARTS = 64 };
    const atn_register_settings *s = p->settings;
    atn_device *device = p->engine.device;
    bool shared = atn_device_get_info(device)->cpu;           /* the device's memory is the host's */
    bool whole = s->method == ATN_REGISTER_GICP || p->planes; /* does nothing without surfaces */
    bool can = s->method == ATN_REGISTER_EM_ICP && !s->compat;
    bool steps = p->polished || p->planes, surfaces = whole || steps || p->surveyed;
    double source = (double)p->source_count, target = (double)p->target_count;
    need n =
        p->on_device ? needs_there(s, source, target) : needs(s, p->engine.remote, steps, surfaces, source, target);
    double there = s->most_bytes ? (double)s->most_bytes : (double)atn_device_free_bytes(device);
    if (p->engine.ranks) { /* as many parts for each */
        atn_status status = atn_ranks_least(p->engine.ranks, ATN_OK, &there, 1);
        if (status != ATN_OK) return status;
    }
    double fixed = shared ? n.host + n.target : n.target;
    p->parts = 1;
    if (fixed + n.source <= there) return ATN_OK;
    if (surfaces && !whole) { /* looked at where points are merged; of methods that go in one part not at all */
        n = needs(s, p->engine.remote, steps, can ? COARSER : 0, source, target);
        fixed = shared ? n.host + n.target : n.target;
        if (!can) p->polished = p->surveyed = false;
        if (!can && fixed + n.source <= there) return ATN_OK;
    }
    can = can && fixed < there;
    double parts = can ? n.source / (there - fixed) + 1 : MOST_PARTS + 1;
    if (parts > MOST_PARTS)
        return refuse(p, fixed + (can ? n.source / MOST_PARTS : n.source), there, shared ? "" : " on the device");
    p->parts = parts < 2 ? 2 : (int32_t)parts;
    atn_log(p->engine.ctx, ATN_LOG_INFO,
            "register: %.3g GB needed, %.3g GB available: the source is processed in %d parts",
            (fixed + n.source) / 1e9, there / 1e9, p->parts);
    return ATN_OK;
}
