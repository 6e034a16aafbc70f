/* Computed accesses out of range, on every device: the run that made them is named, once, when a result is read or the
 * ring of reports is full, and nothing beside the arrays is touched. On the host the run itself fails. */
#include "support/shared.h"

#include "device/reports.h"

#include <attune/attune.h>

#include <string.h>

enum { LENGTH = 100, TABLE = 7 };
static const char GATHER[] = "kernel pick(at: vector INT32, x: vector SP) -> y: vector SP\n    y[i] = x[at[i]]\n";

SHARED_DEVICES;

typedef struct picking {
    atn_device *device;
    bool late; /* reports are looked at later */
    atn_array *at, *x, *y;
    atn_kernel *kernel;
} picking;

static picking start(int32_t d) {
    picking p = {0};
    void *x;
    kit_ok(ctx, atn_device_open(devices, d, &p.device));
    p.late = strcmp(atn_device_get_info(p.device)->backend, "host") != 0;
    kit_ok(ctx, atn_kernel_create(p.device, GATHER, NULL, &p.kernel));
    kit_ok(ctx, atn_array_create_vector(p.device, ATN_INT32, LENGTH, &p.at));
    kit_ok(ctx, atn_array_create_vector(p.device, ATN_SP, TABLE, &p.x));
    kit_ok(ctx, atn_array_create_vector(p.device, ATN_SP, LENGTH, &p.y));
    kit_ok(ctx, atn_array_map_write(p.x, &x));
    for (int k = 0; k < TABLE; ++k) ((float *)x)[k] = (float)(k + 1);
    kit_ok(ctx, atn_kernel_bind(p.kernel, "at", p.at));
    kit_ok(ctx, atn_kernel_bind(p.kernel, "x", p.x));
    kit_ok(ctx, atn_kernel_bind(p.kernel, "y", p.y));
    return p;
}

static void end(picking *p) {
    atn_kernel_free(p->kernel);
    atn_array_free(p->at);
    atn_array_free(p->x);
    atn_array_free(p->y);
    atn_device_close(p->device);
}

/* Places inside, but for the last `wrong`. */
static void aim(const picking *p, int wrong) {
    void *at;
    kit_ok(ctx, atn_array_map_write(p->at, &at));
    for (int k = 0; k < LENGTH; ++k) ((int32_t *)at)[k] = k < LENGTH - wrong ? k % TABLE : TABLE + 1000000 * k;
}

static void expect(const picking *p, int wrong) {
    const void *y;
    kit_ok(ctx, atn_array_map_read(p->y, &y));
    for (int k = 0; k < LENGTH; ++k)
        assert_float_equal(((const float *)y)[k], (float)(k < LENGTH - wrong ? k % TABLE + 1 : 0), 0);
}

KIT_TEST(a_read_names_the_run) {
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        picking p = start(d);
        const void *y;
        aim(&p, 0);
        kit_ok(ctx, atn_kernel_run(p.kernel));
        expect(&p, 0);
        kit_ok(ctx, atn_kernel_run(p.kernel));
        aim(&p, 3);
        if (p.late) {
            kit_ok(ctx, atn_kernel_run(p.kernel)); /* the third one */
            kit_fails(ctx, ATN_ERR_INPUT, "pick: computed accesses were out of range in run 3",
                      atn_array_map_read(p.y, &y));
            expect(&p, 3); /* once */
        } else {
            kit_fails(ctx, ATN_ERR_INPUT, "pick: computed accesses were out of range in run 3",
                      atn_kernel_run(p.kernel));
        }
        aim(&p, 0);
        kit_ok(ctx, atn_kernel_run(p.kernel));
        expect(&p, 0);
        end(&p);
    }
}

/* What another kernel made of them is no answer either; what was there before is. */
KIT_TEST(what_came_after_is_not_read_before) {
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        picking p = start(d), q = {0};
        atn_array *z;
        void *to;
        const void *from;
        if (!p.late) {
            end(&p);
            continue;
        }
        kit_ok(ctx, atn_array_create_vector(p.device, ATN_SP, LENGTH, &z));
        kit_ok(ctx, atn_kernel_create(p.device, "kernel twice(y: vector SP) -> z: vector SP\n    z[i] = 2 * y[i]\n",
                                      NULL, &q.kernel));
        kit_ok(ctx, atn_kernel_bind(q.kernel, "y", p.y));
        kit_ok(ctx, atn_kernel_bind(q.kernel, "z", z));
        aim(&p, 1);
        kit_ok(ctx, atn_kernel_run(p.kernel));
        kit_ok(ctx, atn_kernel_run(q.kernel));
        kit_ok(ctx, atn_array_map_write(p.x, &to));                              /* written before */
        kit_fails(ctx, ATN_ERR_INPUT, "in run 1", atn_array_map_read(z, &from)); /* and this one after */
        kit_ok(ctx, atn_kernel_run(p.kernel));
        atn_kernel_free(p.kernel); /* its report is not lost */
        p.kernel = NULL;
        kit_fails(ctx, ATN_ERR_INPUT, "pick: computed accesses were out of range in run 2",
                  atn_array_get(p.y, (float[LENGTH]){0}, 0));
        atn_kernel_free(q.kernel);
        atn_array_free(z);
        end(&p);
    }
}

/* Nobody reads: the ring is full in the end, and a later run fails with the earlier one's sentence. */
KIT_TEST(a_full_ring_tells) {
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        picking p = start(d);
        const void *y;
        aim(&p, 0);
        kit_ok(ctx, atn_kernel_run(p.kernel));
        aim(&p, 2);
        for (int k = 0; k < ATN_REPORT_SLOTS && p.late; ++k) {
            kit_ok(ctx, atn_kernel_run(p.kernel)); /* the second one is wrong */
            aim(&p, 0);
        }
        if (p.late) kit_fails(ctx, ATN_ERR_INPUT, "in run 2", atn_kernel_run(p.kernel));
        aim(&p, 0);
        for (int k = 0; k < 3 * ATN_REPORT_SLOTS; ++k) kit_ok(ctx, atn_kernel_run(p.kernel));
        kit_ok(ctx, atn_array_map_read(p.y, &y));
        expect(&p, 0);
        aim(&p, 1);
        if (p.late) kit_ok(ctx, atn_kernel_run(p.kernel)); /* and nobody asks */
        end(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_read_names_the_run),
                                       cmocka_unit_test(what_came_after_is_not_read_before),
                                       cmocka_unit_test(a_full_ring_tells)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
