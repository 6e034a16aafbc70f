/* Files cut short at every byte, spoiled at every byte, and allocations that fail one after the other. */
#include "cloudkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of text a shorter file may be a good one. */
static bool is_binary(const char *name) {
    static const char *const binary[] = {"little.ply",  "big.ply", "binary.pcd", "compressed.pcd", "binary.stl",
                                         "fortran.npy", "pos.pos", "e.epos",     "ions.apt"};
    for (size_t k = 0; k < sizeof binary / sizeof *binary; ++k)
        if (strcmp(name, binary[k]) == 0) return true;
    return false;
}

static size_t record_of(const char *name) { return strstr(name, ".epos") ? 44 : strstr(name, ".pos") ? 16 : 0; }

KIT_TEST(cut_at_every_byte) {
    atn_ctx *ctx = kit_ctx();
    for (const kit_file *f = KIT_FILES; f->name; ++f)
        for (size_t cut = 0; cut < f->length; ++cut) {
            char *copy = malloc(cut + 1); /* so that reading behind it is noticed */
            memcpy(copy, f->bytes, cut);
            atn_cloud *cloud;
            atn_status status = atn_cloud_read_bytes(ctx, f->name, copy, cut, NULL, &cloud);
            if (status != ATN_OK && status != ATN_ERR_INPUT) fail_msg("%s cut at %zu: %d", f->name, cut, (int)status);
            if (status != ATN_OK) kit_contains(atn_ctx_message(ctx), f->name);
            size_t record = record_of(f->name);
            if (status == ATN_OK && is_binary(f->name) && !(record && cut && cut % record == 0))
                fail_msg("%s cut at %zu is read", f->name, cut);
            atn_cloud_free(cloud);
            free(copy);
        }
    kit_free(ctx);
}

KIT_TEST(spoiled_at_every_byte) {
    static const unsigned char spoilers[] = {0, 0xff, '\n', '9', '-', ' ', 0x80};
    atn_ctx *ctx = kit_ctx();
    atn_cloud_settings drop = {.invalid = ATN_INVALID_DROP};
    for (const kit_file *f = KIT_FILES; f->name; ++f)
        for (size_t at = 0; at < f->length; ++at)
            for (size_t k = 0; k < sizeof spoilers; ++k) {
                char *copy = malloc(f->length);
                memcpy(copy, f->bytes, f->length);
                copy[at] = (char)spoilers[k];
                atn_cloud *cloud;
                atn_status status = atn_cloud_read_bytes(ctx, f->name, copy, f->length, &drop, &cloud);
                if (status != ATN_OK && status != ATN_ERR_INPUT && status != ATN_ERR_UNSUPPORTED)
                    fail_msg("%s spoiled at %zu", f->name, at);
                if (status == ATN_OK) (void)atn_cloud_info_of(cloud);
                atn_cloud_free(cloud);
                free(copy);
            }
    kit_free(ctx);
}

/* Reads it, and writes it in every format. */
static atn_status in_and_out(atn_ctx *ctx, const void *given) {
    const kit_file *f = given;
    atn_cloud *cloud;
    atn_status status = atn_cloud_read_bytes(ctx, f->name, f->bytes, f->length, NULL, &cloud);
    for (const cloud_format *const *each = CLOUD_FORMATS; status == ATN_OK && *each; ++each) {
        const cloud_format *format = *each;
        if (!format->write) continue;
        atn_text text = {.ctx = ctx};
        status = format->write(cloud, ' ', &text);
        if (status == ATN_OK) status = atn_text_status(&text);
        atn_text_free(&text);
    }
    atn_cloud_free(cloud);
    return status;
}

/* The same by way of a file. */
static atn_status to_file_and_back(atn_ctx *ctx, const void *given) {
    static const double positions[] = {1, 2, 3};
    atn_cloud *cloud, *again = NULL;
    atn_status status = atn_cloud_create(ctx, 1, positions, NULL, &cloud);
    if (status == ATN_OK) status = atn_cloud_write(cloud, given);
    if (status == ATN_OK) status = atn_cloud_read(ctx, given, NULL, &again);
    atn_cloud_free(cloud);
    atn_cloud_free(again);
    return status;
}

KIT_TEST(every_allocation_fails_once) {
    for (const kit_file *f = KIT_FILES; f->name; ++f) cloud_walk(in_and_out, f);
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/a.ply", dir);
    cloud_walk(to_file_and_back, path);
    kit_remove(dir);
}

/* Many points: arrays that grow, corners that are welded, pieces that meet inside a record. */
KIT_TEST(grows) {
    enum { POINTS = 100000 };
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    static const char *const endings[] = {"ply", "pcd", "xyz", "npy", "pos"};
    uint64_t seed = 1;
    double *positions = malloc(POINTS * 3 * sizeof *positions);
    for (size_t k = 0; k < POINTS * 3; ++k) positions[k] = (double)(float)(kit_uniform(&seed) * 10);
    atn_cloud *a, *b;
    kit_ok(ctx, atn_cloud_create(ctx, POINTS, positions, NULL, &a));
    for (size_t k = 0; k < sizeof endings / sizeof *endings; ++k) {
        snprintf(path, sizeof path, "%s/a.%s", dir, endings[k]);
        kit_ok(ctx, atn_cloud_write(a, path));
        kit_ok(ctx, atn_cloud_read(ctx, path, NULL, &b));
        cloud_same(a, b, ROLE_POSITION);
        atn_cloud_free(b);
    }
    size_t bytes = 84 + 50 * (size_t)(POINTS / 2);
    char *stl = calloc(1, bytes); /* triangles of points k and k + 1, and the first point always */
    for (size_t k = 0; k < 4; ++k) stl[80 + k] = (char)((size_t)(POINTS / 2) >> 8 * k);
    for (size_t k = 0; k < POINTS / 2; ++k)
        for (size_t corner = 0; corner < 3; ++corner)
            for (size_t d = 0; d < 3; ++d) {
                float value = (float)positions[3 * (corner == 2 ? 0 : 2 * k + corner) + d];
                memcpy(stl + 84 + 50 * k + 12 * (corner + 1) + 4 * d, &value, sizeof value);
            }
    kit_file file = {"a.stl", stl, bytes};
    b = cloud_of(ctx, &file, ATN_INVALID_REFUSE);
    cloud_same(a, b, ROLE_POSITION);
    atn_cloud_free(a), atn_cloud_free(b);
    free(stl), free(positions);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(spoiled_at_every_byte),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
