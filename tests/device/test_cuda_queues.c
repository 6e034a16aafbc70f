/* Queues of the CUDA backend on a driver that does its work as late as it may, or at random moments (fake_cuda.h,
 * `lazy`): nobody sees what is not done yet, nobody overwrites what is still needed, puts and gets wait only where they
 * say so, and what goes wrong on the way shows at the next wait. */
#include "cuda_bench.h"
#include "queuekit.h"

#include "device/reports.h"

#include <stdio.h>

static bench start_lazy(uint64_t seed) {
    use_fake();
    fake->memory = 16 << 20;
    bench b = open_bench(kit_ctx());
    fake->lazy = true;
    fake->seed = seed;
    return b;
}

KIT_TEST(work_is_ordered_by_events) {
    for (uint64_t seed = 0; seed < 30; ++seed) {
        bench b = start_lazy(seed); /* 0: nothing is done before it is waited for */
        queues_at_random(b.ctx, b.device, seed + 1, 200);
        finish(&b);
    }
}

KIT_TEST(tapes_take_several_queues) {
    for (uint64_t seed = 0; seed < 30; ++seed) {
        bench b = start_lazy(seed);
        tapes_at_random(b.ctx, b.device, seed + 1, 60);
        finish(&b);
    }
}

/* Loops, also where the driver has none of what they need, or does not take their kernel. */
KIT_TEST(tapes_loop) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
        bench b = start_lazy(seed);
        loops_on_tapes(b.ctx, b.device);
        finish(&b);
    }
    bench b = start_lazy(0);
    fake->fail_symbol = "cuModuleLoadData";
    fake->fail_result = 218;
    loops_on_tapes(b.ctx, b.device);
    finish(&b);
    static const char *const SYMBOLS[] = {"cuStreamGetCaptureInfo_v3", "cuGraphConditionalHandleCreate",
                                          "cuGraphAddNode_v2", "cuStreamUpdateCaptureDependencies_v2",
                                          "cuStreamBeginCaptureToGraph"};
    for (size_t k = 0; k < sizeof SYMBOLS / sizeof *SYMBOLS; ++k) {
        shelf s;
        atn_tape *tape;
        start_shelf(&s);
        assert_true(atn_tape_can_while(s.b.device));
        atn_queue *queue = atn_device_queue(s.b.device);
        kit_ok(s.b.ctx, atn_tape_begin(queue));
        fake->fail_symbol = SYMBOLS[k];
        fake->fail_result = 999;
        kit_fails(s.b.ctx, ATN_ERR_DEVICE, "(999)", atn_tape_while(queue, s.buffer, 0, 1));
        kit_fails(s.b.ctx, ATN_ERR_DEVICE, "(999)", atn_tape_end(queue, &tape));
        kit_ok(s.b.ctx, atn_tape_begin(queue));
        kit_ok(s.b.ctx, atn_tape_while(queue, s.buffer, 0, 1));
        fake->fail_symbol = "cuStreamEndCapture";
        kit_fails(s.b.ctx, ATN_ERR_DEVICE, "ending a loop", atn_tape_while_end(queue));
        kit_fails(s.b.ctx, ATN_ERR_DEVICE, "ending a loop", atn_tape_end(queue, &tape));
        finish_shelf(&s);
    }
}

/* Small puts do not wait until both halves of the stage are full; their memory is the caller's again at once. */
KIT_TEST(small_puts_are_staged) {
    enum { EACH = 1000, COUNT = 2000, FITS = 2 * 262144 / 1024 };
    bench b = start_lazy(0);
    atn_buffer *buffer;
    unsigned char bytes[EACH], *got = malloc((size_t)EACH * COUNT);
    kit_ok(b.ctx, atn_buffer_create(b.device, (size_t)EACH * COUNT, &buffer));
    for (int k = 0; k < COUNT; ++k) {
        memset(bytes, k % 251, EACH);
        kit_ok(b.ctx, atn_buffer_put(NULL, buffer, (size_t)k * EACH, bytes, EACH));
        memset(bytes, 0xee, EACH);
        if (k < FITS) assert_int_equal(fake->syncs, 0);
    }
    assert_true(fake->syncs > 0 && fake->syncs < 10); /* one for each half that is filled again */
    kit_ok(b.ctx, atn_buffer_get(NULL, buffer, 0, got, (size_t)EACH * COUNT));
    for (int k = 0; k < EACH * COUNT; ++k) assert_int_equal(got[k], k / EACH % 251);
    assert_int_equal(fake->blocks, 1);
    atn_buffer_free(buffer);
    free(got);
    finish(&b);
}

/* Without pinned memory left, and for large ones: a put waits, and is right. */
KIT_TEST(other_puts_wait) {
    enum { LARGE = 100000 };
    bench b = start_lazy(0);
    atn_buffer *buffer;
    unsigned char *bytes = malloc(LARGE), got[2];
    kit_ok(b.ctx, atn_buffer_create(b.device, LARGE, &buffer));
    fake->fail_symbol = "cuMemAllocHost_v2";
    fake->fail_result = 2;
    for (int k = 0; k < 3; ++k) {
        size_t length = k < 2 ? 10 : LARGE;
        memset(bytes, k + 1, length);
        kit_ok(b.ctx, atn_buffer_put(NULL, buffer, 0, bytes, length));
        memset(bytes, 0xee, length);
        kit_ok(b.ctx, atn_buffer_get(NULL, buffer, 0, got, 1));
        kit_ok(b.ctx, atn_buffer_get(NULL, buffer, length - 1, got + 1, 1));
        assert_true(got[0] == k + 1 && got[1] == k + 1);
    }
    assert_int_equal(fake->blocks, 0);
    atn_host_memory plain, nothing;
    fake->fail_symbol = "cuMemAllocHost_v2";
    kit_ok(b.ctx, atn_host_alloc(b.device, 1000, &plain));
    assert_true(plain.data && !plain.pinned);
    kit_ok(b.ctx, atn_host_alloc(b.device, 0, &nothing));
    atn_host_free(b.device, &plain);
    atn_host_free(b.device, &nothing);
    assert_null(plain.data);
    atn_buffer_free(buffer);
    free(bytes);
    finish(&b);
}

/* What is freed is handed out again for nearly as much; what is kept goes when the device is closed, or no more is
 * left.
 */
KIT_TEST(pinned_memory_is_used_again) {
    bench b = start_lazy(0);
    atn_host_memory first, second, other;
    kit_ok(b.ctx, atn_host_alloc(b.device, 200000, &first));
    void *data = first.data;
    atn_host_free(b.device, &first);
    kit_ok(b.ctx, atn_host_alloc(b.device, 190000, &second));
    assert_true(second.pinned && second.data == data);
    kit_ok(b.ctx, atn_host_alloc(b.device, 190000, &other));
    assert_true(other.pinned && other.data != data);
    atn_host_free(b.device, &second);
    assert_int_equal(fake->blocks, 2);
    fake->fail_symbol = "cuMemAllocHost_v2";
    fake->fail_result = 2;
    kit_ok(b.ctx, atn_host_alloc(b.device, 3000000, &second)); /* the second try */
    assert_true(second.pinned);
    assert_int_equal(fake->blocks, 2);
    atn_host_free(b.device, &second);
    atn_host_free(b.device, &other);
    finish(&b);
}

/* Asynchronous copies of pinned memory: nothing waits, and nothing is done before somebody does. */
KIT_TEST(asynchronous_copies_do_not_wait) {
    enum { BYTES = 200000 };
    bench b = start_lazy(0);
    atn_buffer *buffer;
    atn_host_memory from, to;
    atn_event *event;
    kit_ok(b.ctx, atn_buffer_create(b.device, BYTES, &buffer));
    kit_ok(b.ctx, atn_host_alloc(b.device, BYTES, &from));
    kit_ok(b.ctx, atn_host_alloc(b.device, BYTES, &to));
    assert_true(from.pinned && to.pinned);
    memset(from.data, 1, BYTES);
    memset(to.data, 0, BYTES);
    kit_ok(b.ctx, atn_buffer_put_async(NULL, buffer, 0, from.data, BYTES));
    kit_ok(b.ctx, atn_buffer_get_async(NULL, buffer, 0, to.data, BYTES));
    kit_ok(b.ctx, atn_event_record(atn_device_queue(b.device), &event));
    assert_int_equal(fake->syncs, 0);
    assert_int_equal(((char *)to.data)[BYTES - 1], 0);
    kit_ok(b.ctx, atn_event_wait(event));
    assert_int_equal(fake->syncs, 1);
    assert_memory_equal(from.data, to.data, BYTES);
    atn_event_free(event);
    atn_host_free(b.device, &from);
    atn_host_free(b.device, &to);
    atn_buffer_free(buffer);
    finish(&b);
}

/* A kernel that crashes in one queue: whoever waits first is told why, in whatever way it waits. */
KIT_TEST(errors_show_at_the_next_wait) {
    for (int way = 0; way < 4; ++way) {
        shelf s;
        start_shelf(&s);
        fake->lazy = true;
        atn_queue *queue;
        atn_event *event;
        char byte;
        kit_ok(s.b.ctx, atn_queue_create(s.b.device, &queue));
        fake->work_result = 700;
        fake->work_skip = 1;
        for (int k = 0; k < 3; ++k)
            kit_ok(s.b.ctx,
                   atn_function_launch(queue, s.scale, &(atn_launch){.groups = {1}, .args = s.args, .n_args = 3}));
        kit_ok(s.b.ctx, atn_event_record(queue, &event));
        kit_ok(s.b.ctx, atn_queue_wait(atn_device_queue(s.b.device), event));
        kit_ok(s.b.ctx, atn_buffer_put(NULL, s.buffer, 0, "x", 1)); /* staged: does not wait */
        atn_status status = way == 0   ? atn_queue_finish(queue)
                            : way == 1 ? atn_event_wait(event)
                            : way == 2 ? atn_buffer_get(NULL, s.buffer, 0, &byte, 1)
                                       : atn_queue_finish(atn_device_queue(s.b.device));
        kit_fails(s.b.ctx, ATN_ERR_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS (700), a kernel reached outside its buffers",
                  status);
        assert_int_equal(fake->launches, 1);
        kit_fails(s.b.ctx, ATN_ERR_LOST, "was lost", atn_event_wait(event));
        atn_event_free(event);
        atn_queue_free(queue);
        finish_shelf(&s);
    }
}

static void tell_run(const atn_reporter *from, const int32_t words[ATN_REPORT_WORDS], char *text, size_t room) {
    snprintf(text, room, "run %lld: %x", (long long)from->run, (unsigned)words[1]);
}

/* Each is looked at once, in its turn, with the words of its own run; the host waits for none that nobody asks for. */
KIT_TEST(reports_are_waited_for_when_asked) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        bench b = start_lazy(seed);
        atn_queue *queue = atn_device_queue(b.device);
        atn_buffer *buffer;
        int owner, other;
        kit_ok(b.ctx, atn_buffer_create(b.device, 8, &buffer));
        kit_ok(b.ctx, atn_reports_create(b.device));
        kit_ok(b.ctx, atn_reports_look(b.device, 5)); /* there are none */
        for (int k = 1; k <= ATN_REPORT_SLOTS; ++k) {
            atn_reporter from = {.owner = k < 4 ? &owner : &other, .run = k, .describe = tell_run};
            kit_ok(b.ctx, atn_reports_make_room(b.device));
            kit_ok(b.ctx, atn_buffer_fill(queue, buffer, 0, k == 2 || k == 5 ? (uint8_t)k : 0, 8));
            kit_ok(b.ctx, atn_reports_send(queue, buffer, &from));
            assert_int_equal(atn_reports_sent(b.device), k);
        }
        assert_int_equal(fake->syncs, 0);
        kit_ok(b.ctx, atn_reports_look(b.device, 1));
        atn_reports_leave(b.device, &owner);
        kit_fails(b.ctx, ATN_ERR_INPUT, "run 2: 2020202", atn_reports_look(b.device, 3));
        kit_ok(b.ctx, atn_reports_look(b.device, 4));
        kit_fails(b.ctx, ATN_ERR_INPUT, "run 5: 5050505", atn_reports_look(b.device, 1000));
        kit_ok(b.ctx, atn_reports_look(b.device, 1000));
        atn_buffer_free(buffer);
        finish(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_ordered_by_events),
        cmocka_unit_test(tapes_take_several_queues),
        cmocka_unit_test(tapes_loop),
        cmocka_unit_test(small_puts_are_staged),
        cmocka_unit_test(other_puts_wait),
        cmocka_unit_test(pinned_memory_is_used_again),
        cmocka_unit_test(asynchronous_copies_do_not_wait),
        cmocka_unit_test(errors_show_at_the_next_wait),
        cmocka_unit_test(reports_are_waited_for_when_asked),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
