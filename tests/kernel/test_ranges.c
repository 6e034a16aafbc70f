/* Reductions over ranges of several dimensions: items of a group along a dimension that a second reduction has not are
 * spread over what it has; what does not change along the tiled dimension is not read from a tile before it is filled.
 */
#include "testkit.h"

#include "support/held.h"

#include <string.h>

enum { COLUMNS = 13, ROWS = 11 };

typedef struct trial {
    const char *text;
    const char *variants[5]; /* ended by NULL */
    bool lanes;              /* which the host has not */
} trial;

static const trial OF_DIFFERENT_RANK = {
    "kernel sums(a: matrix INT32, b: vector INT32) -> s: vector INT32\n"
    "    for k in 3\n"
    "        over y, x in rows(a), columns(a)\n"
    "            all: INT32 += a[y, x]\n"
    "        over j in length(b)\n"
    "            more: INT32 += b[j] + all\n"
    "        s[k] = more\n",
    {"lanes_q1=8", "lanes_q0=4,lanes_q1=4", "lanes_q1=8,regs_q0=2", "lanes_p0=2,lanes_q1=4"},
    true};

static const trial OF_ROWS = {"kernel sums(a: matrix INT32, b: vector INT32) -> s: vector INT32\n"
                              "    for k in 3\n"
                              "        over y, x in rows(a), columns(a)\n"
                              "            all: INT32 += a[y, x] + b[y]\n"
                              "        s[k] = all\n",
                              {"regs_p0=3,tile_q0=4,stage=1", "regs_p0=3,tile_q0=8,stage=2"},
                              false};

/* All items of a group read what one of them writes. */
static const trial IN_PLACE = {"kernel sums(a: matrix INT32, b: vector INT32, inout s: vector INT32)\n"
                               "    over y, x in rows(a), columns(a)\n"
                               "        all: INT32 += a[y, x] + b[y]\n"
                               "    s[0] = all\n"
                               "    s[1] = s[1] + 1\n"
                               "    s[2] = s[1] + s[0]\n",
                               {"lanes_q0=64", "lanes_q0=8,lanes_q1=8", "lanes_q0=256"},
                               true};

static void hold(const atn_ctx *ctx, atn_device *device, const trial *t, const atn_graph *g) {
    int32_t a[ROWS * COLUMNS], b[COLUMNS], s[3] = {0};
    for (int k = 0; k < ROWS * COLUMNS; ++k) a[k] = k % 17;
    for (int k = 0; k < COLUMNS; ++k) b[k] = k * k;
    atn_view views[] = {
        {.data = a, .type = ATN_INT32, .rank = 2, .size = {COLUMNS, ROWS, 1}, .pitch = COLUMNS},
        {.data = b, .type = ATN_INT32, .rank = 1, .size = {COLUMNS, 1, 1}, .pitch = COLUMNS},
        {.data = s, .type = ATN_INT32, .rank = 1, .size = {3, 1, 1}, .pitch = 3},
    };
    atn_bindings frame = {.views = views};
    held_case c = {.graph = g, .views = views};
    for (int n = 0; t->variants[n]; ++n) {
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, t->variants[n]));
        atn_eval_options options = atn_variant_arithmetic(g, &v, atn_device_get_info(device));
        atn_eval_result *oracle;
        kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
        atn_status status = held_run(device, &c, &v, oracle);
        atn_eval_free(oracle);
        if (status != ATN_OK) fail_msg("variant '%s': %s", t->variants[n], atn_ctx_message(ctx));
    }
}

static void hold_everywhere(const trial *t) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_sequence *sequence;
    int held = 0;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_sequence_parse(ctx, "sums", t->text, strlen(t->text), NULL, NULL, &sequence));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (t->lanes && !strcmp(atn_devices_info(devices, d)->backend, "host")) continue;
        atn_device *device;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        hold(ctx, device, t, sequence->step[0]);
        atn_device_close(device);
        ++held;
    }
    atn_sequence_free(sequence);
    atn_devices_free(devices);
    kit_free(ctx);
    if (!held) skip();
}

KIT_TEST(of_different_rank) { hold_everywhere(&OF_DIFFERENT_RANK); }

KIT_TEST(along_rows_only) { hold_everywhere(&OF_ROWS); }

KIT_TEST(in_place) { hold_everywhere(&IN_PLACE); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_different_rank), cmocka_unit_test(along_rows_only),
                                       cmocka_unit_test(in_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
