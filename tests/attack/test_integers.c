/* Data that make selectors wrap, overflow and leave the arrays, fully optimized, on every device and with both
 * compilers: what is out of range is reported, nothing beside the arrays is read or written, the rest is right. */
#include "support/shared.h"

#include "support/held.h"
#include "support/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24 };
enum { DAILY = 4 }; /* of these */
static const char *const VARIANTS[] = {
    "", "index=32", "vec_p0=8,seq_p0=2", "lanes_p0=16,regs_p0=2,index=32", "lanes_p0=8", "vec_p0=4,index=32"};
SHARED_DEVICES;

/* All variants on one device; true where any exists. */
static int hold_device(kernel *k, atn_device *device, int64_t reported) {
    const atn_device_info *info = atn_device_get_info(device);
    atn_target target = atn_target_of(info);
    held_case c = {k->graph, k->views, (const double(*)[2])k->params};
    int held = 0;
    for (size_t n = 0; n < (getenv("ATTUNE_TEST_ALL") ? sizeof VARIANTS / sizeof *VARIANTS : DAILY); ++n) {
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, VARIANTS[n]));
        if (!atn_variant_fits(k->graph, &v, &target, NULL)) continue;
        atn_eval_options options = atn_variant_arithmetic(k->graph, &v, info);
        atn_eval_result *oracle;
        kit_ok(ctx, atn_eval_run(ctx, k->graph, &k->frame, &options, &oracle));
        assert_int_equal(oracle->bad_accesses, reported);
        atn_status status = held_run(device, &c, &v, oracle);
        atn_eval_free(oracle);
        if (status != ATN_OK && status != ATN_ERR_UNSUPPORTED)
            fail_msg("%s, variant '%s': %s", info->name, VARIANTS[n], atn_ctx_message(ctx));
        held += status == ATN_OK;
    }
    return held;
}

/* With the usual compiler; on the host with clang too, where it is installed. */
static void attack(kernel *k, int64_t reported) {
    static const char *const COMPILERS[] = {NULL, "clang"};
    bool clang = !getenv("ATTUNE_CC") && system("clang --version >/dev/null 2>&1") == 0;
    kit_ok(ctx, kernel_bind(k));
    kit_ok(ctx, atn_eval_check(ctx, k->graph, &k->frame));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        bool host = strcmp(atn_devices_info(devices, d)->backend, "host") == 0;
        for (int with = 0; with < (host && clang ? 2 : 1); ++with) {
            atn_device *device;
            if (with) setenv("ATTUNE_CC", COMPILERS[with], 1);
#ifdef __aarch64__
            if (with) setenv("ATTUNE_HOST_FLAGS", "-mcpu=generic", 1); /* clang infers SVE from the name of a CPU */
#endif
            kit_ok(ctx, atn_device_open(devices, d, &device));
            assert_true(hold_device(k, device, reported) > 0);
            atn_device_close(device);
            unsetenv("ATTUNE_HOST_FLAGS");
            if (with) unsetenv("ATTUNE_CC");
        }
    }
    kernel_free(k);
}

/* ---- scatters and gathers ---- */

/* The product wraps to -2 and to -1000000, of a number that no compiler thinks can be negative. */
KIT_TEST(scatter_wraps) {
    int32_t key[N] = {0, 1, INT32_MAX, INT32_MAX - 499999, 3, 1 << 30, -1}, bins[8] = {7, 6, 5, 4, 3, 2, 1, 0};
    kernel k = kernel_make(ctx, 1, "", "key=INT32:1 bins=INT32:1",
                           READ("r", "key", "v0") FUNCTION("f", "INT32", "(#in(0) &amp; 2147483647) * 2")
                               FUNCTION("one", "INT32", "1") WRITE_COMBINE("w", "bins", "v0", "add"),
                           "key.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>f.in(0) f.out>w.v(0) one.out>w.in");
    kernel_vector(&k, "key", ATN_INT32, key, N);
    kernel_vector(&k, "bins", ATN_INT32, bins, 8);
    attack(&k, 4);
}

KIT_TEST(gather_wraps) {
    int32_t key[N] = {0, 1, INT32_MAX, INT32_MAX - 499999, 3, 1 << 30, -1}, x[8] = {7, 6, 5, 4, 3, 2, 1, 9}, y[N];
    kernel k = kernel_make(ctx, 1, "", "key=INT32:1 x=INT32:1 y=INT32:1",
                           READ("r", "key", "v0") FUNCTION("f", "INT32", "(#in(0) &amp; 2147483647) * 2")
                               READ("g", "x", "v0") WRITE("w", "y", "v0"),
                           "key.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>f.in(0) f.out>g.v(0) g.out>w.in K.i(0)>w.v(0)");
    memset(y, 0x55, sizeof y);
    kernel_vector(&k, "key", ATN_INT32, key, N);
    kernel_vector(&k, "x", ATN_INT32, x, 8);
    kernel_vector(&k, "y", ATN_INT32, y, N);
    attack(&k, 4);
}

/* In the lower 32 bits it is inside. */
KIT_TEST(far_away) {
    static const char *const EDGES[] = {"", "mirror", "clamp", "zero", "wrap"};
    for (size_t n = 0; n < (getenv("ATTUNE_TEST_ALL") ? sizeof EDGES / sizeof *EDGES : 2); ++n) {
        int32_t key[N] = {0, 1, 2, -1, INT32_MAX, INT32_MIN}, x[N], y[N];
        char children[512];
        snprintf(
            children, sizeof children,
            READ("r", "key",
                 "v0") "<DataAccessRead name='g' source='x' selFunction='v0 * 4294967296 + v1'%s%s%s/>" WRITE("w", "y",
                                                                                                              "v0"),
            *EDGES[n] ? " boundary='" : "", EDGES[n], *EDGES[n] ? "'" : "");
        kernel k =
            kernel_make(ctx, 1, "", "key=INT32:1 x=INT32:1 y=INT32:1", children,
                        "key.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>g.v(0) K.i(0)>g.v(1) g.out>w.in K.i(0)>w.v(0)");
        for (int i = 0; i < N; ++i) x[i] = 100 + i;
        memset(y, 0x55, sizeof y);
        kernel_vector(&k, "key", ATN_INT32, key, N);
        kernel_vector(&k, "x", ATN_INT32, x, N);
        kernel_vector(&k, "y", ATN_INT32, y, N);
        attack(&k, *EDGES[n] ? 0 : 5);
    }
}

/* A sum that wraps before it is taken modulo something, of a dimension and of data. */
KIT_TEST(modulo_of_a_wrapped_sum) {
    int32_t key[N], x[16], y[N], z[N];
    kernel k = kernel_make(
        ctx, 1, "", "key=INT32:1 x=INT32:1 y=INT32:1 z=INT32:1",
        READ("r", "key", "v0") READ("g", "x", "(v0 + 9223372036854775807) mod 7")
            READ("h", "x", "(v0 + 9223372036854775807) mod 13") WRITE("w", "y", "v0") WRITE("u", "z", "v0"),
        "key.Size(0)>K.Range(0) K.i(0)>r.v(0) K.i(0)>g.v(0) r.out>h.v(0) g.out>w.in K.i(0)>w.v(0) h.out>u.in "
        "K.i(0)>u.v(0)");
    for (int i = 0; i < N; ++i) key[i] = i * 97 - 1000;
    for (int i = 0; i < 16; ++i) x[i] = 100 + i;
    memset(y, 0x55, sizeof y);
    memset(z, 0x55, sizeof z);
    kernel_vector(&k, "key", ATN_INT32, key, N);
    kernel_vector(&k, "x", ATN_INT32, x, 16);
    kernel_vector(&k, "y", ATN_INT32, y, N);
    kernel_vector(&k, "z", ATN_INT32, z, N);
    attack(&k, 0);
}

/* ---- what is not defined in C ---- */

KIT_TEST(divisions) {
    const int32_t ends[] = {INT32_MIN, INT32_MAX, -1, 0, 1, 2, -7, 31};
    int32_t a[64], b[64], q[64], m[64], f[64], s[64];
    kernel k = kernel_make(
        ctx, 1, "", "a=INT32:1 b=INT32:1 q=INT32:1 m=INT32:1 f=INT32:1 s=INT32:1",
        READ("ra", "a", "v0") READ("rb", "b", "v0") FUNCTION("fq", "INT32", "#in(0) / #in(1)")
            FUNCTION("fm", "INT32", "#in(0) % #in(1)") FUNCTION("ff", "INT32", "#in(0) mod #in(1)")
                FUNCTION("fs", "INT32", "(#in(0) &lt;&lt; #in(1)) + (#in(0) >> #in(1)) - abs(#in(0)) + (-#in(1))")
                    WRITE("wq", "q", "v0") WRITE("wm", "m", "v0") WRITE("wf", "f", "v0") WRITE("ws", "s", "v0"),
        "a.Size(0)>K.Range(0) K.i(0)>ra.v(0) K.i(0)>rb.v(0) ra.out>fq.in(0) rb.out>fq.in(1) ra.out>fm.in(0) "
        "rb.out>fm.in(1) ra.out>ff.in(0) rb.out>ff.in(1) ra.out>fs.in(0) rb.out>fs.in(1) fq.out>wq.in fm.out>wm.in "
        "ff.out>wf.in fs.out>ws.in K.i(0)>wq.v(0) K.i(0)>wm.v(0) K.i(0)>wf.v(0) K.i(0)>ws.v(0)");
    for (int i = 0; i < 64; ++i) a[i] = ends[i / 8], b[i] = ends[i % 8];
    int32_t *const out[] = {q, m, f, s};
    const char *const names[] = {"q", "m", "f", "s"};
    kernel_vector(&k, "a", ATN_INT32, a, 64);
    kernel_vector(&k, "b", ATN_INT32, b, 64);
    for (int n = 0; n < 4; ++n) {
        memset(out[n], 0x55, sizeof q);
        kernel_vector(&k, names[n], ATN_INT32, out[n], 64);
    }
    attack(&k, 0);
}

/* Numbers that no integer holds, as selector and as value. */
KIT_TEST(casts) {
    float x[N] = {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 0x1p31f, -0x1p31f, 1e30f, 5.5f, -0.5f, 2147483520.0f, 255.5f};
    int32_t y[N], t[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t u[N];
    kernel k = kernel_make(ctx, 1, "", "x=SP:1 t=INT32:1 y=INT32:1 u=U8:1",
                           READ("r", "x", "v0") FUNCTION("f", "INDEX", "INDEX(#in(0))") READ("g", "t", "v0")
                               FUNCTION("h", "INT32", "INT32(#in(0)) ^ #in(1)") FUNCTION("b", "U8", "U8(#in(0))")
                                   WRITE("w", "y", "v0") WRITE("v", "u", "v0"),
                           "x.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>f.in(0) f.out>g.v(0) r.out>h.in(0) g.out>h.in(1) "
                           "r.out>b.in(0) h.out>w.in "
                           "b.out>v.in K.i(0)>w.v(0) K.i(0)>v.v(0)");
    memset(y, 0x55, sizeof y);
    memset(u, 0x55, sizeof u);
    kernel_vector(&k, "x", ATN_SP, x, N);
    kernel_vector(&k, "t", ATN_INT32, t, 8);
    kernel_vector(&k, "y", ATN_INT32, y, N);
    kernel_vector(&k, "u", ATN_U8, u, N);
    attack(&k, 9);
}

/* ---- ranges ---- */

/* A loop at the end of 64 bits, where counting on wraps; and one beyond what indices reach. */
KIT_TEST(ranges_at_the_end) {
    int32_t key[N] = {0, 3, -1, INT32_MAX, INT32_MIN, 1 << 20}, x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[N];
    static const char *const BEGINS[] = {"9223372036854775804 + (INDEX(#in(0)) mod 3)",
                                         "(INDEX(#in(0)) * 4611686018427387905) &amp; 9223372036854775807",
                                         "INDEX(#in(0))"};
    static const int64_t REPORTED[] = {0, 5, 16};
    for (size_t n = 0; n < sizeof BEGINS / sizeof *BEGINS; ++n) {
        char children[1024];
        snprintf(children, sizeof children,
                 READ("r", "key", "v0") "<FunctionBlock name='b' dataType='INDEX' function='%s'/>" FUNCTION(
                     "e", "INDEX", "#in(0) + 5") ITERATOR("it", 1, "ICF='#acc(0) + #in(0)' ICFType='INT32'",
                                                          READ("g", "x", "v0")) WRITE("w", "y", "v0"),
                 BEGINS[n]);
        kernel k = kernel_make(ctx, 1, "", "key=INT32:1 x=INT32:1 y=INT32:1", children,
                               "key.Size(0)>K.Range(0) K.i(0)>r.v(0) r.out>b.in(0) b.out>e.in(0) b.out>it.Begin(0) "
                               "e.out>it.End(0) it.i(0)>g.v(0) g.out>it.func(0) it.out>w.in K.i(0)>w.v(0)");
        memset(y, 0x55, sizeof y);
        kernel_vector(&k, "key", ATN_INT32, key, N);
        kernel_vector(&k, "x", ATN_INT32, x, 8);
        kernel_vector(&k, "y", ATN_INT32, y, N);
        attack(&k, REPORTED[n]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_wraps),           cmocka_unit_test(gather_wraps), cmocka_unit_test(far_away),
        cmocka_unit_test(modulo_of_a_wrapped_sum), cmocka_unit_test(divisions),    cmocka_unit_test(casts),
        cmocka_unit_test(ranges_at_the_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
