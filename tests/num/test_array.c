/* Arrays: shapes, views, copies that are coherent and how often they travel, and every allocation that may fail. */
#include "support/numkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KIT_TEST(shapes_are_checked) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host");
    atn_array *a = NULL, *m, *v, *w;
    kit_fails(ctx, ATN_ERR_INPUT, "INDEX is not a type of elements", atn_array_create_vector(device, ATN_INDEX, 3, &a));
    assert_null(a);
    kit_fails(ctx, ATN_ERR_INPUT, "not a type of elements", atn_array_create_vector(device, ATN_TYPE_NONE, 3, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "not negative", atn_array_create_vector(device, ATN_SP, -1, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "a pitch of 4", atn_array_create_matrix(device, ATN_SP, 5, 5, 4, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "larger than any memory",
              atn_array_create_matrix(device, ATN_SP, 5, INT64_MAX / 2, 0, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "larger than any memory",
              atn_array_create_matrix(device, ATN_DP2, (int64_t)1 << 31, (int64_t)1 << 31, 0, &a));
    kit_ok(ctx, atn_array_create_matrix(device, ATN_SP, 4, 5, 7, &m));
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, 5, &v));
    kit_fails(ctx, ATN_ERR_INPUT, "a range is taken from a vector", atn_array_view_range(m, 0, 1, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "a block is taken from a matrix", atn_array_view_block(v, 0, 0, 1, 1, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "a row is taken from a matrix", atn_array_view_row(v, 0, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "3 elements from 3 on are not inside a vector of 5",
              atn_array_view_range(v, 3, 3, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "not inside", atn_array_view_range(v, INT64_MAX, 2, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "not inside", atn_array_view_block(m, 1, 0, 4, 5, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "row 4 is not inside", atn_array_view_row(m, 4, &a));
    kit_fails(ctx, ATN_ERR_INPUT, "a pitch of 3 for rows of 5", atn_array_put(m, "", 3));
    atn_array_info info = atn_array_info_of(m);
    assert_int_equal(info.pitch, 7);
    assert_true(info.shape[0] == 4 && info.shape[1] == 5 && info.shape[2] == 1);
    kit_ok(ctx, atn_array_view_range(v, 5, 0, &w)); /* nothing, at the very end */
    const void *nothing;
    kit_ok(ctx, atn_array_map_read(w, &nothing));
    assert_null(nothing);
    atn_array_free(w);
    atn_array_free(v);
    atn_array_free(m);
    atn_array_free(NULL);
    atn_device_close(device);
    kit_free(ctx);
}

/* Volumes: rows a pitch apart through all planes, planes as matrices, and back from a file. */
KIT_TEST(volumes) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host");
    atn_array *v, *plane, *m, *back;
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/volume.npy", dir);
    float from[24], to[24], half[12];
    for (int k = 0; k < 24; ++k) from[k] = (float)k;
    kit_fails(ctx, ATN_ERR_INPUT, "larger than any memory",
              atn_array_create_volume(device, ATN_SP, (int64_t)1 << 30, (int64_t)1 << 30, 1 << 20, 0, &v));
    kit_fails(ctx, ATN_ERR_INPUT, "-1 planes", atn_array_create_volume(device, ATN_SP, -1, 1, 1, 0, &v));
    kit_ok(ctx, atn_array_create_volume(device, ATN_SP, 2, 3, 4, 5, &v));
    kit_ok(ctx, atn_array_put(v, from, 0));
    atn_array_info info = atn_array_info_of(v);
    assert_int_equal(info.rank, 3);
    assert_int_equal(info.shape[0], 2);
    assert_int_equal(info.pitch, 5);
    kit_ok(ctx, atn_array_view_plane(v, 1, &plane));
    kit_ok(ctx, atn_array_get(plane, half, 0));
    assert_memory_equal(half, from + 12, sizeof half);
    assert_int_equal(atn_array_info_of(plane).shape[2], 1);
    kit_fails(ctx, ATN_ERR_INPUT, "plane 2 is not inside a volume of 2 planes", atn_array_view_plane(v, 2, &m));
    kit_fails(ctx, ATN_ERR_INPUT, "a plane is taken from a volume, not from a matrix",
              atn_array_view_plane(plane, 0, &m));
    kit_fails(ctx, ATN_ERR_INPUT, "a row is taken from a matrix, not from a volume", atn_array_view_row(v, 0, &m));
    kit_ok(ctx, atn_array_save(v, path));
    kit_ok(ctx, atn_array_load(device, path, &back));
    info = atn_array_info_of(back);
    assert_true(info.rank == 3 && info.shape[0] == 2 && info.shape[1] == 3 && info.shape[2] == 4);
    kit_ok(ctx, atn_array_get(back, to, 0));
    assert_memory_equal(to, from, sizeof to);
    atn_array_free(back);
    atn_array_free(plane);
    atn_array_free(v);
    kit_remove(dir);
    atn_device_close(device);
    kit_free(ctx);
}

static void elements_go_in_and_out(atn_ctx *ctx, atn_device *device) {
    float from[3][8], to[3][6], zero[15];
    for (int k = 0; k < 24; ++k) from[k / 8][k % 8] = (float)k;
    atn_array *m, *row, *block;
    kit_ok(ctx, atn_array_create_matrix(device, ATN_SP, 3, 5, 9, &m));
    kit_ok(ctx, atn_array_get(m, zero, 0));
    for (int k = 0; k < 15; ++k) assert_true(zero[k] == 0);
    kit_ok(ctx, atn_array_put(m, from, 8));
    kit_ok(ctx, atn_array_get(m, to, 6));
    for (int k = 0; k < 15; ++k) assert_true(to[k / 5][k % 5] == from[k / 5][k % 5]);
    kit_ok(ctx, atn_array_view_row(m, 2, &row));
    kit_ok(ctx, atn_array_view_block(m, 1, 1, 2, 3, &block));
    atn_array_free(m); /* its views keep the elements */
    kit_ok(ctx, atn_array_put(row, (float[]){-1, -2, -3, -4, -5}, 0));
    kit_ok(ctx, atn_array_get(block, to, 0));
    const float *got = to[0];
    static const float wanted[] = {9, 10, 11, -2, -3, -4};
    for (int k = 0; k < 6; ++k) assert_true(got[k] == wanted[k]);
    atn_array_free(row);
    atn_array_free(block);
}

KIT_TEST(elements) {
    atn_ctx *ctx = kit_ctx();
    num_each_device(ctx, elements_go_in_and_out);
    kit_free(ctx);
}

static void travelled(const atn_array *array, bool apart, int64_t to_device, int64_t to_host) {
    int64_t there, back;
    atn_array_transfers(array, &there, &back);
    assert_int_equal(there, apart ? to_device : 0); /* on the host nothing ever travels */
    assert_int_equal(back, apart ? to_host : 0);
}

/* A chain of operations: each array goes to the device once, only what is looked at comes back. */
static void chain_on_device(atn_ctx *ctx, atn_device *device) {
    bool apart = strcmp(atn_device_get_info(device)->backend, "host") != 0;
    uint64_t seed = 5;
    atn_operations *ops;
    kit_ok(ctx, atn_operations_create(device, &ops));
    atn_array *a = num_random(device, ATN_SP, 30, 20, 2, &seed), *b = num_random(device, ATN_SP, 30, 20, 0, &seed);
    atn_array *c = num_empty(device, ATN_SP, 30, 20, 0), *d = num_random(device, ATN_SP, 30, 20, 1, &seed), *part;
    travelled(a, apart, 0, 0);
    kit_ok(ctx, atn_array_add(ops, a, b, c));
    kit_ok(ctx, atn_array_scale(ops, 2, 0, c, d)); /* d is overwritten as a whole: it need not go there first */
    kit_ok(ctx, atn_array_add(ops, d, a, c));
    travelled(a, apart, 1, 0);
    travelled(b, apart, 1, 0);
    travelled(c, apart, 0, 0);
    travelled(d, apart, 0, 0);
    double complex *va = num_values(a), *vb = num_values(b), *vc = num_values(c);
    for (int k = 0; k < 600; ++k) assert_true(cabs(vc[k] - (2 * (va[k] + vb[k]) + va[k])) < 1e-5);
    travelled(a, apart, 1, 0); /* still valid here */
    travelled(c, apart, 0, 1);
    free(vc);
    vc = num_values(c);
    travelled(c, apart, 0, 1); /* once is enough */
    void *data;
    kit_ok(ctx, atn_array_map_write(c, &data));
    ((float *)data)[0] = 100;
    travelled(c, apart, 0, 1);
    kit_ok(ctx, atn_array_scale(ops, 1, 0, c, d)); /* was written here: goes there again */
    travelled(c, apart, 1, 1);
    kit_ok(ctx, atn_array_put(c, data, 0)); /* all of it: nothing comes back first */
    travelled(c, apart, 1, 1);
    kit_ok(ctx, atn_array_view_block(d, 0, 0, 1, 30, &part));
    kit_ok(ctx, atn_array_put(part, data, 0)); /* a part: the rest must be here */
    travelled(d, apart, 0, 1);
    travelled(part, apart, 0, 1);
    free(va), free(vb), free(vc);
    atn_array_free(part), atn_array_free(a), atn_array_free(b), atn_array_free(c), atn_array_free(d);
    atn_operations_free(ops);
}

KIT_TEST(copies_are_coherent) {
    atn_ctx *ctx = kit_ctx();
    num_each_device(ctx, chain_on_device);
    kit_free(ctx);
}

KIT_TEST(host_has_one_copy) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host");
    atn_array *a;
    const void *read;
    void *write;
    kit_ok(ctx, atn_array_create_vector(device, ATN_DP, 100, &a));
    kit_ok(ctx, atn_array_map_write(a, &write));
    kit_ok(ctx, atn_array_ready_device(a, false));
    kit_ok(ctx, atn_array_map_read(a, &read));
    assert_ptr_equal(read, write);
    assert_ptr_equal(read, atn_buffer_host(a->storage->buffer));
    atn_array_free(a);
    static const int32_t MINE[6] = {1, 2, 3, 4, 5, 6}; /* or the caller's, which stays */
    kit_ok(ctx, atn_array_create_around(device, ATN_INT32, 2, 3, MINE, &a));
    kit_ok(ctx, atn_array_ready_device(a, false));
    kit_ok(ctx, atn_array_map_read(a, &read));
    assert_ptr_equal(read, MINE);
    assert_ptr_equal(atn_array_slot(a).buffer, a->storage->buffer);
    atn_array_free(a);
    assert_int_equal(MINE[5], 6);
    atn_device_close(device);
    kit_free(ctx);
}

/* Memory of the caller's that kernels write, too. */
KIT_TEST(memory_of_others) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host");
    float mine[2][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, got[6];
    atn_array_info info = {.type = ATN_SP, .rank = 2, .shape = {2, 3}, .pitch = 5};
    atn_array *a;
    void *address;
    kit_ok(ctx, atn_array_create_at(device, &info, mine, &a));
    kit_ok(ctx, atn_array_get(a, got, 0));
    assert_true(got[0] == 1 && got[2] == 3 && got[3] == 6 && got[5] == 8);
    kit_ok(ctx, atn_array_put(a, (float[]){-1, -2, -3, -6, -7, -8}, 0));
    assert_true(mine[0][2] == -3 && mine[0][3] == 4 && mine[1][0] == -6);
    kit_ok(ctx, atn_array_address(a, &address));
    assert_ptr_equal(address, mine);
    kit_ok(ctx, atn_device_follow(device, NULL)); /* the host has no streams: nothing to wait for */
    assert_null(atn_device_stream(device));
    atn_array_free(a);
    assert_true(mine[1][2] == -8);
    kit_fails(ctx, ATN_ERR_INPUT, "no address", atn_array_create_at(device, &info, NULL, &a));
    info.pitch = 2;
    kit_fails(ctx, ATN_ERR_INPUT, "a pitch of 2", atn_array_create_at(device, &info, mine, &a));
    info.rank = 4;
    kit_fails(ctx, ATN_ERR_INPUT, "4 axes", atn_array_create_at(device, &info, mine, &a));
    info = (atn_array_info){.type = ATN_DP, .rank = 1};
    kit_ok(ctx, atn_array_create_at(device, &info, NULL, &a)); /* no elements, no memory */
    kit_ok(ctx, atn_array_address(a, &address));
    assert_null(address);
    atn_array_free(a);
    atn_device_close(device);
    kit_free(ctx);
}

KIT_TEST(sparse_is_validated) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = num_device(ctx, "host");
    static const float e[4] = {1, 2, 3, 4};
    static const struct {
        int64_t rows, columns;
        int32_t start[4], column[4];
        const char *sentence;
    } cases[] = {
        {3, 3, {1, 2, 3, 4}, {0}, "start[0] is 1"},
        {3, 3, {0, 2, 1, 4}, {0}, "start decreases from 2 to 1 after row 1"},
        {3, 3, {0, 1, 2, 4}, {0, 1, 3, 2}, "column[2] is 3; there are 3 columns"},
        {3, 3, {0, 1, 2, 4}, {0, -1, 2, 2}, "column[1] is -1"},
        {-1, 3, {0}, {0}, "-1 rows"},
        {3, (int64_t)1 << 32, {0, 0, 0, 0}, {0}, "4294967296 columns"},
    };
    atn_csr *csr;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        kit_fails(
            ctx, ATN_ERR_INPUT, cases[k].sentence,
            atn_csr_create(device, ATN_SP, cases[k].rows, cases[k].columns, cases[k].start, cases[k].column, e, &csr));
        assert_null(csr);
    }
    kit_ok(ctx, atn_csr_create(device, ATN_SP, 0, 0, (int32_t[]){0}, NULL, NULL, &csr));
    atn_csr_free(csr);
    atn_csr_free(NULL);
    atn_device_close(device);
    kit_free(ctx);
}

/* Every allocation of making arrays and of one operation fails once. The cache has the kernel already. */
static bool step(const char *cache, long n) {
    kit_faults faults = {.fail_at = n};
    atn_ctx_settings options = kit_fault_options(&faults);
    options.cache_dir = cache;
    atn_ctx *ctx;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_operations *ops = NULL;
    atn_array *a = NULL, *b = NULL, *c = NULL, *view = NULL;
    atn_csr *csr = NULL;
    atn_status status = atn_ctx_create(&options, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = atn_operations_create(device, &ops);
    if (status == ATN_OK) status = atn_array_create_matrix(device, ATN_SP, 3, 4, 5, &a);
    if (status == ATN_OK) status = atn_array_create_matrix(device, ATN_SP, 3, 4, 0, &b);
    if (status == ATN_OK) status = atn_array_create_matrix(device, ATN_SP, 3, 4, 0, &c);
    if (status == ATN_OK) status = atn_array_view_row(a, 1, &view);
    if (status == ATN_OK) status = atn_array_put(view, (float[]){1, 2, 3, 4}, 0);
    if (status == ATN_OK)
        status = atn_csr_create(device, ATN_SP, 1, 1, (int32_t[]){0, 1}, (int32_t[]){0}, (float[]){1}, &csr);
    if (status == ATN_OK) status = atn_array_add(ops, a, b, c);
    if (status != ATN_OK && ctx && !*atn_ctx_message(ctx)) fail_msg("allocation %ld failed without a sentence", n);
    atn_csr_free(csr);
    atn_array_free(view), atn_array_free(a), atn_array_free(b), atn_array_free(c);
    atn_operations_free(ops);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    if (faults.live != 0) fail_msg("allocation %ld failed: %ld blocks stay behind", n, (long)faults.live);
    bool through = n > 0 && faults.count < n;
    if ((through || n == 0) != (status == ATN_OK)) fail_msg("allocation %ld: %s", n, atn_status_name(status));
    if (through) print_message("    %ld allocations\n", (long)faults.count);
    return through;
}

KIT_TEST(failing_allocations) {
    char *cache = kit_tempdir();
    for (long n = 0; !step(cache, n);) ++n;
    kit_remove(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_checked),
        cmocka_unit_test(elements),
        cmocka_unit_test(volumes),
        cmocka_unit_test(copies_are_coherent),
        cmocka_unit_test(host_has_one_copy),
        cmocka_unit_test(memory_of_others),
        cmocka_unit_test(sparse_is_validated),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
