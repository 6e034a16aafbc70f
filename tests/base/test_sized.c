/* Structs that begin with their size: those of older headers, of newer ones, zeroed and not initialised at all. */
#include "base/sized.h"

#include "testkit.h"

#include <attune/attune.h>

#include <string.h>

/* What a struct is today, and what it was when it had no `later` field. */
typedef struct thing {
    size_t size;
    int32_t first;
    double later;
} thing;

typedef struct old_thing {
    size_t size;
    int32_t first;
} old_thing;

KIT_TEST(older_and_zeroed_ones_are_taken) {
    atn_ctx *ctx = kit_ctx();
    thing t;
    union { /* what lies behind an old one is not looked at */
        old_thing old;
        char bytes[sizeof(thing)];
    } given;
    memset(&given, 0x7f, sizeof given);
    given.old = (old_thing){sizeof given.old, 7};
    kit_ok(ctx, atn_sized_take(ctx, "thing", &given, sizeof t, &t));
    assert_true(t.size == sizeof t && t.first == 7 && t.later == 0);
    kit_ok(ctx, ATN_TAKE(ctx, thing, NULL, &t));
    assert_true(t.size == sizeof t && t.first == 0 && t.later == 0);
    thing zeroed = {.later = 3};
    kit_ok(ctx, ATN_TAKE(ctx, thing, &zeroed, &t));
    assert_true(t.size == sizeof t && t.later == 3);
    kit_free(ctx);
}

KIT_TEST(newer_ones_and_garbage_are_refused) {
    static const struct {
        size_t size;
        const char *says;
    } CASES[] = {{sizeof(thing) + 1, "newer header"},
                 {sizeof(thing) + 8, "newer header"},
                 {SIZE_MAX, "ATN_INIT(thing)"},
                 {0x7fff12345678, "ATN_INIT(thing)"},
                 {1, "ATN_INIT(thing)"},
                 {sizeof(size_t) - 1, "ATN_INIT(thing)"}};
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        thing t, given = {.size = CASES[k].size, .first = 5}, made = {.first = 6};
        kit_fails(ctx, ATN_ERR_INPUT, CASES[k].says, ATN_TAKE(ctx, thing, &given, &t));
        kit_fails(ctx, ATN_ERR_INPUT, CASES[k].says, ATN_CHECK_OUT(ctx, thing, &given));
        kit_fails(ctx, ATN_ERR_INPUT, CASES[k].says, ATN_GIVE(ctx, thing, &made, &given));
        assert_true(given.size == CASES[k].size && given.first == 5); /* as it was */
    }
    kit_free(ctx);
}

KIT_TEST(results_are_filled_as_far_as_they_go) {
    atn_ctx *ctx = kit_ctx();
    thing made = {.size = sizeof made, .first = 6, .later = 2.5}, out = {0};
    kit_ok(ctx, ATN_GIVE(ctx, thing, &made, &out));
    assert_true(out.size == sizeof out && out.first == 6 && out.later == 2.5);
    out = (thing){sizeof(old_thing), 0, -1};
    kit_ok(ctx, ATN_GIVE(ctx, thing, &made, &out));
    assert_true(out.size == sizeof(old_thing) && out.first == 6 && out.later == -1);
    kit_ok(ctx, ATN_CHECK_OUT(ctx, thing, NULL)); /* nobody wants it */
    kit_ok(ctx, ATN_GIVE(ctx, thing, &(thing){.first = 6}, NULL));
    kit_free(ctx);
}

/* The public functions do so, too: an info of a size between, and settings of a newer header. */
KIT_TEST(the_interface_keeps_to_it) {
    atn_ctx *ctx = kit_ctx();
    atn_cloud *cloud, *none;
    kit_ok(ctx, atn_cloud_create(ctx, 1, (double[]){1, 2, 3}, NULL, &cloud));
    atn_cloud_info info;
    memset(&info, 0x7f, sizeof info);
    info.size = offsetof(atn_cloud_info, nan);
    kit_ok(ctx, atn_cloud_get_info(cloud, &info));
    assert_true(info.size == offsetof(atn_cloud_info, nan) && info.points == 1 &&
                info.nan == (size_t)0x7f7f7f7f7f7f7f7f);
    info.size = sizeof info + 16;
    kit_fails(ctx, ATN_ERR_INPUT, "atn_cloud_info", atn_cloud_get_info(cloud, &info));
    assert_int_equal(atn_cloud_info_of(cloud).points, 1);
    kit_fails(ctx, ATN_ERR_INPUT, "atn_cloud_settings",
              atn_cloud_read(ctx, "none.ply", &(atn_cloud_settings){.size = 4 * sizeof(atn_cloud_settings)}, &none));
    assert_null(none);
    assert_int_equal(
        atn_register_bytes(NULL, &(atn_register_settings){.size = 2 * sizeof(atn_register_settings)}, 9, 9), 0);
    kit_contains(atn_ctx_message(NULL), "atn_register_settings");
    atn_cloud_free(cloud);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_and_zeroed_ones_are_taken), cmocka_unit_test(newer_ones_and_garbage_are_refused),
        cmocka_unit_test(results_are_filled_as_far_as_they_go), cmocka_unit_test(the_interface_keeps_to_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
