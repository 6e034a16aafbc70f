/* What the tests of wisdom share. */
#include "wisdomkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

atn_wisdom_key wkit_key_of_shape(int64_t a, int64_t b, int64_t c) {
    return (atn_wisdom_key){.kernel = "gemm",
                            .graph = {1, 2},
                            .generator = "1",
                            .space = {3, 4},
                            .backend = "cuda",
                            .arch = "xx_90",
                            .device = "Sample 9000",
                            .driver = "550.1",
                            .compiler = "",
                            .threads = "",
                            .n_shape = 3,
                            .shape = {a, b, c},
                            .layout = "dense",
                            .reproducible = false,
                            .tolerance = "derived"};
}

atn_wisdom_key wkit_key(void) { return wkit_key_of_shape(1024, 1024, 512); }

void wkit_tell(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, double seconds) {
    atn_wisdom_row row = {.variant = variant,
                          .outcome = "right",
                          .detail = "",
                          .seconds = seconds,
                          .low = seconds * 0.9,
                          .high = seconds * 1.1,
                          .error = 0.25,
                          .samples = 7,
                          .code = {5, 6}};
    kit_ok(ctx, atn_wisdom_tell(wisdom, key, &row));
}

void wkit_crown(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant,
                double seconds) {
    atn_wisdom_winner winner = {.variant = variant,
                                .runner_up = "stage=1",
                                .seconds = seconds,
                                .low = seconds * 0.9,
                                .high = seconds * 1.1,
                                .runner_up_ratio = 1.5,
                                .fallback_seconds = seconds * 3,
                                .fraction_of_peak = 0.5,
                                .tried = 12};
    kit_ok(ctx, atn_wisdom_crown(wisdom, key, &winner));
}

atn_hit_kind wkit_find(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant) {
    atn_hit hit;
    kit_ok(ctx, atn_wisdom_find(ctx, wisdom, key, &hit));
    atn_hit_kind kind = hit.kind;
    if (kind != ATN_HIT_NONE && variant) assert_string_equal(hit.variant, variant);
    atn_hit_free(&hit);
    return kind;
}

static bool count_row(void *user, const atn_wisdom_row *row) {
    wkit_count *count = user;
    ++count->rows;
    count->right += strcmp(row->outcome, "right") == 0;
    count->starts += row->starts;
    count->seconds = row->seconds;
    return true;
}

wkit_count wkit_rows(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key) {
    wkit_count count = {0};
    kit_ok(ctx, atn_wisdom_rows(wisdom, key, count_row, &count));
    return count;
}

static void print_problem(void *user, const char *line) {
    ++*(int *)user;
    print_message("    %s\n", line);
}

void wkit_sound(const atn_ctx *ctx, atn_wisdom *wisdom) {
    int problems = 0;
    kit_ok(ctx, atn_wisdom_verify(wisdom, NULL, print_problem, &problems));
    assert_int_equal(problems, 0);
}

char *wkit_path(const char *dir, const char *name) {
    char *path = malloc(4096);
    assert_non_null(path);
    assert_true(snprintf(path, 4096, "%s/%s", dir, name) < 4096);
    return path;
}

char *wkit_bytes(const char *path, size_t *length) {
    FILE *file = fopen(path, "rbe");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

void wkit_put(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wbe");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

void wkit_unchanged(const char *path, const char *bytes, size_t length) {
    size_t now;
    char *there = wkit_bytes(path, &now);
    assert_int_equal(now, length);
    assert_memory_equal(there, bytes, length);
    free(there);
}
