/* Blocks that are kept: what is given back is taken again, and what grows keeps its bytes. */
#include "testkit.h"

#include "base/kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static size_t count_kept(const atn_kept *kept) {
    size_t count = 0;
    for (int k = 0; k < ATN_KEPT_SHELVES; ++k) count += kept->shelf[k].count;
    return count;
}

KIT_TEST(are_taken_again) {
    atn_kept kept;
    atn_kept_begin(&kept);
    void *first = atn_kept_take(&kept, 20000), *small = atn_kept_take(&kept, 100);
    assert_non_null(first);
    assert_non_null(small);
    atn_kept_give(&kept, first);
    atn_kept_give(&kept, small);
    atn_kept_give(&kept, NULL);
    if (count_kept(&kept) == 0) print_message("    nothing is kept in this build\n"), skip();
    assert_int_equal(count_kept(&kept), 1);
    void *other = atn_kept_take(&kept, 60000); /* too large for it */
    assert_ptr_not_equal(other, first);
    void *again = atn_kept_take(&kept, 19000);
    assert_ptr_equal(again, first);
    assert_int_equal(count_kept(&kept), 0);
    assert_int_equal(kept.bytes, 0);
    atn_kept_give(&kept, again);
    atn_kept_give(&kept, other);
    atn_kept_end(&kept);
}

/* Of whatever size, where malloc takes it from the kernel by itself, too. */
KIT_TEST(of_any_size_are_taken_again) {
    atn_kept kept;
    atn_kept_begin(&kept);
    for (size_t bytes = ATN_KEPT_LEAST; bytes <= ATN_KEPT_LARGEST - ATN_KEPT_LARGEST / 4; bytes += bytes / 7 + 13) {
        void *first = atn_kept_take(&kept, bytes);
        assert_non_null(first);
        atn_kept_give(&kept, first);
        if (count_kept(&kept) == 0) print_message("    nothing is kept in this build\n"), skip();
        void *again = atn_kept_take(&kept, bytes);
        if (again != first) fail_msg("%zu bytes are not taken again", bytes);
        free(again);
    }
    atn_kept_end(&kept);
}

KIT_TEST(grow_with_their_bytes) {
    atn_kept kept;
    atn_kept_begin(&kept);
    size_t size = 1;
    unsigned char *block = atn_kept_take(&kept, size);
    assert_non_null(block);
    block[0] = 1;
    for (size_t more = 3; more < 5000000; more = more * 2 + 7) { /* through all that are kept, and beyond */
        block = atn_kept_grow(&kept, block, more);
        assert_non_null(block);
        for (size_t k = 0; k < size; ++k)
            if (block[k] != (unsigned char)(k * 7 + 1)) fail_msg("byte %zu of %zu is another", k, size);
        for (size_t k = size; k < more; ++k) block[k] = (unsigned char)(k * 7 + 1);
        size = more;
    }
    block = atn_kept_grow(&kept, block, 17000); /* smaller */
    assert_non_null(block);
    for (size_t k = 0; k < 17000; ++k) assert_int_equal(block[k], (unsigned char)(k * 7 + 1));
    atn_kept_give(&kept, block);
    atn_kept_end(&kept);
}

static void *give(void *user) {
    void **given = user;
    atn_kept_give(given[0], given[1]);
    return NULL;
}

/* Whichever thread frees it. */
KIT_TEST(of_another_thread_are_taken_again) {
    atn_kept kept;
    pthread_t thread;
    atn_kept_begin(&kept);
    for (int k = 0; k < 2 * ATN_KEPT_SHELVES; ++k) { /* from every shelf */
        void *first = atn_kept_take(&kept, 30000), *given[] = {&kept, first};
        assert_int_equal(pthread_create(&thread, NULL, give, given), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (count_kept(&kept) == 0) print_message("    nothing is kept in this build\n"), skip();
        void *again = atn_kept_take(&kept, 30000);
        assert_ptr_equal(again, first);
        free(again);
    }
    atn_kept_end(&kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_taken_again),
        cmocka_unit_test(of_any_size_are_taken_again),
        cmocka_unit_test(grow_with_their_bytes),
        cmocka_unit_test(of_another_thread_are_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
