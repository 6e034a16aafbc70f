/* Host arrays by __array_interface__: where they are and what they are. */
#include "module.h"

#include <string.h>

static bool read_type(PyObject *interface, const char *name, py_view *out) {
    PyObject *text = PyMapping_GetItemString(interface, "typestr");
    PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    const char *type = bytes ? PyBytes_AsString(bytes) : NULL;
    const uint16_t one = 1;
    char foreign = *(const char *)&one ? '>' : '<';
    bool good = type && strlen(type) >= 3 && strlen(type) - 1 < sizeof out->type;
    if (good && *type == foreign) {
        PyErr_Format(PyExc_ValueError, "%s: the byte order is not the machine's", name);
        good = false;
    }
    if (good) snprintf(out->type, sizeof out->type, "%s", type + 1);
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    return good;
}

static bool read_shape(PyObject *interface, const char *name, py_view *out) {
    PyObject *shape = PyMapping_GetItemString(interface, "shape");
    Py_ssize_t axes = shape ? PySequence_Size(shape) : -1;
    if (axes > PY_MOST_AXES) PyErr_Format(PyExc_ValueError, "%s: %zd axes are too many", name, axes);
    for (Py_ssize_t k = 0; k < axes && !PyErr_Occurred(); ++k) {
        PyObject *item = PySequence_GetItem(shape, k);
        out->shape[k] = item ? PyLong_AsLongLong(item) : -1;
        Py_XDECREF(item);
    }
    out->axes = (int)axes;
    Py_XDECREF(shape);
    return !PyErr_Occurred();
}

static bool read_data(PyObject *interface, const char *name, py_view *out) {
    PyObject *data = PyMapping_GetItemString(interface, "data");
    PyObject *strides = PyMapping_GetItemString(interface, "strides");
    PyErr_Clear(); /* there need be no strides */
    PyObject *address = data ? PySequence_GetItem(data, 0) : NULL, *flag = data ? PySequence_GetItem(data, 1) : NULL;
    out->data = address ? PyLong_AsVoidPtr(address) : NULL;
    out->read_only = flag && PyObject_IsTrue(flag) == 1;
    bool good = address && flag && !PyErr_Occurred();
    if (good && strides && strides != Py_None) {
        PyErr_Format(PyExc_ValueError, "%s: it is not contiguous in C order", name);
        good = false;
    }
    Py_XDECREF(address);
    Py_XDECREF(flag);
    Py_XDECREF(strides);
    Py_XDECREF(data);
    return good;
}

/* Is `type` a word of `types`? */
static bool is_among(const char *type, const char *types) {
    size_t length = strlen(type);
    for (const char *at = types; (at = strstr(at, type)); at += length)
        if ((at == types || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

bool py_view_read(PyObject *object, const char *name, const char *types, int axes, py_view *out) {
    *out = (py_view){0};
    PyObject *interface = PyObject_GetAttrString(object, "__array_interface__");
    bool good = interface && read_type(interface, name, out) && read_shape(interface, name, out) &&
                read_data(interface, name, out);
    Py_XDECREF(interface);
    if (good && !is_among(out->type, types)) {
        PyErr_Format(PyExc_TypeError, "%s: elements are %s, not one of %s", name, out->type, types);
        good = false;
    }
    if (good && axes && out->axes != axes) {
        PyErr_Format(PyExc_ValueError, "%s: %d axes, not %d", name, out->axes, axes);
        good = false;
    }
    if (!good && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: it is not an array", name);
    return good;
}

bool py_path(PyObject *object, const char **out) {
    *out = PyBytes_Check(object) ? PyBytes_AsString(object) : NULL;
    if (!*out) PyErr_SetString(PyExc_TypeError, "expected a path as bytes");
    return *out;
}
