/* Any command line: words apart by line breaks, parsed with the program's own tables and with one that has all kinds
 * of options. Whatever comes, parsing ends with a status and keeps values and operands inside argv. */
#include "base/memory.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

static const atn_cli_option OPTIONS[] = {
    {.name = "output", .letter = 'o', .value = "FILE", .meaning = "-"},
    {.name = "bind", .value = "NAME=FILE", .meaning = "-", .repeats = true},
    {.name = "transform", .value = "rigid|affine", .meaning = "-"},
    {0},
};
static const atn_cli_verb TRY = {
    .name = "try", .synopsis = "IN", .options = OPTIONS, .min_operands = 1, .max_operands = 9};
static const atn_cli_verb *const VERBS[] = {&TRY, &ATN_VERB_DEVICES, &ATN_VERB_HELP, NULL};

static void parse(atn_ctx *ctx, int argc, char **argv) {
    atn_cli_call call = {.ctx = ctx};
    atn_status status = atn_cli_parse(&call, VERBS, argc, argv);
    if (status != ATN_OK && !*atn_ctx_message(ctx)) abort(); /* a failure without its sentence */
    if (call.n_given + call.n_operands > (size_t)argc) abort();
    for (size_t k = 0; k < call.n_given; ++k)
        if (!call.given[k].option->value != !call.given[k].value) abort();
    if (status == ATN_OK) (void)atn_cli_value(&call, "device");
    atn_free(ctx, call.given);
    atn_free(ctx, (void *)call.operands);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[] = "attune", *argv[MOST + 2] = {name};
    char *copy = malloc(size + 1), *rest = copy, *word;
    int argc = 1;
    if (!copy) return 0;
    memcpy(copy, data, size);
    copy[size] = '\0';
    while (argc <= MOST && (word = strsep(&rest, "\n"))) argv[argc++] = word;
    atn_ctx *ctx;
    if (atn_ctx_create(NULL, &ctx) == ATN_OK) parse(ctx, argc, argv);
    if (ctx && atn_ctx_bytes(ctx) != 0) abort();
    atn_ctx_free(ctx);
    free(copy);
    return 0;
}
