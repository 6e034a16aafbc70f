/* Kernel handles through the public interface: binding, planning, running without lookup, explaining. */
#include "support/shared.h"

#include "built/built.h"
#include "graph/shipped.h"
#include "kernel/kernel.h"

#include <attune/attune.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char AXPY[] =
    "<ParallelAlgorithm name='axpy' dimensions='1'><DataObjects>"
    "<DataObject name='x' structure='vector' elementDataType='T'/><DataObject name='y' structure='vector' "
    "elementDataType='T'/>"
    "<DataObject name='z' structure='vector' elementDataType='T'/><Parameter name='a' "
    "dataType='T'/></DataObjects><Children>"
    "<DataAccessRead name='rx' source='x' selFunction='v0'/><DataAccessRead name='ry' source='y' selFunction='v0'/>"
    "<FunctionBlock name='f' numInVars='3' dataType='T' function='#in(0) * #in(1) + #in(2)'/>"
    "<DataAccessWrite name='wz' destination='z' selFunction='v0'/></Children><Connections>"
    "<Connection source='x.Size(0)' destination='axpy.Range(0)'/><Connection source='axpy.i(0)' destination='rx.v(0)'/>"
    "<Connection source='axpy.i(0)' destination='ry.v(0)'/><Connection source='axpy.i(0)' destination='wz.v(0)'/>"
    "<Connection source='a.out' destination='f.in(0)'/><Connection source='rx.out' destination='f.in(1)'/>"
    "<Connection source='ry.out' destination='f.in(2)'/><Connection source='f.out(0)' "
    "destination='wz.in'/></Connections>"
    "</ParallelAlgorithm>";

SHARED_DEVICES;

static atn_array *numbers(atn_device *device, int64_t n, float first) {
    atn_array *array;
    void *at;
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, n, &array));
    kit_ok(ctx, atn_array_map_write(array, &at));
    for (int64_t k = 0; k < n; ++k) ((float *)at)[k] = first + (float)k;
    return array;
}

static void expect(atn_array *z, int64_t n, float a, float x0, float y0) {
    const void *at;
    kit_ok(ctx, atn_array_map_read(z, &at));
    for (int64_t k = 0; k < n; ++k) {
        float right = a * (x0 + (float)k) + (y0 + (float)k); /* small whole numbers: exact */
        if (((const float *)at)[k] != right)
            fail_msg("element %lld is %g, %g is right", (long long)k, (double)((const float *)at)[k], (double)right);
    }
}

KIT_TEST(runs_again_and_again) {
    const char *const defines[] = {"T=SP", NULL};
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *device;
        atn_kernel *axpy;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        kit_ok(ctx, atn_kernel_create(device,
                                      "kernel axpy(x, y: vector T, a: T) -> z: vector T\n    z[i] = a * x[i] + y[i]\n",
                                      &(atn_kernel_settings){.defines = defines}, &axpy));
        atn_kernel_free(axpy);
        kit_ok(ctx, atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = defines}, &axpy));
        atn_array *x = numbers(device, 1001, 1), *y = numbers(device, 1001, -7), *z = numbers(device, 1001, 0);
        kit_ok(ctx, atn_kernel_bind(axpy, "x", x));
        kit_ok(ctx, atn_kernel_bind(axpy, "y", y));
        kit_ok(ctx, atn_kernel_bind(axpy, "z", z));
        kit_fails(ctx, ATN_ERR_INPUT, "'a'", atn_kernel_run(axpy));
        kit_ok(ctx, atn_kernel_param(axpy, "a", 3, 0));
        kit_ok(ctx, atn_kernel_run(axpy));
        expect(z, 1001, 3, 1, -7);
        kit_ok(ctx, atn_kernel_param(axpy, "a", -2, 0));
        kit_ok(ctx, atn_kernel_run(axpy));
        kit_ok(ctx, atn_kernel_run(axpy));
        expect(z, 1001, -2, 1, -7);
        atn_array *other = numbers(device, 5, 10), *small = numbers(device, 5, 0), *five = numbers(device, 5, 20);
        kit_ok(ctx, atn_kernel_bind(axpy, "x", other));
        kit_fails(ctx, ATN_ERR_INPUT, "",
                  (atn_kernel_bind(axpy, "z", x), atn_kernel_bind(axpy, "x", x), atn_kernel_run(axpy)));
        kit_contains(atn_ctx_message(ctx), "share elements");
        kit_ok(ctx, atn_kernel_bind(axpy, "x", other));
        kit_ok(ctx, atn_kernel_bind(axpy, "y", five));
        kit_ok(ctx, atn_kernel_bind(axpy, "z", small));
        kit_ok(ctx, atn_kernel_run(axpy));
        expect(small, 5, -2, 10, 20);
        kit_fails(ctx, ATN_ERR_INPUT, "'nobody'", atn_kernel_bind(axpy, "nobody", x));
        kit_fails(ctx, ATN_ERR_INPUT, "'nothing'", atn_kernel_param(axpy, "nothing", 1, 0));
        atn_array_free(five), atn_array_free(small), atn_array_free(other);
        atn_array_free(z), atn_array_free(y), atn_array_free(x);
        atn_kernel_free(axpy);
        atn_device_close(device);
    }
}

KIT_TEST(wrong_things_are_refused) {
    atn_device *device;
    atn_kernel *axpy;
    const char *const no_value[] = {"T", NULL}, *const doubles[] = {"T=DP", NULL};
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_fails(ctx, ATN_ERR_INPUT, "NAME=VALUE",
              atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = no_value}, &axpy));
    assert_null(axpy);
    kit_fails(ctx, ATN_ERR_INPUT, "description:", atn_kernel_create(device, "<ParallelAlgorithm/>", NULL, &axpy));
    kit_fails(ctx, ATN_ERR_IO, "nowhere.xml", atn_kernel_create(device, "nowhere.xml", NULL, &axpy));
    kit_contains(atn_ctx_message(ctx), "shipped");
    static const struct {
        atn_kernel_settings options;
        const char *sentence;
    } WRONG[] = {{{.effort = (atn_effort)7}, "there is no effort 7"},
                 {{.tolerance = -1}, "the tolerance is -1"},
                 {{.budget_s = NAN}, "the budget is"}};
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k)
        kit_fails(ctx, ATN_ERR_INPUT, WRONG[k].sentence, atn_kernel_create(device, AXPY, &WRONG[k].options, &axpy));
    kit_ok(ctx, atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = doubles}, &axpy));
    atn_array *x = numbers(device, 3, 1), *y = numbers(device, 3, 1), *z = numbers(device, 3, 1);
    kit_ok(ctx, atn_kernel_bind(axpy, "x", x));
    kit_ok(ctx, atn_kernel_bind(axpy, "y", y));
    kit_ok(ctx, atn_kernel_bind(axpy, "z", z));
    kit_ok(ctx, atn_kernel_param(axpy, "a", 1, 0));
    kit_fails(ctx, ATN_ERR_INPUT, "DP", atn_kernel_run(axpy));
    kit_fails(ctx, ATN_ERR_INPUT, "'x': there is no array", atn_kernel_bind(axpy, "x", NULL));
    expect(z, 3, 0, 0, 1); /* as it was */
    atn_array_free(z), atn_array_free(y), atn_array_free(x);
    atn_kernel_free(axpy);
    atn_device_close(device);
}

KIT_TEST(short_addresses_are_refused) {
    atn_device *device;
    atn_sequence *sequence;
    atn_built *kernel;
    atn_buffer *buffer;
    const char *xml = atn_shipped_find("scale");
    atn_define define = {"USED_FLOAT", "SP"};
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_sequence_parse(ctx, "scale", xml, strlen(xml),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    atn_variant variant = atn_variant_plain();
    variant.index = 32;
    kit_ok(ctx, atn_built_make(device, sequence->step[0], &variant, &kernel));
    kit_ok(ctx, atn_buffer_create(device, 64, &buffer));
    atn_view view = {.type = ATN_SP, .rank = 2, .size = {1 << 20, 1 << 12}, .pitch = 1 << 20};
    atn_slot slots[2] = {{.buffer = buffer, .view = view}, {.buffer = buffer, .view = view}};
    double params[1][2] = {{2, 0}};
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "index=64", atn_built_run(kernel, NULL, slots, (const double(*)[2])params));
    atn_buffer_free(buffer);
    atn_built_free(kernel);
    atn_sequence_free(sequence);
    atn_device_close(device);
}

KIT_TEST(runs_without_allocating) {
    const char *const defines[] = {"T=SP", NULL};
    kit_faults faults = {0};
    atn_ctx_settings options = kit_fault_options(&faults);
    char *dir = kit_tempdir();
    options.cache_dir = dir;
    atn_ctx *counting;
    atn_devices *found;
    kit_ok(ctx, atn_ctx_create(&options, &counting));
    kit_ok(counting, atn_devices_find(counting, &found));
    for (int32_t d = 0; d < atn_devices_count(found); ++d) {
        if (!kit_wants(atn_devices_info(found, d)->backend)) continue;
        atn_device *device;
        atn_kernel *axpy;
        kit_ok(counting, atn_device_open(found, d, &device));
        kit_ok(counting, atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = defines}, &axpy));
        atn_array *x = numbers(device, 1001, 1), *y = numbers(device, 1001, -7), *z = numbers(device, 1001, 0),
                  *w = numbers(device, 1001, 0);
        kit_ok(counting, atn_kernel_bind(axpy, "x", x));
        kit_ok(counting, atn_kernel_bind(axpy, "y", y));
        kit_ok(counting, atn_kernel_bind(axpy, "z", z));
        kit_ok(counting, atn_kernel_param(axpy, "a", 3, 0));
        kit_contains(atn_kernel_explain(axpy), "not planned");
        kit_ok(counting, atn_kernel_plan(axpy));
        long before = atomic_load(&faults.count);
        for (int k = 0; k < 3; ++k) kit_ok(counting, atn_kernel_run(axpy));
        assert_int_equal(atomic_load(&faults.count), before);
        expect(z, 1001, 3, 1, -7);
        kit_contains(atn_kernel_explain(axpy), "axpy at 1001 x 1 on ");
        kit_contains(atn_kernel_explain(axpy), "an estimate");
        /* another parameter, and another array of the same shape: what is built stays */
        kit_ok(counting, atn_kernel_param(axpy, "a", -2, 0));
        kit_ok(counting, atn_array_put(w, (float[1001]){0}, 0));
        kit_ok(counting, atn_kernel_bind(axpy, "z", w));
        kit_ok(counting, atn_kernel_plan(axpy));
        before = atomic_load(&faults.count);
        kit_ok(counting, atn_kernel_run(axpy));
        assert_int_equal(atomic_load(&faults.count), before);
        expect(w, 1001, -2, 1, -7);
        expect(z, 1001, 3, 1, -7);
        /* values are given to what is built once, when it runs */
        before = atomic_load(&faults.count);
        for (int k = 0; k < 20; ++k) kit_ok(counting, atn_kernel_param(axpy, "a", k, 0));
        assert_int_equal(atomic_load(&faults.count), before);
        kit_ok(counting, atn_kernel_run(axpy));
        expect(w, 1001, 19, 1, -7);
        atn_array_free(w), atn_array_free(z), atn_array_free(y), atn_array_free(x);
        atn_kernel_free(axpy);
        atn_device_close(device);
    }
    atn_devices_free(found);
    atn_ctx_free(counting);
    assert_int_equal(atomic_load(&faults.live), 0);
    kit_remove(dir);
}

/* Twins share what the elder has built, work with arrays and numbers of their own, and also where they are first. */
KIT_TEST(twins_share_what_is_built) {
    const char *const defines[] = {"T=SP", NULL}, *const names[3] = {"x", "y", "z"};
    for (int32_t d = 0; d < atn_devices_count(devices); ++d)
        for (int first = 0; first < 3; ++first) { /* which of them is planned first */
            enum { N = 300 };
            atn_device *device;
            atn_kernel *axpy[3];
            atn_array *array[3][3];
            kit_ok(ctx, atn_device_open(devices, d, &device));
            kit_ok(ctx, atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = defines}, &axpy[0]));
            kit_ok(ctx, atn_kernel_twin(axpy[0], &axpy[1]));
            kit_ok(ctx, atn_kernel_twin(axpy[1], &axpy[2])); /* of a twin: of the elder */
            for (int n = 0; n < 300; ++n) {                  /* what they are given is freed with them */
                atn_kernel *twin;
                kit_ok(ctx, atn_kernel_twin(axpy[0], &twin));
                kit_ok(ctx, atn_kernel_param(twin, "a", n, 0));
                atn_kernel_free(twin);
            }
            for (int t = 0; t < 3; ++t) {
                for (int k = 0; k < 3; ++k) {
                    array[t][k] = numbers(device, N + t, (float)(10 * t + k));
                    kit_ok(ctx, atn_kernel_bind(axpy[t], names[k], array[t][k]));
                }
                kit_ok(ctx, atn_kernel_param(axpy[t], "a", 2 + t, 0));
            }
            for (int n = 0; n < 3; ++n) kit_ok(ctx, atn_kernel_run(axpy[(first + n) % 3]));
            for (int t = 0; t < 3; ++t)
                expect(array[t][2], N + t, (float)(2 + t), (float)(10 * t), (float)(10 * t + 1));
            kit_contains(atn_kernel_explain(axpy[2]), "axpy");
            for (int t = 2; t >= 0; --t) {
                for (int k = 0; k < 3; ++k) atn_array_free(array[t][k]);
                atn_kernel_free(axpy[t]);
            }
            atn_device_close(device);
        }
}

/* From shape to shape and back: the last plans are kept, so that hardly anything is allocated, and more of them than
 * are kept are planned anew. */
KIT_TEST(shapes_come_back) {
    enum { SHAPES = 35, FEW = 4 };
    const char *const defines[] = {"T=SP", NULL};
    kit_faults faults = {0};
    atn_ctx_settings options = kit_fault_options(&faults);
    char *dir = kit_tempdir();
    options.cache_dir = dir;
    atn_ctx *counting;
    atn_devices *found;
    kit_ok(ctx, atn_ctx_create(&options, &counting));
    kit_ok(counting, atn_devices_find(counting, &found));
    for (int32_t d = 0; d < atn_devices_count(found); ++d) {
        if (!kit_wants(atn_devices_info(found, d)->backend)) continue;
        atn_device *device;
        atn_kernel *axpy;
        atn_array *array[SHAPES][3];
        kit_ok(counting, atn_device_open(found, d, &device));
        kit_ok(counting, atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = defines}, &axpy));
        for (int n = 0; n < SHAPES; ++n)
            for (int k = 0; k < 3; ++k) array[n][k] = numbers(device, 1 + 7 * n, (float)(k + n));
        for (int round = 0; round < 5 * SHAPES; ++round) {
            int n = round < 3 * SHAPES ? round % SHAPES : round % 3, a = 1 + round % 5; /* all, then some */
            const char *const names[3] = {"x", "y", "z"};
            kit_ok(counting, atn_array_put(array[n][2], (float[1 + 7 * SHAPES]){0}, 0));
            for (int k = 0; k < 3; ++k) kit_ok(counting, atn_kernel_bind(axpy, names[k], array[n][k]));
            kit_ok(counting, atn_kernel_param(axpy, "a", a, 0));
            for (int k = 0; k < 3; ++k) { /* results of the last run are on the device: no array allocates below */
                const void *at;
                kit_ok(counting, atn_array_map_read(array[n][k], &at));
            }
            long before = atomic_load(&faults.count);
            kit_ok(counting, atn_kernel_plan(axpy));
            if (round > 3 * SHAPES + 3) assert_true(atomic_load(&faults.count) - before < FEW);
            kit_ok(counting, atn_kernel_run(axpy));
            expect(array[n][2], 1 + 7 * n, (float)a, (float)n, (float)(1 + n));
        }
        for (int n = 0; n < SHAPES; ++n)
            for (int k = 0; k < 3; ++k) atn_array_free(array[n][k]);
        atn_kernel_free(axpy);
        atn_device_close(device);
    }
    atn_devices_free(found);
    atn_ctx_free(counting);
    assert_int_equal(atomic_load(&faults.live), 0);
    kit_remove(dir);
}

/* Every allocation of a handle's life fails once; what is built is in the cache from the first time. */
KIT_TEST(memory_may_run_out) {
    const char *const defines[] = {"T=SP", NULL};
    kit_faults faults = {0};
    atn_ctx_settings options = kit_fault_options(&faults);
    char *dir = kit_tempdir();
    options.cache_dir = dir;
    atn_ctx *failing;
    atn_devices *found;
    atn_device *device;
    kit_ok(ctx, atn_ctx_create(&options, &failing));
    kit_ok(failing, atn_devices_find(failing, &found));
    kit_ok(failing, atn_device_open(found, 0, &device));
    atn_array *x = numbers(device, 50, 1), *y = numbers(device, 50, 2), *z = numbers(device, 50, 0);
    atn_array *u = numbers(device, 7, 3), *v = numbers(device, 7, 4), *w = numbers(device, 7, 0);
    long n = 0;
    for (bool whole = false; !whole; ++n) {
        atn_kernel *axpy;
        if (n > 0) faults.fail_at = atomic_load(&faults.count) + n;
        atn_status status = atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = defines}, &axpy);
        if (status == ATN_OK) status = atn_kernel_bind(axpy, "x", x);
        if (status == ATN_OK) status = atn_kernel_bind(axpy, "y", y);
        if (status == ATN_OK) status = atn_kernel_bind(axpy, "z", z);
        if (status == ATN_OK) status = atn_kernel_param(axpy, "a", 2, 0);
        if (status == ATN_OK) status = atn_kernel_run(axpy);
        for (int back = 0; back < 2 && status == ATN_OK; ++back) { /* another shape, and the first again */
            status = atn_kernel_bind(axpy, "x", back ? x : u);
            if (status == ATN_OK) status = atn_kernel_bind(axpy, "y", back ? y : v);
            if (status == ATN_OK) status = atn_kernel_bind(axpy, "z", back ? z : w);
            if (status == ATN_OK) status = atn_kernel_run(axpy);
        }
        atn_kernel *twin = NULL;
        if (status == ATN_OK) status = atn_kernel_twin(axpy, &twin);
        if (status == ATN_OK) status = atn_kernel_bind(twin, "x", u);
        if (status == ATN_OK) status = atn_kernel_bind(twin, "y", v);
        if (status == ATN_OK) status = atn_kernel_bind(twin, "z", w);
        if (status == ATN_OK) status = atn_kernel_param(twin, "a", 2, 0);
        if (status == ATN_OK) status = atn_kernel_run(twin);
        atn_kernel_free(twin);
        if (status == ATN_OK) assert_non_null(atn_kernel_explain(axpy));
        whole = n > 0 && atomic_load(&faults.count) < faults.fail_at;
        faults.fail_at = 0;
        if (n == 0 || whole) kit_ok(failing, status);
        if (status != ATN_OK) assert_int_equal(status, ATN_ERR_MEMORY);
        atn_kernel_free(axpy);
    }
    print_message("    %ld allocations failed in turn\n", n - 2);
    expect(z, 50, 2, 1, 2);
    expect(w, 7, 2, 3, 4);
    atn_array_free(w), atn_array_free(v), atn_array_free(u);
    atn_array_free(z), atn_array_free(y), atn_array_free(x);
    atn_device_close(device);
    atn_devices_free(found);
    atn_ctx_free(failing);
    assert_int_equal(atomic_load(&faults.live), 0);
    kit_remove(dir);
}

KIT_TEST(shipped_kernels_and_files_are_found) {
    const char *const defines[] = {"USED_FLOAT=SP", NULL};
    const atn_kernel_settings sp = {.defines = defines};
    atn_device *device;
    atn_kernel *kernel;
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_kernel_create(device, "l2norm", &sp, &kernel));
    atn_array *x = numbers(device, 2, 3), *norm = numbers(device, 1, 0);
    const void *at;
    kit_ok(ctx, atn_kernel_bind(kernel, "x", x));
    kit_ok(ctx, atn_kernel_bind(kernel, "norm", norm));
    kit_ok(ctx, atn_kernel_run(kernel));
    kit_ok(ctx, atn_array_map_read(norm, &at));
    assert_true(*(const float *)at == 5);
    atn_kernel_free(kernel);
    kit_ok(ctx, atn_kernel_create(device, ATN_SOURCE_DIR "/kernels/l2norm.atn", &sp, &kernel));
    atn_kernel_free(kernel);
    atn_array_free(norm), atn_array_free(x);
    atn_device_close(device);
}

KIT_TEST(wisdom_alone_may_be_asked_for) {
    const char *const defines[] = {"T=SP", NULL};
    atn_device *device;
    atn_kernel *axpy;
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_kernel_create(device, AXPY, &(atn_kernel_settings){.defines = defines, .effort = ATN_EFFORT_WISDOM},
                                  &axpy));
    atn_array *x = numbers(device, 9, 1), *y = numbers(device, 9, 1), *z = numbers(device, 9, 1);
    kit_ok(ctx, atn_kernel_bind(axpy, "x", x));
    kit_ok(ctx, atn_kernel_bind(axpy, "y", y));
    kit_ok(ctx, atn_kernel_bind(axpy, "z", z));
    kit_ok(ctx, atn_kernel_param(axpy, "a", 1, 0));
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "there is no wisdom", atn_kernel_run(axpy));
    atn_array_free(z), atn_array_free(y), atn_array_free(x);
    atn_kernel_free(axpy);
    atn_device_close(device);
}

/* Tuned once, known from then on. */
KIT_TEST(measuring_is_remembered) {
    const char *const defines[] = {"T=SP", NULL};
    const atn_kernel_settings measure = {.defines = defines, .effort = ATN_EFFORT_MEASURE, .budget_s = 0.5};
    const atn_kernel_settings wisdom = {.defines = defines, .effort = ATN_EFFORT_WISDOM};
    atn_device *device;
    atn_kernel *axpy;
    char *program = kit_getenv("ATTUNE_PROGRAM");
    if (access(ATN_BINARY_DIR "/attune", X_OK) != 0) print_message("    skipped: the program is not built\n"), skip();
    setenv("ATTUNE_PROGRAM", ATN_BINARY_DIR "/attune", 1);
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    if (!*atn_device_get_info(device)->driver) print_message("    skipped: there is no compiler\n"), skip();
    atn_array *x = numbers(device, 3000, 1), *y = numbers(device, 3000, -7), *z = numbers(device, 3000, 0);
    for (int round = 0; round < 2; ++round) {
        kit_ok(ctx, atn_kernel_create(device, AXPY, round ? &wisdom : &measure, &axpy));
        kit_ok(ctx, atn_kernel_bind(axpy, "x", x));
        kit_ok(ctx, atn_kernel_bind(axpy, "y", y));
        kit_ok(ctx, atn_kernel_bind(axpy, "z", z));
        kit_ok(ctx, atn_kernel_param(axpy, "a", 3, 0));
        kit_ok(ctx, atn_kernel_run(axpy));
        expect(z, 3000, 3, 1, -7);
        kit_contains(atn_kernel_explain(axpy), "on this device at exactly this size");
        atn_kernel_free(axpy);
    }
    atn_array_free(z), atn_array_free(y), atn_array_free(x);
    atn_device_close(device);
    kit_setenv("ATTUNE_PROGRAM", program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_again_and_again),
        cmocka_unit_test(wrong_things_are_refused),
        cmocka_unit_test(short_addresses_are_refused),
        cmocka_unit_test(runs_without_allocating),
        cmocka_unit_test(twins_share_what_is_built),
        cmocka_unit_test(shapes_come_back),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(shipped_kernels_and_files_are_found),
        cmocka_unit_test(wisdom_alone_may_be_asked_for),
        cmocka_unit_test(measuring_is_remembered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
