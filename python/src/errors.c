/* Failures become exceptions with the library's sentence. */
#include "module.h"

static PyObject *error, *input_error;

int py_errors_add(PyObject *module) {
    error = PyErr_NewExceptionWithDoc(
        "attune.Error", "Raised if attune fails; the text says why, `status` is the kind of failure.", NULL, NULL);
    PyObject *bases = error ? PyTuple_Pack(2, error, PyExc_ValueError) : NULL;
    input_error =
        bases ? PyErr_NewExceptionWithDoc("attune.InputError",
                                          "Raised for invalid input: a file, a size, a name, a setting.", bases, NULL)
              : NULL;
    Py_XDECREF(bases);
    if (!input_error) return -1;
    Py_INCREF(error);
    Py_INCREF(input_error);
    if (PyModule_AddObject(module, "Error", error) < 0) return -1;
    return PyModule_AddObject(module, "InputError", input_error);
}

PyObject *py_fail_with(atn_status status, const char *sentence) {
    PyObject *type = status == ATN_ERR_INPUT ? input_error : error;
    PyObject *text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "replace");
    PyObject *raised = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    PyObject *name = raised ? PyUnicode_FromString(atn_status_name(status)) : NULL;
    if (name && PyObject_SetAttrString(raised, "status", name) == 0) PyErr_SetObject(type, raised);
    Py_XDECREF(name);
    Py_XDECREF(raised);
    Py_XDECREF(text);
    return NULL;
}

PyObject *py_fail(const atn_ctx *ctx, atn_status status) {
    if (PyErr_Occurred()) return NULL;
    if (status == ATN_ERR_CANCELLED && PyErr_CheckSignals() != 0) return NULL;
    const char *sentence = ctx ? atn_ctx_message(ctx) : "";
    return py_fail_with(status, *sentence ? sentence : atn_status_name(status));
}
