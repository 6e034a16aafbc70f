/* needle(engine, model, scan, ...): a model's pose in a volume, or in a cloud. */
#include "module.h"

#include <string.h>

static const char *const COUNTS[] = {"scan", "model", NULL};

#define OPTION(kind, name, words)                                                                                      \
    { #name, kind, offsetof(atn_needle_settings, name), 0, words }
static const py_field OPTIONS[] = {OPTION(PY_DOUBLE, threshold, NULL),
                                   OPTION(PY_DOUBLE, edge, NULL),
                                   OPTION(PY_BOOL, brute, NULL),
                                   OPTION(PY_WORD, count, COUNTS),
                                   {0}};
#define SETTING(kind, name, n)                                                                                         \
    { #name, kind, offsetof(atn_needle_match_settings, name), n, NULL }
static const py_field SETTINGS[] = {SETTING(PY_BOOL, has_start, 0),
                                    SETTING(PY_DOUBLE, start, 16),
                                    SETTING(PY_DOUBLE, axis, 3),
                                    SETTING(PY_DOUBLE, roll_deg, 3),
                                    SETTING(PY_DOUBLE, shift, 3),
                                    SETTING(PY_INT32, rounds, 0),
                                    SETTING(PY_BOOL, marginal, 0),
                                    SETTING(PY_BOOL, track, 0),
                                    SETTING(PY_BOOL, no_refine, 0),
                                    SETTING(PY_DOUBLE, least, 0),
                                    SETTING(PY_INT64, most_combinations, 0),
                                    {0}};
#define VIEW(kind, name, n)                                                                                            \
    { #name, kind, offsetof(atn_needle_view, name), n, NULL }
static const py_field VIEW[] = {VIEW(PY_DOUBLE, level, 0),
                                VIEW(PY_DOUBLE, spacing, 3),
                                VIEW(PY_INT32, least_pixels, 0),
                                VIEW(PY_INT32, least_columns, 0),
                                {0}};
#define RESULT(kind, name, n)                                                                                          \
    { #name, kind, offsetof(atn_needle_result, name), n, NULL }
static const py_field RESULT[] = {RESULT(PY_BOOL, found, 0),          RESULT(PY_TEXT, reason, 0),
                                  RESULT(PY_DOUBLE, transform, 16),   RESULT(PY_DOUBLE, roll_deg, 0),
                                  RESULT(PY_DOUBLE, shift, 0),        RESULT(PY_INT64, matches, 0),
                                  RESULT(PY_INT64, scan_points, 0),   RESULT(PY_INT64, model_points, 0),
                                  RESULT(PY_INT64, runner_up, 0),     RESULT(PY_BOOL, roll_observable, 0),
                                  RESULT(PY_BOOL, at_end, 0),         RESULT(PY_DOUBLE, covariance, 36),
                                  RESULT(PY_BOOL, has_covariance, 0), RESULT(PY_DOUBLE, rmse, 0),
                                  RESULT(PY_DOUBLE, free_share, 0),   RESULT(PY_DOUBLE, tip, 3),
                                  RESULT(PY_INT64, level, 0),         RESULT(PY_INT64, surface, 0),
                                  RESULT(PY_INT64, centres, 0),       RESULT(PY_DOUBLE, segment_seconds, 0),
                                  RESULT(PY_DOUBLE, axis_seconds, 0), RESULT(PY_DOUBLE, match_seconds, 0),
                                  RESULT(PY_DOUBLE, seconds, 0),      {0}};

typedef struct job {
    atn_ctx *ctx;
    atn_device *device;
    py_cloud model, scan;
    const char *volume_path;
    const void *pixels; /* of a volume in memory; NULL: volume_path, or a cloud */
    int64_t shape[3];
    int32_t bits;
    atn_needle_settings options;
    atn_needle_match_settings settings;
    atn_needle_view view;
    atn_needle_result result;
} job;

static atn_status match_volume(job *j, atn_needle *needle) {
    atn_volume *volume = NULL;
    const double *spacing = j->view.spacing[0] > 0 ? j->view.spacing : NULL;
    atn_volume_settings reading = {0};
    memcpy(reading.shape, j->shape, sizeof reading.shape);
    memcpy(reading.spacing, j->view.spacing, sizeof reading.spacing);
    atn_status status = j->pixels ? atn_volume_create(j->ctx, j->shape, j->bits, j->pixels, spacing, &volume)
                                  : atn_volume_read(j->ctx, j->volume_path, &reading, &volume);
    if (status == ATN_OK) status = atn_needle_find(needle, volume, &j->view, &j->settings, &j->result);
    atn_volume_free(volume);
    return status;
}

static atn_status match_cloud(job *j, atn_needle *needle) {
    atn_cloud *scan = NULL;
    atn_status status = py_cloud_make(j->ctx, &j->scan, &scan);
    if (status == ATN_OK) status = atn_needle_match(needle, scan, &j->settings, &j->result);
    atn_cloud_free(scan);
    return status;
}

/* Without normals the refinement has nothing to hold on to. */
static atn_status make_model(const job *j, atn_cloud **out) {
    atn_cloud *plain = NULL;
    if (j->model.path) return atn_needle_model(j->ctx, j->model.path, out);
    atn_status status = py_cloud_make(j->ctx, &j->model, &plain);
    if (status != ATN_OK || j->model.normals) {
        *out = plain;
        return status;
    }
    status = atn_cloud_with_normals(plain, 0, NULL, out);
    atn_cloud_free(plain);
    return status;
}

static atn_status work(void *user) {
    job *j = user;
    atn_cloud *model = NULL;
    atn_needle *needle = NULL;
    atn_status status = make_model(j, &model);
    if (status == ATN_OK) status = atn_needle_create(j->device, model, &j->options, &needle);
    if (status == ATN_OK) status = j->pixels || j->volume_path ? match_volume(j, needle) : match_cloud(j, needle);
    atn_needle_free(needle);
    atn_cloud_free(model);
    return status;
}

/* scan: ("volume", array), ("file", bytes, shape or None) or ("cloud", cloud) */
static bool read_scan(PyObject *scan, job *j) {
    const char *kind;
    PyObject *what, *shape = Py_None;
    py_view view;
    if (!PyArg_ParseTuple(scan, "sO|O", &kind, &what, &shape)) return false;
    if (strcmp(kind, "cloud") == 0) return py_cloud_read(what, "scan", &j->scan);
    if (strcmp(kind, "file") == 0)
        return py_path(what, &j->volume_path) &&
               (shape == Py_None || PyArg_ParseTuple(shape, "LLL", &j->shape[0], &j->shape[1], &j->shape[2]));
    if (!py_view_read(what, "volume", "u1 u2", 3, &view)) return false;
    memcpy(j->shape, view.shape, sizeof j->shape);
    j->bits = view.type[1] == '1' ? 8 : 16;
    j->pixels = view.data;
    return true;
}

static PyObject *needle(PyObject *module, PyObject *args) {
    PyObject *object, *model, *scan, *options, *settings, *view;
    job j = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOO", &object, &model, &scan, &options, &settings, &view)) return NULL;
    py_engine *engine = py_engine_with_device(object);
    if (!engine || !py_cloud_read(model, "model", &j.model) || !read_scan(scan, &j) ||
        !py_fields_read(options, OPTIONS, "needle", &j.options) ||
        !py_fields_read(settings, SETTINGS, "needle", &j.settings) || !py_fields_read(view, VIEW, "needle", &j.view))
        return NULL;
    j.ctx = engine->ctx;
    j.device = engine->device;
    atn_status status = py_work(engine, work, &j);
    return status == ATN_OK ? py_fields_write(&j.result, RESULT) : py_fail(engine->ctx, status);
}

static PyObject *names(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return Py_BuildValue("(NNN)", py_fields_names(OPTIONS), py_fields_names(SETTINGS), py_fields_names(VIEW));
}

PyMethodDef PY_NEEDLE_FUNCTIONS[] = {
    {"needle", needle, METH_VARARGS, NULL}, {"needle_settings", names, METH_NOARGS, NULL}, {0}};
