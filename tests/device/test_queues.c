/* Queues, events and tapes of several queues on every device that is here: random work held against a model, and what
 * is refused. What only a driver that works late shows is in test_cuda_queues.c. */
#include "queuekit.h"
#include "support/shared.h"

#include <string.h>

SHARED_DEVICES;

static void on_every_device(void (*check)(atn_device *device)) {
    bool cuda = false;
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        const atn_device_info *info = atn_devices_info(devices, k);
        atn_device *device;
        cuda = cuda || strcmp(info->backend, "cuda") == 0;
        if (!kit_wants(info->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, k, &device));
        print_message("    on %s: %s\n", info->backend, info->name);
        check(device);
        atn_device_close(device);
    }
    if (!cuda) print_message("    SKIPPED on cuda: no such device here\n");
}

static void work_is_ordered_by_events(atn_device *device) {
    for (uint64_t seed = 1; seed <= 4; ++seed) queues_at_random(ctx, device, seed, (int)kit_cases(400));
}

static void tapes_take_several_queues(atn_device *device) {
    for (uint64_t seed = 1; seed <= 4; ++seed) tapes_at_random(ctx, device, seed, 100);
}

static void tapes_loop(atn_device *device) { loops_on_tapes(ctx, device); }

/* What a tape does not take: the end of it fails for that reason, and the queues are as before. */
static void tapes_refuse(atn_device *device) {
    atn_queue *first = atn_device_queue(device), *second;
    atn_event *outside, *inside, *never;
    atn_buffer *buffer;
    atn_tape *tape = NULL;
    double seconds;
    char bytes[16] = "................";
    kit_ok(ctx, atn_queue_create(device, &second));
    kit_ok(ctx, atn_buffer_create(device, sizeof bytes, &buffer));
    kit_ok(ctx, atn_buffer_fill(second, buffer, 0, 'a', sizeof bytes));
    kit_ok(ctx, atn_event_record(second, &outside));
    kit_ok(ctx, atn_event_create(device, &never));
    kit_fails(ctx, ATN_ERR_INPUT, "never marked", atn_event_wait(never));
    kit_fails(ctx, ATN_ERR_INPUT, "never marked", atn_queue_wait(first, never));
    kit_fails(ctx, ATN_ERR_DEVICE, "no tape was begun", atn_tape_end(first, &tape));
    for (int what = 0; what < 6; ++what) {
        static const char *const PARTS[] = {"a put that waits",   "a get that waits",   "finishing a queue",
                                            "was not waited for", "from outside of it", "another tape"};
        atn_status begun = atn_tape_begin(first);
        if (begun == ATN_ERR_UNSUPPORTED) {
            print_message("    SKIPPED here: %s\n", atn_ctx_message(ctx));
            break;
        }
        kit_ok(ctx, begun);
        kit_ok(ctx, atn_buffer_fill(first, buffer, 0, 'b', sizeof bytes));
        kit_ok(ctx, atn_event_record(first, &inside));
        kit_fails(ctx, ATN_ERR_INPUT, "an event of a tape", atn_event_wait(inside));
        kit_fails(ctx, ATN_ERR_INPUT, "an event of a tape", atn_event_elapsed(outside, inside, &seconds));
        kit_ok(ctx, atn_queue_wait(second, inside));
        kit_ok(ctx, atn_buffer_fill(second, buffer, 0, 'c', sizeof bytes));
        if (what == 0) kit_fails(ctx, ATN_ERR_DEVICE, PARTS[what], atn_buffer_put(second, buffer, 0, bytes, 1));
        if (what == 1) kit_fails(ctx, ATN_ERR_DEVICE, PARTS[what], atn_buffer_get(second, buffer, 0, bytes, 1));
        if (what == 2) kit_fails(ctx, ATN_ERR_DEVICE, PARTS[what], atn_queue_finish(second));
        if (what == 4) kit_fails(ctx, ATN_ERR_DEVICE, PARTS[what], atn_queue_wait(second, outside));
        if (what != 3) { /* else nobody waits for the second queue */
            kit_ok(ctx, atn_event_mark(second, inside));
            kit_ok(ctx, atn_queue_wait(first, inside));
        }
        kit_fails(ctx, ATN_ERR_DEVICE, "another tape", atn_tape_begin(second));
        kit_fails(ctx, ATN_ERR_DEVICE, "no tape was begun", atn_tape_end(second, &tape));
        if (what < 5)
            kit_fails(ctx, ATN_ERR_DEVICE, PARTS[what], atn_tape_end(first, &tape));
        else
            kit_ok(ctx, atn_tape_end(first, &tape));
        assert_int_equal(tape != NULL, what == 5);
        kit_fails(ctx, ATN_ERR_INPUT, "that is finished", atn_queue_wait(second, inside));
        kit_fails(ctx, ATN_ERR_INPUT, "an event of a tape", atn_event_wait(inside));
        kit_ok(ctx, atn_event_mark(second, inside)); /* marked anew it is as any other */
        kit_ok(ctx, atn_queue_wait(first, inside));
        kit_ok(ctx, atn_buffer_get(first, buffer, 0, bytes, sizeof bytes));
        assert_memory_equal(bytes, "aaaaaaaaaaaaaaaa", sizeof bytes); /* none of it was done */
        atn_event_free(inside);
    }
    if (tape) {
        kit_ok(ctx, atn_tape_launch(second, tape));
        kit_ok(ctx, atn_buffer_get(second, buffer, 0, bytes, sizeof bytes));
        assert_memory_equal(bytes, "cccccccccccccccc", sizeof bytes);
        kit_ok(ctx, atn_tape_begin(first));
        kit_fails(ctx, ATN_ERR_DEVICE, "a tape cannot be kept", atn_tape_launch(first, tape));
        atn_tape *none;
        kit_fails(ctx, ATN_ERR_DEVICE, "a tape cannot be kept", atn_tape_end(first, &none));
    }
    atn_event_free(outside);
    atn_event_free(never);
    atn_buffer_free(buffer);
    atn_queue_free(second);
    if (tape) kit_ok(ctx, atn_tape_begin(first)); /* the device is closed with a tape that was never ended */
    atn_tape_free(tape);
}

static void queues_are_few(atn_device *device) {
    atn_queue *more[ATN_MAX_QUEUES], *again;
    for (int k = 1; k < ATN_MAX_QUEUES; ++k) kit_ok(ctx, atn_queue_create(device, &more[k]));
    kit_fails(ctx, ATN_ERR_INPUT, "more than 8 queues", atn_queue_create(device, &again));
    assert_null(again);
    atn_queue_free(more[3]);
    kit_ok(ctx, atn_queue_create(device, &more[3]));
    for (int k = 1; k < ATN_MAX_QUEUES; ++k) atn_queue_free(more[k]);
}

/* Two handles of one device: neither takes what is the other's. */
KIT_TEST(handles_are_apart) {
    atn_device *one, *two;
    atn_buffer *buffer;
    atn_event *event;
    char byte = 0;
    double seconds;
    atn_event *other;
    kit_ok(ctx, atn_device_open(devices, 0, &one));
    kit_ok(ctx, atn_device_open(devices, 0, &two));
    kit_ok(ctx, atn_buffer_create(one, 1, &buffer));
    kit_ok(ctx, atn_event_record(atn_device_queue(one), &event));
    kit_ok(ctx, atn_event_record(atn_device_queue(two), &other));
    kit_fails(ctx, ATN_ERR_INPUT, "in a queue of", atn_buffer_put(atn_device_queue(two), buffer, 0, &byte, 1));
    kit_fails(ctx, ATN_ERR_INPUT, "in a queue of", atn_buffer_get_async(atn_device_queue(two), buffer, 0, &byte, 1));
    kit_fails(ctx, ATN_ERR_INPUT, "in a queue of", atn_buffer_fill(atn_device_queue(two), buffer, 0, 0, 1));
    kit_fails(ctx, ATN_ERR_INPUT, "in a queue of", atn_event_mark(atn_device_queue(two), event));
    kit_fails(ctx, ATN_ERR_INPUT, "of another device", atn_queue_wait(atn_device_queue(two), event));
    kit_fails(ctx, ATN_ERR_INPUT, "of two devices", atn_event_elapsed(event, other, &seconds));
    atn_event_free(event);
    atn_event_free(other);
    atn_buffer_free(buffer);
    atn_device_close(two);
    atn_device_close(one);
}

KIT_TEST(ordered_all) { on_every_device(work_is_ordered_by_events); }
KIT_TEST(tapes_all) { on_every_device(tapes_take_several_queues); }
KIT_TEST(loops_all) { on_every_device(tapes_loop); }
KIT_TEST(refusals_all) { on_every_device(tapes_refuse); }
KIT_TEST(few_all) { on_every_device(queues_are_few); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ordered_all), cmocka_unit_test(tapes_all),
                                       cmocka_unit_test(loops_all),   cmocka_unit_test(refusals_all),
                                       cmocka_unit_test(few_all),     cmocka_unit_test(handles_are_apart)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
