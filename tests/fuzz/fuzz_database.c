/* A wisdom database with bytes of its file changed: opened or refused, listed or not, and what is listed is whole. The
 * input is a list of changes, four bytes each: where (three bytes, modulo its size) and what; one at 0xffffff cuts. */
#include "scratch.h"

#include "wisdom/store.h"

enum { MOST = 1 << 20 };
static unsigned char base[MOST];
static size_t base_size;

static const char WISDOM[] = ATN_SOURCE_DIR "/tests/fuzz/corpus/wisdom/two.json";

static void make_base(void) {
    static char text[MOST];
    char path[4096 + 64];
    atn_ctx *ctx;
    atn_wisdom *wisdom;
    FILE *file = fopen(WISDOM, "rbe");
    if (!file) abort();
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    snprintf(path, sizeof path, "%s/base.sqlite", scratch_dir);
    if (atn_ctx_create(NULL, &ctx) != ATN_OK || atn_wisdom_open(ctx, path, false, &wisdom) != ATN_OK) abort();
    if (atn_store_import(wisdom, "two.json", text, length, NULL) != ATN_OK) abort();
    atn_wisdom_close(wisdom);
    atn_ctx_free(ctx);
    file = fopen(path, "rbe");
    base_size = file ? fread(base, 1, sizeof base, file) : 0;
    if (file) fclose(file);
    if (!base_size) abort();
    scratch_empty();
}

static bool look_at_row(void *user, const atn_wisdom_row *row) {
    (void)user;
    if (!row->variant || !row->outcome || !row->detail) abort();
    return true;
}

static bool look_at_entry(void *user, const atn_wisdom_entry *entry) {
    (void)atn_wisdom_entry_rows(user, entry->number, look_at_row, NULL);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char copy[MOST];
    atn_ctx *ctx;
    atn_wisdom *wisdom;
    scratch_begin();
    if (!base_size) make_base();
    size_t length = base_size;
    memcpy(copy, base, base_size);
    for (size_t k = 0; k + 4 <= size; k += 4) {
        size_t at = (size_t)data[k] << 16 | (size_t)data[k + 1] << 8 | data[k + 2];
        if (at == 0xffffff)
            length = base_size * data[k + 3] / 256;
        else
            copy[at % base_size] = data[k + 3];
    }
    const char *path = scratch_write("wisdom.sqlite", copy, length);
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    atn_status status = atn_wisdom_open(ctx, path, size & 1, &wisdom);
    if (status != ATN_OK && (wisdom || !*atn_ctx_message(ctx))) abort(); /* read only and empty: neither */
    if (wisdom) (void)atn_wisdom_entries(wisdom, &(atn_wisdom_filter){0}, look_at_entry, wisdom);
    atn_wisdom_close(wisdom);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    scratch_empty();
    return 0;
}
