/* The base: sentences, memory, arena, text, hash, files. */
#include "testkit.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/text.h"
#include "base/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

KIT_TEST(sentence_is_one_line) {
    atn_ctx *ctx = kit_ctx();
    assert_string_equal(atn_ctx_message(ctx), "");
    assert_int_equal(atn_fail(ctx, ATN_ERR_INPUT, "a.ply: line %d:\nwrong", 7), ATN_ERR_INPUT);
    assert_string_equal(atn_ctx_message(ctx), "a.ply: line 7: wrong");
    (void)atn_fail_within(ctx, ATN_ERR_INPUT, "register");
    assert_string_equal(atn_ctx_message(ctx), "register: a.ply: line 7: wrong");
    kit_free(ctx);
}

typedef struct caller {
    atn_ctx *ctx;
    int number;
    bool right;
} caller;

static void *fail_and_look(void *argument) {
    caller *self = argument;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "thread %d", self->number);
    self->right = true;
    for (int round = 0; round < 1000; ++round) {
        (void)atn_fail(self->ctx, ATN_ERR_INPUT, "thread %d", self->number);
        self->right &= strcmp(atn_ctx_message(self->ctx), wanted) == 0;
    }
    return NULL;
}

KIT_TEST(each_thread_has_its_sentence) {
    atn_ctx *ctx = kit_ctx();
    (void)atn_fail(ctx, ATN_ERR_INPUT, "main");
    enum { THREADS = 50 };
    pthread_t threads[THREADS];
    caller callers[THREADS];
    for (int k = 0; k < THREADS; ++k) {
        callers[k] = (caller){ctx, k, false};
        pthread_create(&threads[k], NULL, fail_and_look, &callers[k]);
    }
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(threads[k], NULL);
        assert_true(callers[k].right);
    }
    assert_string_equal(atn_ctx_message(ctx), "main");
    kit_free(ctx);
}

/* A sentence belongs to the context it was said in, also where another one is at the same address later. */
KIT_TEST(each_context_has_its_sentence) {
    atn_ctx *a = kit_ctx(), *b = kit_ctx(), *none;
    (void)atn_fail(a, ATN_ERR_INPUT, "of a");
    assert_string_equal(atn_ctx_message(a), "of a");
    assert_string_equal(atn_ctx_message(b), "");
    assert_string_equal(atn_ctx_message(NULL), "");
    atn_ctx_settings settings = {.size = sizeof settings + 8};
    assert_int_equal(atn_ctx_create(&settings, &none), ATN_ERR_INPUT);
    assert_null(none);
    kit_contains(atn_ctx_message(NULL), "atn_ctx_settings: its size is");
    assert_string_equal(atn_ctx_message(a), "");
    (void)atn_fail(a, ATN_ERR_INPUT, "of a");
    kit_free(a);
    for (int k = 0; k < 20; ++k) {
        a = kit_ctx();
        assert_string_equal(atn_ctx_message(a), "");
        kit_free(a);
    }
    kit_free(b);
}

KIT_TEST(cancel_is_seen) {
    atn_ctx *ctx = kit_ctx();
    assert_int_equal(atn_check_cancel(ctx), ATN_OK);
    atn_ctx_cancel(ctx);
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", atn_check_cancel(ctx));
    atn_ctx_resume(ctx);
    assert_int_equal(atn_check_cancel(ctx), ATN_OK);
    kit_free(ctx);
}

static bool count_steps(void *user, const atn_progress *now) {
    int *left = user;
    assert_string_equal(now->doing, "counting");
    assert_true(now->done < now->count);
    return --*left > 0;
}

KIT_TEST(progress_is_told_and_may_stop_it) {
    atn_ctx *ctx = kit_ctx();
    int left = 2;
    assert_int_equal(atn_tell_progress(ctx, "counting", 0, 3), ATN_OK); /* nobody listens */
    atn_ctx_on_progress(ctx, count_steps, &left);
    assert_int_equal(atn_tell_progress(ctx, "counting", 1, 3), ATN_OK);
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", atn_tell_progress(ctx, "counting", 2, 3));
    assert_int_equal(left, 0);
    atn_ctx_on_progress(ctx, NULL, NULL);
    atn_ctx_cancel(ctx);
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", atn_tell_progress(ctx, "counting", 0, 3));
    kit_free(ctx);
}

KIT_TEST(memory_is_counted) {
    atn_ctx *ctx = kit_ctx();
    size_t before = atn_ctx_bytes(ctx);
    void *block = atn_alloc(ctx, 1000);
    assert_int_equal(atn_ctx_bytes(ctx) - before, 1000);
    block = atn_resize(ctx, block, 4000);
    block = atn_resize(ctx, block, 10);
    assert_int_equal(atn_ctx_bytes(ctx) - before, 10);
    assert_true(atn_ctx_peak_bytes(ctx) >= before + 4000);
    assert_int_equal(atn_ctx_watch_peak(ctx), before + 10); /* from here on */
    block = atn_resize(ctx, block, 300);
    block = atn_resize(ctx, block, 20);
    assert_int_equal(atn_ctx_watched_peak(ctx), before + 300);
    atn_free(ctx, block);
    assert_int_equal(atn_ctx_bytes(ctx), before);
    assert_null(atn_alloc(ctx, SIZE_MAX));
    kit_contains(atn_ctx_message(ctx), "out of memory");
    kit_free(ctx);
}

/* Counted as freed, and handed out again to who asks for about as many bytes; a caller's own allocator sees them all.
 */
KIT_TEST(blocks_are_kept) {
    atn_ctx *ctx;
    kit_ok(NULL, atn_ctx_create(NULL, &ctx));
    size_t before = atn_ctx_bytes(ctx);
    for (size_t bytes = 1; bytes < (size_t)8 << 20; bytes = bytes * 3 + 1) {
        unsigned char *block[2];
        for (int k = 0; k < 2; ++k) {
            block[k] = atn_alloc(ctx, bytes);
            assert_non_null(block[k]);
            memset(block[k], k + 1, bytes);
        }
        assert_int_equal(block[0][bytes - 1], 1);
        assert_int_equal(atn_ctx_bytes(ctx), before + 2 * bytes);
        for (int k = 0; k < 2; ++k) atn_free(ctx, block[k]);
        assert_int_equal(atn_ctx_bytes(ctx), before);
        block[0] = atn_zalloc(ctx, bytes - bytes / 9);
        for (size_t k = 0; k < bytes - bytes / 9; ++k) assert_int_equal(block[0][k], 0);
        block[0] = atn_resize(ctx, block[0], 2 * bytes);
        block[0][2 * bytes - 1] = 1;
        atn_free(ctx, block[0]);
    }
    enum { MANY = 2000 };
    void *many[MANY];
    for (int k = 0; k < MANY; ++k) assert_non_null(many[k] = atn_alloc(ctx, 20000));
    for (int k = 0; k < MANY; ++k) atn_free(ctx, many[k]);
    assert_int_equal(atn_ctx_bytes(ctx), before);
    atn_ctx_free(ctx);
}

KIT_TEST(every_allocation_may_fail) {
    for (long n = 1;; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        options.cache_dir = "somewhere";
        options.compiler = "gcc";
        atn_ctx *ctx;
        atn_status status = atn_ctx_create(&options, &ctx);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
        if (faults.count < n) {
            assert_int_equal(status, ATN_OK);
            break;
        }
        assert_int_equal(status, ATN_ERR_MEMORY);
    }
}

KIT_TEST(arena_blocks_are_apart) {
    atn_ctx *ctx = kit_ctx();
    atn_arena arena = {.ctx = ctx};
    unsigned char *blocks[300];
    for (size_t k = 0; k < 300; ++k) {
        blocks[k] = atn_arena_alloc(&arena, k * 37);
        assert_int_equal((uintptr_t)blocks[k] % 16, 0);
        for (size_t b = 0; b < k * 37; ++b) assert_int_equal(blocks[k][b], 0);
        memset(blocks[k], (int)k, k * 37);
    }
    for (size_t k = 0; k < 300; ++k)
        for (size_t b = 0; b < k * 37; ++b) assert_int_equal(blocks[k][b], k & 255);
    assert_string_equal(atn_arena_printf(&arena, "%d-%s", 5, "x"), "5-x");
    assert_string_equal(atn_arena_strndup(&arena, "abcdef", 3), "abc");
    atn_arena_free(&arena);
    kit_free(ctx);
}

KIT_TEST(text_grows_and_remembers_failure) {
    kit_faults faults = {0};
    atn_ctx_settings options = kit_fault_options(&faults);
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    atn_text text = {.ctx = ctx};
    assert_string_equal(atn_text_str(&text), "");
    for (int k = 0; k < 1000; ++k) atn_text_printf(&text, "%d,", k);
    assert_int_equal(atn_text_status(&text), ATN_OK);
    assert_int_equal(text.length, 3890);
    faults.fail_at = faults.count + 1;
    for (int k = 0; k < 1000; ++k) atn_text_add(&text, "more");
    assert_int_equal(atn_text_status(&text), ATN_ERR_MEMORY);
    atn_text_free(&text);
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
}

/* Like snprintf, whichever way a format takes. */
KIT_TEST(text_is_printed_like_printf) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    char expected[200];
#define SAME(...)                                                                                                      \
    do {                                                                                                               \
        atn_text_clear(&text);                                                                                         \
        atn_text_printf(&text, __VA_ARGS__);                                                                           \
        snprintf(expected, sizeof expected, __VA_ARGS__);                                                              \
        assert_string_equal(atn_text_str(&text), expected);                                                            \
        assert_int_equal(text.length, strlen(expected));                                                               \
    } while (0)
    SAME("%s", "");
    SAME("nothing");
    SAME("%d%d", 0, -7);
    SAME("%d, %d and %d", INT_MAX, INT_MIN, 10);
    SAME("%s=%d%%%s", "a", 100, "b");
    SAME("%*s|%*s|%*s|", 4, "", -6, "left", 2, "longer");
    SAME("%%%*s%d", 0, "x", 5);
    SAME("%s %5.2f %s", "falls", 2.5, "back");
    SAME("%lld of %zu %-4d|", 1LL << 40, (size_t)3, 2);
#undef SAME
    char *name = NULL;
    atn_arena arena = {.ctx = ctx};
    for (int n = 250; n < 260; ++n) { /* names of up to 255 bytes have another way */
        name = atn_arena_printf(&arena, "%0*d", n, 1);
        assert_non_null(name);
        assert_int_equal(strlen(name), n);
        assert_true(name[n - 1] == '1' && name[0] == '0');
    }
    atn_arena_free(&arena);
    atn_text_free(&text);
    kit_free(ctx);
}

KIT_TEST(hash_keeps_pieces_apart) {
    atn_hash ab_c = atn_hash_add_text(atn_hash_add_text((atn_hash){0}, "ab"), "c");
    atn_hash a_bc = atn_hash_add_text(atn_hash_add_text((atn_hash){0}, "a"), "bc");
    atn_hash again = atn_hash_add_text(atn_hash_add_text((atn_hash){0}, "ab"), "c");
    char first[ATN_HASH_TEXT], second[ATN_HASH_TEXT], third[ATN_HASH_TEXT];
    atn_hash_print(ab_c, first);
    atn_hash_print(a_bc, second);
    atn_hash_print(again, third);
    assert_string_not_equal(first, second);
    assert_string_equal(first, third);
    assert_int_equal(strlen(first), 32);
}

KIT_TEST(sizes_are_checked) {
    size_t out;
    assert_true(atn_size_mul(1u << 16, 1u << 15, &out));
    assert_false(atn_size_mul(SIZE_MAX / 2, 3, &out));
    assert_false(atn_size_add(SIZE_MAX, 1, &out));
    assert_true(atn_size_within(10, 0, 10));
    assert_false(atn_size_within(11, 0, 10));
    assert_false(atn_size_within(5, SIZE_MAX, 10));
    assert_int_equal(atn_size_round_up(17, 8), 24);
}

KIT_TEST(files_are_whole_or_not_there) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[4200];
    char *data;
    size_t length;
    snprintf(path, sizeof path, "%s/file", dir);
    kit_ok(ctx, atn_file_write(ctx, path, "hello\0you", 9));
    kit_ok(ctx, atn_file_read(ctx, path, 100, &data, &length));
    assert_int_equal(length, 9);
    assert_memory_equal(data, "hello\0you", 10);
    atn_free(ctx, data);
    kit_fails(ctx, ATN_ERR_INPUT, "at most 8", atn_file_read(ctx, path, 8, &data, &length));
    assert_null(data);
    kit_fails(ctx, ATN_ERR_INPUT, "is a directory", atn_file_read(ctx, dir, 100, &data, &length));
    snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    kit_fails(ctx, ATN_ERR_INPUT, "not a regular file", atn_file_read(ctx, path, 100, &data, &length));
    snprintf(path, sizeof path, "%s/nowhere/file", dir);
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_file_write(ctx, path, "x", 1));
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_file_read(ctx, path, 100, &data, &length));
    kit_remove(dir);
    kit_free(ctx);
}

/* A rename would put a file in the place of a link, a pipe or a device. */
KIT_TEST(writing_keeps_what_a_path_is) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[4200], link[4200], got[8] = "";
    struct stat info;
    snprintf(path, sizeof path, "%s/file", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    kit_ok(ctx, atn_file_write(ctx, path, "old", 3));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(symlink("file", link), 0);
    kit_ok(ctx, atn_file_write(ctx, link, "newer", 5));
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(path, &info), 0);
    assert_int_equal(info.st_size, 5);
    assert_int_equal(info.st_mode & 0777, 0600);
    atn_writer *writer; /* what is written aside can be opened by whoever replaces a file that must not be written */
    assert_int_equal(chmod(path, 0440), 0);
    kit_ok(ctx, atn_writer_open(ctx, path, &writer));
    assert_int_equal(stat(atn_writer_aside(writer), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    kit_ok(ctx, atn_writer_finish(writer));
    atn_writer_free(writer);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0440);
    snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    kit_ok(ctx, atn_file_write(ctx, path, "hello", 5));
    assert_int_equal(read(reader, got, sizeof got), 5);
    close(reader);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    unlink(link);
    assert_int_equal(symlink("/dev/full", link), 0);
    kit_fails(ctx, ATN_ERR_IO, "No space left", atn_file_write(ctx, link, "x", 1));
    kit_fails(ctx, ATN_ERR_IO, "Is a directory", atn_file_write(ctx, dir, "x", 1));
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentence_is_one_line),
        cmocka_unit_test(each_thread_has_its_sentence),
        cmocka_unit_test(each_context_has_its_sentence),
        cmocka_unit_test(cancel_is_seen),
        cmocka_unit_test(progress_is_told_and_may_stop_it),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(blocks_are_kept),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(arena_blocks_are_apart),
        cmocka_unit_test(text_grows_and_remembers_failure),
        cmocka_unit_test(text_is_printed_like_printf),
        cmocka_unit_test(hash_keeps_pieces_apart),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(files_are_whole_or_not_there),
        cmocka_unit_test(writing_keeps_what_a_path_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
