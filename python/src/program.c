/* Program(engine, description, defines): a described kernel or program, arrays bound by name. */
#include "module.h"

#include "graph/graph.h"
#include "graph/shipped.h"

#include <string.h>

static PyObject *program_type;
enum { MOST_DEFINES = 32 };

typedef struct py_program {
    PyObject_HEAD py_engine *engine; /* owned */
    atn_program *program;
    PyObject *bound; /* arrays by name, so that they live as long as they are bound; owned */
} py_program;

typedef struct making {
    atn_device *device;
    const char *description;
    atn_kernel_settings options;
    atn_program *program;
} making;

static atn_status create(void *user) {
    making *m = user;
    return atn_program_create(m->device, m->description, &m->options, &m->program);
}

static bool read_defines(PyObject *list, const char **out) {
    Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
    if (count < 0 || count > MOST_DEFINES) {
        PyErr_Format(PyExc_ValueError, "kernel: at most %d defines", MOST_DEFINES);
        return false;
    }
    for (Py_ssize_t k = 0; k < count; ++k)
        if (!(out[k] = PyBytes_AsString(PyList_GetItem(list, k)))) return false;
    out[count] = NULL;
    return true;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *object, *defines;
    const char *list[MOST_DEFINES + 1];
    making m = {0};
    int reproducible;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OyOpd", &object, &m.description, &defines, &reproducible, &m.options.tolerance))
        return NULL;
    py_engine *engine = py_engine_with_device(object);
    if (!engine || !read_defines(defines, list)) return NULL;
    m.device = engine->device;
    m.options.defines = list;
    m.options.reproducible = reproducible;
    atn_status status = py_work(engine, create, &m);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    py_program *self = PyObject_New(py_program, type);
    if (!self) {
        atn_program_free(m.program);
        return NULL;
    }
    self->engine = engine;
    Py_INCREF(engine);
    self->program = m.program;
    self->bound = PyDict_New();
    if (self->bound) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void free_program(void *program) { atn_program_free(program); }

static void dealloc(PyObject *object) {
    py_program *self = (py_program *)object;
    PyTypeObject *type = Py_TYPE(object);
    py_release(self->engine, self->program, free_program);
    Py_XDECREF(self->bound);
    Py_DECREF(self->engine);
    PyObject_Free(object);
    Py_DECREF(type);
}

static py_engine *engine_of(PyObject *self) { return py_engine_with_device((PyObject *)((py_program *)self)->engine); }

/* ---- names ---- */

/* As numpy has it: planes, rows, columns. */
static PyObject *shape_of(const atn_program_name *name) {
    if (name->shape[0] < 0) Py_RETURN_NONE;
    PyObject *shape = PyTuple_New(name->rank);
    for (int32_t k = 0; k < name->rank && shape; ++k) PyTuple_SetItem(shape, k, PyLong_FromLongLong(name->shape[k]));
    return shape;
}

static PyObject *names(PyObject *object, PyObject *nothing) {
    const atn_program *program = ((py_program *)object)->program;
    (void)nothing;
    PyObject *list = engine_of(object) ? PyList_New(0) : NULL;
    for (int32_t k = 0; list && k < atn_program_count(program); ++k) {
        atn_program_name n = atn_program_name_of(program, k);
        PyObject *shape = n.rank ? shape_of(&n) : (Py_INCREF(Py_None), Py_None);
        PyObject *row =
            Py_BuildValue("{ss,ss,si,sO,sO,sO,sN}", "name", n.name, "type", atn_type_name(n.type), "rank", (int)n.rank,
                          "read", n.read ? Py_True : Py_False, "written", n.written ? Py_True : Py_False, "has_value",
                          n.has_value ? Py_True : Py_False, "shape", shape);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* ---- binding and running ---- */

static PyObject *bind(PyObject *object, PyObject *args) {
    py_program *self = (py_program *)object;
    const char *name;
    PyObject *given;
    if (!PyArg_ParseTuple(args, "sO", &name, &given)) return NULL;
    py_engine *engine = engine_of(object);
    atn_array *array = engine ? py_array_of(given, engine) : NULL;
    if (!array) return NULL;
    atn_status status = atn_program_bind(self->program, name, array);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    if (PyDict_SetItemString(self->bound, name, given) != 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *param(PyObject *object, PyObject *args) {
    const char *name;
    double real, imaginary;
    if (!PyArg_ParseTuple(args, "sdd", &name, &real, &imaginary)) return NULL;
    py_engine *engine = engine_of(object);
    if (!engine) return NULL;
    atn_status status = atn_program_param(((py_program *)object)->program, name, real, imaginary);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    Py_RETURN_NONE;
}

static atn_status size_work(void *user) { return atn_program_size(user); }
static atn_status run_work(void *user) { return atn_program_run(user); }

static PyObject *work(PyObject *object, atn_status (*how)(void *user)) {
    py_engine *engine = engine_of(object);
    if (!engine) return NULL;
    atn_status status = py_work(engine, how, ((py_program *)object)->program);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    Py_RETURN_NONE;
}

static PyObject *size(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return work(self, size_work);
}

static PyObject *run(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return work(self, run_work);
}

static PyObject *explain(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return engine_of(self) ? PyUnicode_FromString(atn_program_explain(((py_program *)self)->program)) : NULL;
}

static PyObject *note(PyObject *self, PyObject *nothing) {
    (void)nothing;
    const char *text = engine_of(self) ? atn_program_note(((py_program *)self)->program) : NULL;
    if (text) return PyUnicode_FromString(text);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* Does a description leave its element type open? */
static PyObject *needs_type(PyObject *module, PyObject *args) {
    const char *text;
    Py_ssize_t length;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &text, &length)) return NULL;
    return PyBool_FromLong(atn_description_needs_float(text, (size_t)length));
}

/* The text of a kernel or program that is shipped, or None. */
static PyObject *shipped(PyObject *module, PyObject *args) {
    const char *name;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    const char *text = atn_shipped_find(name);
    if (text) return PyUnicode_FromString(text);
    Py_RETURN_NONE;
}

int py_program_add(PyObject *module) {
    static PyMethodDef functions[] = {
        {"needs_type", needs_type, METH_VARARGS, NULL}, {"shipped", shipped, METH_VARARGS, NULL}, {0}};
    static PyMethodDef methods[] = {{"names", names, METH_NOARGS, NULL},  {"bind", bind, METH_VARARGS, NULL},
                                    {"param", param, METH_VARARGS, NULL}, {"size", size, METH_NOARGS, NULL},
                                    {"run", run, METH_NOARGS, NULL},      {"explain", explain, METH_NOARGS, NULL},
                                    {"note", note, METH_NOARGS, NULL},    {0}};
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {
        .name = "attune._attune.Program", .basicsize = sizeof(py_program), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    program_type = py_type_add(module, &spec, "Program");
    return program_type ? PyModule_AddFunctions(module, functions) : -1;
}
