/* Rows of atoms in files: of ranks, whose lengths are known before, and of one process. */
#include "cloudkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "cloud/rows.h"

#include <attune/frame.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fill_row(void *user, size_t k, const char **species, double *row) {
    double x = (double)(*(const size_t *)user + k);
    *species = "Fe";
    row[0] = x, row[1] = -x, row[2] = x / 7, row[3] = 1 / (x + 1);
    for (int c = 4; c < 11; ++c) row[c] = x;
    row[4] = (int)x % 7 ? -x / 3 : NAN, row[5] = (int)x % 3 ? 999.9995 - x : 1e20 * x, row[6] = -1e-12,
    row[7] = (int)x % 5 ? 0.5 : -INFINITY;
    row[8] = (int)x % 2 ? 9.9999999996 : -9.9999999994, row[9] = (int)x % 2 ? -4.9e-10 : -5.1e-10;
}

/* Rows of ranks, whose lengths are known before: one by one, and many at once. */
KIT_TEST(rows_of_ranks) {
    static const atn_atom_rows_column columns[] = {{"pos", 3, 6}, {"q", 8, 9}, {0}};
    static const size_t COUNTS[] = {0, 3, 100000};
    atn_ctx *ctx = kit_ctx();
    atn_ranks *alone;
    rows_ruler ruler;
    char *dir = kit_tempdir(), path[2][512];
    for (int k = 0; k < 2; ++k) snprintf(path[k], sizeof path[k], "%s/%d.xyz", dir, k);
    kit_ok(ctx, atn_ranks_join(ctx, &alone));
    rows_ruler_make(columns, &ruler);
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; ++c) {
        size_t n = COUNTS[c], length[2], bytes = 0, none = 0;
        const char *species;
        enum { SOME = 150 };
        double row[11], some[SOME * 11];
        const char *some_species[SOME];
        size_t lengths[SOME];
        char *text[2];
        for (size_t k = 0; k < n; ++k) {
            fill_row(&none, k, &some_species[k % SOME], some + k % SOME * 11);
            if ((k + 1) % SOME && k + 1 < n) continue;
            rows_measure(&ruler, k % SOME + 1, some_species, some, lengths);
            for (size_t i = 0; i <= k % SOME; ++i) bytes += lengths[i];
        }
        for (int way = 0; way < 2; ++way) {
            atn_atom_rows *rows;
            kit_ok(ctx, way ? rows_open_ranks(ctx, path[way], n, n, bytes, columns, alone, &rows)
                            : atn_atom_rows_open_xyz(ctx, path[way], n, true, NULL, columns, &rows));
            size_t first = way ? n / 3 : n; /* the others at once */
            for (size_t k = 0; k < first; ++k) {
                fill_row(&k, 0, &species, row);
                kit_ok(ctx, atn_atom_rows_add(rows, species, row));
            }
            kit_ok(ctx, rows_add_some(rows, n - first, fill_row, &first));
            kit_ok(ctx, way ? rows_finish_ranks(rows, ATN_OK) : atn_atom_rows_finish(rows));
            atn_atom_rows_free(rows);
            kit_ok(ctx, atn_file_read(ctx, path[way], 1 << 28, &text[way], &length[way]));
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(text[0], text[1], length[0]);
        for (int way = 0; way < 2; ++way) atn_free(ctx, text[way]);
    }
    static const double row[11] = {1}, longer[11] = {10};
    atn_atom_rows *rows;
    const char *nothing = NULL;
    size_t length;
    rows_measure(&ruler, 1, &nothing, row, &length);
    kit_ok(ctx, rows_open_ranks(ctx, path[0], 1, 1, length, columns, alone, &rows));
    kit_ok(ctx, atn_atom_rows_add(rows, NULL, longer));
    kit_fails(ctx, ATN_ERR_INPUT, "the rows are not as long as was said", rows_finish_ranks(rows, ATN_OK));
    atn_atom_rows_free(rows);
    atn_ranks_leave(alone);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(rows_of_xyz) {
    static const atn_atom_rows_column columns[] = {{"pos", 3, 3}, {"structure_type", 1, -1}, {"rmsd", 1, 0}, {0}};
    static const double values[2][5] = {{1.0005, -0.0004, -12.3456, 2, 0.4}, {1e20, NAN, 0.9999, -7, 1.5}};
    static const char wanted[] = "2\nLattice=\"1 0 0 0 1 0 0 0 1\" "
                                 "Properties=species:S:1:pos:R:3:structure_type:I:1:rmsd:R:1\n"
                                 "Al 1.001 0.000 -12.346 2 0\nX 1e+20 nan 1.000 -7 2\n";
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512], *text;
    size_t length;
    atn_atom_rows *rows;
    snprintf(path, sizeof path, "%s/a.xyz", dir);
    kit_ok(ctx, atn_atom_rows_open_xyz(ctx, path, 2, true, "Lattice=\"1 0 0 0 1 0 0 0 1\"", columns, &rows));
    kit_ok(ctx, atn_atom_rows_add(rows, "Al", values[0]));
    kit_fails(ctx, ATN_ERR_INPUT, "2 rows were announced, 1 were written", atn_atom_rows_finish(rows));
    kit_ok(ctx, atn_atom_rows_add(rows, NULL, values[1]));
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_file_read(ctx, path, 1000, &text, &length));
    kit_ok(ctx, atn_atom_rows_finish(rows));
    atn_atom_rows_free(rows);
    kit_ok(ctx, atn_file_read(ctx, path, 1000, &text, &length));
    assert_string_equal(text, wanted);
    atn_free(ctx, text);
    kit_ok(ctx, atn_atom_rows_open_xyz(ctx, path, 5, false, NULL, columns, &rows));
    atn_atom_rows_free(rows); /* abandoned: the old one stays, and nothing beside it */
    kit_ok(ctx, atn_file_read(ctx, path, 1000, &text, &length));
    assert_string_equal(text, wanted);
    atn_free(ctx, text);
    snprintf(path, sizeof path, "ls -A %s | wc -l", dir);
    FILE *list = popen(path, "r");
    assert_int_equal(fgetc(list), '1');
    pclose(list);
    static const atn_atom_rows_column wide[] = {{"pos", 65, 3}, {0}};
    kit_fails(ctx, ATN_ERR_INPUT, "too wide", atn_atom_rows_open_xyz(ctx, "/dev/null", 5, false, NULL, wide, &rows));
    kit_fails(ctx, ATN_ERR_INPUT, "an empty file", atn_atom_rows_open_pos(ctx, "/dev/null", 0, &rows));
    kit_fails(ctx, ATN_ERR_IO, "cannot be written", atn_atom_rows_open_pos(ctx, "/nonexistent/a.pos", 1, &rows));
    kit_remove(dir);
    kit_free(ctx);
}

/* As printf prints them, whatever their length. */
KIT_TEST(numbers_of_rows) {
    enum { ROWS = 4000, MOST = 9, COLUMNS = MOST + 2 };
    static const atn_atom_rows_column columns[COLUMNS + 1] = {{"w", 1, -1}, {"a", 1, 0}, {"b", 1, 1}, {"c", 1, 2},
                                                              {"d", 1, 3},  {"e", 1, 4}, {"f", 1, 5}, {"g", 1, 6},
                                                              {"h", 1, 7},  {"i", 1, 8}, {"j", 1, 9}, {0}};
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512], *text;
    size_t length;
    uint64_t seed = 17;
    atn_atom_rows *rows;
    atn_text wanted = {.ctx = ctx};
    snprintf(path, sizeof path, "%s/a.xyz", dir);
    kit_ok(ctx, atn_atom_rows_open_xyz(ctx, path, ROWS, false, NULL, columns, &rows));
    for (int k = 0; k < ROWS; ++k) {
        double value[COLUMNS], most = pow(10, k % 16) - (k % 3 == 0);
        for (int c = 0; c < COLUMNS; ++c) {
            double whole = k % 5 ? floor(most * kit_uniform(&seed)) : most; /* 9, 10, 99, 100 and so on, too */
            value[c] = (k % 2 ? 1 : -1) * whole / pow(10, c ? c - 1 : 0);
            atn_text_printf(&wanted, "%s%.*f", c ? " " : "", c ? c - 1 : 0, whole > 0 ? value[c] : 0.0);
        }
        atn_text_add(&wanted, "\n");
        kit_ok(ctx, atn_atom_rows_add(rows, NULL, value));
    }
    kit_ok(ctx, atn_atom_rows_finish(rows));
    atn_atom_rows_free(rows);
    kit_ok(ctx, atn_file_read(ctx, path, 1 << 22, &text, &length));
    const char *body = strchr(strchr(text, '\n') + 1, '\n') + 1;
    assert_string_equal(body, atn_text_str(&wanted));
    atn_free(ctx, text);
    atn_text_free(&wanted);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_ranks),
        cmocka_unit_test(rows_of_xyz),
        cmocka_unit_test(numbers_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
