/* Shipped wisdom stays true: what wisdom/NAME.json holds is for kernels as they are shipped, its variants still exist,
 * and the generator makes the same of them as it did. What changed must be tuned anew, or its wisdom taken out. */
#include "testkit.h"

#include "built/built.h"
#include "graph/shipped.h"
#include "wisdom/shipped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;

/* The shipped kernels in single precision, and in half and double where they exist so. */
enum { MOST = 384 };
static atn_sequence *kernels[MOST];
static size_t n_kernels;

static int setup(void **state) {
    (void)state;
    static const atn_define TYPES[] = {{"USED_FLOAT", "SP"}, {"USED_FLOAT", "HP"}, {"USED_FLOAT", "DP"}};
    ctx = kit_ctx();
    for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s)
        for (size_t k = 0; k < 3; ++k) {
            assert_true(n_kernels < MOST);
            atn_status status = atn_sequence_parse(ctx, s->name, s->text, strlen(s->text),
                                                   &(atn_parse_options){.defines = &TYPES[k], .n_defines = 1}, NULL,
                                                   &kernels[n_kernels]);
            if (k == 0) kit_ok(ctx, status);
            if (status == ATN_OK) ++n_kernels;
        }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (size_t k = 0; k < n_kernels; ++k) atn_sequence_free(kernels[k]);
    kit_free(ctx);
    return 0;
}

static const atn_graph *find_graph(atn_hash hash) {
    for (size_t k = 0; k < n_kernels; ++k)
        for (int32_t step = 0; step < kernels[k]->count; ++step)
            if (memcmp(&kernels[k]->step[step]->hash, &hash, sizeof hash) == 0) return kernels[k]->step[step];
    return NULL;
}

/* What every device of a backend has at least; limits of one device are not what is asked here. */
static atn_target target_of(const char *backend, const char *arch) {
    atn_device_info info = {.max_group = 1024, .local_bytes = 48 << 10};
    snprintf(info.backend, sizeof info.backend, "%s", backend);
    snprintf(info.arch, sizeof info.arch, "%s", arch);
    return atn_target_of(&info);
}

typedef struct check {
    const char *file;
    int entries;
} check;

static bool entry_is_true(void *user, const atn_wisdom_entry *entry) {
    check *c = user;
    const atn_wisdom_key *key = &entry->key;
    atn_variant variant = atn_variant_plain();
    atn_target target = target_of(key->backend, key->arch);
    const char *why_not;
    ++c->entries;
    assert_string_equal(key->generator, ATN_SHIPPED_GENERATOR); /* tools/ship-wisdom says so */
    if (!entry->has_winner) fail_msg("%s: %s on %s has no winner", c->file, key->kernel, key->backend);
    kit_ok(ctx, atn_variant_parse(ctx, &variant, entry->winner.variant));
    const atn_graph *graph = find_graph(key->graph);
    if (!graph) fail_msg("%s: %s: no shipped kernel has this graph (any more)", c->file, key->kernel);
    if (!graph) return false;
    assert_string_equal(graph->name, key->kernel);
    if (!atn_variant_fits(graph, &variant, &target, &why_not))
        fail_msg("%s: %s on %s: '%s' does not fit: %s", c->file, key->kernel, key->backend, entry->winner.variant,
                 why_not);
    return true;
}

KIT_TEST(shipped_wisdom_is_true) {
    for (const atn_embedded *s = ATN_SHIPPED_WISDOM; s->name; ++s) {
        atn_wisdom *wisdom;
        check c = {.file = s->name};
        kit_ok(ctx, atn_wisdom_open_memory(ctx, s->name, &wisdom));
        kit_ok(ctx, atn_store_import(wisdom, s->name, s->text, strlen(s->text), NULL));
        kit_ok(ctx, atn_wisdom_entries(wisdom, &(atn_wisdom_filter){0}, entry_is_true, &c));
        atn_wisdom_close(wisdom);
        assert_true(c.entries > 0);
        print_message("    %s: %d entries\n", s->name, c.entries);
    }
}

KIT_TEST(winners_are_generated_as_they_were) {
    assert_int_equal(
        system(ATN_SOURCE_DIR "/tools/ship-wisdom --check " ATN_BINARY_DIR "/attune " ATN_SOURCE_DIR "/wisdom/*.json"),
        0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shipped_wisdom_is_true),
                                       cmocka_unit_test(winners_are_generated_as_they_were)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
