/* register_batch(engine, clouds, pairs, settings, watch, drop): atn_register_batch_several; pairs are (source, target,
 * init or None), with indices of clouds and init a word or 16 numbers. Returns a list of dictionaries as `register`
 * does, with (status, sentence) for those that failed. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

typedef struct pair {
    size_t cloud[2];
    atn_register_settings start; /* `init` and `start` of it */
    size_t at;                   /* its place in the batch; SIZE_MAX: a cloud of it cannot be read */
} pair;

typedef struct cloud {
    py_cloud from;
    atn_cloud *cloud; /* NULL: it cannot be read */
    atn_status status;
    char *sentence;
} cloud;

typedef struct job {
    atn_ctx *ctx;
    atn_device *device[ATN_MOST_DEVICES];
    int32_t devices;
    size_t n_clouds, n_pairs, n_batch;
    cloud *clouds;
    pair *pairs;
    atn_register_pair *batch;
    atn_register_settings settings;
    py_watch watch;
    size_t done;
    bool stopped; /* by whoever watches */
} job;

static PyObject *step_of(const void *step) {
    const job *j = step;
    return Py_BuildValue("{ss,sn,sn}", "doing", "registering", "done", (Py_ssize_t)j->done, "count",
                         (Py_ssize_t)j->n_batch);
}

static void done(void *user, size_t pair_number) {
    job *j = user;
    j->done = pair_number + 1;
    if (j->stopped || py_watch_tell(&j->watch, step_of, j)) return;
    j->stopped = true;
    atn_ctx_cancel(j->ctx);
}

static atn_status read_clouds(job *j) {
    for (size_t k = 0; k < j->n_clouds; ++k) {
        cloud *c = &j->clouds[k];
        c->status = py_cloud_make(j->ctx, &c->from, &c->cloud);
        if (c->status == ATN_ERR_MEMORY || c->status == ATN_ERR_CANCELLED) return c->status;
        if (c->status != ATN_OK && !(c->sentence = strdup(atn_ctx_message(j->ctx)))) return ATN_ERR_MEMORY;
    }
    return ATN_OK;
}

static atn_status work(void *user) {
    job *j = user;
    atn_status status = read_clouds(j);
    for (size_t k = 0; k < j->n_pairs && status == ATN_OK; ++k) {
        pair *p = &j->pairs[k];
        const atn_cloud *source = j->clouds[p->cloud[0]].cloud, *target = j->clouds[p->cloud[1]].cloud;
        p->at = source && target ? j->n_batch++ : SIZE_MAX;
        if (p->at == SIZE_MAX) continue;
        atn_register_pair *to = &j->batch[p->at];
        *to = (atn_register_pair){.size = sizeof *to, .source = source, .target = target};
        if (p->start.init == ATN_START_GIVEN)
            to->start = p->start.start;
        else
            to->init = p->start.init;
    }
    if (status == ATN_OK && j->n_batch)
        status = atn_register_batch_several(j->device, j->devices, j->n_batch, j->batch, &j->settings);
    return status;
}

/* ---- from Python, and back ---- */

static bool read_pair(PyObject *given, const job *j, pair *out) {
    PyObject *start;
    Py_ssize_t source, target;
    if (!PyArg_ParseTuple(given, "nnO", &source, &target, &start)) return false;
    if (source < 0 || target < 0 || (size_t)source >= j->n_clouds || (size_t)target >= j->n_clouds) {
        PyErr_SetString(PyExc_ValueError, "register_batch: no such cloud");
        return false;
    }
    out->cloud[0] = (size_t)source;
    out->cloud[1] = (size_t)target;
    return start == Py_None || py_register_settings(start, &out->start);
}

static bool read_all(PyObject *clouds, PyObject *pairs, bool drop, job *j) {
    for (size_t k = 0; k < j->n_clouds; ++k) {
        if (!py_cloud_read(PyList_GetItem(clouds, (Py_ssize_t)k), "points", &j->clouds[k].from)) return false;
        j->clouds[k].from.drop_invalid = drop;
    }
    for (size_t k = 0; k < j->n_pairs; ++k)
        if (!read_pair(PyList_GetItem(pairs, (Py_ssize_t)k), j, &j->pairs[k])) return false;
    return true;
}

static PyObject *result_of(const job *j, const pair *p) {
    const atn_register_pair *in = p->at != SIZE_MAX ? &j->batch[p->at] : NULL;
    if (in && in->status == ATN_OK) return py_register_result(&in->result);
    const cloud *bad = &j->clouds[p->cloud[j->clouds[p->cloud[0]].cloud != NULL]];
    return in ? Py_BuildValue("(ss)", atn_status_name(in->status), in->message)
              : Py_BuildValue("(ss)", atn_status_name(bad->status), bad->sentence);
}

static PyObject *results_of(const job *j) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; k < j->n_pairs && list; ++k) {
        PyObject *one = result_of(j, &j->pairs[k]);
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static void end(job *j) {
    for (size_t k = 0; k < j->n_clouds && j->clouds; ++k) {
        atn_cloud_free(j->clouds[k].cloud);
        free(j->clouds[k].sentence);
    }
    free(j->clouds);
    free(j->pairs);
    free(j->batch);
}

static PyObject *register_batch(PyObject *module, PyObject *args) {
    PyObject *object, *clouds, *pairs, *settings, *callback, *out = NULL;
    int drop;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O!OOp", &object, &PyList_Type, &clouds, &PyList_Type, &pairs, &settings, &callback,
                          &drop))
        return NULL;
    py_engine *engine = py_engine_with_device(object);
    job j = {.n_clouds = (size_t)PyList_Size(clouds), .n_pairs = (size_t)PyList_Size(pairs)};
    if (!engine || !py_register_settings(settings, &j.settings)) return NULL;
    j.ctx = engine->ctx;
    j.devices = py_engine_devices(engine, j.device);
    if (callback != Py_None) {
        j.watch.call = callback;
        j.settings.done = done;
        j.settings.done_user = &j;
    }
    j.clouds = calloc(j.n_clouds + 1, sizeof *j.clouds);
    j.pairs = calloc(j.n_pairs + 1, sizeof *j.pairs);
    j.batch = calloc(j.n_pairs + 1, sizeof *j.batch);
    if (!j.clouds || !j.pairs || !j.batch) {
        PyErr_NoMemory();
    } else if (read_all(clouds, pairs, drop, &j)) {
        atn_status status = py_work(engine, work, &j);
        if (j.stopped) atn_ctx_resume(j.ctx);
        if (!py_watch_raised(&j.watch)) out = status == ATN_OK ? results_of(&j) : py_fail(engine->ctx, status);
    }
    end(&j);
    return out;
}

PyMethodDef PY_BATCH_FUNCTIONS[] = {{"register_batch", register_batch, METH_VARARGS, NULL}, {0}};
