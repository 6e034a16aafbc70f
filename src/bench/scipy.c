/* scipy's least squares unwrapping, timed in a process of its own: starting Python and making the phase do not count.
 */
#include "bench/scipy.h"

#include "base/memory.h"
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>

static const double PATIENCE_S = 120;

/* The surface of bench/unwrap.c; all is done in the phase's own precision. */
static const char PROGRAM[] = "import sys, time\n"
                              "import numpy as np\n"
                              "from scipy.fft import dctn, idctn\n"
                              "n, kind = int(sys.argv[1]), np.dtype(sys.argv[2])\n"
                              "x = ((np.arange(n) - n / 2) / n)[None, :]\n"
                              "y = ((np.arange(n) - n / 2) / n)[:, None]\n"
                              "h, turn = 60.0, kind.type(2 * np.pi)\n"
                              "wrap = lambda d: d - turn * np.rint(d / turn)\n"
                              "psi = wrap(h * np.exp(-8 * (x * x + y * y)) + 0.3 * h * np.sin(5 * x) * np.cos(4 * y) + "
                              "0.2 * h * x).astype(kind)\n"
                              "c = 2 * np.cos(np.pi * np.arange(n) / n) - 2\n"
                              "e = (c[None, :] + c[:, None]).astype(kind)\n"
                              "e[0, 0] = 1\n"
                              "whole = part = 1e9\n"
                              "for k in range(4):\n"
                              "    begun = time.perf_counter()\n"
                              "    dx, dy = wrap(np.diff(psi, axis=1)), wrap(np.diff(psi, axis=0))\n"
                              "    f = np.zeros_like(psi)\n"
                              "    f[:, :-1] += dx\n"
                              "    f[:, 1:] -= dx\n"
                              "    f[:-1] += dy\n"
                              "    f[1:] -= dy\n"
                              "    loaded = time.perf_counter()\n"
                              "    t = dctn(f, workers=2)\n"
                              "    t /= e\n"
                              "    t[0, 0] = 0\n"
                              "    u = idctn(t, workers=2)\n"
                              "    done = time.perf_counter()\n"
                              "    whole, part = min(whole, done - begun), min(part, done - loaded)\n"
                              "assert np.abs(np.diff(u, axis=1) - dx).max() < 0.01\n"
                              "print(whole, part)\n";

static atn_status can_import(const atn_ctx *ctx, const char *python, bool *can) {
    const char *argv[] = {python, "-c", "import scipy.fft", NULL};
    int code = 1;
    atn_status status = atn_process_run(ctx, argv, NULL, PATIENCE_S, NULL, &code);
    *can = status == ATN_OK && code == 0;
    return status;
}

atn_status bench_scipy_find(const atn_ctx *ctx, char **python) {
    static const char *const NAMES[] = {"python3", "/usr/bin/python3"};
    *python = NULL;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k) {
        bool can = false;
        atn_status status = atn_process_find(ctx, NAMES[k], python);
        if (status == ATN_OK && *python) status = can_import(ctx, *python, &can);
        if (status == ATN_OK && can) return ATN_OK;
        atn_free(ctx, *python);
        *python = NULL;
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

atn_status bench_scipy_run(const atn_ctx *ctx, const char *python, int side, bool wide, double seconds[2]) {
    char number[16], *end, *last;
    snprintf(number, sizeof number, "%d", side);
    const char *argv[] = {python, "-c", PROGRAM, number, wide ? "float64" : "float32", NULL};
    atn_text output = {.ctx = ctx};
    int code = 1;
    atn_status status = atn_process_run(ctx, argv, NULL, PATIENCE_S, &output, &code);
    if (status == ATN_OK) {
        const char *text = atn_text_str(&output);
        seconds[0] = strtod(text, &end);
        seconds[1] = strtod(end, &last);
        if (code != 0 || end == text || last == end || !(seconds[0] > 0) || !(seconds[1] > 0))
            status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "bench unwrap: scipy could not solve it (exit code %d): %.80s",
                              code, text);
    }
    atn_text_free(&output);
    return status;
}
