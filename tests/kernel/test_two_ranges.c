/* Two reductions of one kernel, over ranges of different rank: items of a group that lie along a dimension which one of
 * them has not are spread over what it has. */
#include "testkit.h"

#include "support/held.h"

#include <string.h>

enum { COLUMNS = 13, ROWS = 11 };

static const char SUMS[] = "kernel sums(a: matrix INT32, b: vector INT32) -> s: vector INT32\n"
                           "    for k in 3\n"
                           "        over y, x in rows(a), columns(a)\n"
                           "            all: INT32 += a[y, x]\n"
                           "        over j in length(b)\n"
                           "            more: INT32 += b[j] + all\n"
                           "        s[k] = more\n";

static void hold(const atn_ctx *ctx, atn_device *device, const atn_graph *g) {
    static const char *const VARIANTS[] = {"lanes_q1=8", "lanes_q0=4,lanes_q1=4", "lanes_q1=8,regs_q0=2",
                                           "lanes_p0=2,lanes_q1=4"};
    int32_t a[ROWS * COLUMNS], b[COLUMNS], s[3] = {0};
    for (int k = 0; k < ROWS * COLUMNS; ++k) a[k] = k % 17;
    for (int k = 0; k < COLUMNS; ++k) b[k] = k * k;
    atn_view views[] = {
        {.data = a, .type = ATN_INT32, .rank = 2, .size = {COLUMNS, ROWS, 1}, .pitch = COLUMNS},
        {.data = b, .type = ATN_INT32, .rank = 1, .size = {COLUMNS, 1, 1}, .pitch = COLUMNS},
        {.data = s, .type = ATN_INT32, .rank = 1, .size = {3, 1, 1}, .pitch = 3},
    };
    atn_frame frame = {.views = views};
    held_case c = {.graph = g, .views = views};
    for (size_t n = 0; n < sizeof VARIANTS / sizeof *VARIANTS; ++n) {
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, VARIANTS[n]));
        atn_eval_options options = atn_variant_arithmetic(g, &v, atn_device_get_info(device));
        atn_eval_result *oracle;
        kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
        atn_status status = held_run(device, &c, &v, oracle);
        atn_eval_free(oracle);
        if (status != ATN_OK) fail_msg("variant '%s': %s", VARIANTS[n], atn_ctx_message(ctx));
    }
}

static void agree(void **state) {
    (void)state;
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_sequence *sequence;
    int held = 0;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_sequence_parse(ctx, "sums", SUMS, strlen(SUMS), NULL, NULL, &sequence));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (!strcmp(atn_devices_info(devices, d)->backend, "host")) continue; /* it has no lanes */
        atn_device *device;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        hold(ctx, device, sequence->step[0]);
        atn_device_close(device);
        ++held;
    }
    atn_sequence_free(sequence);
    atn_devices_free(devices);
    kit_free(ctx);
    if (!held) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
