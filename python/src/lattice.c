/* lattice(engine, positions, settings, models, out): the structure around every atom. */
#include "module.h"

#include "base/memory.h"
#include "device/device.h"

#include <string.h>

#define SETTING(kind, name)                                                                                            \
    { #name, kind, offsetof(atn_lattice_settings, name), 0, NULL }
static const py_field SETTINGS[] = {SETTING(PY_DOUBLE, cutoff),      SETTING(PY_DOUBLE, noise),
                                    SETTING(PY_DOUBLE, depth_noise), SETTING(PY_DOUBLE, efficiency),
                                    SETTING(PY_DOUBLE, background),  SETTING(PY_BOOL, has_background),
                                    SETTING(PY_BOOL, even),          SETTING(PY_BOOL, exact),
                                    SETTING(PY_INT32, sample),       {0}};
#define INFO(kind, name, n)                                                                                            \
    { #name, kind, offsetof(atn_lattice_info, name), n, NULL }
static const py_field INFO[] = {INFO(PY_INT32, models, 0),
                                INFO(PY_INT32, structure, ATN_LATTICE_MOST_MODELS),
                                INFO(PY_DOUBLE, constant, ATN_LATTICE_MOST_MODELS),
                                INFO(PY_DOUBLE, expected, ATN_LATTICE_MOST_MODELS),
                                INFO(PY_DOUBLE, share, ATN_LATTICE_MOST_MODELS + 1),
                                INFO(PY_DOUBLE, cutoff, 0),
                                INFO(PY_DOUBLE, noise, 0),
                                INFO(PY_DOUBLE, depth_noise, 0),
                                INFO(PY_DOUBLE, efficiency, 0),
                                INFO(PY_DOUBLE, background_neighbours, 0),
                                INFO(PY_DOUBLE, background, 0),
                                INFO(PY_DOUBLE, gain, 0),
                                INFO(PY_DOUBLE, neighbours, 0),
                                INFO(PY_INT32, rotations, 0),
                                INFO(PY_BOOL, estimated, 0),
                                {0}};

typedef struct job {
    atn_device *device[ATN_MOST_DEVICES];
    int32_t devices;
    atn_lattice_settings settings;
    const double *positions; /* x y z after x y z */
    const int32_t *species;
    size_t count;
    double angstrom;
    atn_lattice_atom *atoms; /* the caller's array */
    atn_lattice_info info;
} job;

/* By axis, and with the place of each: as frames have them. */
static atn_status match(const job *j, atn_lattice *const *lattices) {
    const atn_ctx *ctx = atn_device_ctx(j->device[0]);
    double *axis = atn_alloc(ctx, (3 * j->count + 1) * sizeof *axis);
    uint64_t *index = atn_alloc(ctx, (j->count + 1) * sizeof *index);
    atn_status status = axis && index ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < j->count && status == ATN_OK; ++k) {
        for (size_t d = 0; d < 3; ++d) axis[d * j->count + k] = j->positions[3 * k + d];
        index[k] = k;
    }
    atn_atoms atoms = {.count = j->count,
                       .own = j->count,
                       .position = {axis, axis + j->count, axis + 2 * j->count},
                       .species = j->species,
                       .index = index};
    if (status == ATN_OK) status = atn_lattice_match_several(lattices, j->devices, &atoms, j->angstrom, j->atoms);
    atn_free(ctx, axis);
    atn_free(ctx, index);
    return status;
}

static atn_status work(void *user) {
    job *j = user;
    atn_lattice *lattice[ATN_MOST_DEVICES] = {NULL};
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < j->devices && status == ATN_OK; ++k)
        status = atn_lattice_create(j->device[k], &j->settings, &lattice[k]);
    if (status == ATN_OK) status = match(j, lattice);
    for (int32_t k = 0; k < j->devices && status == ATN_OK && !(j->info.cutoff > 0); ++k)
        j->info = atn_lattice_info_of(lattice[k]); /* of one that was not lost before it knew */
    for (int32_t k = 0; k < j->devices; ++k) atn_lattice_free(lattice[k]);
    return status;
}

/* Models: (name, constant, None) or (name, constant, 3 x points). */
static bool read_models(PyObject *list, job *j) {
    Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : 0;
    if (count > ATN_LATTICE_MOST_MODELS) {
        PyErr_Format(PyExc_ValueError, "lattice: %zd models; %d are the most", count, ATN_LATTICE_MOST_MODELS);
        return false;
    }
    for (Py_ssize_t k = 0; k < count; ++k) {
        atn_lattice_model *model = &j->settings.model[k];
        const char *name;
        PyObject *points;
        py_view view;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "sdO", &name, &model->constant, &points)) return false;
        snprintf(model->name, sizeof model->name, "%s", name);
        if (points == Py_None) continue;
        if (!py_view_read(points, "models", "f8", 2, &view)) return false;
        model->points = (size_t)view.shape[1];
        for (int64_t d = 0; d < 3; ++d) model->axis[d] = (const double *)view.data + d * view.shape[1];
    }
    j->settings.models = (int32_t)count;
    return true;
}

static PyObject *lattice(PyObject *module, PyObject *args) {
    PyObject *object, *positions, *species, *settings, *models, *out;
    py_view from, kinds, to;
    job j = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOdOOO", &object, &positions, &species, &j.angstrom, &settings, &models, &out))
        return NULL;
    py_engine *engine = py_engine_with_device(object);
    if (!engine || !py_view_read(positions, "positions", "f8", 2, &from) || !py_view_read(out, "out", "u1", 2, &to) ||
        !py_fields_read(settings, SETTINGS, "lattice", &j.settings) || !read_models(models, &j))
        return NULL;
    if (species != Py_None) {
        if (!py_view_read(species, "species", "i4", 1, &kinds)) return NULL;
        j.species = kinds.data;
    }
    if (to.shape[0] != from.shape[0] || to.shape[1] != sizeof(atn_lattice_atom) || from.shape[1] != 3) {
        PyErr_SetString(PyExc_ValueError, "lattice: sizes do not match");
        return NULL;
    }
    j.devices = py_engine_devices(engine, j.device);
    j.positions = from.data;
    j.count = (size_t)from.shape[0];
    j.atoms = to.data;
    atn_status status = py_work(engine, work, &j);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    PyObject *info = py_fields_write(&j.info, INFO), *names = PyList_New(0);
    for (int32_t k = 0; k < j.info.models && names; ++k) {
        PyObject *name = PyUnicode_FromString(j.info.name[k]);
        if (!name || PyList_Append(names, name) != 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    if (info && (!names || PyDict_SetItemString(info, "name", names) != 0)) Py_CLEAR(info);
    Py_XDECREF(names);
    return info;
}

/* The layout of an atom's record, for numpy: (name, type, offset), and its size. */
static PyObject *record(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
#define ENTRY(name, type) #name, type, (Py_ssize_t)offsetof(atn_lattice_atom, name)
    return Py_BuildValue("([(ssn)(ssn)(ssn)(ssn)(ssn)(ssn)(ssn)(ssn)]n)", ENTRY(structure, "i4"), ENTRY(phase, "i4"),
                         ENTRY(confidence, "f4"), ENTRY(quaternion, "(4,)f4"), ENTRY(rmsd, "f4"), ENTRY(matched, "f4"),
                         ENTRY(background, "f4"), ENTRY(value, "f4"), (Py_ssize_t)sizeof(atn_lattice_atom));
}

static PyObject *settings_names(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return py_fields_names(SETTINGS);
}

PyMethodDef PY_LATTICE_FUNCTIONS[] = {{"lattice", lattice, METH_VARARGS, NULL},
                                      {"lattice_record", record, METH_NOARGS, NULL},
                                      {"lattice_settings", settings_names, METH_NOARGS, NULL},
                                      {0}};
