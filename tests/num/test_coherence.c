/* Coherence of arrays whose copies are under way, on a CUDA driver that does its work as late as it may (the fake of
 * tests/device): the host never sees what has not arrived, and never overwrites what has not left. */
#include "device/cuda_bench.h"

#include "device/backend.h"
#include "num/array.h"

enum { LENGTH = 50000 }; /* of INT32: large enough for pinned memory */

typedef struct field {
    bench b;
    atn_array *array;
} field;

static field start_field(uint64_t seed) {
    use_fake();
    fake->memory = 16 << 20;
    field f = {.b = open_bench(kit_ctx())};
    fake->lazy = true;
    fake->seed = seed;
    kit_ok(f.b.ctx, atn_array_create_vector(f.b.device, ATN_INT32, LENGTH, &f.array));
    return f;
}

static void finish_field(field *f) {
    atn_array_free(f->array);
    finish(&f->b);
}

static void give(field *f, int32_t value) {
    int32_t *all = malloc(LENGTH * sizeof *all);
    for (int k = 0; k < LENGTH; ++k) all[k] = value + k;
    kit_ok(f->b.ctx, atn_array_put(f->array, all, 0));
    free(all);
}

/* What the device has, past the array's own copies. */
static void device_has(field *f, int32_t value) {
    int32_t *all = malloc(LENGTH * sizeof *all);
    kit_ok(f->b.ctx, atn_buffer_get(NULL, f->array->storage->buffer, 0, all, LENGTH * sizeof *all));
    for (int k = 0; k < LENGTH; ++k) assert_int_equal(all[k], value + k);
    free(all);
}

/* A copy on the device, in place of a kernel that writes the array. */
static void write_on_device(field *f, int32_t value) {
    field other = {.b = f->b};
    kit_ok(f->b.ctx, atn_array_create_vector(f->b.device, ATN_INT32, LENGTH, &other.array));
    give(&other, value);
    kit_ok(f->b.ctx, atn_array_ready_device(other.array, false));
    kit_ok(f->b.ctx, atn_array_ready_device(f->array, true));
    kit_ok(f->b.ctx, atn_buffer_copy(NULL, f->array->storage->buffer, 0, other.array->storage->buffer, 0,
                                     LENGTH * sizeof(int32_t)));
    atn_array_written_on_device(f->array);
    atn_array_free(other.array);
}

static void host_has(field *f, int32_t value) {
    const int32_t *read;
    kit_ok(f->b.ctx, atn_array_map_read(f->array, (const void **)&read));
    for (int k = 0; k < LENGTH; ++k) assert_int_equal(read[k], value + k);
}

static void host_has_zeros(field *f) {
    const int32_t *read;
    kit_ok(f->b.ctx, atn_array_map_read(f->array, (const void **)&read));
    for (int k = 0; k < LENGTH; ++k) assert_int_equal(read[k], 0);
}

KIT_TEST(uploads_do_not_wait) {
    field f = start_field(0);
    give(&f, 1);
    kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
    host_has(&f, 1); /* reading here is no reason to wait */
    assert_int_equal(fake->syncs, 0);
    give(&f, 1000); /* this waits until the block has left */
    assert_int_equal(fake->syncs, 1);
    device_has(&f, 1);
    int32_t *write;
    kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
    kit_ok(f.b.ctx, atn_array_map_write(f.array, (void **)&write));
    for (int k = 0; k < LENGTH; ++k) write[k] = 0;
    device_has(&f, 1000);
    kit_ok(f.b.ctx, atn_array_ready_device(f.array, false)); /* and freed while it is under way */
    finish_field(&f);
}

/* One copy of both sides': nothing is transferred, what the device left is waited for, and what it still writes is not
 * given away. */
KIT_TEST(shares_one_copy) {
    for (int way = 0; way < 3; ++way) {
        field f = start_field(0);
        int64_t there, back;
        atn_array_share(f.array);
        if (way == 2) host_has_zeros(&f);
        for (int32_t value = 5; value < 8; ++value) {
            write_on_device(&f, value);
            if (way) host_has(&f, value);
        }
        if (way) device_has(&f, 7);
        if (way) give(&f, 30);
        if (way) device_has(&f, 30);
        atn_array_transfers(f.array, &there, &back);
        assert_int_equal(there + back, 0);
        finish_field(&f); /* of the first way: while it is written */
    }
}

KIT_TEST(fetches_are_waited_for) {
    for (int way = 0; way < 4; ++way) {
        field f = start_field(0);
        atn_queue *queue;
        kit_ok(f.b.ctx, atn_queue_create(f.b.device, &queue));
        kit_ok(f.b.ctx, atn_array_fetch(f.array, queue)); /* nothing there: nothing to do */
        write_on_device(&f, 5);
        kit_ok(f.b.ctx, atn_queue_finish(atn_device_queue(f.b.device)));
        int syncs = fake->syncs;
        kit_ok(f.b.ctx, atn_array_fetch(f.array, queue));
        kit_ok(f.b.ctx, atn_array_fetch(f.array, NULL)); /* on its way already */
        assert_int_equal(fake->syncs, syncs);
        int64_t there, back;
        atn_array_transfers(f.array, &there, &back);
        assert_int_equal(back, 1);
        if (way == 0) host_has(&f, 5);
        if (way == 1) { /* overwritten on the host while it arrives */
            give(&f, 77);
            kit_ok(f.b.ctx, atn_queue_finish(queue));
            host_has(&f, 77);
        }
        if (way == 2) { /* written on the device meanwhile */
            atn_event *event;
            kit_ok(f.b.ctx, atn_event_record(queue, &event));
            kit_ok(f.b.ctx, atn_queue_wait(atn_device_queue(f.b.device), event));
            atn_event_free(event);
            write_on_device(&f, 90);
            host_has(&f, 90);
        }
        if (way == 3) atn_queue_free(queue); /* finishes it */
        if (way == 3) host_has(&f, 5);
        atn_array_free(f.array);
        if (way != 3) atn_queue_free(queue);
        finish(&f.b);
    }
}

/* From pinned memory in a queue of its own: nobody waits, and what comes in the first queue comes behind it. */
KIT_TEST(sends_go_beside_the_first_queue) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        field f = start_field(seed);
        atn_queue *queue;
        atn_host_memory from;
        kit_ok(f.b.ctx, atn_queue_create(f.b.device, &queue));
        kit_ok(f.b.ctx, atn_host_alloc(f.b.device, LENGTH * sizeof(int32_t), &from));
        give(&f, 3);
        for (int32_t value = 10; value < 13; ++value) {
            int32_t *all = from.data;
            for (int k = 0; k < LENGTH; ++k) all[k] = value + k;
            int syncs = fake->syncs;
            kit_ok(f.b.ctx, atn_array_send(f.array, queue, all));
            if (value == 10) assert_int_equal(fake->syncs, syncs);
            kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
            device_has(&f, value);
            if (value == 11) host_has(&f, value);
        }
        give(&f, 77);
        host_has(&f, 77);
        kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
        device_has(&f, 77);
        atn_array_free(f.array);
        atn_queue_free(queue);
        atn_host_free(f.b.device, &from);
        finish(&f.b);
    }
}

/* Work of the first queue that does not need an array does not wait for it either. */
KIT_TEST(sends_hold_nothing_up) {
    field f = start_field(0), other = {.b = f.b};
    atn_queue *queue;
    atn_host_memory from;
    kit_ok(f.b.ctx, atn_queue_create(f.b.device, &queue));
    kit_ok(f.b.ctx, atn_host_alloc(f.b.device, LENGTH * sizeof(int32_t), &from));
    kit_ok(f.b.ctx, atn_array_create_vector(f.b.device, ATN_INT32, LENGTH, &other.array));
    give(&f, 3);
    kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
    int32_t *all = from.data;
    for (int k = 0; k < LENGTH; ++k) all[k] = 10 + k;
    kit_ok(f.b.ctx, atn_array_send(f.array, queue, all));
    give(&other, 7);
    kit_ok(f.b.ctx, atn_array_ready_device(other.array, false));
    device_has(&other, 7);
    device_has(&f, 3); /* what was sent is still under way */
    kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
    device_has(&f, 10);
    atn_array_free(other.array);
    atn_array_free(f.array);
    atn_queue_free(queue);
    atn_host_free(f.b.device, &from);
    finish(&f.b);
}

/* Random uses in one queue, the device at random, too. */
KIT_TEST(copies_agree) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        field f = start_field(seed);
        uint64_t random = seed;
        int32_t value = 0;
        give(&f, value);
        for (int step = 0; step < 40; ++step) {
            int32_t next = (int32_t)(kit_random(&random) % 100000);
            switch (kit_random(&random) % 6) {
            case 0:
                give(&f, value = next);
                break;
            case 1:
                write_on_device(&f, value = next);
                break;
            case 2:
                kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
                break;
            case 3:
                kit_ok(f.b.ctx, atn_array_fetch(f.array, NULL));
                break;
            case 4:
                kit_ok(f.b.ctx, atn_array_ready_device(f.array, false));
                device_has(&f, value);
                break;
            default:
                host_has(&f, value);
                break;
            }
        }
        host_has(&f, value);
        finish_field(&f);
    }
}

/* On a tape nothing is done when it is queued: an array that would have to move is refused. */
KIT_TEST(tapes_take_no_arrays) {
    field f = start_field(0);
    atn_queue *queue = atn_device_queue(f.b.device);
    atn_tape *tape;
    const void *read;
    give(&f, 3);
    kit_ok(f.b.ctx, atn_tape_begin(queue));
    kit_fails(f.b.ctx, ATN_ERR_DEVICE, "kept on a tape", atn_array_ready_device(f.array, false));
    kit_ok(f.b.ctx, atn_tape_end(queue, &tape));
    atn_tape_free(tape);
    write_on_device(&f, 4);
    kit_ok(f.b.ctx, atn_tape_begin(queue));
    kit_fails(f.b.ctx, ATN_ERR_DEVICE, "kept on a tape", atn_array_fetch(f.array, NULL));
    kit_fails(f.b.ctx, ATN_ERR_DEVICE, "kept on a tape", atn_array_map_read(f.array, &read));
    kit_fails(f.b.ctx, ATN_ERR_DEVICE, "kept on a tape", atn_tape_end(queue, &tape));
    host_has(&f, 4);
    finish_field(&f);
}

/* The caller's memory is pinned: copies go there and back without one on the way, and may be forgotten at once. */
KIT_TEST(pinned_memory_is_used_as_it_is) {
    field f = start_field(5);
    atn_host_memory memory;
    kit_ok(f.b.ctx, atn_host_alloc(f.b.device, LENGTH * sizeof(int32_t), &memory));
    int32_t *all = memory.data;
    for (int value = 3; value < 5; ++value) {
        for (int k = 0; k < LENGTH; ++k) all[k] = value + k;
        kit_ok(f.b.ctx, atn_array_put(f.array, all, 0));
        memset(all, 1, LENGTH * sizeof *all);
        device_has(&f, value);
        kit_ok(f.b.ctx, atn_array_get(f.array, all, 0));
        for (int k = 0; k < LENGTH; ++k) assert_int_equal(all[k], value + k);
        assert_null(f.array->storage->block.data);
    }
    write_on_device(&f, 9);
    kit_ok(f.b.ctx, atn_array_get(f.array, all, 0));
    for (int k = 0; k < LENGTH; ++k) assert_int_equal(all[k], 9 + k);
    give(&f, 12); /* from plain memory again */
    kit_ok(f.b.ctx, atn_array_get(f.array, all, 0));
    assert_true(all[0] == 12 && all[LENGTH - 1] == 12 + LENGTH - 1);
    atn_host_free(f.b.device, &memory);
    finish_field(&f);
}

/* A tensor of another library's in the same context, filled in a stream of its own: seen once that stream is followed,
 * written where it is, never freed, and no copy goes to the host unless somebody asks. */
KIT_TEST(tensors_of_others) {
    field theirs = start_field(7), ours = {.b = theirs.b};
    atn_ctx *ctx = theirs.b.ctx;
    atn_device *device = theirs.b.device;
    atn_array_info info = {.type = ATN_INT32, .rank = 1, .shape = {LENGTH}};
    int64_t to_device, to_host;
    void *address;
    atn_queue *queue;
    write_on_device(&theirs, 3);
    kit_ok(ctx, atn_array_address(theirs.array, &address));
    kit_ok(ctx, atn_array_create_at(device, &info, address, &ours.array));
    kit_ok(ctx, atn_queue_create(device, &queue)); /* stands for the other library's */
    assert_non_null(atn_device_stream(device));
    int32_t *all = malloc(LENGTH * sizeof *all);
    for (int k = 0; k < LENGTH; ++k) all[k] = 40 + k;
    kit_ok(ctx, atn_queue_finish(atn_device_queue(device)));
    kit_ok(ctx, atn_buffer_put_async(queue, theirs.array->storage->buffer, 0, all, LENGTH * sizeof *all));
    kit_ok(ctx, atn_device_follow(device, device->backend->queue_stream(queue)));
    device_has(&ours, 40);
    atn_array_transfers(ours.array, &to_device, &to_host);
    assert_true(to_device == 0 && to_host == 0);
    write_on_device(&ours, 9);
    kit_ok(ctx, atn_queue_finish(atn_device_queue(device)));
    device_has(&theirs, 9);
    host_has(&ours, 9);
    atn_array_transfers(ours.array, &to_device, &to_host);
    assert_int_equal(to_host, 1);
    size_t peak = atn_device_peak_bytes(device);
    atn_array_free(ours.array);
    assert_int_equal(atn_device_peak_bytes(device), peak);
    device_has(&theirs, 9); /* it is there still */
    atn_queue_free(queue);
    free(all);
    finish_field(&theirs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_memory_is_used_as_it_is),
        cmocka_unit_test(uploads_do_not_wait),
        cmocka_unit_test(shares_one_copy),
        cmocka_unit_test(fetches_are_waited_for),
        cmocka_unit_test(sends_go_beside_the_first_queue),
        cmocka_unit_test(sends_hold_nothing_up),
        cmocka_unit_test(copies_agree),
        cmocka_unit_test(tapes_take_no_arrays),
        cmocka_unit_test(tensors_of_others),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
