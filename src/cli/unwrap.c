/* attune unwrap: from wrapped phase, or from the camera's frames, to a surface. */
#include "cli/unwrap.h"

#include "base/memory.h"
#include "base/number.h"
#include "cli/kernel.h"
#include "cli/live.h"
#include "cli/serve.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793;

enum { REPORT_TERMS = 15 }; /* Zernike terms of a report, unless --zernike says more */

/* ---- options ---- */

static atn_status read_scale(atn_cli_call *call, double *scale) {
    const char *text = atn_cli_value(call, "scale");
    char *end;
    if (!text) return ATN_OK;
    if (strcmp(text, "pi") == 0) {
        *scale = PI;
        return ATN_OK;
    }
    *scale = atn_number_read(text, &end);
    if (end == text || *end || !isfinite(*scale) || *scale == 0)
        return atn_cli_misuse(call, "--scale cannot be '%s'; it takes pi, or the radians per unit of the values", text);
    return ATN_OK;
}

/* "4", or "0,90,180,270" in degrees. */
static atn_status read_steps(atn_cli_call *call, unwrap_job *job) {
    const char *text = atn_cli_value(call, "steps");
    double number[ATN_PHASE_MOST_STEPS];
    size_t count = 0;
    char *end = NULL;
    if (!text) return ATN_OK;
    for (const char *at = text; count < ATN_PHASE_MOST_STEPS; at = end + 1) {
        number[count] = atn_number_read(at, &end);
        if (end == at || !isfinite(number[count++]) || (*end && *end != ',')) count = ATN_PHASE_MOST_STEPS;
        if (!*end) break;
    }
    if (count == 1 && number[0] >= ATN_PHASE_LEAST_STEPS && number[0] <= ATN_PHASE_MOST_STEPS &&
        number[0] == floor(number[0])) {
        job->steps = (int32_t)number[0];
        return ATN_OK;
    }
    if (count < ATN_PHASE_LEAST_STEPS || count == ATN_PHASE_MOST_STEPS)
        return atn_cli_misuse(call,
                              "--steps cannot be '%s'; it takes how many (from %d), or angles in degrees: 0,90,180",
                              text, ATN_PHASE_LEAST_STEPS);
    job->steps = (int32_t)count;
    job->angle = atn_alloc(call->ctx, count * sizeof *job->angle);
    for (size_t k = 0; job->angle && k < count; ++k) job->angle[k] = number[k] * PI / 180;
    return job->angle ? ATN_OK : ATN_ERR_MEMORY;
}

/* Which of the words of an option was given; 0 where none was. */
static int word_of(const atn_cli_call *call, const char *option, const char *const *words) {
    const char *given = atn_cli_value(call, option);
    for (int k = 0; given && words[k]; ++k)
        if (strcmp(given, words[k]) == 0) return k;
    return 0;
}

static atn_status read_solver(atn_cli_call *call, unwrap_job *job) {
    static const char *const WEIGHTS[] = {"", "none", "residues", "variance", "auto", "once", NULL};
    static const char *const REMOVE[] = {"nothing", "piston", "tilt", NULL}; /* more: unwrap_form_read */
    static const char *const METHODS[] = {"auto", "multigrid", "cg", NULL};
    const char *precision = atn_cli_value(call, "precision"), *quality = atn_cli_value(call, "quality");
    double cycles, repeat;
    job->options.bits = precision && strcmp(precision, "64") == 0 ? 64 : 32;
    job->options.method = (atn_unwrap_method)word_of(call, "method", METHODS);
    job->settings.weights = (atn_unwrap_weights)word_of(call, "weights", WEIGHTS);
    job->settings.remove = (atn_unwrap_remove)word_of(call, "remove", REMOVE);
    job->settings.congruent = atn_cli_has(call, "congruent");
    job->by_modulation = quality && strcmp(quality, "modulation") == 0;
    atn_status status = atn_cli_read_number(call, "tolerance", 1e-300, 1, 0, &job->settings.tolerance);
    if (!status) status = atn_cli_read_whole(call, "cycles", 1, 0, &cycles);
    if (!status && cycles > 1e6) status = atn_cli_misuse(call, "--cycles cannot be above 1000000");
    if (!status) job->settings.most_cycles = (int32_t)cycles;
    if (!status) status = atn_cli_read_whole(call, "repeat", 1, 1, &repeat);
    if (!status) job->repeat = (int64_t)repeat;
    return status;
}

static atn_status read_options(atn_cli_call *call, unwrap_job *job) {
    const char *shape = atn_cli_value(call, "shape");
    int64_t sizes[3] = {0};
    job->input = call->operands[0];
    job->output = atn_cli_value(call, "output");
    job->preview = atn_cli_value(call, "preview");
    job->report = atn_cli_value(call, "report");
    job->transmission = atn_cli_has(call, "transmission");
    job->radians = atn_cli_has(call, "radians");
    job->rewrap = atn_cli_has(call, "rewrap");
    if (shape && atn_cli_read_shape(shape, sizes) != 2)
        return atn_cli_misuse(call, "--shape cannot be '%s'; it takes HxW, such as 512x1024", shape);
    memcpy(job->shape, sizes, sizeof job->shape);
    atn_status status = read_scale(call, &job->scale);
    if (!status) status = atn_cli_read_length(call, "wavelength", 1e-12, 1, 0, &job->wavelength);
    if (!status) status = atn_cli_read_number(call, "modulation", 0, 1e30, -1, &job->least);
    if (!status) status = atn_cli_read_number(call, "saturation", 1e-30, 1e30, 0, &job->most);
    if (!status) status = read_steps(call, job);
    if (!status) status = read_solver(call, job);
    if (!status) status = unwrap_form_read(call, job);
    if (job->report && !job->zernike_terms) job->zernike_terms = REPORT_TERMS;
    if (!status && atn_cli_has(call, "serve") && !atn_cli_has(call, "stream"))
        status = atn_cli_misuse(call, "--serve is for --stream; --report makes a page of one surface");
    if (!status) status = unwrap_check_output(job, job->preview, "--preview");
    if (status || atn_cli_has(call, "stream")) return status; /* the output is a folder then, and all there is */
    static const char *const NAMES[] = {"output", "preview", "report"};
    status = unwrap_check_output(job, job->output, "-o");
    return status ? status : atn_cli_check_files(call, NAMES, sizeof NAMES / sizeof *NAMES);
}

/* ---- one phase ---- */

/* All but the last time aside, since the answer takes the phase's place; seconds are the least of all. */
static atn_status solve_often(const unwrap_job *job, atn_unwrap *unwrap, unwrap_phase *phase,
                              atn_unwrap_result *result) {
    size_t bytes = (size_t)(phase->width * phase->height) * unwrap_value_bytes(job);
    void *aside = job->repeat > 1 ? atn_alloc(job->call->ctx, bytes) : NULL;
    atn_status status = job->repeat > 1 && !aside ? ATN_ERR_MEMORY : ATN_OK;
    double least = INFINITY;
    for (int64_t left = job->repeat; left > 0 && !status; --left) {
        void *out = left > 1 ? aside : phase->value;
        status = atn_unwrap_solve(unwrap, phase->value, &job->settings, out, result);
        least = fmin(least, result->seconds);
    }
    result->seconds = least;
    atn_free(job->call->ctx, aside);
    return status;
}

static atn_status solve(unwrap_job *job, unwrap_phase *phase, atn_unwrap_result *result) {
    atn_unwrap *unwrap = NULL;
    atn_cli_progress(job->call, "unwrapping ...");
    atn_status status = unwrap_read_weights(job, phase);
    if (!status) status = atn_unwrap_create(job->device, phase->width, phase->height, &job->options, &unwrap);
    if (!status) status = solve_often(job, unwrap, phase, result);
    atn_unwrap_free(unwrap);
    atn_cli_progress_end(job->call);
    if (!status && result->valid == 0)
        status =
            atn_fail(job->call->ctx, ATN_ERR_INPUT, "%s: no pixel is valid: all are masked or not numbers", job->input);
    return status;
}

/* One line on what to be careful about, for those who do not read the numbers. */
static void warn(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *result) {
    const char *what = job->settings.unwrapped || phase->half_turns ? phase->note
                       : result->smeared                            ? result->reason
                                                                    : NULL;
    if (what) fprintf(job->call->err, "attune unwrap: %s\n", what);
}

static atn_status unwrap_one(unwrap_job *job) {
    unwrap_phase phase;
    atn_unwrap_result result = {0};
    atn_cli_progress(job->call, "reading ...");
    atn_status status = unwrap_read(job, job->input, &phase);
    job->settings.unwrapped = !status && unwrap_is_surface(job, &phase);
    if (!status) status = solve(job, &phase, &result);
    if (!status && result.converged) status = unwrap_form(job, &phase);
    if (!status && result.converged && job->output) status = unwrap_write(job, &phase, job->output);
    if (!status && result.converged && job->preview) status = unwrap_write(job, &phase, job->preview);
    if (!status && result.converged && job->report) status = unwrap_write_report(job, &phase, &result, job->report);
    if (!status) status = unwrap_print(job, &phase, &result);
    if (!status && result.converged) warn(job, &phase, &result);
    if (!status && !result.converged)
        status = atn_fail(job->call->ctx, ATN_ERR_INPUT, "not converged: %s", result.reason);
    unwrap_phase_free(job, &phase);
    return status;
}

static atn_status run(atn_cli_call *call) {
    unwrap_job job = {.call = call};
    bool stream = atn_cli_has(call, "stream");
    atn_status status = read_options(call, &job);
    if (!status) status = atn_cli_open_devices(call, job.devices, &job.n_devices);
    job.device = job.devices[0];
    if (!status && job.n_devices > 1 && !stream)
        status = atn_cli_misuse(call, "a single image takes one device; several devices share the frames of --stream");
    if (!status) status = stream ? unwrap_stream(&job) : unwrap_one(&job);
    for (int32_t k = 0; k < job.n_devices; ++k) atn_device_close(job.devices[k]);
    atn_free(call->ctx, job.angle);
    atn_free(call->ctx, job.mask);
    atn_free(call->ctx, job.quality);
    return status;
}

const atn_cli_verb ATN_VERB_UNWRAP = {
    .name = "unwrap",
    .summary = "unwrap phase, or interferograms, to a surface",
    .synopsis = "IN",
    .paragraphs =
        (const char *const[]){
            "Unwraps the phase in IN, known modulo 2 pi: by least squares with multigrid or, if there are residues, by "
            "the congruent solution with the shortest branch cuts. IN is PNG, TIFF, NPY, Zygo .dat, SDF, or raw "
            "float32 with --shape, in radians, or in units of pi where the values fill -1 to 1 and jump by nearly 2 "
            "(with a warning); 8-bit and 16-bit integers span 2 pi, unless --scale is given. NaN pixels are invalid. A "
            "folder is a stack of intensities, one image per phase step. A phase that spans more than 2 pi is taken as "
            "already unwrapped and kept, with a warning, unless --rewrap is given.",
            "--weights auto finds the shortest cuts of all congruent solutions; with --quality, cuts are weighted by "
            "it and by the regularity of the phase. --weights none is plain least squares, with a warning if residues "
            "smear it.",
            "OUT is written as tif (float32), npy (float64 with --precision 64), gwy (Gwyddion), vti (VTK XML), png (a "
            "preview with a colour bar), or, for heights, sdf (ISO 25178-71) and dat (Zygo). "
            "It is in radians, or in metres if the wavelength is known: height = phase x wavelength / 4 pi, "
            "or / 2 pi with --transmission. If the solution does not converge or is not finite, the exit status is 1, "
            "the reason is on standard error, and nothing is written.",
            "--stream unwraps frames as they arrive, with a warm start from the previous one, on all devices of "
            "--device, in order: raw frames from standard "
            "input (IN is -), or images in a folder that is being filled, until an entry 'end' appears, --frames or "
            "--idle are reached, or Ctrl-C. With --steps every N frames are a stack. -o is a folder. A line for each "
            "frame, and a summary.",
            "JSON: shape (rows, columns), residues, residual_rms (radians), congruence_max (radians), cut_length "
            "(pairs of neighbours across a branch cut), cycles, seconds, fps, valid, invalid, islands, converged, "
            "reason, residual, weighted, solutions, shortest, smeared, unwrapped, unit, min, max, pv, rms (about the "
            "mean), sa and sq (from the plane that fits best), all four in the unit, spacing (metres between columns "
            "and rows, or null), zernike (null, or aperture with x, y, radius in pixels and terms with j, n, m, name, "
            "value, as fitted before anything was removed), precision, device, note. Of a stream: an object in each "
            "line (frame, name, residues, cycles, seconds, latency_s; or frame, name, error), and in the last frames, "
            "dropped, fps, latency_s (p50, p95, p99, max), seconds, reason.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("output", "OUT", "output file: tif, npy, gwy, sdf, dat, vti or png; with --stream a folder",
                       .letter = 'o'),
            ATN_OPTION("preview", "P.png", "a picture of the result with a colour bar"),
            ATN_OPTION("mask", "M", "an image: pixels that are 0 are invalid"),
            ATN_OPTION("quality", "Q|modulation", "an image of weights, or the modulation of the frames"),
            ATN_OPTION("weights", "none|residues|variance|auto|once",
                       "weights derived from the phase; default: with residues auto and --congruent, otherwise none"),
            ATN_FLAG("congruent", "the result differs from the phase by multiples of 2 pi"),
            ATN_FLAG("rewrap", "wrap a phase that spans more than 2 pi first"),
            ATN_OPTION("remove", "piston|tilt|power|astigmatism|zernike:N",
                       "subtract the best fit: the mean, a plane, with power, with astigmatism, Zernike terms 1 to N"),
            ATN_OPTION("zernike", "N", "fit terms 1 to N (Noll), at most 231; 15 with --report"),
            ATN_OPTION(
                "aperture", "X,Y,R",
                "a disc in pixels; pixels outside are invalid; default for Zernike terms: around all valid pixels"),
            ATN_OPTION("pixel", "LENGTH", "distance between pixels, e.g. 5.5um; default: from the file"),
            ATN_OPTION("report", "FILE.html", "an HTML report with map, profile, figures and Zernike terms"),
            ATN_OPTION("shape", "HxW", "IN is raw: rows x columns; default: from its name, phase.257x257.raw"),
            ATN_OPTION("scale", "pi|NUMBER", "radians per unit of the values; default: from the values"),
            ATN_OPTION("steps", "N|DEG,DEG,...",
                       "frames per stack, or their phase steps; 5: Hariharan's -180 to 180, otherwise 360 / N"),
            ATN_OPTION("modulation", "B", "minimum modulation of a valid pixel of a stack; default: 1 % of full scale"),
            ATN_OPTION("saturation", "I", "saturation intensity; default: the largest value"),
            ATN_OPTION("wavelength", "LENGTH", "of the light, e.g. 632.8nm: the result is heights"),
            ATN_FLAG("transmission", "transmission: height = phase x wavelength / 2 pi"),
            ATN_FLAG("radians", "write radians even if the wavelength is known"),
            ATN_OPTION("precision", "32|64", "bits of the computation; default: 32"),
            ATN_OPTION("method", "auto|multigrid|cg", "default: auto"),
            ATN_OPTION("tolerance", "T", "relative residual; default: 1e-5 or about 4e-5 rad, with 64 bits 1e-10"),
            ATN_OPTION("cycles", "N", "maximum number; default: 100"),
            ATN_OPTION("repeat", "N", "solve N times and report the fastest: the first one compiles kernels"),
            ATN_FLAG("stream", "process frames as they arrive"),
            ATN_OPTION("type", "f32|u8|u16", "stream from standard input: type of values; default: f32",
                       .with = "stream"),
            ATN_OPTION("frames", "N", "stream: stop after N frames", .with = "stream"),
            ATN_OPTION("idle", "S", "stream: stop if nothing arrives for S seconds", .with = "stream"),
            ATN_OPTION("patience", "S",
                       "stream: give up on an unreadable file after it has not changed for S seconds; default: 1",
                       .with = "stream"),
            ATN_FLAG("cold", "stream: no warm start", .with = "stream"),
            ATN_SERVE_OPTION,
            {0}},
    .examples =
        (const atn_cli_pair[]){
            {"attune unwrap phase.tif -o surface.tif --preview surface.png", "radians in, radians out"},
            {"attune unwrap shear.raw --shape 257x257 --scale pi -o u.npy", "raw, in units of pi"},
            {"attune unwrap frames/ --steps 5 --wavelength 632.8nm -o heights.tif", "from the camera to metres"},
            {"attune unwrap phase.tif --wavelength 632.8nm --pixel 5um --remove power --report r.html",
             "a report, with the best-fit sphere subtracted"},
            {"attune unwrap incoming/ --stream -o done --json", "live"},
            {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
