/* register(engine, source, target, settings, watch): atn_register, settings and result by the names of the structs. */
#include "module.h"

#include <math.h>
#include <string.h>

static const char *const METHODS[] = {"em-icp", "icp", "icp-plane", "softassign", "cpd", "gicp", NULL};
static const char *const TRANSFORMS[] = {"rigid", "similarity", "affine", NULL};
static const char *const STARTS[] = {"default", "identity", "given", "auto", NULL};
static const char *const ROBUST[] = {"none", "huber", "tukey", "cauchy", NULL};
static const char *const VERDICTS[] = {"refused", "doubtful", "trusted", NULL};

#define SETTING(kind, name)                                                                                            \
    { #name, kind, offsetof(atn_register_settings, name), 0, NULL }
#define SETTING_WORD(name, words)                                                                                      \
    { #name, PY_WORD, offsetof(atn_register_settings, name), 0, words }
static const py_field SETTINGS[] = {SETTING_WORD(method, METHODS),
                                    SETTING_WORD(transform, TRANSFORMS),
                                    SETTING_WORD(init, STARTS),
                                    {"start", PY_DOUBLE, offsetof(atn_register_settings, start), 16, NULL},
                                    SETTING(PY_BOOL, compat),
                                    SETTING(PY_INT32, precision),
                                    SETTING(PY_BOOL, reproducible),
                                    SETTING(PY_DOUBLE, sigma_start),
                                    SETTING(PY_DOUBLE, sigma_end),
                                    SETTING(PY_DOUBLE, sigma_factor),
                                    SETTING(PY_DOUBLE, outlier_distance),
                                    SETTING(PY_DOUBLE, error_bound),
                                    SETTING(PY_BOOL, dense),
                                    SETTING(PY_BOOL, no_acceleration),
                                    SETTING(PY_BOOL, no_polish),
                                    SETTING(PY_INT32, most_iterations),
                                    SETTING(PY_DOUBLE, trim),
                                    SETTING_WORD(robust, ROBUST),
                                    SETTING(PY_DOUBLE, robust_scale),
                                    SETTING(PY_BOOL, match_species),
                                    SETTING(PY_SIZE, most_bytes),
                                    SETTING(PY_BOOL, profile),
                                    SETTING(PY_BOOL, no_covariance),
                                    {0}};

#define RESULT(kind, name)                                                                                             \
    { #name, kind, offsetof(atn_register_result, name), 0, NULL }
#define RESULTS(kind, name, n)                                                                                         \
    { #name, kind, offsetof(atn_register_result, name), n, NULL }
static const py_field RESULT[] = {RESULTS(PY_DOUBLE, transform, 16),
                                  RESULT(PY_DOUBLE, scale),
                                  RESULT(PY_BOOL, converged),
                                  {"verdict", PY_WORD, offsetof(atn_register_result, verdict), 0, VERDICTS},
                                  RESULT(PY_TEXT, reason),
                                  RESULT(PY_DOUBLE, rmse),
                                  RESULT(PY_DOUBLE, overlap),
                                  RESULT(PY_DOUBLE, inlier_distance),
                                  RESULT(PY_DOUBLE, overlap_source),
                                  RESULT(PY_DOUBLE, overlap_target),
                                  RESULT(PY_DOUBLE, agreement),
                                  RESULT(PY_DOUBLE, runner_up),
                                  RESULT(PY_INT32, n_alternatives),
                                  RESULT(PY_INT32, n_sliding),
                                  RESULTS(PY_DOUBLE, sliding, 36),
                                  RESULTS(PY_DOUBLE, alternatives, 16 * ATN_REGISTER_MOST_ALTERNATIVES),
                                  RESULT(PY_INT32, iterations),
                                  RESULT(PY_DOUBLE, pairs),
                                  RESULT(PY_DOUBLE, evaluated_pairs),
                                  RESULT(PY_DOUBLE, seconds),
                                  RESULT(PY_DOUBLE, building_seconds),
                                  RESULT(PY_DOUBLE, gpts),
                                  RESULT(PY_DOUBLE, error_bound),
                                  RESULT(PY_SIZE, peak_bytes),
                                  RESULTS(PY_DOUBLE, covariance, 36),
                                  RESULT(PY_BOOL, has_covariance),
                                  RESULT(PY_TEXT, covariance_reason),
                                  RESULT(PY_DOUBLE, sigma_end),
                                  RESULT(PY_TEXT, device),
                                  RESULT(PY_TEXT, variant),
                                  {0}};

#define STEP(kind, name)                                                                                               \
    { #name, kind, offsetof(atn_register_step, name), 0, NULL }
static const py_field STEPS[] = {
    STEP(PY_INT32, iteration), STEP(PY_DOUBLE, sigma), STEP(PY_DOUBLE, rmse), STEP(PY_DOUBLE, motion),
    STEP(PY_INT64, pairs),     STEP(PY_SIZE, source),  STEP(PY_SIZE, target), {0}};

typedef struct job {
    atn_device *device[ATN_MOST_DEVICES];
    int32_t devices;
    atn_ctx *ctx;
    py_cloud source, target;
    atn_array *source_rows, *target_rows; /* instead, where they lie on the device */
    atn_register_settings settings;
    atn_register_result result;
    py_watch watch;
} job;

static PyObject *step_of(const void *step) { return py_fields_write(step, STEPS); }
static bool watch(void *user, const atn_register_step *step) { return py_watch_tell(user, step_of, step); }

static atn_status work(void *user) {
    job *j = user;
    atn_cloud *source = NULL, *target = NULL;
    atn_status status = py_cloud_make(j->ctx, &j->source, &source);
    if (status == ATN_OK) status = py_cloud_make(j->ctx, &j->target, &target);
    if (status == ATN_OK)
        status = atn_register_several(j->device, j->devices, source, target, &j->settings, &j->result);
    atn_cloud_free(source);
    atn_cloud_free(target);
    return status;
}

static atn_status work_there(void *user) {
    job *j = user;
    return atn_register_arrays(j->device[0], j->source_rows, j->target_rows, &j->settings, &j->result);
}

static bool add_profile(PyObject *out, const atn_register_result *r) {
    static const py_field TIME[] = {{"name", PY_TEXT, offsetof(atn_register_time, name), 0, NULL},
                                    {"calls", PY_INT64, offsetof(atn_register_time, calls), 0, NULL},
                                    {"seconds", PY_DOUBLE, offsetof(atn_register_time, seconds), 0, NULL},
                                    {0}};
    PyObject *list = PyList_New(0);
    bool good = list != NULL;
    for (int32_t k = 0; k < r->profile_count && good; ++k) {
        PyObject *row = py_fields_write(&r->profile[k], TIME);
        good = row && PyList_Append(list, row) == 0;
        Py_XDECREF(row);
    }
    good = good && PyDict_SetItemString(out, "profile", list) == 0;
    Py_XDECREF(list);
    return good;
}

bool py_register_settings(PyObject *dictionary, atn_register_settings *out) {
    return py_fields_read(dictionary, SETTINGS, "register", out);
}

PyObject *py_register_result(const atn_register_result *result) {
    PyObject *out = py_fields_write(result, RESULT);
    if (out && !add_profile(out, result)) Py_CLEAR(out);
    return out;
}

static PyObject *run(py_engine *engine, job *j, PyObject *callback, atn_status (*how)(void *user)) {
    j->devices = py_engine_devices(engine, j->device);
    j->ctx = engine->ctx;
    if (callback != Py_None) {
        j->watch.call = callback;
        j->settings.watch = watch;
        j->settings.watch_user = &j->watch;
    }
    atn_status status = py_work(engine, how, j);
    if (py_watch_raised(&j->watch)) return NULL;
    return status == ATN_OK ? py_register_result(&j->result) : py_fail(engine->ctx, status);
}

static PyObject *register_(PyObject *module, PyObject *args) {
    PyObject *object, *source, *target, *settings, *callback;
    int drop;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOp", &object, &source, &target, &settings, &callback, &drop)) return NULL;
    py_engine *engine = py_engine_with_device(object);
    job j = {0};
    if (!engine || !py_cloud_read(source, "source", &j.source) || !py_cloud_read(target, "target", &j.target) ||
        !py_register_settings(settings, &j.settings))
        return NULL;
    j.source.drop_invalid = j.target.drop_invalid = drop;
    return run(engine, &j, callback, work);
}

/* register_arrays(engine, source, target, settings, watch): arrays of the engine's device. */
static PyObject *register_arrays(PyObject *module, PyObject *args) {
    PyObject *object, *source, *target, *settings, *callback;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOO", &object, &source, &target, &settings, &callback)) return NULL;
    py_engine *engine = py_engine_with_device(object);
    job j = {0};
    if (!engine || !(j.source_rows = py_array_of(source, engine)) || !(j.target_rows = py_array_of(target, engine)) ||
        !py_register_settings(settings, &j.settings))
        return NULL;
    return run(engine, &j, callback, work_there);
}

static PyObject *settings(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return py_fields_names(SETTINGS);
}

PyMethodDef PY_REGISTER_FUNCTIONS[] = {{"register", register_, METH_VARARGS, NULL},
                                       {"register_arrays", register_arrays, METH_VARARGS, NULL},
                                       {"register_settings", settings, METH_NOARGS, NULL},
                                       {0}};
