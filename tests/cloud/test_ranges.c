/* Range files: what RRNG and RNG say, how overlaps are settled, what is refused, and files that are spoiled. */
#include "cloudkit.h"

#include "cloud/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char RRNG[] =
    "\xef\xbb\xbf; of a test\r\n[Ions]\r\nNumber=3\r\nIon1=Al\r\nIon2=Ti\r\nIon3=O\r\n[Ranges]\r\n"
    "Number=5\r\n"
    "Range1=26,9 27,1 Vol:0,01661 Al:1 Color:33FFFF\r\n"
    "Range2=63.8 64.2 Vol:0.0465 Ti:1 O:1 Color:33FF00\r\n"
    "\r\n"
    "Range3=13.4 13.6 Al:1 Vol:0.01661 Color:33ffff\r\n"
    "Range4=26.9 27.1 Vol:0.01661 Al:1 Color:33FFFF\r\n"
    "range5=64 65 Vol:0 Ti:1 O:1 Name:\r\n";
static const char RNG[] = "2 3\r\nScandium\r\nSc 1.00 0.00 0.20\r\nH\r\nH 0.80 0.80 0.00\r\n------ Sc H\r\n"
                          ". 22.3 22.5 1 0\r\n. 14.9 15 1 0\r\n. 22.9 23.1 1 1\r\n\r\n"
                          "--- polyatomic extension\r\n1 1\r\nScH\r\nScH 1 0 0\r\n---- ScH\r\n. 22.9 23.1 1\r\n";

static atn_mass_ranges *ranges_of(atn_ctx *ctx, const char *text) {
    atn_mass_ranges *ranges;
    kit_ok(ctx, atn_mass_ranges_read_bytes(ctx, "a.rrng", text, strlen(text), &ranges));
    return ranges;
}

static void check_ion(const atn_mass_ranges *ranges, size_t k, const char *name, int element, int atoms,
                      unsigned colour) {
    atn_ion ion = *atn_mass_ranges_ion(ranges, k);
    assert_string_equal(ion.name, name);
    assert_int_equal(ion.element, element);
    assert_int_equal(ion.atoms, atoms);
    assert_int_equal(ion.colour, colour);
}

KIT_TEST(what_rrng_says) {
    atn_ctx *ctx = kit_ctx();
    atn_mass_ranges *ranges = ranges_of(ctx, RRNG);
    atn_mass_ranges_info info = atn_mass_ranges_info_of(ranges);
    assert_string_equal(info.format, "RRNG");
    assert_int_equal(info.ranges, 4);
    assert_int_equal(info.ions, 2);
    assert_int_equal(info.duplicates, 1);
    assert_int_equal(info.overlaps, 0); /* those of one ion are none */
    assert_true(info.low == 13.4 && info.high == 65);
    check_ion(ranges, 0, "Al", 13, 1, 0x33ffff);
    check_ion(ranges, 1, "TiO", 0, 2, 0x33ff00);
    atn_mass_range first = *atn_mass_ranges_get(ranges, 0);
    assert_true(first.low == 26.9 && first.high == 27.1 && first.volume == 0.01661 && first.ion == 0);
    atn_mass_ranges_free(ranges);
    kit_free(ctx);
}

KIT_TEST(what_rng_says) {
    atn_ctx *ctx = kit_ctx();
    atn_mass_ranges *ranges = ranges_of(ctx, RNG);
    atn_mass_ranges_info info = atn_mass_ranges_info_of(ranges);
    assert_string_equal(info.format, "RNG");
    assert_int_equal(info.ranges, 3);
    assert_int_equal(info.ions, 2);
    check_ion(ranges, 0, "Sc", 21, 1, 0xff0033);
    check_ion(ranges, 1, "ScH", 0, 2, 0xcccc00);
    atn_mass_ranges_free(ranges);
    kit_free(ctx);
}

/* Against the rule itself, for many ranges and many masses. */
static int32_t slowly(const atn_mass_ranges *ranges, double mass) {
    int32_t best = -1;
    for (size_t k = 0; k < atn_mass_ranges_info_of(ranges).ranges; ++k) {
        atn_mass_range r = *atn_mass_ranges_get(ranges, k),
                       b = best < 0 ? r : *atn_mass_ranges_get(ranges, (size_t)best);
        if (mass >= r.low && mass <= r.high && (best < 0 || r.high - r.low < b.high - b.low)) best = (int32_t)k;
    }
    return best;
}

KIT_TEST(overlaps_are_settled) {
    enum { RANGES = 60 };
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    uint64_t seed = 7;
    atn_text_add(&text, "[Ranges]\n");
    for (int k = 0; k < RANGES; ++k) {
        int low = (int)(kit_uniform(&seed) * 100), high = low + (int)(kit_uniform(&seed) * 20);
        atn_text_printf(&text, "Range%d=%d %d %s:1\n", k, low, high, k % 3 ? "Al" : "Ti");
    }
    atn_mass_ranges *ranges = ranges_of(ctx, atn_text_str(&text));
    assert_true(atn_mass_ranges_info_of(ranges).overlaps > 0);
    for (double mass = -1; mass < 125; mass += 0.25) {
        int32_t found = atn_mass_ranges_find(ranges, mass), wanted = slowly(ranges, mass);
        if (found != wanted) fail_msg("mass %g: range %d, not %d", mass, (int)found, (int)wanted);
    }
    atn_mass_ranges_free(ranges);
    atn_text_free(&text);
    ranges = ranges_of(ctx, "[Ranges]\nRange1=1 9 Al:1\nRange2=4 5 Ti:1\nRange3=8.5 9.5 O:1\nRange4=5 6 H:1\n");
    assert_int_equal(atn_mass_ranges_info_of(ranges).overlaps, 4); /* 1-2, 1-3, 1-4, and 2-4, which touch */
    assert_int_equal(atn_mass_ranges_find(ranges, 4.5), 1);
    assert_int_equal(atn_mass_ranges_find(ranges, 5), 1);
    assert_int_equal(atn_mass_ranges_find(ranges, 7), 0);
    assert_int_equal(atn_mass_ranges_find(ranges, 9), 2);
    atn_mass_ranges_free(ranges);
    kit_free(ctx);
}

KIT_TEST(masses_are_counted) {
    static const float masses[] = {27, 64.1F, 5, NAN, 13.5F, INFINITY, -1};
    static const float strange[] = {1, 2, 3};
    static const int32_t wanted[] = {0, 1, -1, -1, 0, -1, -1};
    atn_ctx *ctx = kit_ctx();
    atn_mass_ranges *ranges = ranges_of(ctx, RRNG);
    int32_t ion[7];
    uint64_t counts[4] = {0, 10, 0, 0};
    assert_int_equal(atn_mass_ranges_apply(ranges, masses, 7, ion, counts), 3);
    assert_memory_equal(ion, wanted, sizeof ion);
    assert_true(counts[0] == 1 && counts[1] == 11 && counts[2] == 1 && counts[3] == 0);
    assert_int_equal(atn_mass_ranges_apply(ranges, strange, 3, NULL, NULL), 0);
    atn_mass_ranges_free(ranges);
    kit_free(ctx);
}

KIT_TEST(what_is_refused) {
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "the file is empty"},
        {"\n", "the file ends before its last range"},
        {"hello\n", "a.rrng:1: neither RRNG nor RNG"},
        {"[Ions]\nNumber=0\n", "a.rrng: there are no ranges"},
        {"[Ranges]\nRange1\n", "a.rrng:2: 'Range1' is not NAME=VALUE"},
        {"[Ranges]\nRange1=1\n", "a range begins with two numbers"},
        {"[Ranges]\nRange1=1 x Al:1\n", "a range begins with two numbers"},
        {"[Ranges]\nRange1=2 1 Al:1\n", "a range from 2 to 1"},
        {"[Ranges]\nRange1=-2 1 Al:1\n", "a range from -2 to 1"},
        {"[Ranges]\nRange1=1 nan Al:1\n", "a range begins with two numbers"},
        {"[Ranges]\nRange1=1 2\n", "a range without an ion"},
        {"[Ranges]\nRange1=1 2 Al\n", "'Al' is not KEY:VALUE"},
        {"[Ranges]\nRange1=1 2 Al:0\n", "how many atoms"},
        {"[Ranges]\nRange1=1 2 Al:1 Vol:x\n", "the volume 'x'"},
        {"[Ranges]\nRange1=1 2 Al:1 Color:red\n", "the colour 'red' is not RRGGBB"},
        {"[Ranges]\nRange1=1 2 Abcdefghijklmnopqrstuvwxyzabcdefgh:1\n", "a name of more than 31 letters"},
        {"0 3\n", "0 ions and 3 ranges"},
        {"1 999999999\n", "from 1 to 4096"},
        {"1 1\nAl\nAl 0 0\n", "a short name and a colour"},
        {"1 1\nAl\nAl 0 0 2\n", "a short name and a colour"},
        {"1 1\nAl\nAl 0 0 1\nAl\n", "a line of dashes is expected"},
        {"1 1\nAl\nAl 0 0 1\n-- Al\n. 1 2\n", "a count for each of the 1 ions"},
        {"1 1\nAl\nAl 0 0 1\n-- Al\n. 1 2 x\n", "'x' is not a count"},
        {"1 2\nAl\nAl 0 0 1\n-- Al\n. 1 2 1\n", "the file ends before its last range"},
    };
    atn_ctx *ctx = kit_ctx();
    atn_mass_ranges *none;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        kit_fails(ctx, ATN_ERR_INPUT, cases[k].sentence,
                  atn_mass_ranges_read_bytes(ctx, "a.rrng", cases[k].text, strlen(cases[k].text), &none));
        assert_null(none);
    }
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_mass_ranges_read(ctx, "/nonexistent/a.rng", &none));
    kit_free(ctx);
}

KIT_TEST(spoiled_at_every_byte) {
    static const unsigned char spoilers[] = {0, 0xff, '\n', '9', '-', ' ', ':', '='};
    static const char *const texts[] = {RRNG, RNG};
    atn_ctx *ctx = kit_ctx();
    for (size_t t = 0; t < 2; ++t)
        for (size_t at = 0, length = strlen(texts[t]); at < length; ++at)
            for (size_t k = 0; k <= sizeof spoilers; ++k) {
                size_t left = k < sizeof spoilers ? length : at; /* the last one: cut there */
                char *copy = malloc(left + 1);
                memcpy(copy, texts[t], left);
                if (k < sizeof spoilers) copy[at] = (char)spoilers[k];
                atn_mass_ranges *ranges;
                atn_status status = atn_mass_ranges_read_bytes(ctx, "a", copy, left, &ranges);
                if (status != ATN_OK && status != ATN_ERR_INPUT) fail_msg("text %zu spoiled at %zu", t, at);
                if (status == ATN_OK) (void)atn_mass_ranges_find(ranges, 27);
                atn_mass_ranges_free(ranges);
                free(copy);
            }
    kit_free(ctx);
}

static atn_status read_and_free(atn_ctx *ctx, const void *text) {
    atn_mass_ranges *ranges;
    atn_status status = atn_mass_ranges_read_bytes(ctx, "a", text, strlen(text), &ranges);
    atn_mass_ranges_free(ranges);
    return status;
}

KIT_TEST(every_allocation_fails_once) {
    cloud_walk(read_and_free, RRNG);
    cloud_walk(read_and_free, RNG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rrng_says),
        cmocka_unit_test(what_rng_says),
        cmocka_unit_test(overlaps_are_settled),
        cmocka_unit_test(masses_are_counted),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(spoiled_at_every_byte),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
