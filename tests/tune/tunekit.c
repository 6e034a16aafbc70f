/* Whole tunings for tests. */
#include "tunekit.h"

#include "graph/shipped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The generated code names its variant in a comment at the top; what is planted stands before its threads begin. */
const char TUNEKIT_PLANTER[] =
    "real=$(command -v gcc || command -v clang || command -v cc)\n"
    "for word in \"$@\"; do case $word in *.c) file=$word ;; esac; done\n"
    "before() { sed -i \"s/^ *for (int64_t range.*_end, .*/$1\\n&/\" \"$file\"; }\n"
    "[ -n \"$file\" ] && case $(sed -n 's/.*Variant: \\(.*\\)\\. Generated.*/,\\1,/p' \"$file\") in\n"
    "*,chunk=3,*) before '*(volatile int *)0 = 1;' ;;\n"
    "*,chunk=5,*) before 'for (;;) __asm__ volatile (\"\");' ;;\n"
    "*,chunk=7,*) before 'C_data[C_offset + C_pitch * C_size1 + 3] = 1;' ;;\n"
    "*,chunk=9,*) sed -i 's/= (A_\\([0-9]*\\) + B_/= (A_\\1 + 0.0001f + B_/' \"$file\" ;;\n"
    "*,chunk=11,*) sed -i 's/const float C_\\([0-9]*\\) = (/const float C_\\1 = (1 + /' \"$file\" ;;\n"
    "*,chunk=13,*) echo '#error planted' >>\"$file\" ;;\n"
    "*,chunk=15,*) before '{ extern int kill(int, int), getpid(void); kill(getpid(), 9); }' ;;\n"
    "esac\n"
    "exec \"$real\" \"$@\"\n";

static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
static const char *const SIZES[] = {"A=67x65", NULL};

atn_workload tunekit_add(void) {
    return (atn_workload){.name = "add", .xml = atn_shipped_find("add"), .defines = DEFINES, .sizes = SIZES};
}

/* One cache for all tests of a program: what was built, and the device's peaks, are found again. */
static char *shared_cache;
static void remove_cache(void) { kit_remove(shared_cache); }

void tunekit_open(tunekit *k, const char *compiler) {
    *k = (tunekit){.dir = kit_tempdir()};
    char database[512];
    if (!shared_cache) {
        shared_cache = kit_tempdir();
        atexit(remove_cache);
    }
    snprintf(database, sizeof database, "%s/wisdom.sqlite", k->dir);
    k->database = strdup(database);
    k->script = compiler ? kit_script(k->dir, "cc", compiler) : NULL;
    assert_int_equal(atn_ctx_create(&(atn_ctx_settings){.cache_dir = shared_cache, .compiler = k->script}, &k->ctx),
                     ATN_OK);
    kit_ok(k->ctx, atn_devices_find(k->ctx, &k->devices));
    kit_ok(k->ctx, atn_device_open(k->devices, 0, &k->device));
    kit_ok(k->ctx, atn_wisdom_open(k->ctx, k->database, false, &k->wisdom));
}

void tunekit_close(tunekit *k) {
    atn_wisdom_close(k->wisdom);
    atn_device_close(k->device);
    atn_devices_free(k->devices);
    atn_ctx_free(k->ctx);
    free(k->database);
    free(k->script);
    kit_remove(k->dir);
}

atn_tune_options tunekit_options(const char *space) {
    return (atn_tune_options){
        .space = space, .space_name = "test.lanai", .strategy = "exhaustive", .program = ATN_BINARY_DIR "/attune"};
}

/* ---- rows ---- */

typedef struct look {
    atn_ctx *ctx; /* of its own: the test's may be cancelled */
    atn_wisdom *wisdom;
    const char *variant, *outcome;
    char found[512];
    int64_t count;
} look;

static bool look_at_row(void *user, const atn_wisdom_row *row) {
    look *l = user;
    if (!l->outcome || strcmp(row->outcome, l->outcome) == 0) ++l->count;
    if (l->variant && strcmp(row->variant, l->variant) == 0)
        snprintf(l->found, sizeof l->found, "%s %lld %s", row->outcome, (long long)row->starts, row->detail);
    return true;
}

static bool look_at_entry(void *user, const atn_wisdom_entry *entry) {
    look *l = user;
    kit_ok(l->ctx, atn_wisdom_entry_rows(l->wisdom, entry->number, look_at_row, l));
    return true;
}

static void look_around(const tunekit *k, look *l) {
    assert_int_equal(atn_ctx_create(&(atn_ctx_settings){.cache_dir = shared_cache}, &l->ctx), ATN_OK);
    kit_ok(l->ctx, atn_wisdom_open(l->ctx, k->database, false, &l->wisdom));
    kit_ok(l->ctx, atn_wisdom_entries(l->wisdom, &(atn_wisdom_filter){0}, look_at_entry, l));
    atn_wisdom_close(l->wisdom);
    atn_ctx_free(l->ctx);
}

const char *tunekit_row(const tunekit *k, const char *variant) {
    static char text[512];
    look l = {.variant = variant};
    look_around(k, &l);
    memcpy(text, l.found, sizeof text);
    return *text ? text : NULL;
}

int64_t tunekit_count(const tunekit *k, const char *outcome) {
    look l = {.outcome = outcome};
    look_around(k, &l);
    return l.count;
}
