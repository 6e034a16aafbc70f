/* Staged reads against the order of the range: the tile that overhangs its end lies before the array, whose memory
 * begins, or ends, where nothing may be read. */
#include "support/shared.h"

#include "support/held.h"

#include "graph/compose.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 16, STEPS = 37, COLUMNS = 24, OBJECTS = 3 };

static const char ALONG_ROWS[] = "kernel back(A, B: matrix SP) -> C: matrix SP\n"
                                 "    real\n"
                                 "    C[i, j] = sum(k in 37) A[i, 36 - k] * B[k, j]\n";
static const char ACROSS_ROWS[] = "kernel back(A, B: matrix SP) -> C: matrix SP\n"
                                  "    real\n"
                                  "    C[i, j] = sum(k in 37) A[i, k] * B[36 - k, j]\n";

SHARED_DEVICES;

/* Memory between two pages that cannot be touched: `bytes` from its beginning on, or up to its end. */
typedef struct fenced {
    unsigned char *all, *data;
    size_t length;
} fenced;

static fenced fence(size_t bytes, bool at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
    fenced f = {.length = inside + 2 * page};
    f.all = mmap(NULL, f.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.all != MAP_FAILED);
    assert_int_equal(mprotect(f.all + page, inside, PROT_READ | PROT_WRITE), 0);
    f.data = f.all + page + (at_end ? inside - bytes : 0);
    return f;
}

static void run(atn_device *device, const atn_graph *g, const char *text, bool at_end) {
    static const int64_t SIZE[OBJECTS][2] = {{STEPS, ROWS}, {COLUMNS, STEPS}, {COLUMNS, ROWS}};
    atn_variant v = atn_variant_plain();
    atn_view views[OBJECTS];
    fenced memory[OBJECTS];
    atn_slot slots[OBJECTS] = {{0}};
    atn_bindings frame = {.views = views};
    atn_built *kernel;
    atn_eval_result *oracle;
    atn_eval_mismatch m;
    uint64_t seed = 3;
    kit_ok(ctx, atn_variant_parse(ctx, &v, text));
    for (int k = 0; k < OBJECTS; ++k) {
        size_t count = (size_t)(SIZE[k][0] * SIZE[k][1]);
        memory[k] = fence(count * sizeof(float), at_end);
        float *data = (float *)(void *)memory[k].data;
        for (size_t n = 0; n < count; ++n) data[n] = (float)(2 * kit_uniform(&seed) - 1);
        views[k] =
            (atn_view){.data = data, .type = ATN_SP, .rank = 2, .size = {SIZE[k][0], SIZE[k][1]}, .pitch = SIZE[k][0]};
        slots[k].view = views[k];
        kit_ok(ctx, atn_buffer_at(device, data, count * sizeof *data, &slots[k].buffer));
    }
    atn_eval_options options = atn_variant_arithmetic(g, &v, atn_device_get_info(device));
    kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
    kit_ok(ctx, atn_built_make(device, g, &v, &kernel));
    kit_ok(ctx, atn_built_run(kernel, NULL, slots, NULL));
    assert_true(atn_eval_verify(g, oracle, views, views, 0, &m));
    atn_built_free(kernel);
    atn_eval_free(oracle);
    for (int k = 0; k < OBJECTS; ++k) {
        atn_buffer_free(slots[k].buffer);
        munmap(memory[k].all, memory[k].length);
    }
}

static void hold(const char *description) {
    static const char *const VARIANTS[] = {"vec_p0=4,regs_p0=2,seq_p1=4,tile_q0=32,stage=1",
                                           "vec_p0=4,seq_p0=2,regs_p1=4,seq_p1=4,tile_q0=16,stage=1",
                                           "vec_p0=4,seq_p0=2,regs_p1=4,seq_p1=4,tile_q0=16,stage=1,stage_swap=2",
                                           "vec_p0=4,seq_p0=2,regs_p1=4,seq_p1=4,tile_q0=16,stage=1,stage_swap=1"};
    atn_sequence *sequence;
    atn_device *device;
    kit_ok(ctx,
           atn_sequence_parse(ctx, "back", description, strlen(description), &(atn_parse_options){0}, NULL, &sequence));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    for (size_t n = 0; n < 2 * sizeof VARIANTS / sizeof *VARIANTS; ++n)
        run(device, sequence->step[0], VARIANTS[n / 2], n % 2 == 1);
    atn_device_close(device);
    atn_sequence_free(sequence);
}

KIT_TEST(rows_are_not_read_before_they_begin) { hold(ALONG_ROWS); }

KIT_TEST(nothing_is_read_before_the_first_row) { hold(ACROSS_ROWS); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_not_read_before_they_begin),
                                       cmocka_unit_test(nothing_is_read_before_the_first_row)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
