/* Engines: a context and a device each, and work without the interpreter's lock that Ctrl-C and the interpreter's end
 * can stop. */
#include "module.h"

#include "device/backend.h"
#include "space/device_given.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static PyObject *engine_type;
static bool forked;            /* this process was made by fork after the module was loaded */
static py_engine *all_engines; /* guarded by the interpreter's lock, as all of an engine is while it does not run */

typedef struct py_pending {
    void *object;
    void (*release)(void *object);
    struct py_pending *next;
} py_pending;

/* ---- warnings ---- */

/* What the library warns of while it works, from any thread, until the interpreter's lock is held again. */
typedef struct py_said {
    pthread_mutex_t lock;
    int32_t count;
    char line[8][ATN_MESSAGE_BYTES];
} py_said;
enum { MOST_SAID = sizeof((py_said *)0)->line / sizeof *((py_said *)0)->line };

static void keep_warning(void *user, atn_log_level level, const char *line) {
    py_said *said = user;
    if (level < ATN_LOG_WARNING) return;
    pthread_mutex_lock(&said->lock);
    if (said->count < MOST_SAID) snprintf(said->line[said->count++], sizeof *said->line, "%s", line);
    pthread_mutex_unlock(&said->lock);
}

/* RuntimeWarnings of whoever called the package. Work that is done is not undone by a filter that makes errors of them.
 * From a copy: what shows them is Python, which may use the engine again. */
static void warn(py_said *said) {
    enum { CALLER = 2 };
    PyObject *type, *value, *traceback;
    char line[MOST_SAID][ATN_MESSAGE_BYTES];
    pthread_mutex_lock(&said->lock);
    int32_t count = said->count;
    memcpy(line, said->line, (size_t)count * sizeof *line);
    said->count = 0;
    pthread_mutex_unlock(&said->lock);
    if (!count) return;
    PyErr_Fetch(&type, &value, &traceback);
    for (int32_t k = 0; k < count; ++k)
        if (PyErr_WarnEx(PyExc_RuntimeWarning, line[k], CALLER) != 0) PyErr_WriteUnraisable(NULL);
    PyErr_Restore(type, value, traceback);
}

/* ---- making and closing ---- */

static py_engine *new_engine(atn_status *status) {
    py_engine *engine = PyObject_New(py_engine, (PyTypeObject *)engine_type);
    if (!engine) return NULL;
    engine->ctx = NULL;
    engine->device = NULL;
    engine->n_more = 0;
    engine->abandoned = engine->running = false;
    engine->watch = (py_watch){0};
    engine->pending = NULL;
    engine->next = all_engines;
    all_engines = engine;
    engine->said = calloc(1, sizeof *engine->said);
    atn_ctx_settings settings = ATN_INIT(atn_ctx_settings);
    settings.log = engine->said ? keep_warning : NULL;
    settings.log_user = engine->said;
    settings.log_from = ATN_LOG_WARNING;
    if (engine->said) pthread_mutex_init(&engine->said->lock, NULL);
    *status = atn_ctx_create(&settings, &engine->ctx);
    return engine;
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    py_engine *engine = (py_engine *)self, **at = &all_engines;
    while (*at && *at != engine) at = &(*at)->next;
    if (*at) *at = engine->next;
    Py_XDECREF(engine->watch.call);
    if (!engine->abandoned) {
        atn_device_close(engine->device);
        for (int32_t k = 0; k < engine->n_more; ++k) atn_device_close(engine->more[k]);
        atn_ctx_free(engine->ctx);
        if (engine->said) pthread_mutex_destroy(&engine->said->lock);
        free(engine->said);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

int32_t py_engine_devices(const py_engine *engine, atn_device *out[ATN_MOST_DEVICES]) {
    out[0] = engine->device;
    memcpy(out + 1, engine->more, (size_t)engine->n_more * sizeof *engine->more);
    return 1 + engine->n_more;
}

void py_release(py_engine *engine, void *object, void (*release)(void *object)) {
    if (!object || engine->abandoned) return;
    py_pending *later = engine->running ? malloc(sizeof *later) : NULL;
    if (later) {
        *later = (py_pending){object, release, engine->pending};
        engine->pending = later;
    } else if (!engine->running) {
        release(object);
    }
}

static void release_pending(py_engine *engine) {
    while (engine->pending) {
        py_pending *first = engine->pending;
        engine->pending = first->next;
        first->release(first->object);
        free(first);
    }
}

typedef struct opening {
    atn_ctx *ctx;
    const char *wanted;
    const char *backend; /* with its ordinal, instead of a name; or NULL */
    int32_t ordinal;
    bool several; /* `wanted` names one or more, with commas between them */
    int32_t count;
    atn_device *device[ATN_MOST_DEVICES];
} opening;

/* After a fork drivers of the parent's cannot be asked: the host alone is there. */
static atn_status open_host(opening *o) {
    atn_device_info info;
    if ((o->wanted && *o->wanted && strcmp(o->wanted, "host") != 0 && strcmp(o->wanted, "0") != 0) ||
        (o->backend && strcmp(o->backend, "host") != 0))
        return atn_fail(o->ctx, ATN_ERR_UNSUPPORTED,
                        "device '%s': in a process made by fork only the host works; start processes with spawn",
                        o->wanted ? o->wanted : o->backend);
    atn_device_host_info(&info);
    atn_status status = atn_device_open_info(o->ctx, &info, o->device);
    o->count = status == ATN_OK;
    return status;
}

static atn_status pick(const opening *o, const atn_devices *devices, int32_t index[ATN_MOST_DEVICES], int32_t *count) {
    if (o->several) return atn_devices_pick_several(devices, o->wanted, index, count);
    *count = 1;
    if (!o->backend) return atn_devices_pick(devices, o->wanted, index);
    for (*index = 0; *index < atn_devices_count(devices); ++*index) {
        const atn_device_info *info = atn_devices_info(devices, *index);
        if (strcmp(info->backend, o->backend) == 0 && info->ordinal == o->ordinal) return ATN_OK;
    }
    return atn_fail(o->ctx, ATN_ERR_UNSUPPORTED, "there is no device %s %d here; 'attune devices' says why", o->backend,
                    (int)o->ordinal);
}

static atn_status open_device(void *user) {
    opening *o = user;
    if (forked) return open_host(o);
    atn_devices *devices = NULL;
    int32_t index[ATN_MOST_DEVICES] = {0}, wanted = 0;
    atn_status status = atn_devices_find(o->ctx, &devices);
    if (status == ATN_OK) status = pick(o, devices, index, &wanted);
    for (; status == ATN_OK && o->count < wanted; o->count += status == ATN_OK)
        status = atn_device_open(devices, index[o->count], &o->device[o->count]);
    atn_devices_free(devices);
    return status;
}

/* engine(name or None), engine(None, backend, ordinal) or engine(names, None, 0, True); engine(False): one without a
 * device */
static PyObject *make(PyObject *module, PyObject *args) {
    PyObject *wanted = NULL, *text = NULL;
    const char *backend = NULL;
    int ordinal = 0, several = 0;
    atn_status status = ATN_OK;
    (void)module;
    if (!PyArg_ParseTuple(args, "O|zip", &wanted, &backend, &ordinal, &several)) return NULL;
    if (wanted != Py_None && wanted != Py_False && !(text = PyUnicode_AsUTF8String(wanted))) return NULL;
    py_engine *engine = new_engine(&status);
    if (engine && status == ATN_OK && wanted != Py_False) {
        opening o = {.ctx = engine->ctx,
                     .wanted = text ? PyBytes_AsString(text) : NULL,
                     .backend = backend,
                     .ordinal = ordinal,
                     .several = several};
        status = py_work(engine, open_device, &o);
        engine->device = o.device[0];
        engine->n_more = o.count > 1 ? o.count - 1 : 0;
        memcpy(engine->more, o.device + 1, (size_t)engine->n_more * sizeof *o.device);
    }
    Py_XDECREF(text);
    if (!engine || status == ATN_OK) return (PyObject *)engine;
    py_fail(engine->ctx, status);
    Py_DECREF(engine);
    return NULL;
}

py_engine *py_engine_of(PyObject *object) {
    py_engine *engine = (py_engine *)object;
    if (PyObject_IsInstance(object, engine_type) != 1) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected an engine");
        return NULL;
    }
    if (engine->abandoned)
        py_fail_with(ATN_ERR_UNSUPPORTED, "this object was made before a fork, and its device is the parent's; make a "
                                          "new one here, or start processes with spawn");
    else if (engine->running)
        py_fail_with(ATN_ERR_INPUT, "another thread is using it");
    else
        return engine;
    return NULL;
}

py_engine *py_engine_with_device(PyObject *object) {
    py_engine *engine = py_engine_of(object);
    if (!engine || engine->device) return engine;
    py_fail_with(ATN_ERR_INTERNAL, "an engine without a device");
    return NULL;
}

/* ---- Ctrl-C ---- */

static _Atomic(atn_ctx *) interruptible; /* of the main thread's work */
static struct sigaction before;          /* the interpreter's handler */

static void on_interrupt(int number, siginfo_t *info, void *context) {
    atn_ctx *ctx = atomic_load(&interruptible);
    if (ctx) atn_ctx_cancel(ctx);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        before.sa_handler(number);
}

/* Python looks at signals in its main thread, between instructions: while we work there are none, so that the handler
 * is ours meanwhile, and then calls Python's. Returns what was interruptible before, for work within work. */
static atn_ctx *allow_interrupts(atn_ctx *ctx) {
    if (syscall(SYS_gettid) != getpid()) return NULL;
    atn_ctx *outer = atomic_exchange(&interruptible, ctx);
    if (outer || sigaction(SIGINT, NULL, &before) != 0) return outer;
    bool python = before.sa_flags & SA_SIGINFO || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
    struct sigaction ours = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | (before.sa_flags & SA_ONSTACK)};
    sigemptyset(&ours.sa_mask);
    if (!python || sigaction(SIGINT, &ours, NULL) != 0) atomic_store(&interruptible, NULL);
    return NULL;
}

static void end_interrupts(atn_ctx *ctx, atn_ctx *outer) {
    if (syscall(SYS_gettid) != getpid() || atomic_load(&interruptible) != ctx) return;
    if (!outer) sigaction(SIGINT, &before, NULL);
    atomic_store(&interruptible, outer);
}

/* ---- work ---- */

atn_status py_work(py_engine *engine, atn_status (*work)(void *user), void *user) {
    atn_status status;
    engine->running = true;
    Py_INCREF(engine);
    atn_ctx *outer = allow_interrupts(engine->ctx);
    Py_BEGIN_ALLOW_THREADS status = work(user);
    Py_END_ALLOW_THREADS end_interrupts(engine->ctx, outer);
    engine->running = false;
    release_pending(engine);
    if (engine->said) warn(engine->said);
    if (py_watch_raised(&engine->watch) && status == ATN_OK) status = ATN_ERR_CANCELLED;
    Py_DECREF(engine);
    return status;
}

/* ---- functions ---- */

/* Devices of the parent's are not ours, and its other threads are not here. */
static PyObject *after_fork(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    forked = true;
    for (py_engine *e = all_engines; e; e = e->next) e->abandoned = true;
    all_engines = NULL;
    if (atomic_exchange(&interruptible, NULL)) sigaction(SIGINT, &before, NULL);
    Py_RETURN_NONE;
}

static bool cancel_running(void) {
    bool any = false;
    for (const py_engine *e = all_engines; e; e = e->next) {
        if (e->running) atn_ctx_cancel(e->ctx);
        any = any || e->running;
    }
    return any;
}

/* Before the interpreter ends: threads that still work are asked to stop, and waited for a while. */
static PyObject *stop_all(PyObject *module, PyObject *nothing) {
    enum { TRIES = 200 };
    (void)module, (void)nothing;
    for (int k = 0; k < TRIES && cancel_running(); ++k) {
        Py_BEGIN_ALLOW_THREADS nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

#define FIELD(kind, name)                                                                                              \
    { #name, kind, offsetof(atn_device_info, name), 0, NULL }
#define FIELDS(kind, name, n)                                                                                          \
    { #name, kind, offsetof(atn_device_info, name), n, NULL }
static const py_field INFO[] = {FIELD(PY_INT32, index),
                                FIELD(PY_INT32, ordinal),
                                FIELD(PY_TEXT, backend),
                                FIELD(PY_TEXT, name),
                                FIELD(PY_TEXT, platform),
                                FIELD(PY_TEXT, driver),
                                FIELD(PY_TEXT, arch),
                                FIELD(PY_INT32, cores),
                                FIELD(PY_INT32, simd),
                                FIELD(PY_INT64, memory_bytes),
                                FIELD(PY_INT64, max_alloc_bytes),
                                FIELD(PY_INT64, local_bytes),
                                FIELD(PY_INT64, cache_bytes),
                                FIELD(PY_INT32, max_group),
                                FIELDS(PY_INT32, max_items, 3),
                                FIELD(PY_INT32, clock_mhz),
                                FIELD(PY_BOOL, fp64),
                                FIELD(PY_BOOL, fp16),
                                FIELD(PY_BOOL, subgroups),
                                FIELD(PY_BOOL, unified),
                                FIELD(PY_BOOL, cpu),
                                FIELD(PY_INT32, bf16),
                                {0}};

static PyObject *info(PyObject *module, PyObject *object) {
    (void)module;
    const py_engine *engine = py_engine_with_device(object);
    return engine ? py_fields_write(atn_device_get_info(engine->device), INFO) : NULL;
}

/* infos(engine): of all its devices, in their order. */
static PyObject *infos(PyObject *module, PyObject *object) {
    (void)module;
    const py_engine *engine = py_engine_with_device(object);
    atn_device *device[ATN_MOST_DEVICES];
    int32_t count = engine ? py_engine_devices(engine, device) : 0;
    PyObject *list = engine ? PyList_New(0) : NULL;
    for (int32_t k = 0; k < count && list; ++k) {
        PyObject *row = py_fields_write(atn_device_get_info(device[k]), INFO);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

typedef struct listing {
    atn_ctx *ctx;
    atn_devices *devices;
} listing;

static atn_status find_devices(void *user) {
    listing *l = user;
    return atn_devices_find(l->ctx, &l->devices);
}

static PyObject *list_infos(const atn_devices *devices) {
    PyObject *list = PyList_New(0), *notes = PyList_New(0), *both = NULL;
    bool good = list && notes;
    for (int32_t k = 0; k < atn_devices_count(devices) && good; ++k) {
        PyObject *row = py_fields_write(atn_devices_info(devices, k), INFO);
        good = row && PyList_Append(list, row) == 0;
        Py_XDECREF(row);
    }
    for (int32_t k = 0; k < atn_devices_note_count(devices) && good; ++k) {
        PyObject *note = PyUnicode_FromString(atn_devices_note(devices, k));
        good = note && PyList_Append(notes, note) == 0;
        Py_XDECREF(note);
    }
    if (good) both = PyTuple_Pack(2, list, notes);
    Py_XDECREF(list);
    Py_XDECREF(notes);
    return both;
}

static PyObject *devices(PyObject *module, PyObject *object) {
    (void)module;
    py_engine *engine = py_engine_of(object);
    if (!engine) return NULL;
    listing l = {.ctx = engine->ctx};
    atn_status status = py_work(engine, find_devices, &l);
    PyObject *out = status == ATN_OK ? list_infos(l.devices) : py_fail(engine->ctx, status);
    atn_devices_free(l.devices);
    return out;
}

typedef struct measuring {
    atn_device *device;
    atn_peaks peaks;
} measuring;

static atn_status measure_peaks(void *user) {
    measuring *m = user;
    return atn_device_peaks(m->device, &m->peaks);
}

static PyObject *peaks(PyObject *module, PyObject *object) {
    static const py_field PEAKS[] = {{"fp16", PY_DOUBLE, offsetof(atn_peaks, fp16), 0, NULL},
                                     {"fp32", PY_DOUBLE, offsetof(atn_peaks, fp32), 0, NULL},
                                     {"fp64", PY_DOUBLE, offsetof(atn_peaks, fp64), 0, NULL},
                                     {"bandwidth", PY_DOUBLE, offsetof(atn_peaks, bandwidth), 0, NULL},
                                     {0}};
    (void)module;
    py_engine *engine = py_engine_with_device(object);
    if (!engine) return NULL;
    measuring m = {.device = engine->device};
    atn_status status = py_work(engine, measure_peaks, &m);
    return status == ATN_OK ? py_fields_write(&m.peaks, PEAKS) : py_fail(engine->ctx, status);
}

/* follow(engine, stream): later work begins after what that CUDA stream has now. */
static PyObject *follow(PyObject *module, PyObject *args) {
    PyObject *object;
    unsigned long long stream;
    (void)module;
    if (!PyArg_ParseTuple(args, "OK", &object, &stream)) return NULL;
    py_engine *engine = py_engine_with_device(object);
    if (!engine) return NULL;
    atn_status status = atn_device_follow(engine->device, (void *)(uintptr_t)stream);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    Py_RETURN_NONE;
}

static PyObject *stream(PyObject *module, PyObject *object) {
    (void)module;
    py_engine *engine = py_engine_with_device(object);
    return engine ? PyLong_FromVoidPtr(atn_device_stream(engine->device)) : NULL;
}

static PyObject *resume(PyObject *module, PyObject *object) {
    (void)module;
    py_engine *engine = py_engine_of(object);
    if (!engine) return NULL;
    atn_ctx_resume(engine->ctx);
    Py_RETURN_NONE;
}

PyMethodDef PY_ENGINE_FUNCTIONS[] = {{"engine", make, METH_VARARGS, NULL},
                                     {"resume", resume, METH_O, NULL},
                                     {"after_fork", after_fork, METH_NOARGS, NULL},
                                     {"stop_all", stop_all, METH_NOARGS, NULL},
                                     {"info", info, METH_O, NULL},
                                     {"infos", infos, METH_O, NULL},
                                     {"devices", devices, METH_O, NULL},
                                     {"peaks", peaks, METH_O, NULL},
                                     {"follow", follow, METH_VARARGS, NULL},
                                     {"stream", stream, METH_O, NULL},
                                     {0}};

int py_engine_add(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc}, {0, NULL}};
    static PyType_Spec spec = {
        .name = "attune._attune.Engine", .basicsize = sizeof(py_engine), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    engine_type = py_type_add(module, &spec, "Engine");
    return engine_type ? 0 : -1;
}
