/* Points where they lie: arrays of a device are registered as clouds of the same points are, and what is no array of
 * points is refused. */
#include "regkit.h"

#include <attune/array.h>

#include <math.h>
#include <stdlib.h>

static atn_array *rows_of(kit_host *host, const double *positions, size_t count) {
    atn_array *rows;
    void *to;
    kit_ok(host->ctx, atn_array_create_matrix(host->device, ATN_SP, (int64_t)count, 3, 0, &rows));
    kit_ok(host->ctx, atn_array_map_write(rows, &to));
    for (size_t k = 0; k < 3 * count; ++k) ((float *)to)[k] = (float)positions[k];
    return rows;
}

KIT_TEST(agrees_with_clouds) {
    kit_host host = host_open();
    double back[16], motion[16];
    motion_make(20, (double[3]){1, 2, 3}, 1, (double[3]){0.1, 0.2, -0.1}, motion);
    motion_invert(motion, back);
    const shape shapes[2] = {{.points = 2000, .seed = 3, .noise = 0.002, .noise_seed = 4, .back = back},
                             {.points = 2000, .seed = 3, .noise = 0.002, .noise_seed = 5}};
    atn_array *rows[2];
    atn_cloud *clouds[2];
    for (int k = 0; k < 2; ++k) {
        size_t count;
        double *positions = shape_positions(&shapes[k], &count);
        for (size_t i = 0; i < 3 * count; ++i) positions[i] = (double)(float)positions[i];
        rows[k] = rows_of(&host, positions, count);
        kit_ok(host.ctx, atn_cloud_create(host.ctx, count, positions, NULL, &clouds[k]));
        free(positions);
    }
    atn_register_result there = {0}, here = {0};
    kit_ok(host.ctx, atn_register_arrays(host.device, rows[0], rows[1], NULL, &there));
    kit_ok(host.ctx, atn_register(host.device, clouds[0], clouds[1], NULL, &here));
    for (int k = 0; k < 16; ++k) assert_true(there.transform[k] == here.transform[k]);
    assert_true(turn_between(there.transform, motion) < 0.1);
    for (int k = 0; k < 2; ++k) {
        atn_array_free(rows[k]);
        atn_cloud_free(clouds[k]);
    }
    host_close(&host);
}

KIT_TEST(refuses_what_is_no_array_of_points) {
    kit_host host = host_open(), other = host_open();
    const double some[12] = {0, 0, 1, 0, 1, 0, 1, 0, 0, NAN, 0, 0};
    atn_register_result result = {0};
    atn_array *good = rows_of(&host, some, 3), *bad = rows_of(&host, some, 4), *there = rows_of(&other, some, 3);
    atn_array *flat, *wide, *whole, *none;
    kit_ok(host.ctx, atn_array_create_vector(host.device, ATN_SP, 9, &flat));
    kit_ok(host.ctx, atn_array_create_matrix(host.device, ATN_SP, 3, 4, 0, &wide));
    kit_ok(host.ctx, atn_array_create_matrix(host.device, ATN_INT32, 3, 3, 0, &whole));
    kit_ok(host.ctx, atn_array_create_matrix(host.device, ATN_SP, 0, 3, 0, &none));
    atn_array *const wrong[] = {flat, wide, whole};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k)
        kit_fails(host.ctx, ATN_ERR_INPUT, "the source must be a matrix",
                  atn_register_arrays(host.device, wrong[k], good, NULL, &result));
    kit_fails(host.ctx, ATN_ERR_INPUT, "the target has no points",
              atn_register_arrays(host.device, good, none, NULL, &result));
    kit_fails(host.ctx, ATN_ERR_INPUT, "is on another device",
              atn_register_arrays(host.device, good, there, NULL, &result));
    kit_fails(host.ctx, ATN_ERR_INPUT, "not finite", atn_register_arrays(host.device, good, bad, NULL, &result));
    kit_fails(host.ctx, ATN_ERR_INPUT, "species cannot be matched",
              atn_register_arrays(host.device, good, good, &(atn_register_settings){.match_species = true}, &result));
    atn_array *const all[] = {good, bad, there, flat, wide, whole, none};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    host_close(&other);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_clouds),
        cmocka_unit_test(refuses_what_is_no_array_of_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
