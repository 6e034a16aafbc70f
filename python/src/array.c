/* Arrays of a device: over memory of somebody else's (a tensor on the GPU, a NumPy array on the host), or of our own;
 * handed to others by DLPack and __cuda_array_interface__. */
#include "module.h"

#include "graph/type.h"

#include <string.h>

static PyObject *array_type;

typedef struct py_array {
    PyObject_HEAD py_engine *engine; /* owned */
    atn_array *array;
    PyObject *owner; /* of the memory, where it is somebody else's; owned */
} py_array;

static const struct {
    const char *name;
    atn_type type;
    uint8_t code, bits; /* as DLPack has them */
} TYPES[] = {{"f2", ATN_HP, 2, 16},  {"f4", ATN_SP, 2, 32},    {"f8", ATN_DP, 2, 64},
             {"c8", ATN_SP2, 5, 64}, {"c16", ATN_DP2, 5, 128}, {"i4", ATN_INT32, 0, 32},
             {"u1", ATN_U8, 1, 8},   {"u2", ATN_U16, 1, 16},   {"b1", ATN_B, 6, 8}};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

static size_t type_place(atn_type type) {
    size_t k = 0;
    while (k < N_TYPES && TYPES[k].type != type) ++k;
    return k;
}

static bool find_type(const char *name, atn_type *out) {
    for (size_t k = 0; k < N_TYPES; ++k)
        if (strcmp(TYPES[k].name, name) == 0) {
            *out = TYPES[k].type;
            return true;
        }
    PyErr_Format(PyExc_TypeError, "unsupported element type %s; supported are f2, f4, f8, c8, c16, i4, u1, u2, b1",
                 name);
    return false;
}

/* ---- making ---- */

static bool read_shape(PyObject *shape, atn_array_info *out) {
    Py_ssize_t axes = PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    if (axes < 1 || axes > ATN_MAX_RANK) {
        PyErr_SetString(PyExc_ValueError, "arrays have 1 to 3 axes");
        return false;
    }
    out->rank = (int32_t)axes;
    for (Py_ssize_t k = 0; k < axes; ++k) out->shape[k] = PyLong_AsLongLong(PyTuple_GetItem(shape, k));
    return !PyErr_Occurred();
}

static py_array *wrap(py_engine *engine, PyObject *owner) {
    py_array *self = PyObject_New(py_array, (PyTypeObject *)array_type);
    if (!self) return NULL;
    self->array = NULL;
    self->engine = engine;
    self->owner = owner;
    Py_INCREF(engine);
    Py_XINCREF(owner);
    return self;
}

static atn_status create(atn_device *device, const atn_array_info *info, atn_array **out) {
    const int64_t *shape = info->shape;
    return info->rank == 1   ? atn_array_create_vector(device, info->type, shape[0], out)
           : info->rank == 2 ? atn_array_create_matrix(device, info->type, shape[0], shape[1], 0, out)
                             : atn_array_create_volume(device, info->type, shape[0], shape[1], shape[2], 0, out);
}

/* array(engine, type, shape): of our own. array(engine, type, shape, address, owner, pitch): of the owner's. */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *object, *shape, *owner = NULL;
    const char *name;
    unsigned long long address = 0;
    long long pitch = 0;
    atn_array_info info = {0};
    (void)type, (void)keywords;
    if (!PyArg_ParseTuple(args, "OsO|KOL", &object, &name, &shape, &address, &owner, &pitch)) return NULL;
    py_engine *engine = py_engine_with_device(object);
    if (!engine || !find_type(name, &info.type) || !read_shape(shape, &info)) return NULL;
    info.pitch = pitch;
    py_array *self = wrap(engine, owner);
    if (!self) return NULL;
    atn_status status = owner ? atn_array_create_at(engine->device, &info, (void *)(uintptr_t)address, &self->array)
                              : create(engine->device, &info, &self->array);
    if (status == ATN_OK) return (PyObject *)self;
    py_fail(engine->ctx, status);
    Py_DECREF(self);
    return NULL;
}

static void free_array(void *array) { atn_array_free(array); }

static void dealloc(PyObject *object) {
    py_array *self = (py_array *)object;
    PyTypeObject *type = Py_TYPE(object);
    py_release(self->engine, self->array, free_array);
    Py_DECREF(self->engine);
    Py_XDECREF(self->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

atn_array *py_array_of(PyObject *object, const py_engine *engine) {
    const py_array *self = (const py_array *)object;
    if (PyObject_IsInstance(object, array_type) != 1) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected an array on a device");
        return NULL;
    }
    if (self->engine == engine) return self->array;
    py_fail_with(ATN_ERR_INPUT, "the array belongs to another device");
    return NULL;
}

/* ---- elements ---- */

typedef struct copying {
    atn_array *array;
    void *to;
    const void *from;
} copying;

static atn_status copy(void *user) {
    copying *c = user;
    return c->to ? atn_array_get(c->array, c->to, 0) : atn_array_put(c->array, c->from, 0);
}

static PyObject *move(PyObject *object, PyObject *host, bool get) {
    py_array *self = (py_array *)object;
    py_engine *engine = py_engine_with_device((PyObject *)self->engine);
    atn_array_info info = atn_array_info_of(self->array);
    py_view view;
    if (!engine || !py_view_read(host, "array", TYPES[type_place(info.type)].name, info.rank, &view)) return NULL;
    for (int32_t k = 0; k < info.rank; ++k)
        if (view.shape[k] != info.shape[k]) {
            PyErr_SetString(PyExc_ValueError, "array: the host array has a different shape");
            return NULL;
        }
    if (get && view.read_only) {
        PyErr_SetString(PyExc_ValueError, "array: the output is read-only");
        return NULL;
    }
    copying c = {.array = self->array, .to = get ? view.data : NULL, .from = view.data};
    atn_status status = view.data ? py_work(engine, copy, &c) : ATN_OK;
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    Py_RETURN_NONE;
}

static PyObject *get(PyObject *self, PyObject *host) { return move(self, host, true); }
static PyObject *put(PyObject *self, PyObject *host) { return move(self, host, false); }

static PyObject *transfers(PyObject *object, PyObject *nothing) {
    int64_t there, back;
    (void)nothing;
    atn_array_transfers(((py_array *)object)->array, &there, &back);
    return Py_BuildValue("(LL)", (long long)there, (long long)back);
}

/* (type, shape, address) where the device's memory can be addressed */
static PyObject *place(PyObject *object, PyObject *nothing) {
    py_array *self = (py_array *)object;
    py_engine *engine = py_engine_with_device((PyObject *)self->engine);
    void *address;
    (void)nothing;
    if (!engine) return NULL;
    atn_array_info info = atn_array_info_of(self->array);
    atn_status status = atn_array_address(self->array, &address);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    PyObject *shape = PyTuple_New(info.rank);
    for (int32_t k = 0; k < info.rank && shape; ++k) PyTuple_SetItem(shape, k, PyLong_FromLongLong(info.shape[k]));
    PyObject *where = shape ? PyLong_FromVoidPtr(address) : NULL;
    return where ? Py_BuildValue("(sNN)", TYPES[type_place(info.type)].name, shape, where) : NULL;
}

/* ---- DLPack ---- */

/* As dlpack.h of version 0.8 lays them out; what everybody reads. */
typedef struct dl_tensor {
    void *data;
    struct {
        int32_t kind, number;
    } device;
    int32_t axes;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } type;
    int64_t *shape, *strides;
    uint64_t offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *keeper;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct handed_out {
    dl_managed managed;
    int64_t shape[ATN_MAX_RANK];
    PyObject *array; /* owned */
} handed_out;

enum { DL_CPU = 1, DL_CUDA = 2 };
static const char UNUSED[] = "dltensor";

static void let_go(dl_managed *managed) {
    handed_out *h = managed->keeper;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(h->array);
    PyGILState_Release(state);
    free(h);
}

/* Who took the tensor renamed the capsule and calls the deleter itself. */
static void drop_capsule(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, UNUSED)) return;
    dl_managed *managed = PyCapsule_GetPointer(capsule, UNUSED);
    managed->deleter(managed);
}

static void device_of(const py_array *self, int32_t *kind, int32_t *number) {
    const atn_device_info *info = atn_device_get_info(self->engine->device);
    *kind = strcmp(info->backend, "cuda") == 0 ? DL_CUDA : DL_CPU;
    *number = *kind == DL_CUDA ? info->ordinal : 0;
}

/* Our work is done when a call returns: whatever stream is asked for need not wait. */
static PyObject *dlpack(PyObject *object, PyObject *args, PyObject *keywords) {
    py_array *self = (py_array *)object;
    py_engine *engine = py_engine_with_device((PyObject *)self->engine);
    (void)args, (void)keywords;
    if (!engine) return NULL;
    handed_out *h = calloc(1, sizeof *h);
    if (!h) return PyErr_NoMemory();
    atn_array_info info = atn_array_info_of(self->array);
    size_t type = type_place(info.type);
    atn_status status = atn_array_address(self->array, &h->managed.tensor.data);
    dl_tensor *t = &h->managed.tensor;
    device_of(self, &t->device.kind, &t->device.number);
    t->axes = info.rank;
    t->type.code = TYPES[type].code;
    t->type.bits = TYPES[type].bits;
    t->type.lanes = 1;
    for (int32_t k = 0; k < info.rank; ++k) h->shape[k] = info.shape[k];
    t->shape = h->shape;
    h->managed.keeper = h;
    h->managed.deleter = let_go;
    h->array = object;
    Py_INCREF(object);
    PyObject *capsule = status == ATN_OK ? PyCapsule_New(&h->managed, UNUSED, drop_capsule) : NULL;
    if (capsule) return capsule;
    let_go(&h->managed);
    return py_fail(engine->ctx, status);
}

static PyObject *dlpack_device(PyObject *object, PyObject *nothing) {
    int32_t kind, number;
    (void)nothing;
    if (!py_engine_with_device((PyObject *)((py_array *)object)->engine)) return NULL;
    device_of((py_array *)object, &kind, &number);
    return Py_BuildValue("(ii)", kind, number);
}

/* take_dlpack(capsule) -> (device kind, number, type, shape, strides in elements or None, address, keeper): the capsule
 * is used up; the keeper holds the tensor until it goes. */
static void drop_keeper(PyObject *capsule) {
    dl_managed *managed = PyCapsule_GetPointer(capsule, "attune.keeper");
    if (managed && managed->deleter) managed->deleter(managed);
}

static PyObject *tuple_of(const int64_t *numbers, int32_t count) {
    PyObject *out = PyTuple_New(count);
    for (int32_t k = 0; k < count && out; ++k) PyTuple_SetItem(out, k, PyLong_FromLongLong(numbers[k]));
    return out;
}

static PyObject *take_dlpack(PyObject *nothing, PyObject *capsule) {
    (void)nothing;
    dl_managed *managed = PyCapsule_GetPointer(capsule, UNUSED);
    if (!managed) return NULL;
    const dl_tensor *t = &managed->tensor;
    const char *name = NULL;
    for (size_t k = 0; k < N_TYPES; ++k)
        if (TYPES[k].code == t->type.code && TYPES[k].bits == t->type.bits && t->type.lanes == 1) name = TYPES[k].name;
    if (!name || t->axes < 1 || t->axes > ATN_MAX_RANK) {
        PyErr_SetString(PyExc_TypeError, "a tensor has 1 to 3 axes, and elements of a type that arrays have");
        return NULL;
    }
    PyObject *keeper = PyCapsule_New(managed, "attune.keeper", drop_keeper);
    if (!keeper || PyCapsule_SetName(capsule, "used_dltensor") != 0) return NULL;
    PyObject *strides = t->strides ? tuple_of(t->strides, t->axes) : (Py_INCREF(Py_None), Py_None);
    return Py_BuildValue("(iisNNNN)", t->device.kind, t->device.number, name, tuple_of(t->shape, t->axes), strides,
                         PyLong_FromVoidPtr((char *)t->data + t->offset), keeper);
}

int py_array_add(PyObject *module) {
    static PyMethodDef methods[] = {{"get", get, METH_O, NULL},
                                    {"put", put, METH_O, NULL},
                                    {"transfers", transfers, METH_NOARGS, NULL},
                                    {"place", place, METH_NOARGS, NULL},
                                    {"dlpack", (PyCFunction)(void (*)(void))dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
                                    {"dlpack_device", dlpack_device, METH_NOARGS, NULL},
                                    {0}};
    static PyMethodDef functions[] = {{"take_dlpack", take_dlpack, METH_O, NULL}, {0}};
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {
        .name = "attune._attune.Array", .basicsize = sizeof(py_array), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    array_type = py_type_add(module, &spec, "Array");
    return array_type ? PyModule_AddFunctions(module, functions) : -1;
}
