/* Fields of C structs by name: dictionaries in, dictionaries out. */
#include "module.h"

#include <limits.h>
#include <string.h>

static const size_t BYTES[] = {[PY_BOOL] = sizeof(bool),   [PY_INT32] = sizeof(int32_t), [PY_INT64] = sizeof(int64_t),
                               [PY_SIZE] = sizeof(size_t), [PY_DOUBLE] = sizeof(double), [PY_WORD] = sizeof(int),
                               [PY_TEXT] = sizeof(char)};
static const char *const WANTED[] = {[PY_BOOL] = "True or False",   [PY_INT32] = "a whole number",
                                     [PY_INT64] = "a whole number", [PY_SIZE] = "a whole number from 0",
                                     [PY_DOUBLE] = "a number",      [PY_WORD] = "a name",
                                     [PY_TEXT] = "a text"};

/* ---- reading ---- */

static bool wrong_type(const char *what, const py_field *f, PyObject *value) {
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    PyErr_Format(PyExc_TypeError, "%s: %s takes %s, not %S", what, f->name, WANTED[f->kind],
                 type ? type : (PyObject *)Py_TYPE(value));
    Py_XDECREF(type);
    return false;
}

static bool read_word(PyObject *value, const py_field *f, const char *what, int *out) {
    char all[256] = "";
    size_t at = 0;
    if (!PyUnicode_Check(value)) return wrong_type(what, f, value);
    for (int k = 0; f->words[k]; ++k) {
        if (PyUnicode_CompareWithASCIIString(value, f->words[k]) == 0) {
            *out = k;
            return true;
        }
        at += (size_t)snprintf(all + at, at < sizeof all ? sizeof all - at : 0, "%s%s", k ? ", " : "", f->words[k]);
    }
    PyErr_Format(PyExc_ValueError, "%s: %s cannot be %R; there are %s", what, f->name, value, all);
    return false;
}

static bool read_whole(PyObject *value, const py_field *f, const char *what, long long low, long long high,
                       long long *out) {
    PyObject *index = PyBool_Check(value) ? NULL : PyNumber_Index(value);
    if (!index) {
        PyErr_Clear();
        return wrong_type(what, f, value);
    }
    *out = PyLong_AsLongLong(index);
    bool failed = PyErr_Occurred();
    Py_DECREF(index);
    PyErr_Clear();
    if (!failed && *out >= low && *out <= high) return true;
    PyErr_Format(PyExc_ValueError, "%s: %s cannot be %R; it is from %lld to %lld", what, f->name, value, low, high);
    return false;
}

static bool read_number(PyObject *value, const py_field *f, const char *what, double *out) {
    *out = PyFloat_AsDouble(value);
    if (!PyErr_Occurred() && *out == *out) return true;
    bool nan = !PyErr_Occurred();
    PyErr_Clear();
    if (!nan) return wrong_type(what, f, value);
    PyErr_Format(PyExc_ValueError, "%s: %s is NaN", what, f->name);
    return false;
}

static bool read_one(PyObject *value, const py_field *f, const char *what, char *out) {
    long long whole = 0;
    double number;
    int word;
    bool flag;
    switch (f->kind) {
    case PY_BOOL:
        if (!PyBool_Check(value) && !PyLong_Check(value)) {
            int truth = PyObject_IsInstance(value, (PyObject *)&PyLong_Type); /* numpy's booleans are neither */
            PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
            bool numpy = truth == 0 && type &&
                         (PyUnicode_CompareWithASCIIString(type, "bool_") == 0 ||
                          PyUnicode_CompareWithASCIIString(type, "bool") == 0);
            Py_XDECREF(type);
            if (!numpy) return wrong_type(what, f, value);
        }
        flag = PyObject_IsTrue(value) == 1;
        memcpy(out, &flag, sizeof flag);
        return !PyErr_Occurred();
    case PY_INT32:
        if (!read_whole(value, f, what, INT32_MIN, INT32_MAX, &whole)) return false;
        memcpy(out, &(int32_t){(int32_t)whole}, sizeof(int32_t));
        return true;
    case PY_INT64:
        if (!read_whole(value, f, what, INT64_MIN, INT64_MAX, &whole)) return false;
        memcpy(out, &(int64_t){whole}, sizeof(int64_t));
        return true;
    case PY_SIZE:
        if (!read_whole(value, f, what, 0, INT64_MAX, &whole)) return false;
        memcpy(out, &(size_t){(size_t)whole}, sizeof(size_t));
        return true;
    case PY_DOUBLE:
        if (!read_number(value, f, what, &number)) return false;
        memcpy(out, &number, sizeof number);
        return true;
    case PY_WORD:
        if (!read_word(value, f, what, &word)) return false;
        memcpy(out, &word, sizeof word);
        return true;
    default:
        return wrong_type(what, f, value);
    }
}

static bool read_several(PyObject *value, const py_field *f, const char *what, char *out) {
    if (!PySequence_Check(value) || PySequence_Size(value) != f->count) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s: %s takes %d numbers", what, f->name, (int)f->count);
        return false;
    }
    for (int32_t k = 0; k < f->count; ++k) {
        PyObject *item = PySequence_GetItem(value, k);
        bool good = item && read_one(item, f, what, out + (size_t)k * BYTES[f->kind]);
        Py_XDECREF(item);
        if (!good) return false;
    }
    return true;
}

static const py_field *find(const py_field *fields, PyObject *name) {
    for (const py_field *f = fields; f->name; ++f)
        if (PyUnicode_CompareWithASCIIString(name, f->name) == 0) return f;
    return NULL;
}

bool py_fields_read(PyObject *dictionary, const py_field *fields, const char *what, void *out) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Check(dictionary)) {
        PyErr_SetString(PyExc_TypeError, "settings are a dictionary");
        return false;
    }
    while (PyDict_Next(dictionary, &at, &name, &value)) {
        const py_field *f = PyUnicode_Check(name) ? find(fields, name) : NULL;
        if (!f) {
            PyErr_Format(PyExc_TypeError, "%s: unknown setting %R", what, name);
            return false;
        }
        char *place = (char *)out + f->offset;
        if (f->count ? !read_several(value, f, what, place) : !read_one(value, f, what, place)) return false;
    }
    return true;
}

/* ---- writing ---- */

static PyObject *write_one(const char *from, const py_field *f) {
    int32_t small;
    int64_t whole;
    size_t size;
    double number;
    int word;
    switch (f->kind) {
    case PY_BOOL:
        return PyBool_FromLong(*(const bool *)from);
    case PY_INT32:
        memcpy(&small, from, sizeof small);
        return PyLong_FromLong(small);
    case PY_INT64:
        memcpy(&whole, from, sizeof whole);
        return PyLong_FromLongLong(whole);
    case PY_SIZE:
        memcpy(&size, from, sizeof size);
        return PyLong_FromSize_t(size);
    case PY_DOUBLE:
        memcpy(&number, from, sizeof number);
        return PyFloat_FromDouble(number);
    case PY_WORD:
        memcpy(&word, from, sizeof word);
        return PyUnicode_FromString(f->words[word]);
    default:
        return PyUnicode_DecodeUTF8(from, (Py_ssize_t)strlen(from), "replace");
    }
}

static PyObject *write_several(const char *from, const py_field *f) {
    PyObject *list = PyList_New(0);
    for (int32_t k = 0; k < f->count && list; ++k) {
        PyObject *item = write_one(from + (size_t)k * BYTES[f->kind], f);
        if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

PyObject *py_fields_write(const void *from, const py_field *fields) {
    PyObject *out = PyDict_New();
    for (const py_field *f = fields; f->name && out; ++f) {
        const char *place = (const char *)from + f->offset;
        PyObject *value = f->count ? write_several(place, f) : write_one(place, f);
        if (!value || PyDict_SetItemString(out, f->name, value) != 0) Py_CLEAR(out);
        Py_XDECREF(value);
    }
    return out;
}

PyObject *py_fields_names(const py_field *fields) {
    PyObject *list = PyList_New(0);
    for (const py_field *f = fields; f->name && list; ++f) {
        PyObject *name = PyUnicode_FromString(f->name);
        if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}
