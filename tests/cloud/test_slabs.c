/* Frames in pieces and in slabs, in memory and by way of a temporary file; columns. */
#include "cloudkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "cloud/frame.h"
#include "cloud/slabs.h"

#include <attune/frame.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMS = 30000 };

/* A file of atoms in a box that is longest along y; every 1000th is NaN where `spoil` is set. */
static void write_pos(atn_ctx *ctx, const char *path, size_t count, double size, bool spoil) {
    atn_text text = {.ctx = ctx};
    uint64_t seed = 3;
    for (size_t k = 0; k < count; ++k)
        for (int d = 0; d < 4; ++d) {
            float x = (float)(size * kit_uniform(&seed) * (d == 1 ? 3 : 1));
            if (spoil && k % 1000 == 5 && d == 2) x = NAN;
            if (d == 3) x = (float)k;
            uint32_t bits;
            memcpy(&bits, &x, 4);
            const char big[4] = {(char)(bits >> 24), (char)(bits >> 16), (char)(bits >> 8), (char)bits};
            atn_text_add_bytes(&text, big, 4);
        }
    kit_ok(ctx, atn_file_write(ctx, path, text.data, text.length));
    atn_text_free(&text);
}

/* Every atom is own once, and each slab has all that is within its halo and nothing else. */
static void check_slabs(atn_ctx *ctx, atn_frame *frame, const atn_cloud *cloud, atn_slabs_settings options,
                        bool temporary) {
    atn_slabs *slabs;
    atn_atoms atoms = {0};
    kit_ok(ctx, atn_slabs_open(frame, &options, &slabs));
    atn_slabs_info info = atn_slabs_info_of(slabs);
    assert_int_equal(info.temporary, temporary);
    int axis = info.axis - 1;
    size_t n = atn_cloud_info_of(cloud).points, met = 0, seen = 0;
    const double *x = atn_cloud_positions(cloud, axis);
    double before = -INFINITY;
    for (;; ++seen) {
        kit_ok(ctx, atn_slabs_next(slabs, &atoms));
        if (!atoms.count) break;
        assert_true(atoms.count <= info.most && atoms.own <= atoms.count);
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < atoms.own; ++k) {
            low = fmin(low, atoms.position[axis][k]);
            high = fmax(high, atoms.position[axis][k]);
        }
        assert_true(low >= before); /* slabs come along the axis */
        before = high;
        size_t within = 0;
        for (size_t k = 0; k < n; ++k) within += x[k] >= low - options.halo && x[k] <= high + options.halo;
        assert_int_equal(atoms.count, within);
        for (size_t k = 0; k < atoms.count; ++k) {
            size_t at = (size_t)atoms.mass[k]; /* the file has the index as its mass */
            assert_true(atoms.index[k] == at);
            if (k < atoms.own) met += at;
        }
    }
    assert_int_equal(seen, info.slabs);
    size_t all = 0;
    for (size_t k = 0; k < n; ++k) all += (size_t)atn_cloud_masses(cloud)[k];
    assert_int_equal(met, all);
    atn_slabs_rewind(slabs);
    kit_ok(ctx, atn_slabs_next(slabs, &atoms));
    assert_true(n == 0 || atoms.own > 0);
    atn_slabs_close(slabs);
}

KIT_TEST(slabs_have_their_halo) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/a.pos", dir);
    write_pos(ctx, path, ATOMS, 10, true);
    atn_cloud_settings drop = {.invalid = ATN_INVALID_DROP};
    atn_frame *frame;
    atn_cloud *cloud;
    kit_fails(ctx, ATN_ERR_INPUT, "byte 80: z is NaN", atn_frame_open(ctx, path, NULL, &frame));
    kit_ok(ctx, atn_cloud_read(ctx, path, &drop, &cloud));
    kit_ok(ctx, atn_frame_open(ctx, path, &drop, &frame));
    atn_frame_info info = atn_frame_info_of(frame);
    atn_cloud_info wanted = atn_cloud_info_of(cloud);
    assert_true(info.streamed && info.masses && !info.species && info.angstrom == 10);
    assert_int_equal(info.records, ATOMS);
    assert_int_equal(info.atoms, wanted.points);
    assert_int_equal(info.nan, ATOMS / 1000);
    assert_memory_equal(info.low, wanted.low, sizeof info.low);
    assert_memory_equal(info.high, wanted.high, sizeof info.high);
    check_slabs(ctx, frame, cloud, (atn_slabs_settings){.atoms = 3000, .halo = 1}, false);
    check_slabs(ctx, frame, cloud, (atn_slabs_settings){.atoms = 3000, .halo = 1, .memory = 1000}, true);
    check_slabs(ctx, frame, cloud, (atn_slabs_settings){.atoms = 100, .halo = 0.5, .axis = 3, .memory = 1000}, true);
    check_slabs(ctx, frame, cloud, (atn_slabs_settings){.halo = 1}, false); /* one for all */
    atn_slabs *slabs;
    atn_slabs_settings wrong = {.halo = -1}, few = {.halo = 5, .atoms = 100, .most = 5000};
    kit_fails(ctx, ATN_ERR_INPUT, "a halo from 0", atn_slabs_open(frame, &wrong, &slabs));
    kit_fails(ctx, ATN_ERR_INPUT, "at most 5000 are supported", atn_slabs_open(frame, &few, &slabs));
    atn_frame_close(frame);
    atn_cloud_free(cloud);
    kit_remove(dir);
    kit_free(ctx);
}

/* Many slabs of a thick frame are strips: every atom is own once, each has all that is within its halo along and across
 * and nothing else, and halos are far smaller than those of slabs as thin would be. */
KIT_TEST(thin_slabs_are_strips) {
    enum { WANTED = 40 };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_frame *frame;
    atn_cloud *cloud;
    snprintf(path, sizeof path, "%s/a.pos", dir);
    write_pos(ctx, path, ATOMS, 10, false);
    kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
    kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &cloud));
    for (int file = 0; file < 2; ++file) {
        atn_slabs_settings options = {.halo = 1, .memory = file ? 1000 : 0};
        atn_slabs *slabs;
        atn_atoms atoms;
        unsigned char *met = calloc(ATOMS, 1);
        size_t own = 0, all = 0, least = ATOMS, most = 0, shown = 0;
        kit_ok(ctx, slabs_open(frame, &options, WANTED, &slabs));
        assert_true(slabs->across > 1 && slabs->axis[0] == 1 && slabs->axis[1] != 1);
        assert_int_equal(slabs->slabs, WANTED);
        const double *at[2] = {atn_cloud_positions(cloud, slabs->axis[0]), atn_cloud_positions(cloud, slabs->axis[1])};
        for (size_t k = 0; k < WANTED; ++k) {
            double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
            kit_ok(ctx, slabs_read(slabs, k, &atoms));
            assert_true(atoms.own > 0 && atoms.count <= slabs->most);
            for (size_t i = 0; i < atoms.own; ++i) {
                assert_int_equal(met[atoms.index[i]]++, 0);
                for (int d = 0; d < 2; ++d) {
                    low[d] = fmin(low[d], atoms.position[slabs->axis[d]][i]);
                    high[d] = fmax(high[d], atoms.position[slabs->axis[d]][i]);
                }
            }
            size_t within = 0;
            for (size_t i = 0; i < ATOMS; ++i) {
                bool in = true;
                for (int d = 0; d < 2; ++d) in = in && at[d][i] >= low[d] - 1 && at[d][i] <= high[d] + 1;
                within += in;
            }
            assert_int_equal(atoms.count, within);
            own += atoms.own, all += atoms.count;
            least = atoms.own < least ? atoms.own : least;
            most = atoms.own > most ? atoms.own : most;
            shown = atoms.count > shown ? atoms.count : shown;
        }
        assert_int_equal(own, ATOMS);
        assert_true(most > 5 * least && (double)most < 2.6 * ATOMS / WANTED); /* 2.4 to 0.05 times the mean */
        assert_true(slabs->most >= shown);
        assert_true(all < 3 * ATOMS); /* slabs 0.75 thick, of which 2 more are halo: 3.6 times as many */
        atn_slabs_close(slabs);
        free(met);
    }
    atn_slabs_settings wide = {.halo = 3}; /* too narrow across for two strips of twice that */
    atn_slabs *slabs;
    kit_ok(ctx, slabs_open(frame, &wide, WANTED, &slabs));
    assert_true(slabs->across == 1);
    atn_slabs_close(slabs);
    atn_cloud_free(cloud);
    atn_frame_close(frame);
    kit_remove(dir);
    kit_free(ctx);
}

/* Settings of a small frame are found from the same atoms however it is cut. */
KIT_TEST(the_sample_is_all) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_frame *frame;
    snprintf(path, sizeof path, "%s/a.pos", dir);
    write_pos(ctx, path, ATOMS, 10, false);
    kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
    for (size_t wanted = 0; wanted < 50; wanted += 7) {
        atn_slabs_settings options = {.halo = 1};
        atn_slabs *slabs;
        atn_atoms atoms;
        kit_ok(ctx, slabs_open(frame, &options, wanted, &slabs));
        kit_ok(ctx, slabs_read_sample(slabs, &atoms));
        assert_true(atoms.own == ATOMS && atoms.count == ATOMS);
        for (size_t k = 0; k < ATOMS; ++k) assert_true(atoms.index[k] == k && atoms.mass[k] == (float)k);
        atn_slabs_close(slabs);
    }
    atn_slabs_settings few = {.halo = 1, .atoms = 6000}; /* as many as memory has room for */
    atn_slabs *slabs;
    atn_atoms atoms;
    kit_ok(ctx, slabs_open(frame, &few, 40, &slabs));
    kit_ok(ctx, slabs_read_sample(slabs, &atoms));
    assert_true(atoms.own >= 6000 && atoms.own < 6500 && atoms.count > atoms.own);
    atn_slabs_close(slabs);
    atn_frame_close(frame);
    kit_remove(dir);
    kit_free(ctx);
}

/* One atom, all at one place, all in a plane, and a frame that is text. */
KIT_TEST(odd_frames) {
    static const struct {
        size_t count;
        double size;
    } cases[] = {{1, 1}, {2, 0}, {5000, 0}};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_frame *frame;
    atn_cloud *cloud;
    snprintf(path, sizeof path, "%s/a.pos", dir);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        write_pos(ctx, path, cases[k].count, cases[k].size, false);
        kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
        kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &cloud));
        check_slabs(ctx, frame, cloud, (atn_slabs_settings){.atoms = 10, .halo = 1, .memory = 8}, true);
        atn_frame_close(frame);
        atn_cloud_free(cloud);
    }
    kit_ok(ctx, atn_file_write(ctx, path, "0123456789", 10));
    kit_fails(ctx, ATN_ERR_INPUT, "10 bytes after the last ion", atn_frame_open(ctx, path, NULL, &frame));
    kit_ok(ctx, atn_file_write(ctx, path, "", 0));
    kit_fails(ctx, ATN_ERR_INPUT, "the file is empty", atn_frame_open(ctx, path, NULL, &frame));
    snprintf(path, sizeof path, "%s/a.xyz", dir);
    static const char TWO[] = "1\nfirst\nAl 1 2 3\n1\nsecond\nNi 4 5 6\n", NONE[] = "0\nnothing\n";
    kit_ok(ctx, atn_file_write(ctx, path, TWO, sizeof TWO - 1));
    kit_fails(ctx, ATN_ERR_INPUT, "has 2 frames, one is needed", atn_frame_open(ctx, path, NULL, &frame));
    kit_ok(ctx, atn_file_write(ctx, path, NONE, sizeof NONE - 1));
    kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
    assert_int_equal(atn_frame_info_of(frame).atoms, 0);
    atn_slabs *slabs;
    atn_atoms atoms = {0};
    kit_ok(ctx, atn_slabs_open(frame, NULL, &slabs));
    kit_ok(ctx, atn_slabs_next(slabs, &atoms));
    assert_int_equal(atoms.count, 0);
    atn_slabs_close(slabs);
    atn_frame_close(frame);
    kit_ok(ctx, atn_file_write(ctx, path, TWO, 17));
    kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
    kit_ok(ctx, atn_slabs_open(frame, NULL, &slabs));
    kit_ok(ctx, atn_slabs_next(slabs, &atoms));
    assert_true(atoms.count == 1 && atoms.own == 1 && atoms.species[0] == 13 && !atoms.mass);
    assert_true(atoms.position[1][0] == 2 && atn_frame_info_of(frame).angstrom == 1);
    atn_slabs_close(slabs);
    atn_frame_close(frame);
    kit_remove(dir);
    kit_free(ctx);
}

/* Atoms at a few thousand places: groups of places that just do not fit together are as many as there are buckets. */
KIT_TEST(lumps_stay_apart) {
    enum { PLACES = 2000, EACH = 30 };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/a.pos", dir);
    atn_atom_rows *rows;
    kit_ok(ctx, atn_atom_rows_open_pos(ctx, path, PLACES * EACH, &rows));
    for (int k = 0; k < PLACES * EACH; ++k) {
        const double row[4] = {k % PLACES, 0, 1, k};
        kit_ok(ctx, atn_atom_rows_add(rows, NULL, row));
    }
    kit_ok(ctx, atn_atom_rows_finish(rows));
    atn_atom_rows_free(rows);
    atn_frame *frame;
    atn_slabs *slabs;
    atn_cloud *cloud;
    atn_slabs_settings options = {.atoms = 8, .memory = 8};
    kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
    kit_ok(ctx, atn_slabs_open(frame, &options, &slabs));
    assert_true(atn_slabs_info_of(slabs).most <= 4 * EACH);
    atn_slabs_close(slabs);
    kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &cloud));
    check_slabs(ctx, frame, cloud, options, true);
    atn_cloud_free(cloud);
    atn_frame_close(frame);
    kit_remove(dir);
    kit_free(ctx);
}

/* Larger than all buffers together; what a frame and its slabs hold stays as the header says. */
KIT_TEST(memory_is_bounded) {
    enum { MANY = 600000 };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/a.pos", dir);
    atn_atom_rows *rows;
    kit_ok(ctx, atn_atom_rows_open_pos(ctx, path, MANY, &rows));
    for (uint64_t k = 0, seed = 9; k < MANY; ++k) {
        const double row[4] = {kit_uniform(&seed), kit_uniform(&seed), 4 * kit_uniform(&seed), (double)k};
        kit_ok(ctx, atn_atom_rows_add(rows, NULL, row));
    }
    kit_ok(ctx, atn_atom_rows_finish(rows));
    atn_atom_rows_free(rows);
    size_t most = atn_ctx_peak_bytes(ctx);
    assert_true(most < 1 << 20); /* the writer's buffer */
    atn_frame *frame;
    kit_ok(ctx, atn_frame_open(ctx, path, NULL, &frame));
    if (atn_ctx_peak_bytes(ctx) > 3 << 20) fail_msg("a frame holds %zu bytes", atn_ctx_peak_bytes(ctx));
    atn_slabs *slabs;
    atn_slabs_settings options = {.atoms = 20000, .halo = 0.01, .memory = 1 << 20};
    kit_ok(ctx, atn_slabs_open(frame, &options, &slabs));
    atn_atoms atoms = {0};
    size_t own = 0;
    do {
        kit_ok(ctx, atn_slabs_next(slabs, &atoms));
        own += atoms.own;
    } while (atoms.count);
    assert_int_equal(own, MANY);
    size_t bound = (3 << 20) + (15 << 20) + 40 * atn_slabs_info_of(slabs).most;
    if (atn_ctx_peak_bytes(ctx) > bound) fail_msg("%zu bytes, %zu were said", atn_ctx_peak_bytes(ctx), bound);
    atn_slabs_close(slabs);
    atn_frame_close(frame);
    kit_remove(dir);
    kit_free(ctx);
}

/* Text goes through a temporary file where it is long: the same atoms, and no more memory for more of them. */
KIT_TEST(long_text_is_not_kept) {
    enum { MANY = 100003 };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    atn_text text = {.ctx = ctx};
    uint64_t seed = 5;
    atn_text_printf(&text, "%d\nProperties=species:S:1:pos:R:3:mass:R:1\n", MANY);
    for (int k = 0; k < MANY; ++k)
        atn_text_printf(&text, "%s %.5f %.5f %s %d\n", k % 3 ? "Al" : "Fe", kit_uniform(&seed), kit_uniform(&seed),
                        k % 50000 == 7 ? "nan" : "0.25", k % 100);
    snprintf(path, sizeof path, "%s/a.xyz", dir);
    kit_ok(ctx, atn_file_write(ctx, path, text.data, text.length));
    atn_text_free(&text);
    atn_frame *whole, *kept;
    atn_cloud_settings drop = {.invalid = ATN_INVALID_DROP};
    kit_ok(ctx, frame_open(ctx, path, &drop, 1 << 30, &whole));
    kit_ok(ctx, frame_open(ctx, path, &drop, 1000, &kept));
    atn_frame_info info = atn_frame_info_of(kept), other = atn_frame_info_of(whole);
    assert_true(info.streamed && !other.streamed && info.species && info.masses);
    assert_int_equal(info.atoms, other.atoms);
    assert_int_equal(info.records, MANY - info.nan);
    assert_int_equal(info.nan, 2);
    assert_memory_equal(info.high, other.high, sizeof info.high);
    for (int again = 0; again < 2; ++again) {
        atn_atoms a = {0}, b = {0};
        size_t seen = 0;
        do {
            kit_ok(ctx, atn_frame_next(kept, &a));
            kit_ok(ctx, atn_frame_next(whole, &b));
            assert_int_equal(a.count, b.count);
            for (int d = 0; d < 3 && a.count; ++d)
                assert_memory_equal(a.position[d], b.position[d], a.count * sizeof(double));
            for (size_t k = 0; k < a.count; ++k)
                assert_true(a.species[k] == b.species[k] && a.mass[k] == b.mass[k] && a.index[k] == b.index[k]);
            seen += a.count;
        } while (a.count);
        assert_int_equal(seen, info.atoms);
        kit_ok(ctx, atn_frame_rewind(kept));
        kit_ok(ctx, atn_frame_rewind(whole));
    }
    atn_frame_close(kept);
    atn_frame_close(whole);
    snprintf(path, sizeof path, "%s/two.xyz", dir);
    static const char TWO[] = "1\n\nAl 0 0 0\n1\n\nAl 0 0 0\n", WRONG[] = "0 0 0\n1 2 x\n";
    kit_ok(ctx, atn_file_write(ctx, path, TWO, sizeof TWO - 1));
    kit_fails(ctx, ATN_ERR_INPUT, "has 2 frames", frame_open(ctx, path, NULL, 0, &kept));
    kit_ok(ctx, atn_file_write(ctx, path, WRONG, sizeof WRONG - 1));
    kit_fails(ctx, ATN_ERR_INPUT, "is not a number", frame_open(ctx, path, NULL, 0, &kept));
    kit_remove(dir);
    kit_free(ctx);
}

static atn_status go_through_text(atn_ctx *ctx, const void *path) {
    atn_frame *frame;
    atn_atoms atoms = {0};
    atn_status status = frame_open(ctx, path, NULL, 0, &frame);
    if (status == ATN_OK) status = atn_frame_next(frame, &atoms);
    atn_frame_close(frame);
    return status;
}

KIT_TEST(columns_come_in_order) {
    enum { RECORDS = 50000, STEP = 12347 }; /* without a common factor: every index is met once */
    atn_ctx *ctx = kit_ctx();
    for (int file = 0; file < 2; ++file) {
        atn_atom_column *column;
        double value[2], *got = malloc(RECORDS * sizeof value);
        kit_ok(ctx, atn_atom_column_create(ctx, RECORDS, sizeof value, file ? 100 : 0, &column));
        for (uint64_t k = 0, at = 0; k < RECORDS - 1; ++k, at = (at + STEP) % RECORDS) {
            value[0] = (double)at;
            value[1] = -1;
            kit_ok(ctx, atn_atom_column_put(column, &at, 1, value));
        }
        size_t last = (size_t)(RECORDS - 1) * STEP % RECORDS, count, done = 0; /* that was never put */
        do {
            kit_ok(ctx, atn_atom_column_get(column, 777, got + 2 * done, &count));
            done += count;
        } while (count);
        assert_int_equal(done, RECORDS);
        for (size_t k = 0; k < RECORDS; ++k) {
            assert_true(got[2 * k] == (k == last ? 0 : (double)k));
            assert_true(got[2 * k + 1] == (k == last ? 0 : -1));
        }
        uint64_t at = 0;
        kit_fails(ctx, ATN_ERR_INPUT, "must be put before the first get", atn_atom_column_put(column, &at, 1, value));
        atn_atom_column_free(column);
        free(got);
    }
    atn_atom_column *column;
    uint64_t at = 3;
    size_t count;
    kit_ok(ctx, atn_atom_column_create(ctx, 3, 4, 0, &column));
    kit_fails(ctx, ATN_ERR_INPUT, "index 3 of a column of 3", atn_atom_column_put(column, &at, 1, "abcd"));
    atn_atom_column_free(column);
    kit_ok(ctx, atn_atom_column_create(ctx, 0, 4, 0, &column));
    kit_ok(ctx, atn_atom_column_get(column, 1, &at, &count));
    assert_int_equal(count, 0);
    atn_atom_column_free(column);
    kit_fails(ctx, ATN_ERR_INPUT, "records have 1 to", atn_atom_column_create(ctx, 1, 0, 0, &column));
    kit_free(ctx);
}

static atn_status go_through(atn_ctx *ctx, const void *path) {
    atn_frame *frame;
    atn_slabs *slabs = NULL;
    atn_atom_column *column = NULL;
    atn_atoms atoms = {.count = 1};
    atn_slabs_settings options = {.atoms = 2, .memory = 100};
    atn_status status = atn_frame_open(ctx, path, NULL, &frame);
    if (status == ATN_OK) status = atn_slabs_open(frame, &options, &slabs);
    if (status == ATN_OK) status = atn_atom_column_create(ctx, 8, 8, 10, &column);
    while (status == ATN_OK && atoms.count) {
        status = atn_slabs_next(slabs, &atoms);
        if (status == ATN_OK) status = atn_atom_column_put(column, atoms.index, atoms.own, atoms.position[0]);
    }
    atn_atom_column_free(column);
    atn_slabs_close(slabs);
    atn_frame_close(frame);
    return status;
}

KIT_TEST(every_allocation_fails_once) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    for (const kit_file *f = KIT_FILES; f->name; ++f)
        if (strcmp(f->name, "pos.pos") == 0 || strcmp(f->name, "ions.apt") == 0 || strcmp(f->name, "plain.xyz") == 0) {
            snprintf(path, sizeof path, "%s/%s", dir, f->name);
            kit_ok(ctx, atn_file_write(ctx, path, f->bytes, f->length));
            cloud_walk(go_through, path);
            if (strcmp(f->name, "plain.xyz") == 0) cloud_walk(go_through_text, path);
        }
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_have_their_halo),
        cmocka_unit_test(thin_slabs_are_strips),
        cmocka_unit_test(the_sample_is_all),
        cmocka_unit_test(odd_frames),
        cmocka_unit_test(lumps_stay_apart),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(long_text_is_not_kept),
        cmocka_unit_test(columns_come_in_order),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
