/* Unwrapper(engine, width, height, options): a solver for frames of one size. */
#include "module.h"

#include <string.h>

static PyObject *unwrapper_type;

typedef struct py_unwrapper {
    PyObject_HEAD py_engine *engine; /* owned */
    atn_unwrap *unwrap;
    int64_t width, height;
    int32_t bits;
} py_unwrapper;

static const char *const METHODS[] = {"auto", "multigrid", "cg", NULL};
static const char *const CYCLES[] = {"auto", "v", "w", NULL};
static const char *const SMOOTHERS[] = {"auto", "redblack", "jacobi", NULL};
static const char *const WEIGHTS[] = {"default", "none", "residues", "variance", "auto", "once", NULL};
static const char *const REMOVE[] = {"nothing", "piston", "tilt", NULL};

#define OPTION(kind, name, words)                                                                                      \
    { #name, kind, offsetof(atn_unwrap_settings, name), 0, words }
static const py_field OPTIONS[] = {
    OPTION(PY_INT32, bits, NULL),         OPTION(PY_WORD, method, METHODS), OPTION(PY_WORD, cycle, CYCLES),
    OPTION(PY_WORD, smoother, SMOOTHERS), OPTION(PY_INT32, before, NULL),   OPTION(PY_INT32, after, NULL),
    OPTION(PY_INT32, coarsest, NULL),     OPTION(PY_BOOL, no_fuse, NULL),   {0}};
#define SETTING(kind, name, words)                                                                                     \
    { #name, kind, offsetof(atn_unwrap_solve_settings, name), 0, words }
static const py_field SETTINGS[] = {SETTING(PY_WORD, weights, WEIGHTS),   SETTING(PY_WORD, remove, REMOVE),
                                    SETTING(PY_BOOL, congruent, NULL),    SETTING(PY_BOOL, unwrapped, NULL),
                                    SETTING(PY_BOOL, warm, NULL),         SETTING(PY_DOUBLE, tolerance, NULL),
                                    SETTING(PY_INT32, most_cycles, NULL), {0}};
#define RESULT(kind, name)                                                                                             \
    { #name, kind, offsetof(atn_unwrap_result, name), 0, NULL }
static const py_field RESULT[] = {RESULT(PY_BOOL, converged),
                                  RESULT(PY_TEXT, reason),
                                  RESULT(PY_INT64, valid),
                                  RESULT(PY_INT64, residues),
                                  RESULT(PY_INT64, islands),
                                  RESULT(PY_INT64, cut_length),
                                  RESULT(PY_BOOL, shortest),
                                  RESULT(PY_BOOL, smeared),
                                  RESULT(PY_DOUBLE, residual),
                                  RESULT(PY_DOUBLE, residual_rms),
                                  RESULT(PY_DOUBLE, congruence_max),
                                  RESULT(PY_BOOL, weighted),
                                  RESULT(PY_INT32, cycles),
                                  RESULT(PY_INT32, solutions),
                                  RESULT(PY_DOUBLE, seconds),
                                  RESULT(PY_DOUBLE, setup_seconds),
                                  RESULT(PY_DOUBLE, solve_seconds),
                                  RESULT(PY_DOUBLE, finish_seconds),
                                  {0}};

typedef struct making {
    atn_device *device;
    int64_t width, height;
    atn_unwrap_settings options;
    atn_unwrap *unwrap;
} making;

static atn_status create(void *user) {
    making *m = user;
    return atn_unwrap_create(m->device, m->width, m->height, &m->options, &m->unwrap);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *object, *options;
    long long width, height;
    making m = {0};
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OLLO", &object, &width, &height, &options)) return NULL;
    py_engine *engine = py_engine_with_device(object);
    if (!engine || !py_fields_read(options, OPTIONS, "unwrap", &m.options)) return NULL;
    m.device = engine->device;
    m.width = width;
    m.height = height;
    atn_status status = py_work(engine, create, &m);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    py_unwrapper *self = PyObject_New(py_unwrapper, type);
    if (!self) {
        atn_unwrap_free(m.unwrap);
        return NULL;
    }
    self->engine = engine;
    Py_INCREF(engine);
    self->unwrap = m.unwrap;
    self->width = width;
    self->height = height;
    self->bits = m.options.bits ? m.options.bits : 32;
    return (PyObject *)self;
}

static void free_unwrap(void *unwrap) { atn_unwrap_free(unwrap); }

static void dealloc(PyObject *object) {
    py_unwrapper *self = (py_unwrapper *)object;
    PyTypeObject *type = Py_TYPE(object);
    py_release(self->engine, self->unwrap, free_unwrap);
    Py_DECREF(self->engine);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- frames ---- */

typedef struct solving {
    atn_unwrap *unwrap;
    const void *phase;
    void *out;
    atn_array *phase_array, *out_array;
    atn_unwrap_solve_settings settings;
    atn_unwrap_result result;
} solving;

static atn_status solve(void *user) {
    solving *s = user;
    if (s->phase_array)
        return atn_unwrap_solve_array(s->unwrap, s->phase_array, &s->settings, s->out_array, &s->result);
    return atn_unwrap_solve(s->unwrap, s->phase, &s->settings, s->out, &s->result);
}

static bool read_image(const py_unwrapper *self, PyObject *object, const char *name, const char *type, py_view *out) {
    if (!py_view_read(object, name, type, 2, out)) return false;
    if (out->shape[0] == self->height && out->shape[1] == self->width) return true;
    PyErr_Format(PyExc_ValueError, "%s: %lld x %lld, where frames have %lld x %lld", name, (long long)out->shape[0],
                 (long long)out->shape[1], (long long)self->height, (long long)self->width);
    return false;
}

static bool read_host(const py_unwrapper *self, PyObject *const in[4], solving *s) {
    const char *type = self->bits == 64 ? "f8" : "f4";
    py_view phase, out, mask = {0}, quality = {0};
    if (!read_image(self, in[0], "phase", type, &phase) || !read_image(self, in[1], "out", type, &out)) return false;
    if (in[2] != Py_None && !read_image(self, in[2], "mask", "u1 b1", &mask)) return false;
    if (in[3] != Py_None && !read_image(self, in[3], "quality", "f4", &quality)) return false;
    if (out.read_only) {
        PyErr_SetString(PyExc_ValueError, "out: the array is read-only");
        return false;
    }
    s->phase = phase.data;
    s->out = out.data;
    s->settings.mask = mask.data;
    s->settings.quality = quality.data;
    return true;
}

static bool read_device(const py_unwrapper *self, PyObject *const in[4], solving *s) {
    s->phase_array = py_array_of(in[0], self->engine);
    s->out_array = s->phase_array ? py_array_of(in[1], self->engine) : NULL;
    if (!s->out_array) return false;
    if (in[2] != Py_None && !(s->settings.mask_array = py_array_of(in[2], self->engine))) return false;
    return in[3] == Py_None || (s->settings.quality_array = py_array_of(in[3], self->engine));
}

static PyObject *run(PyObject *object, PyObject *args, bool device) {
    py_unwrapper *self = (py_unwrapper *)object;
    PyObject *in[4], *settings;
    if (!PyArg_ParseTuple(args, "OOOOO", &in[0], &in[1], &in[2], &in[3], &settings)) return NULL;
    py_engine *engine = py_engine_with_device((PyObject *)self->engine);
    solving s = {.unwrap = self->unwrap};
    if (!engine || !py_fields_read(settings, SETTINGS, "unwrap", &s.settings)) return NULL;
    if (device ? !read_device(self, in, &s) : !read_host(self, in, &s)) return NULL;
    atn_status status = py_work(engine, solve, &s);
    return status == ATN_OK ? py_fields_write(&s.result, RESULT) : py_fail(engine->ctx, status);
}

/* solve(phase, out, mask or None, quality or None, settings) -> result; of host arrays, or of the engine's */
static PyObject *solve_host(PyObject *self, PyObject *args) { return run(self, args, false); }
static PyObject *solve_arrays(PyObject *self, PyObject *args) { return run(self, args, true); }

static PyObject *explain(PyObject *object, PyObject *nothing) {
    py_unwrapper *self = (py_unwrapper *)object;
    (void)nothing;
    if (!py_engine_with_device((PyObject *)self->engine)) return NULL;
    return PyUnicode_FromString(atn_unwrap_explain(self->unwrap));
}

static PyObject *settings(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return Py_BuildValue("(NN)", py_fields_names(OPTIONS), py_fields_names(SETTINGS));
}

int py_unwrap_add(PyObject *module) {
    static PyMethodDef functions[] = {{"unwrap_settings", settings, METH_NOARGS, NULL}, {0}};
    static PyMethodDef methods[] = {{"solve", solve_host, METH_VARARGS, NULL},
                                    {"solve_arrays", solve_arrays, METH_VARARGS, NULL},
                                    {"explain", explain, METH_NOARGS, NULL},
                                    {0}};
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "attune._attune.Unwrapper",
                               .basicsize = sizeof(py_unwrapper),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    unwrapper_type = py_type_add(module, &spec, "Unwrapper");
    return unwrapper_type ? PyModule_AddFunctions(module, functions) : -1;
}
