/* Parts of files: together they are all of it, in any format; samples do not depend on how many parts there are; what
 * is written in stretches is one file. */
#include "cloudkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "cloud/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Part `number` of `of` of a file in memory. */
static atn_cloud *part_of(atn_ctx *ctx, const kit_file *file, size_t number, size_t of) {
    source s;
    atn_cloud *cloud = NULL;
    kit_ok(ctx, source_of_bytes(ctx, file->name, file->bytes, file->length, &s));
    atn_status status = cloud_read_part(&s, NULL, KEEP_EXTRAS, number, of, &cloud);
    if (status != ATN_OK) fail_msg("%s, part %zu of %zu: %s", file->name, number, of, atn_ctx_message(ctx));
    source_close(&s);
    return cloud;
}

/* The parts of small files, one after the other, are the file. */
KIT_TEST(formats) {
    atn_ctx *ctx = kit_ctx();
    for (const kit_file *file = KIT_FILES; file->name; ++file)
        for (size_t of = 2; of < 5; ++of) {
            atn_cloud *all = cloud_of(ctx, file, ATN_INVALID_REFUSE);
            size_t at = 0;
            for (size_t number = 0; number < of; ++number) {
                atn_cloud *part = part_of(ctx, file, number, of);
                assert_int_equal(part->roles, all->roles);
                for (size_t k = 0; k < part->count; ++k, ++at)
                    for (cloud_role role = 0; role < ROLE_COUNT; ++role)
                        if (part->roles & ROLE_BIT(role))
                            assert_true(cloud_get(part, role, k) == cloud_get(all, role, at));
                atn_cloud_free(part);
            }
            assert_int_equal(at, all->count);
            atn_cloud_free(all);
        }
    kit_free(ctx);
}

/* Of text nobody knows how long it is: runs of points in turn. The second number of a row is its own. */
KIT_TEST(turns) {
    enum { ROWS = 5 * CLOUD_RUN + 7, PARTS = 2 };
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    for (size_t k = 0; k < ROWS; ++k) atn_text_printf(&text, "0 %zu 1\n", k);
    const kit_file file = {"a.xyz", text.data, text.length};
    for (size_t number = 0; number < PARTS; ++number) {
        atn_cloud *part = part_of(ctx, &file, number, PARTS);
        const double *row = atn_cloud_positions(part, 1);
        assert_int_equal(part->part.runs, 3);
        for (size_t run = 0; run < 3; ++run) {
            size_t first = part->part.start[run], end = run < 2 ? part->part.start[run + 1] : part->count;
            assert_int_equal(end - first, number && run == 2 ? 7 : CLOUD_RUN);
            for (size_t k = first; k < end; ++k)
                assert_int_equal((size_t)row[k], (PARTS * run + number) * CLOUD_RUN + (k - first));
        }
        atn_cloud_free(part);
    }
    atn_text_free(&text);
    kit_free(ctx);
}

/* ---- alone ---- */

typedef struct fixture {
    char *folder;
    char in[512], out[512];
} fixture;

static int setup(void **state) {
    static fixture f;
    f.folder = kit_tempdir();
    snprintf(f.in, sizeof f.in, "%s/in.xyz", f.folder);
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    uint64_t seed = 5;
    for (int k = 0; k < 4000; ++k)
        atn_text_printf(&text, "%.17g %.17g %d\n", kit_uniform(&seed), kit_uniform(&seed), k);
    kit_ok(ctx, atn_file_write(ctx, f.in, text.data, text.length));
    atn_text_free(&text);
    kit_free(ctx);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    kit_remove(((fixture *)*state)->folder);
    return 0;
}

static void a_sample(void **state) {
    const fixture *f = *state;
    atn_ctx *ctx = kit_ctx();
    atn_ranks *ranks;
    cloud_part part;
    atn_cloud *some, *again, *all;
    kit_ok(ctx, atn_ranks_join(ctx, &ranks));
    kit_ok(ctx, cloud_part_read(ctx, f->in, NULL, ranks, &part));
    assert_int_equal(part.total, 4000);
    kit_ok(ctx, cloud_part_sample(&part, 1000, &some));
    kit_ok(ctx, cloud_part_sample(&part, 1000, &again));
    kit_ok(ctx, cloud_part_sample(&part, 4000, &all));
    assert_true(some->count > 850 && some->count < 1150);
    cloud_same(some, again, ROLE_POSITION);
    cloud_same(all, part.cloud, ROLE_POSITION);
    const double *row = atn_cloud_positions(some, 2);
    for (size_t k = 1; k < some->count; ++k) assert_true(row[k] > row[k - 1]);
    atn_cloud_free(all);
    atn_cloud_free(again);
    atn_cloud_free(some);
    cloud_part_free(&part);
    atn_ranks_leave(ranks);
    kit_free(ctx);
}

static const double TURNED[16] = {0, -1, 0, 0.1, 1, 0, 0, 0.2, 0, 0, 1, 0.3, 0, 0, 0, 1};

static atn_status write_part(atn_ctx *ctx, const char *from, const char *to) {
    atn_ranks *ranks = NULL;
    cloud_part part = {0};
    atn_status status = atn_ranks_join(ctx, &ranks);
    if (status == ATN_OK) status = cloud_part_read(ctx, from, NULL, ranks, &part);
    if (status == ATN_OK) status = cloud_part_write(&part, TURNED, to);
    cloud_part_free(&part);
    atn_ranks_leave(ranks);
    return status;
}

/* What is written is what one process writes. */
static void written(void **state) {
    static const char *const ENDINGS[] = {"ply", "pcd", "npy", "xyz", "csv", "pos"};
    fixture *f = *state;
    atn_ctx *ctx = kit_ctx();
    atn_cloud *in, *moved, *out;
    kit_ok(ctx, atn_cloud_read(ctx, f->in, NULL, &in));
    kit_ok(ctx, atn_cloud_moved(in, TURNED, &moved));
    for (size_t k = 0; k < sizeof ENDINGS / sizeof *ENDINGS; ++k) {
        snprintf(f->out, sizeof f->out, "%s/out.%s", f->folder, ENDINGS[k]);
        kit_ok(ctx, write_part(ctx, f->in, f->out));
        kit_ok(ctx, atn_cloud_read(ctx, f->out, NULL, &out));
        assert_int_equal(out->count, moved->count);
        if (strcmp(ENDINGS[k], "pos") != 0) cloud_same(out, moved, ROLE_POSITION); /* which has floats */
        atn_cloud_free(out);
    }
    assert_false(cloud_part_can_write("a.las"));
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "a.las: the beginning", cloud_part_check_output(ctx, "a.las"));
    atn_cloud_free(moved);
    atn_cloud_free(in);
    kit_free(ctx);
}

static void weights(void **state) {
    fixture *f = *state;
    static const char BAD[] = "x,y,z,weight\n0,0,0,1\n1,0,0,-2\n";
    atn_ctx *ctx = kit_ctx();
    atn_ranks *ranks;
    cloud_part part;
    snprintf(f->out, sizeof f->out, "%s/bad.csv", f->folder);
    kit_ok(ctx, atn_file_write(ctx, f->out, BAD, sizeof BAD - 1));
    kit_ok(ctx, atn_ranks_join(ctx, &ranks));
    kit_ok(ctx, cloud_part_read(ctx, f->out, NULL, ranks, &part));
    kit_fails(ctx, ATN_ERR_INPUT, "point 1 has the weight -2", cloud_part_check_weights(&part));
    cloud_part_free(&part);
    atn_ranks_leave(ranks);
    kit_free(ctx);
}

static atn_status walk_part(atn_ctx *ctx, const void *given) {
    const fixture *f = given;
    atn_ranks *ranks = NULL;
    cloud_part part = {0};
    atn_cloud *some = NULL;
    atn_status status = atn_ranks_join(ctx, &ranks);
    if (status == ATN_OK) status = cloud_part_read(ctx, f->in, NULL, ranks, &part);
    if (status == ATN_OK) status = cloud_part_sample(&part, 100, &some);
    if (status == ATN_OK) status = cloud_part_write(&part, TURNED, f->out);
    atn_cloud_free(some);
    cloud_part_free(&part);
    atn_ranks_leave(ranks);
    return status;
}

static void without_memory(void **state) {
    fixture *f = *state;
    snprintf(f->out, sizeof f->out, "%s/walk.ply", f->folder);
    cloud_walk(walk_part, f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats), cmocka_unit_test(turns),   cmocka_unit_test(a_sample),
        cmocka_unit_test(written), cmocka_unit_test(weights), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
