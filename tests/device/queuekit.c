/* Random work in several queues; see queuekit.h. Things are buffers and blocks of host memory, of N numbers each; every
 * one has an event behind its last use, and work that uses it in another queue waits for that. */
#include "queuekit.h"

#include "device/host_abi.h"

#include <stdio.h>
#include <string.h>

enum { N = 257, BUFFERS = 5, BLOCKS = 4, THINGS = BUFFERS + BLOCKS, QUEUES = 4, ITEMS = 16, MOST = 128 };

static const char *const SOURCES[][2] = {
    {"host", ATN_HOST_ABI_TEXT
     "void churn(const struct atn_call *c) { int32_t *to = *(int32_t **)c->args[0], *from = *(int32_t **)c->args[1];\n"
     " int32_t add = *(int32_t *)c->args[2], n = *(int32_t *)c->args[3];\n"
     " for (int32_t i = 0; i < n; ++i)\n"
     "  to[i] = (int32_t)(3u * (uint32_t)to[i] + (uint32_t)from[i] + (uint32_t)add); }\n"},
    {"opencl",
     "__kernel void churn(__global int *to, __global const int *from, int add, int n) {\n"
     " int i = get_global_id(0); if (i < n) to[i] = (int)(3u * (uint)to[i] + (uint)from[i] + (uint)add); }\n"},
    {"cuda", "extern \"C\" __global__ void churn(int *to, const int *from, int add, int n) {\n"
             " int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             " if (i < n) to[i] = (int)(3u * (unsigned)to[i] + (unsigned)from[i] + (unsigned)add); }\n"},
};

typedef enum kind { PUT, GET, COPY, FILL, MIX, KINDS } kind;
typedef struct piece {
    kind kind;
    int queue, to, from; /* things: buffers first, then blocks; from -1: none */
    int32_t at, count;   /* numbers of both */
    int32_t add;         /* or the byte of a fill */
} piece;

typedef struct stage {
    atn_ctx *ctx;
    atn_device *device;
    uint64_t seed;
    atn_module *module;
    atn_function *mix;
    atn_queue *queue[QUEUES];
    atn_buffer *buffer[BUFFERS];
    atn_host_memory block[BLOCKS];
    int32_t model[THINGS][N]; /* what each has once all is done */
    atn_event *used[THINGS];  /* behind its last use, */
    int by[THINGS];           /* in this queue; -1: nothing is under way */
} stage;

static int draw(stage *s, int below) { return (int)(kit_random(&s->seed) % (uint64_t)below); }

static void set_stage(stage *s, atn_ctx *ctx, atn_device *device, uint64_t seed) {
    *s = (stage){.ctx = ctx, .device = device, .seed = seed};
    const char *source = NULL;
    for (size_t k = 0; k < sizeof SOURCES / sizeof *SOURCES; ++k)
        if (strcmp(SOURCES[k][0], atn_device_get_info(device)->backend) == 0) source = SOURCES[k][1];
    kit_ok(ctx, atn_module_build(device, &(atn_build){.name = "queues", .source = source}, &s->module));
    kit_ok(ctx, atn_module_function(s->module, "churn", &s->mix));
    s->queue[0] = atn_device_queue(device);
    for (int k = 1; k < QUEUES; ++k) kit_ok(ctx, atn_queue_create(device, &s->queue[k]));
    memset(s->model, 0xa5, sizeof s->model);
    for (int k = 0; k < THINGS; ++k) {
        kit_ok(ctx, atn_event_create(device, &s->used[k]));
        s->by[k] = -1;
        if (k < BUFFERS) {
            kit_ok(ctx, atn_buffer_create(device, sizeof s->model[k], &s->buffer[k]));
            kit_ok(ctx, atn_buffer_fill(NULL, s->buffer[k], 0, 0xa5, sizeof s->model[k]));
        } else {
            kit_ok(ctx, atn_host_alloc(device, sizeof s->model[k], &s->block[k - BUFFERS]));
            assert_int_equal((uintptr_t)s->block[k - BUFFERS].data % 16, 0);
            memcpy(s->block[k - BUFFERS].data, s->model[k], sizeof s->model[k]);
        }
    }
    kit_ok(ctx, atn_queue_finish(s->queue[0]));
}

static void strike_stage(stage *s) {
    for (int k = 0; k < THINGS; ++k) atn_event_free(s->used[k]);
    for (int k = 1; k < QUEUES; ++k) atn_queue_free(s->queue[k]);
    for (int k = 0; k < BUFFERS; ++k) atn_buffer_free(s->buffer[k]);
    for (int k = 0; k < BLOCKS; ++k) atn_host_free(s->device, &s->block[k]);
    atn_module_free(s->module);
}

/* ---- work ---- */

static piece draw_piece(stage *s) {
    piece p = {.kind = (kind)draw(s, KINDS), .queue = draw(s, QUEUES), .from = -1, .add = draw(s, 256)};
    p.at = draw(s, N);
    p.count = 1 + draw(s, N - p.at);
    p.to = draw(s, BUFFERS);
    int block = BUFFERS + draw(s, BLOCKS), other = (p.to + 1 + draw(s, BUFFERS - 1)) % BUFFERS;
    if (p.kind == PUT) p.from = block;
    if (p.kind == GET) p.from = p.to, p.to = block;
    if (p.kind == COPY || p.kind == MIX) p.from = other;
    if (p.kind == MIX) p.at = 0;
    return p;
}

static void do_in_model(stage *s, const piece *p) {
    int32_t *to = s->model[p->to] + p->at;
    size_t bytes = (size_t)p->count * sizeof *to;
    if (p->kind == FILL)
        memset(to, p->add, bytes);
    else if (p->kind != MIX)
        memcpy(to, s->model[p->from] + p->at, bytes);
    for (int32_t k = 0; k < p->count && p->kind == MIX; ++k)
        to[k] = (int32_t)(3u * (uint32_t)to[k] + (uint32_t)s->model[p->from][k] + (uint32_t)p->add);
}

static void queue_piece(stage *s, const piece *p) {
    atn_queue *queue = s->queue[p->queue];
    size_t at = (size_t)p->at * sizeof(int32_t), bytes = (size_t)p->count * sizeof(int32_t);
    size_t items = atn_device_get_info(s->device)->max_group < ITEMS ? 1 : ITEMS;
    switch (p->kind) {
    case PUT:
        kit_ok(s->ctx,
               atn_buffer_put_async(queue, s->buffer[p->to], at, (char *)s->block[p->from - BUFFERS].data + at, bytes));
        break;
    case GET:
        kit_ok(s->ctx,
               atn_buffer_get_async(queue, s->buffer[p->from], at, (char *)s->block[p->to - BUFFERS].data + at, bytes));
        break;
    case COPY:
        kit_ok(s->ctx, atn_buffer_copy(queue, s->buffer[p->to], at, s->buffer[p->from], at, bytes));
        break;
    case FILL:
        kit_ok(s->ctx, atn_buffer_fill(queue, s->buffer[p->to], at, (uint8_t)p->add, bytes));
        break;
    default: {
        int32_t add = p->add, count = p->count;
        atn_arg args[] = {{.buffer = s->buffer[p->to]},
                          {.buffer = s->buffer[p->from]},
                          {.value = &add, .bytes = sizeof add},
                          {.value = &count, .bytes = sizeof count}};
        atn_launch launch = {
            .groups = {((size_t)count + items - 1) / items}, .items = {items}, .args = args, .n_args = 4};
        kit_ok(s->ctx, atn_function_launch(queue, s->mix, &launch));
        add = count = -1; /* they were copied */
        break;
    }
    }
}

static void wait_for(stage *s, int queue, int thing) {
    if (s->by[thing] >= 0 && s->by[thing] != queue) kit_ok(s->ctx, atn_queue_wait(s->queue[queue], s->used[thing]));
}

/* After this the queue's last piece is the last use of the thing. */
static void use(stage *s, int queue, int thing) {
    kit_ok(s->ctx, atn_event_mark(s->queue[queue], s->used[thing]));
    s->by[thing] = queue;
}

static void queue_in_order(stage *s, const piece *p) {
    wait_for(s, p->queue, p->to);
    if (p->from >= 0) wait_for(s, p->queue, p->from);
    queue_piece(s, p);
    use(s, p->queue, p->to);
    if (p->from >= 0) use(s, p->queue, p->from);
}

/* ---- the host's part ---- */

static void check_block(stage *s, int block) {
    if (s->by[BUFFERS + block] >= 0) kit_ok(s->ctx, atn_event_wait(s->used[BUFFERS + block]));
    s->by[BUFFERS + block] = -1;
    assert_memory_equal(s->block[block].data, s->model[BUFFERS + block], sizeof *s->model);
}

static void check_buffer(stage *s, int buffer, int queue) {
    int32_t got[N];
    memset(got, 0x5a, sizeof got);
    wait_for(s, queue, buffer);
    kit_ok(s->ctx, atn_buffer_get(s->queue[queue], s->buffer[buffer], 0, got, sizeof got));
    assert_memory_equal(got, s->model[buffer], sizeof got);
    s->by[buffer] = -1;
}

/* The host overwrites a block once nothing uses it, or puts bytes that are gone right after. */
static void write_something(stage *s, int queue) {
    int32_t some[N];
    for (int k = 0; k < N; ++k) some[k] = (int32_t)kit_random(&s->seed);
    if (draw(s, 2)) {
        int block = draw(s, BLOCKS);
        check_block(s, block);
        memcpy(s->block[block].data, some, sizeof some);
        memcpy(s->model[BUFFERS + block], some, sizeof some);
        return;
    }
    int buffer = draw(s, BUFFERS);
    memcpy(s->model[buffer], some, sizeof some);
    wait_for(s, queue, buffer);
    kit_ok(s->ctx, atn_buffer_put(s->queue[queue], s->buffer[buffer], 0, some, sizeof some));
    memset(some, 0x77, sizeof some);
    use(s, queue, buffer);
}

static void check_all(stage *s) {
    for (int k = 0; k < QUEUES; ++k) kit_ok(s->ctx, atn_queue_finish(s->queue[k]));
    for (int k = 0; k < BLOCKS; ++k) check_block(s, k);
    for (int k = 0; k < BUFFERS; ++k) check_buffer(s, k, 0);
}

void queues_at_random(atn_ctx *ctx, atn_device *device, uint64_t seed, int steps) {
    stage s;
    set_stage(&s, ctx, device, seed);
    for (int step = 0; step < steps; ++step) {
        int chance = draw(&s, 20);
        if (chance == 0) check_block(&s, draw(&s, BLOCKS));
        if (chance == 1) check_buffer(&s, draw(&s, BUFFERS), draw(&s, QUEUES));
        if (chance < 4) write_something(&s, draw(&s, QUEUES));
        piece p = draw_piece(&s);
        queue_in_order(&s, &p);
        do_in_model(&s, &p);
    }
    check_all(&s);
    strike_stage(&s);
}

/* ---- on a tape ---- */

/* All pieces, the other queues between two events of the first. */
static void keep_pieces(stage *s, const piece *pieces, int count) {
    bool joined[QUEUES] = {true};
    atn_event *first, *last;
    kit_ok(s->ctx, atn_event_record(s->queue[0], &first));
    for (int k = 0; k < count; ++k) {
        int queue = pieces[k].queue;
        if (!joined[queue]) kit_ok(s->ctx, atn_queue_wait(s->queue[queue], first));
        joined[queue] = true;
        queue_in_order(s, &pieces[k]);
    }
    for (int k = 1; k < QUEUES; ++k) {
        assert_int_equal(atn_queue_is_kept(s->queue[k]), joined[k]);
        if (!joined[k]) continue;
        kit_ok(s->ctx, atn_event_record(s->queue[k], &last));
        kit_ok(s->ctx, atn_queue_wait(s->queue[0], last));
        atn_event_free(last);
    }
    atn_event_free(first);
}

static void launch_tape(stage *s, atn_tape *tape, const piece *pieces, int count) {
    int queue = draw(s, QUEUES);
    for (int k = 0; k < THINGS; ++k) wait_for(s, queue, k);
    kit_ok(s->ctx, atn_tape_launch(s->queue[queue], tape));
    for (int k = 0; k < THINGS; ++k) use(s, queue, k);
    for (int k = 0; k < count; ++k) do_in_model(s, &pieces[k]);
}

void tapes_at_random(atn_ctx *ctx, atn_device *device, uint64_t seed, int steps) {
    stage s;
    piece pieces[MOST];
    atn_tape *tape;
    assert_true(steps <= MOST);
    set_stage(&s, ctx, device, seed);
    for (int k = 0; k < BLOCKS; ++k) write_something(&s, 0);
    check_all(&s);
    for (int k = 0; k < steps; ++k) pieces[k] = draw_piece(&s);
    atn_status begun = atn_tape_begin(s.queue[0]);
    if (begun == ATN_ERR_UNSUPPORTED) {
        print_message("    SKIPPED here: %s\n", atn_ctx_message(ctx));
        strike_stage(&s);
        return;
    }
    kit_ok(ctx, begun);
    keep_pieces(&s, pieces, steps);
    kit_ok(ctx, atn_tape_end(s.queue[0], &tape));
    for (int k = 0; k < QUEUES; ++k) assert_false(atn_queue_is_kept(s.queue[k]));
    for (int k = 0; k < THINGS; ++k) s.by[k] = -1;
    check_all(&s); /* nothing was done */
    for (int k = 0; k < 3; ++k) launch_tape(&s, tape, pieces, steps);
    write_something(&s, draw(&s, QUEUES));
    launch_tape(&s, tape, pieces, steps);
    check_all(&s);
    atn_tape_free(tape);
    strike_stage(&s);
}

/* ---- loops on a tape ---- */

enum { FLAGS = 120 };

/* A loop over the flags of buffer 1: the first becomes the state, the others move up; buffer 0 is churned with every
 * round. */
static void keep_loop(stage *s, atn_queue *queue, size_t offset, int32_t most) {
    enum { W = sizeof(int32_t) };
    const piece round = {.kind = MIX, .to = 0, .from = 2, .count = 4, .add = 7};
    kit_ok(s->ctx, atn_buffer_copy(queue, s->buffer[4], offset, s->buffer[1], 0, W));
    kit_ok(s->ctx, atn_buffer_fill(queue, s->buffer[4], offset + W, 0, W));
    kit_ok(s->ctx, atn_tape_while(queue, s->buffer[4], offset, most));
    queue_piece(s, &round);
    kit_ok(s->ctx, atn_buffer_copy(queue, s->buffer[3], 0, s->buffer[1], W, (FLAGS - 1) * W));
    kit_ok(s->ctx, atn_buffer_copy(queue, s->buffer[1], 0, s->buffer[3], 0, (FLAGS - 1) * W));
    kit_ok(s->ctx, atn_buffer_copy(queue, s->buffer[4], offset, s->buffer[1], 0, W));
    kit_ok(s->ctx, atn_tape_while_end(queue));
}

static void loop_of(stage *s, int32_t rounds, int32_t most) {
    atn_queue *queue = s->queue[0];
    atn_tape *tape;
    int32_t flags[FLAGS] = {0}, state[4] = {-1, -1, -1, -1}, wanted = rounds < most ? rounds : most;
    for (int k = 0; k < FLAGS; ++k) flags[k] = k < rounds ? 1 : k % 2 ? 2 : -5;
    kit_ok(s->ctx, atn_tape_begin(queue));
    keep_loop(s, queue, 8, most);
    keep_loop(s, queue, 0, 2); /* goes on with the flags that are left */
    kit_ok(s->ctx, atn_tape_end(queue, &tape));
    for (int run = 0; run < 2; ++run) {
        int32_t left = rounds - wanted < 2 ? rounds - wanted : 2, got[4];
        kit_ok(s->ctx, atn_buffer_put(queue, s->buffer[1], 0, flags, sizeof flags));
        kit_ok(s->ctx, atn_buffer_put(queue, s->buffer[4], 0, state, sizeof state));
        kit_ok(s->ctx, atn_tape_launch(queue, tape));
        const piece round = {.kind = MIX, .to = 0, .from = 2, .count = 4, .add = 7};
        for (int k = 0; k < wanted + left; ++k) do_in_model(s, &round);
        check_buffer(s, 0, 0);
        kit_ok(s->ctx, atn_buffer_get(queue, s->buffer[4], 0, got, sizeof got));
        assert_int_equal(got[3], wanted);
        assert_int_equal(got[2], wanted < FLAGS ? flags[wanted] : 0);
        assert_int_equal(got[1], left);
    }
    atn_tape_free(tape);
}

/* Each makes the end fail, or leaves the tape alone (`none`). */
static void loops_refuse(stage *s) {
    atn_queue *queue = s->queue[0];
    atn_buffer *state = s->buffer[4];
    atn_tape *tape;
    atn_event *event;
    kit_fails(s->ctx, ATN_ERR_DEVICE, "a loop begins on the queue", atn_tape_while(queue, state, 0, 1));
    for (int what = 0; what < 7; ++what) {
        static const char *const PARTS[] = {"of one queue alone", "of one queue alone", "of one queue alone",
                                            "at byte 2",          "at most -1 rounds",  "was not ended",
                                            "at byte 1024"};
        const char *part = PARTS[what];
        kit_ok(s->ctx, atn_tape_begin(queue));
        kit_fails(s->ctx, ATN_ERR_DEVICE, "no loop was begun", atn_tape_while_end(queue));
        if (what == 3) kit_fails(s->ctx, ATN_ERR_INPUT, part, atn_tape_while(queue, state, 2, 1));
        if (what == 4) kit_fails(s->ctx, ATN_ERR_INPUT, part, atn_tape_while(queue, state, 0, -1));
        if (what == 6) kit_fails(s->ctx, ATN_ERR_INPUT, part, atn_tape_while(queue, state, (N - 1) * 4, 1));
        kit_ok(s->ctx, atn_tape_while(queue, state, 0, 1));
        if (what == 0) kit_fails(s->ctx, ATN_ERR_DEVICE, part, atn_tape_while(queue, state, 0, 1));
        if (what == 1)
            kit_fails(s->ctx, ATN_ERR_DEVICE, part, atn_buffer_put_async(queue, state, 0, s->block[0].data, 4));
        if (what == 2) kit_fails(s->ctx, ATN_ERR_DEVICE, part, atn_event_record(queue, &event));
        if (what != 5) kit_ok(s->ctx, atn_tape_while_end(queue));
        kit_fails(s->ctx, what == 3 || what == 4 || what == 6 ? ATN_ERR_INPUT : ATN_ERR_DEVICE, part,
                  atn_tape_end(queue, &tape));
        assert_null(tape);
    }
    kit_ok(s->ctx, atn_tape_begin(queue)); /* all is as before */
    kit_ok(s->ctx, atn_tape_end(queue, &tape));
    atn_tape_free(tape);
}

void loops_on_tapes(atn_ctx *ctx, atn_device *device) {
    stage s;
    atn_tape *tape;
    bool can = atn_tape_can_while(device);
    set_stage(&s, ctx, device, 3);
    if (can) {
        static const int32_t ROUNDS[] = {0, 1, 5, 100}, MOST_ROUNDS[] = {0, 3, 1000};
        for (int k = 0; k < 12; ++k) loop_of(&s, ROUNDS[k % 4], MOST_ROUNDS[k / 4]);
        loops_refuse(&s);
    } else {
        print_message("    SKIPPED here: tapes of %s have no loops\n", atn_device_get_info(device)->name);
        kit_ok(ctx, atn_tape_begin(s.queue[0])); /* which is told, and the tape goes on */
        kit_fails(ctx, ATN_ERR_UNSUPPORTED, "no loops", atn_tape_while(s.queue[0], s.buffer[0], 0, 1));
        kit_ok(ctx, atn_tape_end(s.queue[0], &tape));
        atn_tape_free(tape);
    }
    strike_stage(&s);
}
