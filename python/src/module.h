/* The extension module attune._attune, shared by its files. It is the thin side of the package: it takes what Python
 * has checked and made contiguous, calls the library without the interpreter's lock, and turns results into plain
 * dictionaries. CPython's limited API of 3.9: one binary for all versions from there on. Arrays come as addresses
 * (__array_interface__), since the buffer protocol joined the limited API with 3.11 only. */
#ifndef ATTUNE_PYTHON_MODULE_H
#define ATTUNE_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <attune/attune.h>

#include <stddef.h>

/* ---- errors: attune.Error with `status`; attune.InputError, which is a ValueError too ---- */
int py_errors_add(PyObject *module);
/* Raises what a failed call left in its context, unless something is raised already; returns NULL. Ctrl-C becomes
 * KeyboardInterrupt. */
PyObject *py_fail(const atn_ctx *ctx, atn_status status);
PyObject *py_fail_with(atn_status status, const char *sentence);

/* ---- progress: a function of Python's that long work calls ---- */
typedef struct py_watch {
    PyObject *call;                     /* borrowed; NULL: nobody watches */
    PyObject *type, *value, *traceback; /* what it raised; owned */
} py_watch;
/* Calls it with what `make` returns, under the interpreter's lock; false: it had enough, or raised. */
bool py_watch_tell(py_watch *watch, PyObject *(*make)(const void *step), const void *step);
bool py_watch_raised(py_watch *watch); /* raises it again */
extern PyMethodDef PY_WATCH_FUNCTIONS[];

/* ---- an engine: a context and an open device of its own; used by one thread at a time ---- */
typedef struct py_engine {
    PyObject_HEAD atn_ctx *ctx;
    atn_device *device;                     /* NULL: one that only reads spaces, wisdom and lists of devices */
    atn_device *more[ATN_MOST_DEVICES - 1]; /* others, where several were asked for */
    int32_t n_more;
    bool abandoned; /* made before a fork: nothing of it may be touched */
    bool running;
    py_watch watch;             /* of atn_ctx_on_progress; its function is owned */
    struct py_said *said;       /* warnings of the library during its work; owned */
    struct py_pending *pending; /* what to free once it is not */
    struct py_engine *next;     /* of all there are */
} py_engine;
int py_engine_add(PyObject *module);
py_engine *py_engine_of(PyObject *object);          /* NULL, with an exception, where it is none or at work */
py_engine *py_engine_with_device(PyObject *object); /* the same; it has a device */
int32_t py_engine_devices(const py_engine *engine, atn_device *out[ATN_MOST_DEVICES]); /* all of its; how many */
/* Runs `work` without the interpreter's lock. Ctrl-C cancels the engine's context. */
atn_status py_work(py_engine *engine, atn_status (*work)(void *user), void *user);
/* Frees something that was made from the engine: now, or when its work is done. Without effect on what is a parent's.
 */
void py_release(py_engine *engine, void *object, void (*release)(void *object));
extern PyMethodDef PY_ENGINE_FUNCTIONS[];

/* ---- settings and results: fields of C structs by name ---- */
typedef enum py_kind { PY_BOOL, PY_INT32, PY_INT64, PY_SIZE, PY_DOUBLE, PY_WORD, PY_TEXT } py_kind;
typedef struct py_field {
    const char *name; /* NULL ends a table */
    py_kind kind;
    size_t offset;
    int32_t count;            /* of numbers in a row; 0: one alone */
    const char *const *words; /* PY_WORD: names of an enum from 0 on, NULL ends; texts: no meaning */
} py_field;
/* Fills `out` from a dictionary; false, with TypeError or ValueError, where it has something else. */
bool py_fields_read(PyObject *dictionary, const py_field *fields, const char *what, void *out);
PyObject *py_fields_write(const void *from, const py_field *fields); /* a dictionary */
PyObject *py_fields_names(const py_field *fields);                   /* a list, for tests */

/* ---- host arrays: what __array_interface__ says ---- */
enum { PY_MOST_AXES = 4 };
typedef struct py_view {
    void *data;
    int axes;
    int64_t shape[PY_MOST_AXES];
    char type[8]; /* "f8", "u1": kind and bytes */
    bool read_only;
} py_view;
/* Of an array in C order and the machine's byte order; `types`: those that are taken, "f4 f8"; axes 0: any. */
bool py_view_read(PyObject *object, const char *name, const char *types, int axes, py_view *out);
bool py_path(PyObject *object, const char **out); /* bytes of os.fsencode; lives as long as the object */

/* ---- functions and types of the subjects ---- */
PyObject *py_type_add(PyObject *module, PyType_Spec *spec, const char *name); /* lives with the module; NULL: raised */
bool py_register_settings(PyObject *dictionary, atn_register_settings *out);  /* by the names of its fields */
PyObject *py_register_result(const atn_register_result *result);              /* likewise */
extern PyMethodDef PY_REGISTER_FUNCTIONS[], PY_BATCH_FUNCTIONS[], PY_ALIGN_FUNCTIONS[], PY_LATTICE_FUNCTIONS[],
    PY_NEEDLE_FUNCTIONS[], PY_SPACE_FUNCTIONS[], PY_WISDOM_FUNCTIONS[], PY_CLOUD_FUNCTIONS[];
int py_array_add(PyObject *module);
int py_unwrap_add(PyObject *module);
int py_program_add(PyObject *module);
int py_search_add(PyObject *module);
atn_array *py_array_of(PyObject *object, const py_engine *engine); /* borrowed; NULL with an exception */

/* A cloud as Python hands it over: bytes (a path), or (positions, normals or None). Read by py_cloud_make, in work. */
typedef struct py_cloud {
    const char *path;
    size_t points;
    const double *positions;
    const float *normals;
    bool drop_invalid;
} py_cloud;
bool py_cloud_read(PyObject *object, const char *name, py_cloud *out);
atn_status py_cloud_make(atn_ctx *ctx, const py_cloud *from, atn_cloud **out);

#endif
