/* Explaining the choice of a variant in sentences. */
#include "kernel/choose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add_shape(atn_text *out, int32_t n, const int64_t *shape) {
    for (int32_t k = 0; k < n; ++k) atn_text_printf(out, "%s%" PRId64, k ? " x " : "", shape[k]);
}

static void add_seconds(atn_text *out, double seconds) {
    static const struct {
        double from, scale;
        const char *unit;
    } UNITS[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    size_t k = 0;
    while (seconds < UNITS[k].from) ++k;
    atn_text_printf(out, "%.3g %s", seconds * UNITS[k].scale, UNITS[k].unit);
}

/* How it did where it was measured. */
static void add_speed(const atn_hit *hit, const char *when, atn_text *out) {
    if (hit->seconds <= 0) return;
    atn_text_add(out, "; ");
    add_seconds(out, hit->seconds);
    atn_text_printf(out, " %s", when);
    if (hit->fraction_of_peak > 1)
        atn_text_printf(
            out,
            ", %.1f times the device's measured peak: its data stay in the caches, or the compiler left out "
            "operations that are counted",
            hit->fraction_of_peak);
    else if (hit->fraction_of_peak > 0)
        atn_text_printf(out, ", %.0f %% of what the device's measured peaks allow", 100 * hit->fraction_of_peak);
}

static void add_when(const atn_hit *hit, atn_text *out) {
    if (hit->when && *hit->when) atn_text_printf(out, " on %.10s", hit->when);
}

static void explain_exact(const atn_choice *c, atn_text *out) {
    atn_text_add(out, "from wisdom, measured");
    add_when(&c->hit, out);
    atn_text_add(out, " on this device at exactly this size");
    add_speed(&c->hit, "then", out);
}

static void explain_near_shape(const atn_choice *c, atn_text *out) {
    atn_text_add(out, "from wisdom, measured");
    add_when(&c->hit, out);
    if (c->hit.distance > 0) {
        atn_text_add(out, " on this device at another size, ");
        add_shape(out, c->hit.n_shape, c->hit.shape);
        atn_text_printf(out, ", %.2g doublings from this one", c->hit.distance);
    } else {
        atn_text_add(out, " on this device at this size, but with another row layout");
    }
    add_speed(&c->hit, "there", out);
}

static void explain_near_device(const atn_choice *c, atn_text *out) {
    if (c->hit.stale)
        atn_text_add(out, "from wisdom, measured on this device with another driver or compiler");
    else
        atn_text_printf(out, "from wisdom, measured on another device of the same kind (%s)",
                        c->hit.device && *c->hit.device ? c->hit.device : "not named");
    add_when(&c->hit, out);
    atn_text_add(out, " at ");
    add_shape(out, c->hit.n_shape, c->hit.shape);
    add_speed(&c->hit, "there", out);
}

static void explain_shipped(const atn_choice *c, atn_text *out) {
    atn_text_printf(out, "from the wisdom that attune ships, measured on %s at ",
                    c->hit.device && *c->hit.device ? c->hit.device : "a device that is not named");
    add_shape(out, c->hit.n_shape, c->hit.shape);
    add_speed(&c->hit, "there", out);
}

static void explain_estimate(const atn_choice *c, atn_text *out) {
    atn_text_add(out, "an estimate from its accesses and the properties of the device, not measured");
    if (!c->sized) atn_text_add(out, "; sizes are not known");
}

static void explain_compiled_in(const atn_choice *c, atn_text *out) {
    atn_text_add(out, c->modest      ? "compiled into the library for any CPU: it is too quick to be worth compiling"
                      : c->meanwhile ? "compiled into the library for any CPU: it is built for this one once that pays"
                                     : "compiled into the library for any CPU, since there is no C compiler that works "
                                       "here; with one it would be built for this CPU");
}

static void explain_plain(const atn_choice *c, atn_text *out) {
    (void)c;
    atn_text_add(out, "the plain one, since the compiler failed on the estimate");
}

static void explain_given(const atn_choice *c, atn_text *out) {
    (void)c;
    atn_text_add(out, "as requested");
}

static void (*const EXPLAIN[ATN_ORIGIN_COUNT])(const atn_choice *, atn_text *) = {
    [ATN_ORIGIN_GIVEN] = explain_given,           [ATN_ORIGIN_COMPILED_IN] = explain_compiled_in,
    [ATN_ORIGIN_PLAIN] = explain_plain,           [ATN_ORIGIN_ESTIMATE] = explain_estimate,
    [ATN_ORIGIN_SHIPPED] = explain_shipped,       [ATN_ORIGIN_NEAR_DEVICE] = explain_near_device,
    [ATN_ORIGIN_NEAR_SHAPE] = explain_near_shape, [ATN_ORIGIN_EXACT] = explain_exact,
};

void atn_choice_explain(const atn_choice *c, const atn_graph *graph, const atn_device_info *info, atn_text *out) {
    atn_text_printf(out, "%s", graph->name);
    if (c->sized) {
        atn_text_add(out, " at ");
        add_shape(out, c->n_shape, c->shape);
    }
    atn_text_printf(out, " on %s", info->backend);
    if (*info->name) atn_text_printf(out, " (%s)", info->name);
    atn_text_add(out, ": variant ");
    size_t before = out->length;
    atn_variant_print(&c->variant, out);
    if (out->length == before) atn_text_add(out, "plain");
    atn_text_add(out, ", ");
    EXPLAIN[c->origin](c, out);
    atn_text_add(out, ".");
    if (c->passed)
        atn_text_printf(out, " The tuned variant (%s, %s) is not used: %s.", atn_hit_name(c->hit.kind),
                        c->hit.variant ? c->hit.variant : "?", c->why);
    if (c->failed) atn_text_printf(out, " The estimate did not build: %s.", c->failed);
    if (c->origin == ATN_ORIGIN_ESTIMATE && c->sized)
        atn_text_printf(out, " 'attune tune' or a greater effort finds what is fastest here.");
}
