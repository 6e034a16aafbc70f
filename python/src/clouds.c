/* Clouds as Python hands them over, and as it gets them back. */
#include "module.h"

#include "base/file.h"
#include "base/text.h"
#include "plot/page.h"
#include "plot/view.h"

#include <string.h>

bool py_cloud_read(PyObject *object, const char *name, py_cloud *out) {
    py_view positions, normals;
    *out = (py_cloud){0};
    if (PyBytes_Check(object)) return py_path(object, &out->path);
    PyObject *first = PyTuple_Check(object) ? PyTuple_GetItem(object, 0) : NULL;
    PyObject *second = first ? PyTuple_GetItem(object, 1) : NULL;
    if (!second || !py_view_read(first, name, "f8", 2, &positions)) return false;
    if (second != Py_None) {
        if (!py_view_read(second, name, "f4", 2, &normals)) return false;
        if (normals.shape[0] != positions.shape[0] || normals.shape[1] != 3) {
            PyErr_Format(PyExc_ValueError, "%s: expected one normal of 3 numbers per point", name);
            return false;
        }
        out->normals = normals.data;
    }
    if (positions.shape[1] != 3) {
        PyErr_Format(PyExc_ValueError, "%s: points have 3 coordinates, not %lld", name, (long long)positions.shape[1]);
        return false;
    }
    out->points = (size_t)positions.shape[0];
    out->positions = positions.data;
    return true;
}

atn_status py_cloud_make(atn_ctx *ctx, const py_cloud *from, atn_cloud **out) {
    atn_cloud_settings options = {.invalid = from->drop_invalid ? ATN_INVALID_DROP : ATN_INVALID_REFUSE};
    if (from->path) return atn_cloud_read(ctx, from->path, &options, out);
    return atn_cloud_create(ctx, from->points, from->positions, from->normals, out);
}

/* ---- reading files ---- */

typedef struct reading {
    atn_ctx *ctx;
    py_cloud from;
    atn_cloud *cloud;
} reading;

static atn_status read_cloud(void *user) {
    reading *r = user;
    return py_cloud_make(r->ctx, &r->from, &r->cloud);
}

/* The address and the length of one array, for numpy to copy from while the cloud is there. */
static bool add_array(PyObject *out, const char *name, const void *data, size_t count, const char *type) {
    PyObject *bytes = data ? PyBytes_FromStringAndSize(data, (Py_ssize_t)count) : NULL;
    PyObject *pair = bytes ? Py_BuildValue("(Os)", bytes, type) : NULL;
    bool good = !data || (pair && PyDict_SetItemString(out, name, pair) == 0);
    Py_XDECREF(bytes);
    Py_XDECREF(pair);
    return good;
}

static PyObject *cloud_arrays(const atn_cloud *cloud) {
    static const char *const AXES[] = {"x", "y", "z"}, *const NORMALS[] = {"nx", "ny", "nz"};
    atn_cloud_info info = atn_cloud_info_of(cloud);
    PyObject *out = PyDict_New();
    bool good = out != NULL;
    for (int axis = 0; axis < 3 && good; ++axis)
        good = add_array(out, AXES[axis], atn_cloud_positions(cloud, axis), info.points * sizeof(double), "f8") &&
               add_array(out, NORMALS[axis], atn_cloud_normals(cloud, axis), info.points * sizeof(float), "f4");
    good = good && add_array(out, "mass", atn_cloud_masses(cloud), info.points * sizeof(float), "f4") &&
           add_array(out, "species", atn_cloud_species(cloud), info.points * sizeof(int32_t), "i4");
    PyObject *format = good ? PyUnicode_FromString(info.format) : NULL;
    good = format && PyDict_SetItemString(out, "format", format) == 0;
    Py_XDECREF(format);
    if (!good) Py_CLEAR(out);
    return out;
}

/* cloud(engine, path, drop_invalid) -> {"x": (bytes, type), ...} */
static PyObject *cloud(PyObject *module, PyObject *args) {
    PyObject *object, *given;
    int drop;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOp", &object, &given, &drop)) return NULL;
    py_engine *engine = py_engine_of(object);
    reading r = {0};
    if (!engine || !py_cloud_read(given, "cloud", &r.from)) return NULL;
    r.ctx = engine->ctx;
    r.from.drop_invalid = drop;
    atn_status status = py_work(engine, read_cloud, &r);
    PyObject *out = status == ATN_OK ? cloud_arrays(r.cloud) : py_fail(engine->ctx, status);
    atn_cloud_free(r.cloud);
    return out;
}

/* ---- the 3D view of reports ---- */

enum { MOST_SHOWN = 8 };

typedef struct showing {
    atn_ctx *ctx;
    py_cloud from[MOST_SHOWN];
    double moved[MOST_SHOWN][16];
    char names[MOST_SHOWN][32];
    int32_t n;
    const char *title, *rows;
    atn_text page;
} showing;

static atn_status draw(void *user) {
    showing *s = user;
    atn_cloud *clouds[MOST_SHOWN] = {0};
    atn_view_cloud shown[MOST_SHOWN];
    const double *moved[MOST_SHOWN];
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < s->n && status == ATN_OK; ++k) {
        status = py_cloud_make(s->ctx, &s->from[k], &clouds[k]);
        if (status != ATN_OK) break;
        shown[k] = (atn_view_cloud){.name = s->names[k], .color = (s->n == 2 ? 1 - k : k) % 6};
        shown[k].n = atn_cloud_info_of(clouds[k]).points;
        for (int axis = 0; axis < 3; ++axis) shown[k].axis[axis] = atn_cloud_positions(clouds[k], axis);
        moved[k] = s->moved[k];
    }
    if (status == ATN_OK) {
        const atn_view_panel panels[] = {{.title = "before"}, {.title = "after", .moved = moved}};
        s->page.ctx = s->ctx;
        atn_page_begin(&s->page, s->title, "");
        atn_page_table(&s->page, s->rows, "ll");
        atn_view_draw(&s->page, shown, (size_t)s->n, panels, 2, NULL);
        atn_page_end(&s->page, NULL);
        status = atn_text_status(&s->page);
    }
    for (int32_t k = 0; k < s->n; ++k) atn_cloud_free(clouds[k]);
    return status;
}

static bool take_shown(PyObject *list, showing *s) {
    Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
    if (count < 1 || count > MOST_SHOWN) return false;
    for (Py_ssize_t k = 0; k < count; ++k) {
        PyObject *name, *given, *transform;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "UOO", &name, &given, &transform)) return false;
        PyObject *text = PyUnicode_AsUTF8String(name);
        if (!text) return false;
        snprintf(s->names[k], sizeof *s->names, "%s", PyBytes_AsString(text));
        Py_DECREF(text);
        const py_field MATRIX[] = {{"transform", PY_DOUBLE, 0, 16, NULL}, {0}};
        PyObject *settings = Py_BuildValue("{sO}", "transform", transform);
        bool good = settings && py_fields_read(settings, MATRIX, "view", s->moved[k]) &&
                    py_cloud_read(given, "cloud", &s->from[k]);
        Py_XDECREF(settings);
        if (!good) return false;
    }
    s->n = (int32_t)count;
    return true;
}

/* view(engine, title, rows, [(name, cloud, 16 numbers), ...]) -> HTML */
static PyObject *view(PyObject *module, PyObject *args) {
    PyObject *object, *list;
    showing s = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OssO", &object, &s.title, &s.rows, &list)) return NULL;
    py_engine *engine = py_engine_of(object);
    if (!engine || !take_shown(list, &s)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "view: 1 to 8 clouds are shown");
        return NULL;
    }
    s.ctx = engine->ctx;
    atn_status status = py_work(engine, draw, &s);
    PyObject *out = status == ATN_OK ? PyUnicode_DecodeUTF8(s.page.data, (Py_ssize_t)s.page.length, "replace")
                                     : py_fail(engine->ctx, status);
    atn_text_free(&s.page);
    return out;
}

PyMethodDef PY_CLOUD_FUNCTIONS[] = {{"cloud", cloud, METH_VARARGS, NULL}, {"view", view, METH_VARARGS, NULL}, {0}};
