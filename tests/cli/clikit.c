/* The program run in this process: words out of a line, output into memory. */
#include "clikit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 40 }; /* words */

atn_ctx *cli_ctx;
char *cli_dir;
char *cli_cache;

int cli_cache_begin(void **state) {
    (void)state;
    cli_cache = kit_tempdir();
    kit_pool_take(cli_cache);
    return 0;
}

int cli_cache_end(void **state) {
    (void)state;
    kit_pool_give(cli_cache);
    kit_remove(cli_cache);
    return 0;
}

void cli_save(const char *name, atn_type type, int32_t rank, int64_t columns, int64_t rows, void *data) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    atn_view view = {.data = data, .type = type, .rank = rank, .size = {columns, rows}, .pitch = columns};
    kit_ok(cli_ctx, atn_npy_write(cli_ctx, path, &view));
}

atn_npy cli_load(const char *name) {
    char path[512];
    atn_npy npy;
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_npy_read(cli_ctx, path, &npy));
    return npy;
}

int cli_begin(void **state) {
    (void)state;
    cli_ctx = kit_ctx();
    cli_dir = kit_tempdir();
    return 0;
}

int cli_end(void **state) {
    (void)state;
    kit_free(cli_ctx);
    kit_remove(cli_dir);
    cli_ctx = NULL;
    cli_dir = NULL;
    return 0;
}

int cli_begin_tuning(void **state) {
    char path[512];
    int failed = cli_begin(state);
    snprintf(path, sizeof path, "%s/wisdom.sqlite", cli_dir);
    setenv("ATTUNE_WISDOM", path, 1);
    setenv("ATTUNE_PROGRAM", ATN_BINARY_DIR "/attune", 1);
    return failed;
}

int cli_end_tuning(void **state) {
    unsetenv("ATTUNE_WISDOM");
    unsetenv("ATTUNE_PROGRAM");
    return cli_end(state);
}

void cli_put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

void cli_drop(cli_result *result) {
    free(result->out);
    free(result->err);
}

/* `out` is closed; NULL: what is printed is kept. */
static cli_result run_words(char **argv, FILE *out) {
    cli_result r = {0};
    size_t out_bytes, err_bytes;
    int argc = 0;
    while (argv[argc]) ++argc;
    if (!out) out = open_memstream(&r.out, &out_bytes);
    FILE *err = open_memstream(&r.err, &err_bytes);
    assert_non_null(out);
    assert_non_null(err);
    r.code = atn_cli_run(cli_ctx, ATN_CLI_VERBS, argc, argv, out, err);
    fclose(out);
    fclose(err);
    return r;
}

/* The line with what stands for directories put in; the caller's (free). */
static char *filled_in(const char *line) {
    char *text;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    for (const char *c = line; *c; ++c)
        if (*c == '@')
            fputs(cli_dir, to);
        else if (*c == '$')
            fputs(ATN_SOURCE_DIR "/tests/data", to);
        else
            fputc(*c, to);
    fclose(to);
    return text;
}

cli_result cli_run_to(const char *line, FILE *out) {
    char *text = filled_in(line), *argv[MOST + 2] = {(char *)"attune"}, *rest = NULL;
    int argc = 1;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(argc <= MOST);
        argv[argc++] = word;
    }
    cli_result r = run_words(argv, out);
    free(text);
    return r;
}

cli_result cli_run(const char *line) { return cli_run_to(line, NULL); }

cli_result cli_run_words(char **argv) { return run_words(argv, NULL); }

/* Runs; must end well. */
static cli_result run_well(const char *line) {
    cli_result r = cli_run(line);
    if (r.code != 0) fail_msg("attune %s: exit %d: %s", line, r.code, r.err);
    return r;
}

void cli_does(const char *line, const char *part) {
    cli_result r = run_well(line);
    assert_string_equal(r.err, "");
    kit_contains(r.out, part);
    cli_drop(&r);
}

json_t *cli_object(const char *line) {
    cli_result r = run_well(line);
    json_error_t error;
    json_t *root = json_loads(r.out, 0, &error);
    if (!json_is_object(root)) fail_msg("attune %s: no JSON object: %s: \"%s\"", line, error.text, r.out);
    cli_drop(&r);
    return root;
}

/* Runs; must be refused. */
static cli_result run_badly(const char *line, int code, const char *part) {
    cli_result r = cli_run(line);
    if (r.code != code) fail_msg("attune %s: exit %d, wanted %d: %s%s", line, r.code, code, r.out, r.err);
    kit_contains(r.err, part);
    if (cli_lines(r.err) != 1) fail_msg("attune %s: not one line: %s", line, r.err);
    return r;
}

void cli_refuses(const char *line, int code, const char *part) {
    cli_result r = run_badly(line, code, part);
    cli_drop(&r);
}

void cli_refuses_all(const cli_refusal *cases, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        cli_result r = run_badly(cases[k].line, cases[k].code, cases[k].part);
        json_t *said =
            strstr(cases[k].line, "--json") && *r.out ? json_loads(r.out, 0, NULL) : NULL; /* an object, too */
        bool fine = !*r.out || (said && json_is_string(json_object_get(said, "error")) &&
                                json_integer_value(json_object_get(said, "exit")) == cases[k].code);
        json_decref(said);
        if (!fine) fail_msg("attune %s: refused, but printed: %s", cases[k].line, r.out);
        cli_drop(&r);
    }
}

size_t cli_lines(const char *text) {
    size_t lines = 0;
    for (; *text; ++text) lines += *text == '\n';
    return lines;
}
