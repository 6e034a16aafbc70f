/* Letters of previews: where they are, how wide, and what is not in the font. */
#include "testkit.h"

#include "image/glyph.h"

#include <string.h>

enum { EDGE = 400 };
static double seen[EDGE][EDGE];

static void keep(void *user, size_t x, size_t y, double cover) {
    (void)user;
    assert_true(x < EDGE && y < EDGE);
    assert_true(cover > 0 && cover <= 1);
    seen[y][x] += cover;
}

static double ink_of(const char *text, size_t size) {
    double sum = 0;
    memset(seen, 0, sizeof seen);
    glyph_draw(text, size, keep, NULL);
    for (size_t y = 0; y < EDGE; ++y)
        for (size_t x = 0; x < EDGE; ++x) sum += seen[y][x];
    return sum;
}

KIT_TEST(letters_scale) {
    double drawn = ink_of("8", 24), wide = (double)glyph_width("8", 240);
    assert_true(drawn > 20);
    for (size_t size = 1; size <= 96; ++size) {
        double share = ink_of("8", size) / ((double)size * (double)size);
        if (size >= 8 && (share < 0.95 * drawn / 576 || share > 1.05 * drawn / 576))
            fail_msg("size %zu: %g", size, share);
        assert_true((double)glyph_width("8", size) >= wide * (double)size / 240 - 1);
        assert_true((double)glyph_width("8", size) <= wide * (double)size / 240 + 1);
    }
}

KIT_TEST(words_stand_side_by_side) {
    double sum = ink_of("1", 20) + ink_of("\xc2\xb5", 20) + ink_of("m", 20), all = ink_of("1\xc2\xb5m", 20);
    assert_true(all > sum * 0.98 && all < sum * 1.02);
    assert_true(glyph_width("1\xc2\xb5m", 20) > glyph_width("1m", 20));
    assert_true(ink_of(" ", 20) == 0 && glyph_width(" ", 20) > 3);
}

KIT_TEST(what_is_no_letter_takes_no_room) {
    static const char *const NONE[] = {"", "\xe4\xb8\xad", "\xff", "\xc2", "\xf0\x9f", "\x01\n"};
    for (size_t k = 0; k < sizeof NONE / sizeof *NONE; ++k) {
        assert_true(ink_of(NONE[k], 20) == 0);
        assert_int_equal(glyph_width(NONE[k], 20), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_scale),
        cmocka_unit_test(words_stand_side_by_side),
        cmocka_unit_test(what_is_no_letter_takes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
