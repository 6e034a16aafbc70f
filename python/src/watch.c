/* Progress: functions of Python's that long work calls. */
#include "module.h"

bool py_watch_tell(py_watch *watch, PyObject *(*make)(const void *step), const void *step) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *now = make(step);
    PyObject *answer = now ? PyObject_CallFunctionObjArgs(watch->call, now, NULL) : NULL;
    bool go_on = answer && answer != Py_False;
    if (!answer) PyErr_Fetch(&watch->type, &watch->value, &watch->traceback);
    Py_XDECREF(answer);
    Py_XDECREF(now);
    PyGILState_Release(state);
    return go_on;
}

bool py_watch_raised(py_watch *watch) {
    if (!watch->type) return false;
    PyErr_Restore(watch->type, watch->value, watch->traceback);
    watch->type = NULL;
    return true;
}

static PyObject *step_of(const void *step) {
    const atn_progress *now = step;
    return Py_BuildValue("{ss,sL,sL}", "doing", now->doing, "done", (long long)now->done, "count",
                         (long long)now->count);
}

static bool on_progress(void *user, const atn_progress *now) { return py_watch_tell(user, step_of, now); }

/* watch(engine, function or None): called while its work is under way, with doing, done and count. */
static PyObject *watch(PyObject *module, PyObject *args) {
    PyObject *object, *call;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &object, &call)) return NULL;
    py_engine *engine = py_engine_of(object);
    if (!engine) return NULL;
    Py_XDECREF(engine->watch.call);
    engine->watch = (py_watch){0};
    if (call != Py_None) {
        Py_INCREF(call);
        engine->watch.call = call;
    }
    atn_ctx_on_progress(engine->ctx, call != Py_None ? on_progress : NULL, &engine->watch);
    Py_RETURN_NONE;
}

PyMethodDef PY_WATCH_FUNCTIONS[] = {{"watch", watch, METH_VARARGS, NULL}, {0}};
