/* Selection: the k-th smallest of few, many, equal and missing numbers, against a sort. */
#include "testkit.h"

#include "geom/nth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 700 };

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static uint32_t next(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

/* `values` different numbers at most: ties where there are fewer than numbers. */
static void check(size_t n, uint32_t values, uint32_t seed) {
    double list[MOST] = {0}, sorted[MOST], work[MOST];
    for (size_t k = 0; k < n; ++k) list[k] = (double)(next(&seed) >> 8) / 7 - 1e6;
    for (size_t k = 0; k < n && values; ++k) list[k] = floor(fmod(fabs(list[k]), values));
    memcpy(sorted, list, sizeof sorted);
    qsort(sorted, n, sizeof *sorted, by_number);
    for (size_t k = 0; k<n; k += n> 50 ? 13 : 1) {
        memcpy(work, list, sizeof work);
        assert_true(geom_nth(work, n, k) == sorted[k]);
        qsort(work, n, sizeof *work, by_number);
        assert_memory_equal(work, sorted, n * sizeof *work); /* none is lost */
    }
}

KIT_TEST(kth_of_any) {
    for (size_t n = 1; n < 40; ++n)
        for (uint32_t values = 0; values < 4; ++values) check(n, values, (uint32_t)n * 31 + values);
    for (uint32_t values = 0; values < 4; ++values) check(MOST, values, 7 + values);
}

KIT_TEST(kth_in_order) {
    double list[MOST];
    for (int way = 0; way < 2; ++way)
        for (size_t k = 0; k < MOST; k += 99) {
            for (size_t i = 0; i < MOST; ++i) list[i] = way ? (double)(MOST - 1 - i) : (double)i;
            assert_true(geom_nth(list, MOST, k) == (double)k);
        }
}

/* What is no number is above all others. */
KIT_TEST(kth_without_numbers) {
    for (size_t every = 1; every < 9; ++every)
        for (size_t k = 0; k < MOST; k += 7) {
            double list[MOST];
            size_t numbers = 0;
            for (size_t i = 0; i < MOST; ++i) list[i] = i % every == 0 ? NAN : (double)(i * 389 % MOST);
            for (size_t i = 0; i < MOST; ++i) numbers += i % every != 0;
            double got = geom_nth(list, MOST, k);
            assert_true(k < numbers ? got >= 0 && got < MOST : isnan(got));
        }
}

/* The first number, in order, that has half of all weight up to it. */
KIT_TEST(weighed_medians) {
    for (size_t n = 1; n < 40; ++n)
        for (size_t way = 0; way < 6; ++way) {
            geom_weighed list[40];
            double all = 0, wanted = INFINITY;
            for (size_t i = 0; i < n; ++i) {
                list[i] =
                    (geom_weighed){.number = (double)(i * 389 % (way < 3 ? 41 : 5)), .weight = (double)(i % (way + 1))};
                all += list[i].weight;
            }
            for (size_t i = 0; i < n; ++i) {
                double up_to = 0;
                for (size_t k = 0; k < n; ++k) up_to += list[k].number <= list[i].number ? list[k].weight : 0;
                if (2 * up_to >= all) wanted = fmin(wanted, list[i].number);
            }
            assert_true(geom_weighed_median(list, n) == wanted);
        }
    assert_true(geom_weighed_median(NULL, 0) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kth_of_any),
        cmocka_unit_test(kth_in_order),
        cmocka_unit_test(kth_without_numbers),
        cmocka_unit_test(weighed_medians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
