/* The options of attune register, and the settings made from them. A zero in the settings means the default, so options
 * reject zero. */
#include "cli/register.h"

#include "base/memory.h"
#include "base/number.h"
#include "cloud/formats.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define METHODS    "em-icp|icp|icp-plane|softassign|cpd|gicp"
#define TRANSFORMS "rigid|similarity|affine"
#define ROBUST     "none|huber|tukey|cauchy"

const atn_cli_option ATN_CLI_REGISTER_OPTIONS[] = {
    ATN_OPTION("method", METHODS, "default: em-icp"),
    ATN_OPTION("transform", TRANSFORMS, "default: rigid"),
    ATN_OPTION("init", "FILE|identity|auto", "initial pose; default: auto, with a global search"),
    ATN_OPTION("output", "FILE",
               "write the transformed source, in the format of the extension (see 'attune help convert')",
               .letter = 'o'),
    ATN_OPTION("matrix", "FILE", "write the transform, four rows of four numbers"),
    ATN_OPTION("report", "FILE", "write an HTML page with numbers, charts and views to turn"),
    ATN_SERVE_OPTION,
    ATN_FLAG("profile", "show the time of each kernel (synchronises after each)"),
    ATN_OPTION("truth", "FILE", "ground truth: a transform; show the error"),
    ATN_OPTION("batch", "FILE", "many pairs: rows source,target[,init[,aligned[,matrix]]] of a CSV file"),
    ATN_OPTION("resume", "FILE", "with --batch: a journal of finished pairs, from which an interrupted run continues"),
    ATN_OPTION("voxel", "SIZE|auto", "voxel filter with this edge length; auto: twice the median point spacing"),
    ATN_FLAG("drop-invalid", "drop points with NaN or infinity instead of refusing the file"),
    ATN_FLAG("compat", "em-icp exactly as in the published code"),
    ATN_OPTION("precision", "16|32|64", "bits of sums over pairs; default: 32"),
    ATN_FLAG("reproducible", "bit-identical results for any number of threads"),
    ATN_FLAG("dense", "evaluate all pairs in every iteration"),
    ATN_OPTION("iterations", "N", "maximum number; default: depends on the method"),
    ATN_OPTION("sigma-start", "X", "initial distance scale; default: depends on the initial pose"),
    ATN_OPTION("sigma-end", "X", "final distance scale; default: from the point spacing"),
    ATN_OPTION("sigma-factor", "F", "factor on its square per step, between 0 and 1"),
    ATN_OPTION("outlier", "X", "points farther than this from every target point are outliers; inf: no outliers"),
    ATN_OPTION("error-bound", "F", "relative error allowed for skipping distant pairs; default: 1e-4"),
    ATN_OPTION("trim", "F", "icp: fraction of most distant pairs to discard, from 0 to below 1"),
    ATN_OPTION("robust", ROBUST, "icp: robust loss; default: none"),
    ATN_OPTION("robust-scale", "X", "icp: scale of the robust loss; default: from the data"),
    ATN_FLAG("species", "pair equal species only"),
    ATN_FLAG("no-acceleration", "no extrapolation of iterations"),
    ATN_FLAG("no-polish", "em-icp: no final point-to-plane refinement"),
    ATN_FLAG("no-covariance", "do not estimate the uncertainty"),
    ATN_OPTION("distribute", "N|auto|no",
               "em-icp, gicp: distribute the points over ranks; N points of each cloud are registered first; default: "
               "auto, for large clouds"),
    ATN_OPTION("memory", "BYTES", "memory limit, e.g. 500M, 4G; default: free memory"),
    {0},
};

/* Numbers above 0 and not above `most`. */
static const struct {
    const char *name;
    size_t offset;
    double most;
} NUMBERS[] = {
    {"sigma-start", offsetof(atn_register_settings, sigma_start), 1e300},
    {"sigma-end", offsetof(atn_register_settings, sigma_end), 1e300},
    {"sigma-factor", offsetof(atn_register_settings, sigma_factor), 1 - 1e-12},
    {"outlier", offsetof(atn_register_settings, outlier_distance), INFINITY},
    {"error-bound", offsetof(atn_register_settings, error_bound), 1},
    {"robust-scale", offsetof(atn_register_settings, robust_scale), 1e300},
};

static const struct {
    const char *name;
    size_t offset;
} FLAGS[] = {
    {"compat", offsetof(atn_register_settings, compat)},
    {"reproducible", offsetof(atn_register_settings, reproducible)},
    {"dense", offsetof(atn_register_settings, dense)},
    {"species", offsetof(atn_register_settings, match_species)},
    {"no-acceleration", offsetof(atn_register_settings, no_acceleration)},
    {"no-polish", offsetof(atn_register_settings, no_polish)},
    {"no-covariance", offsetof(atn_register_settings, no_covariance)},
};

/* The place of an option's word among its choices, which are in the order of the enum; 0 where it is not given. */
static int place_of(const atn_cli_call *call, const char *name, const char *choices) {
    const char *word = atn_cli_value(call, name);
    size_t length = word ? strlen(word) : 0;
    int place = 0;
    for (const char *at = choices; word; ++place) {
        size_t n = strcspn(at, "|");
        if (n == length && memcmp(at, word, n) == 0) return place;
        at += n + 1; /* the parser let only these through */
    }
    return 0;
}

static atn_status read_numbers(atn_cli_register *r) {
    for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; ++k) {
        const char *text = atn_cli_value(r->call, NUMBERS[k].name);
        char *end;
        if (!text) continue;
        double value = atn_number_read(text, &end);
        if (end == text || *end || !(value > 0 && value <= NUMBERS[k].most))
            return atn_cli_misuse(r->call, "--%s cannot be '%s'; it takes a number above 0%s", NUMBERS[k].name, text,
                                  NUMBERS[k].most < 1    ? " and below 1"
                                  : NUMBERS[k].most == 1 ? " and up to 1"
                                                         : "");
        memcpy((char *)&r->settings + NUMBERS[k].offset, &value, sizeof value);
    }
    if (r->settings.sigma_start > 0 && r->settings.sigma_end > r->settings.sigma_start)
        return atn_cli_misuse(r->call, "--sigma-end %s is above --sigma-start %s; the scale falls",
                              atn_cli_value(r->call, "sigma-end"), atn_cli_value(r->call, "sigma-start"));
    return ATN_OK;
}

static atn_status read_start(atn_cli_register *r) {
    const char *init = atn_cli_value(r->call, "init");
    bool identity = init ? strcmp(init, "identity") == 0 : r->settings.compat;
    r->start = init ? init : identity ? "identity" : "auto";
    r->settings.init = identity ? ATN_START_IDENTITY : ATN_START_AUTO;
    if (strcmp(r->start, "identity") == 0 || strcmp(r->start, "auto") == 0) return ATN_OK;
    r->settings.init = ATN_START_GIVEN;
    return atn_cli_matrix_read(r->call->ctx, init, r->settings.start);
}

/* Options that mean something for some methods only: bits of atn_register_method. */
#define FOR(method) (1u << ATN_REGISTER_##method)
static const struct {
    const char *option;
    unsigned methods;
} MEANT_FOR[] = {
    {"trim", FOR(ICP) | FOR(ICP_PLANE)},
    {"robust", FOR(ICP) | FOR(ICP_PLANE)},
    {"robust-scale", FOR(ICP) | FOR(ICP_PLANE)},
    {"sigma-factor", FOR(EM_ICP) | FOR(SOFTASSIGN)},
    {"error-bound", FOR(EM_ICP) | FOR(SOFTASSIGN) | FOR(CPD)},
    {"no-polish", FOR(EM_ICP)},
    {"compat", FOR(EM_ICP)},
};

/* What means nothing for the method is refused: who gives it thinks that it does something. */
static atn_status check_meaning(const atn_cli_register *r) {
    atn_cli_call *call = r->call;
    for (size_t k = 0; k < sizeof MEANT_FOR / sizeof *MEANT_FOR; ++k) {
        char names[64] = "";
        if (!atn_cli_has(call, MEANT_FOR[k].option) || MEANT_FOR[k].methods & 1u << r->settings.method) continue;
        const char *word = METHODS;
        for (unsigned m = 0; *word; ++m, word += strspn(word, "|")) {
            size_t length = strcspn(word, "|"), used = strlen(names);
            if (MEANT_FOR[k].methods & 1u << m)
                snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)length, word);
            word += length;
        }
        return atn_cli_misuse(call, "--%s does not apply to --method %s, only to %s", MEANT_FOR[k].option, r->method,
                              names);
    }
    if (atn_cli_has(call, "robust-scale") && r->settings.robust == ATN_ROBUST_NONE)
        return atn_cli_misuse(call, "--robust-scale needs --robust huber, tukey or cauchy");
    return ATN_OK;
}

atn_status atn_cli_register_read(atn_cli_register *r) {
    atn_cli_call *call = r->call;
    const char *precision = atn_cli_value(call, "precision");
    const char *method = atn_cli_value(call, "method"), *transform = atn_cli_value(call, "transform");
    double iterations, trim;
    r->method = method ? method : "em-icp";
    r->transform = transform ? transform : "rigid";
    r->settings.method = (atn_register_method)place_of(call, "method", METHODS);
    r->settings.transform = (atn_transform_kind)place_of(call, "transform", TRANSFORMS);
    r->settings.robust = (atn_robust)place_of(call, "robust", ROBUST);
    r->settings.precision = precision ? (int32_t)atn_number_read(precision, NULL) : 0;
    r->profile = atn_cli_has(call, "profile");
    r->settings.profile = r->profile; /* costs time, so a report alone does not ask for it */
    if (atn_cli_has(call, "drop-invalid")) r->reading.invalid = ATN_INVALID_DROP;
    for (size_t k = 0; k < sizeof FLAGS / sizeof *FLAGS; ++k) {
        bool given = atn_cli_has(call, FLAGS[k].name);
        memcpy((char *)&r->settings + FLAGS[k].offset, &given, sizeof given);
    }
    atn_status status = read_numbers(r);
    if (!status) status = atn_cli_read_bytes(r->call, "memory", &r->settings.most_bytes);
    if (!status) status = atn_cli_voxel_read(call, &r->voxel);
    if (!status) status = atn_cli_read_whole(call, "iterations", 1, 0, &iterations);
    if (!status && iterations > INT32_MAX)
        status = atn_cli_misuse(call, "--iterations cannot be '%s'; it takes at most %d",
                                atn_cli_value(call, "iterations"), INT32_MAX);
    if (!status) status = atn_cli_read_number(call, "trim", 0, 1 - 1e-12, 0, &trim);
    if (!status) status = check_meaning(r);
    if (status) return status;
    r->settings.most_iterations = (int32_t)iterations;
    r->settings.trim = trim;
    return read_start(r);
}

atn_status atn_cli_register_check_output(atn_cli_call *call, const char *list, int line, const char *path) {
    static const char WORDS[] = "points cannot be written to '%s'; supported extensions are %s";
    const cloud_format *format = path ? cloud_format_of(path, "", 0) : NULL;
    char said[ATN_MESSAGE_BYTES];
    if (!path || (format && format->write)) return ATN_OK;
    atn_text endings = {.ctx = call->ctx};
    cloud_format_endings(true, &endings);
    atn_status status = atn_text_status(&endings);
    if (!status) snprintf(said, sizeof said, WORDS, path, endings.data);
    if (!status)
        status =
            list ? atn_fail(call->ctx, ATN_ERR_INPUT, "%s:%d: %s", list, line, said) : atn_cli_misuse(call, "%s", said);
    atn_text_free(&endings);
    return status;
}

atn_status atn_cli_register_write(atn_cli_call *call, const atn_cloud *cloud, const char *path) {
    char lost[512];
    atn_status status = atn_cloud_write(cloud, path);
    if (status) return status;
    atn_cloud_not_written(cloud, path, lost, sizeof lost);
    if (*lost)
        fprintf(call->err, "attune %s: %s: dropped, not in this format or not read: %s\n", call->verb->name, path,
                lost);
    return ATN_OK;
}

atn_status atn_cli_register_check_files(atn_cli_call *call) {
    static const char *const NAMES[] = {"output", "matrix", "report"};
    atn_status status = atn_cli_register_check_output(call, NULL, 0, atn_cli_value(call, "output"));
    return status ? status : atn_cli_check_files(call, NAMES, sizeof NAMES / sizeof *NAMES);
}
