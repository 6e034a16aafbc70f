/* Every file of every format cut at every length and with bytes changed at random; every allocation failing once. */
#include "imagekit.h"

#include <math.h>
#include <string.h>

/* A file that is cut is refused, or what is missing was no part of the pixels. */
KIT_TEST(cut_files_are_refused) {
    atn_ctx *ctx = kit_ctx();
    for (const kit_image *k = KIT_IMAGES; k->name; ++k) {
        atn_text bytes = {.ctx = ctx};
        k->make(&bytes);
        for (size_t cut = 1; cut < bytes.length; ++cut) {
            atn_image *image;
            atn_status status = atn_image_read_bytes(ctx, k->name, bytes.data, cut, NULL, &image);
            if (status == ATN_OK)
                kit_same_image(image, k->factor);
            else {
                assert_null(image);
                assert_true(status == ATN_ERR_INPUT || status == ATN_ERR_UNSUPPORTED);
                kit_contains(atn_ctx_message(ctx), k->name);
            }
            atn_image_free(image);
        }
        atn_text_free(&bytes);
    }
    kit_free(ctx);
}

KIT_TEST(spoiled_bytes_do_no_harm) {
    atn_ctx *ctx = kit_ctx();
    uint64_t seed = 7;
    for (const kit_image *k = KIT_IMAGES; k->name; ++k)
        for (int turn = 0; turn < 300; ++turn) {
            atn_text bytes = {.ctx = ctx};
            k->make(&bytes);
            for (uint64_t n = kit_random(&seed) % 4 + 1; n; --n) {
                size_t most = bytes.length < 1000 || kit_random(&seed) % 2 ? bytes.length : 250; /* headers count */
                bytes.data[kit_random(&seed) % most] = (char)kit_random(&seed);
            }
            atn_image *image;
            atn_status status = atn_image_read_bytes(ctx, k->name, bytes.data, bytes.length, NULL, &image);
            assert_true(status == ATN_OK || status == ATN_ERR_INPUT || status == ATN_ERR_UNSUPPORTED);
            if (status == ATN_OK) {
                atn_image_info info = atn_image_info_of(image);
                assert_true(info.width > 0 && info.height > 0 && info.low <= info.high && isfinite(info.low));
            }
            atn_image_free(image);
            atn_text_free(&bytes);
            if (strstr(k->name, ".tif") && turn == 100) break; /* each is written to a file first */
        }
    kit_free(ctx);
}

typedef struct held {
    const char *name;
    const atn_text *bytes;
} held;

static atn_status read_held(atn_ctx *ctx, const void *given) {
    const held *h = given;
    atn_image *image;
    atn_status status = atn_image_read_bytes(ctx, h->name, h->bytes->data, h->bytes->length, NULL, &image);
    if (status == ATN_OK) atn_image_free(image);
    return status;
}

static atn_status write_all(atn_ctx *ctx, const void *dir) {
    atn_image *image;
    atn_status status = atn_image_create(ctx, KIT_W, KIT_H, KIT_PIXELS, &image);
    if (status == ATN_OK) status = atn_image_write(image, kit_path(dir, "a.tif"));
    if (status == ATN_OK) status = atn_image_write(image, kit_path(dir, "a.npy"));
    if (status == ATN_OK) status = atn_image_write_preview(image, kit_path(dir, "a.png"), NULL);
    atn_image_free(image);
    return status;
}

KIT_TEST(refused_memory_leaves_nothing) {
    atn_ctx *ctx = kit_ctx();
    for (const kit_image *k = KIT_IMAGES; k->name; ++k) {
        atn_text bytes = {.ctx = ctx};
        k->make(&bytes);
        kit_walk(read_held, &(held){k->name, &bytes});
        atn_text_free(&bytes);
    }
    char *dir = kit_tempdir();
    kit_walk(write_all, dir);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_files_are_refused),
                                       cmocka_unit_test(spoiled_bytes_do_no_harm),
                                       cmocka_unit_test(refused_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
