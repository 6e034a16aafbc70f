/* Spaces against Python. The file is almost Python: decorators, divisors and pow2 are put in front of it, and a loop
 * over itertools.product behind. Both sides must find the same number of points. */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "device/cache.h"
#include "space/device_given.h"
#include "space/lanai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5 };
static const double PYTHON_S = 900; /* the longest wait for it */

static const char BEFORE[] = "import inspect, itertools, time\n"
                             "from math import ceil, floor, log2\n"
                             "_rules = []\n"
                             "def divisors(n): return [d for d in range(1, n + 1) if n % d == 0]\n"
                             "def pow2(lo, hi): return [2 ** k for k in range(63) if lo <= 2 ** k <= hi]\n"
                             "def _rule(keep):\n"
                             "    def decorate(f=None, stage=None):\n"
                             "        if f is None: return lambda g: g\n"
                             "        _rules.append((keep, f, list(inspect.signature(f).parameters)))\n"
                             "        return f\n"
                             "    return decorate\n"
                             "require, condition = _rule(True), _rule(False)\n";
static const char AFTER[] =
    "\n_values = [tuple(globals()[n]) for n in _names]\n"
    "_tests = [(keep, f, [_names.index(a) for a in arguments]) for keep, f, arguments in _rules]\n"
    "_begun = time.perf_counter()\n"
    "_count = 0\n"
    "for _point in itertools.product(*_values):\n"
    "    for _keep, _f, _places in _tests:\n"
    "        if bool(_f(*[_point[k] for k in _places])) != _keep: break\n"
    "    else: _count += 1\n"
    "print(_count, time.perf_counter() - _begun)\n";

/* Spaces of the kind that tuners have, in two sizes. */
static const struct {
    const char *name, *text;
} OWN[] = {
    {"tiles", "bx = pow2(1, 1024)\nby = pow2(1, 1024)\ntx = range(1, 9)\nty = range(1, 9)\nux = range(1, 9)\n"
              "uy = range(1, 9)\npad = (0, 1)\n"
              "@require\ndef block(bx, by):\n    return 32 <= bx * by <= 1024\n"
              "@require\ndef unroll_x(ux, tx):\n    return tx % ux == 0\n"
              "@require\ndef unroll_y(uy, ty):\n    return ty % uy == 0\n"
              "@condition\ndef local(bx, by, tx, ty, pad):\n    return (bx * tx + pad) * by * ty * 4 > 49152\n"},
    {"product", "mwg = pow2(16, 128)\nnwg = pow2(16, 128)\nkwg = (16, 32)\nmc = (8, 16, 32)\nnc = (8, 16, 32)\n"
                "ma = (8, 16, 32)\nnb = (8, 16, 32)\nvm = pow2(1, 8)\nvn = pow2(1, 8)\nsa = (0, 1)\nsb = (0, 1)\n"
                "@require\ndef m(mwg, mc, vm):\n    return mwg % (mc * vm) == 0\n"
                "@require\ndef n(nwg, nc, vn):\n    return nwg % (nc * vn) == 0\n"
                "@require\ndef a(kwg, mc, nc, ma):\n    return kwg % ((mc * nc) / ma) == 0\n"
                "@require\ndef b(kwg, mc, nc, nb):\n    return kwg % ((mc * nc) / nb) == 0\n"},
};

typedef struct subject {
    atn_bench *bench;
    const char *name, *text;
    size_t length;
    atn_count count, product;
    double count_s, list_s, python_s;
} subject;

/* ---- ours ---- */

static bool visit(void *user, const int32_t *levels) {
    *(uint64_t *)user += (uint64_t)levels[0] + ((uint64_t)1 << 32); /* looked at, so that it cannot be left out */
    return true;
}

static atn_status check_plain(const atn_ctx *ctx, const atn_space *space) {
    bool plain = space->n_derived == 0 && space->n_order == 0 && space->n_parameters > 0;
    for (size_t k = 0; k < space->n_symbols; ++k) plain = plain && space->symbols[k].kind != ATN_LAN_SYMBOL_MODULE;
    if (plain) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT,
                    "%s: only spaces of parameters and constraints are compared, without imports, iterators and "
                    "derived values",
                    space->name);
}

/* From the text on, each time anew; the best of a few. */
static atn_status measure_ours(subject *s) {
    const atn_ctx *ctx = s->bench->ctx;
    s->count_s = s->list_s = 1e300;
    atn_status status = ATN_OK;
    for (int k = 0; k < REPEATS && !status; ++k) {
        atn_space *space = NULL;
        uint64_t visited = 0;
        double begun = atn_clock_seconds();
        status = atn_space_parse(ctx, s->name, s->text, s->length, NULL, 0, &space);
        if (!status) status = atn_space_count(ctx, space, &s->count);
        double counted = atn_clock_seconds();
        if (!status && k == 0) status = check_plain(ctx, space);
        if (!status && k == 0) status = atn_space_product(ctx, space, &s->product);
        double listing = atn_clock_seconds();
        if (!status) status = atn_space_list(ctx, space, visit, &visited);
        double listed = atn_clock_seconds() - listing;
        if (!status && visited >> 32 != (s->count.whole & 0xffffffff))
            status = atn_fail(ctx, ATN_ERR_INTERNAL, "%s: not as many points are listed as are counted", s->name);
        if (counted - begun < s->count_s) s->count_s = counted - begun;
        if (listed + (counted - begun) < s->list_s) s->list_s = listed + (counted - begun);
        atn_space_free(space);
    }
    return status;
}

/* ---- Python's ---- */

static void add_names(const subject *s, const atn_space *space, atn_text *program) {
    (void)s;
    atn_text_add(program, "\n_names = [");
    for (int32_t k = 0; k < atn_space_count_parameters(space); ++k)
        atn_text_printf(program, "%s'%s'", k ? ", " : "", atn_space_parameter(space, k));
    atn_text_add(program, "]\n");
}

static atn_status judge(subject *s, int code, const atn_text *output) {
    const atn_ctx *ctx = s->bench->ctx;
    const char *text = atn_text_str(output);
    char *end;
    unsigned long long count = strtoull(text, &end, 10);
    if (code != 0 || end == text) {
        size_t length = strlen(text);
        while (length && text[length - 1] == '\n') --length;
        size_t last = length;
        while (last && text[last - 1] != '\n') --last;
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: Python could not enumerate it (exit code %d): %.*s", s->name,
                        code, (int)(length - last), text + last);
    }
    s->python_s = strtod(end, NULL);
    if (count == s->count.whole) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INTERNAL, "%s: Python finds %llu points, we find %s", s->name, count, s->count.digits);
}

static atn_status run_python(subject *s, const char *python, const char *dir, const atn_text *program) {
    const atn_ctx *ctx = s->bench->ctx;
    atn_text output = {.ctx = ctx}, path = {.ctx = ctx};
    int code = 0;
    atn_text_printf(&path, "%s/enumerate.py", dir);
    atn_status status = atn_text_status(&path);
    if (!status) status = atn_file_write(ctx, atn_text_str(&path), program->data, program->length);
    const char *argv[] = {python, atn_text_str(&path), NULL};
    if (!status) status = atn_process_run(ctx, argv, NULL, PYTHON_S, &output, &code);
    if (!status) status = judge(s, code, &output);
    atn_text_free(&output);
    atn_text_free(&path);
    return status;
}

static atn_status measure_python(subject *s, const char *python) {
    const atn_ctx *ctx = s->bench->ctx;
    atn_text program = {.ctx = ctx};
    atn_space *space;
    atn_cache *cache;
    char *dir = NULL;
    atn_status status = atn_space_parse(ctx, s->name, s->text, s->length, NULL, 0, &space);
    if (status) return status;
    atn_text_add(&program, BEFORE);
    atn_text_add_bytes(&program, s->text, s->length);
    add_names(s, space, &program);
    atn_text_add(&program, AFTER);
    atn_space_free(space);
    status = atn_text_status(&program);
    if (!status) status = atn_cache_of(ctx, &cache);
    if (!status) status = atn_cache_workdir(cache, &dir);
    if (!status) {
        status = run_python(s, python, dir, &program);
        atn_cache_discard(cache, dir);
    }
    atn_text_free(&program);
    return status;
}

/* ---- both ---- */

static atn_status add_rows(const subject *s, const char *device) {
    const char *slash = strrchr(s->name, '/');
    for (int list = 0; list < 2; ++list) {
        atn_bench_row row = {.ours = list ? s->list_s : s->count_s, .reference = s->python_s, .unit = "s"};
        snprintf(row.name, sizeof row.name, "%s %s", list ? "list" : "count", slash ? slash + 1 : s->name);
        snprintf(row.device, sizeof row.device, "%s", device);
        snprintf(row.shape, sizeof row.shape, "%.40s of %.40s", s->count.digits, s->product.digits);
        snprintf(row.reference_name, sizeof row.reference_name, "Python, itertools.product");
        row.ratio = row.reference / row.ours;
        atn_status status = atn_bench_add(s->bench, &row);
        if (status) return status;
    }
    return ATN_OK;
}

static atn_status compare(atn_bench *bench, const char *python, const char *name, const char *text, size_t length) {
    subject s = {.bench = bench, .name = name, .text = text, .length = length};
    atn_device_info host;
    atn_device_host_info(&host);
    if (bench->progress) bench->progress(bench->user, name);
    atn_status status = measure_ours(&s);
    if (!status) status = measure_python(&s, python);
    return status ? status : add_rows(&s, host.name);
}

atn_status atn_bench_space(atn_bench *bench, const char *const *files, size_t n) {
    char *python = NULL;
    atn_status status = atn_process_find(bench->ctx, "python3", &python);
    if (!status && !python)
        status = atn_fail(bench->ctx, ATN_ERR_UNSUPPORTED, "python3, to compare with, is not on the PATH");
    for (size_t k = 0; k < n && !status; ++k) {
        char *text;
        size_t length;
        status = atn_file_read(bench->ctx, files[k], ATN_LAN_MOST_BYTES, &text, &length);
        if (status) break;
        status = compare(bench, python, files[k], text, length);
        atn_free(bench->ctx, text);
    }
    for (size_t k = 0; n == 0 && k < sizeof OWN / sizeof *OWN && !status; ++k)
        status = compare(bench, python, OWN[k].name, OWN[k].text, strlen(OWN[k].text));
    atn_free(bench->ctx, python);
    return status;
}
