/* Spaces in LANAI or T1, and searches over them: strategies that ask for points and are told how fast they were. */
#include "module.h"

#include "space/device_given.h"
#include "space/shipped.h"
#include "space/space.h"
#include "tune/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static PyObject *space_type, *search_type;
enum { MOST_GIVEN = 64 };

typedef struct py_space {
    PyObject_HEAD py_engine *engine; /* owned */
    atn_space *space;
} py_space;

/* ---- making ---- */

typedef struct parsing {
    const atn_ctx *ctx;
    const char *name, *text;
    size_t length;
    bool t1;
    atn_given given[MOST_GIVEN];
    size_t n_given;
    atn_space *space;
} parsing;

static atn_status parse(void *user) {
    parsing *p = user;
    return p->t1 ? atn_space_parse_t1(p->ctx, p->name, p->text, p->length, &p->space)
                 : atn_space_parse(p->ctx, p->name, p->text, p->length, p->given, p->n_given, &p->space);
}

static bool read_setting(PyObject *value, atn_setting *out) {
    if (PyBool_Check(value)) {
        bool yes = value == Py_True;
        *out = (atn_setting){.kind = ATN_SETTING_BOOL, .whole = yes, .number = yes};
    } else if (PyLong_Check(value)) {
        long long whole = PyLong_AsLongLong(value);
        *out = (atn_setting){.kind = ATN_SETTING_WHOLE, .whole = whole, .number = (double)whole};
    } else if (PyFloat_Check(value)) {
        *out = (atn_setting){.kind = ATN_SETTING_REAL, .number = PyFloat_AsDouble(value)};
    } else if (PyBytes_Check(value)) {
        *out = (atn_setting){.kind = ATN_SETTING_TEXT, .text = PyBytes_AsString(value)};
    } else {
        PyErr_SetString(PyExc_TypeError, "space: what is given is a number, a boolean or a text");
    }
    return !PyErr_Occurred();
}

/* given: [(module, name, value)], texts as bytes */
static bool read_given(PyObject *list, parsing *p) {
    Py_ssize_t count = PyList_Size(list);
    if (count < 0 || count > MOST_GIVEN - ATN_DEVICE_GIVEN) {
        PyErr_Format(PyExc_ValueError, "space: at most %d values are given", MOST_GIVEN - ATN_DEVICE_GIVEN);
        return false;
    }
    for (Py_ssize_t k = 0; k < count; ++k) {
        atn_given *g = &p->given[p->n_given++];
        PyObject *value;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "ssO", &g->module, &g->name, &value) ||
            !read_setting(value, &g->value))
            return false;
    }
    return true;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *object, *given;
    parsing p = {0};
    Py_ssize_t length;
    int t1;
    atn_device_info info;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "Oyy#pO", &object, &p.name, &p.text, &length, &t1, &given)) return NULL;
    py_engine *engine = py_engine_of(object);
    if (!engine || !read_given(given, &p)) return NULL;
    p.ctx = engine->ctx;
    p.length = (size_t)length;
    p.t1 = t1;
    if (engine->device)
        info = *atn_device_get_info(engine->device);
    else
        atn_device_host_info(&info);
    atn_device_given(&info, p.given + p.n_given); /* the first of a name counts */
    p.n_given += ATN_DEVICE_GIVEN;
    atn_status status = py_work(engine, parse, &p);
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    py_space *self = PyObject_New(py_space, type);
    if (!self) {
        atn_space_free(p.space);
        return NULL;
    }
    self->engine = engine;
    Py_INCREF(engine);
    self->space = p.space;
    return (PyObject *)self;
}

static void free_space(void *space) { atn_space_free(space); }

static void dealloc(PyObject *object) {
    py_space *self = (py_space *)object;
    PyTypeObject *type = Py_TYPE(object);
    py_release(self->engine, self->space, free_space);
    Py_DECREF(self->engine);
    PyObject_Free(object);
    Py_DECREF(type);
}

static py_engine *engine_of(PyObject *self) { return py_engine_of((PyObject *)((py_space *)self)->engine); }

/* ---- what it has ---- */

static PyObject *value_of(const atn_setting *s) {
    switch (s->kind) {
    case ATN_SETTING_WHOLE:
        return PyLong_FromLongLong(s->whole);
    case ATN_SETTING_BOOL:
        return PyBool_FromLong(s->whole != 0);
    case ATN_SETTING_REAL:
        return PyFloat_FromDouble(s->number);
    default:
        return PyUnicode_FromString(s->text);
    }
}

/* [(name, [values])] */
static PyObject *parameters(PyObject *object, PyObject *nothing) {
    const atn_space *space = ((py_space *)object)->space;
    (void)nothing;
    PyObject *out = engine_of(object) ? PyList_New(0) : NULL;
    for (int32_t k = 0; out && k < atn_space_count_parameters(space); ++k) {
        PyObject *values = PyList_New(0);
        for (int32_t level = 0; values && level < atn_space_levels(space, k); ++level) {
            PyObject *value = value_of(atn_space_setting(space, k, level));
            if (!value || PyList_Append(values, value) != 0) Py_CLEAR(values);
            Py_XDECREF(value);
        }
        PyObject *row = values ? Py_BuildValue("(sN)", atn_space_parameter(space, k), values) : NULL;
        if (!row || PyList_Append(out, row) != 0) Py_CLEAR(out);
        Py_XDECREF(row);
    }
    return out;
}

static PyObject *constraints(PyObject *object, PyObject *nothing) {
    const atn_space *space = ((py_space *)object)->space;
    (void)nothing;
    PyObject *out = engine_of(object) ? PyList_New(0) : NULL;
    for (int32_t k = 0; out && k < atn_space_count_constraints(space); ++k) {
        PyObject *name = PyUnicode_FromString(atn_space_constraint(space, k));
        if (!name || PyList_Append(out, name) != 0) Py_CLEAR(out);
        Py_XDECREF(name);
    }
    return out;
}

typedef struct asking {
    const atn_ctx *ctx;
    const atn_space *space;
    atn_count count;
    uint64_t seed;
    int64_t wanted, got;
    int32_t *points; /* [wanted][parameters] */
    int32_t n;
} asking;

static atn_status count_points(void *user) {
    asking *a = user;
    return atn_space_count(a->ctx, a->space, &a->count);
}

static atn_status count_product(void *user) {
    asking *a = user;
    return atn_space_product(a->ctx, a->space, &a->count);
}

static PyObject *count_by(PyObject *object, atn_status (*how)(void *user)) {
    py_engine *engine = engine_of(object);
    if (!engine) return NULL;
    asking a = {.ctx = engine->ctx, .space = ((py_space *)object)->space};
    atn_status status = py_work(engine, how, &a);
    return status == ATN_OK ? PyLong_FromString(a.count.digits, NULL, 10) : py_fail(engine->ctx, status);
}

static PyObject *count(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return count_by(self, count_points);
}

static PyObject *product(PyObject *self, PyObject *nothing) {
    (void)nothing;
    return count_by(self, count_product);
}

/* ---- points ---- */

/* splitmix64, as attune space has it: the same seed gives the same points. */
static uint64_t next_random(void *user) {
    uint64_t *state = user, z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static atn_status draw_points(void *user) {
    asking *a = user;
    atn_status status = ATN_OK;
    for (; a->got < a->wanted && status == ATN_OK; a->got += status == ATN_OK)
        status = atn_space_draw(a->ctx, a->space, next_random, &a->seed, a->points + a->got * a->n);
    return status;
}

static bool keep_point(void *user, const int32_t *levels) {
    asking *a = user;
    memcpy(a->points + a->got * a->n, levels, (size_t)a->n * sizeof *levels);
    return ++a->got < a->wanted;
}

static atn_status list_points(void *user) {
    asking *a = user;
    return a->wanted ? atn_space_list(a->ctx, a->space, keep_point, a) : ATN_OK;
}

static PyObject *tuple_of(const int32_t *numbers, int32_t count) {
    PyObject *out = PyTuple_New(count);
    for (int32_t k = 0; k < count && out; ++k) PyTuple_SetItem(out, k, PyLong_FromLong(numbers[k]));
    return out;
}

static PyObject *points_by(PyObject *object, long long wanted, unsigned long long seed, atn_status (*how)(void *)) {
    py_engine *engine = engine_of(object);
    if (!engine) return NULL;
    asking a = {.ctx = engine->ctx, .space = ((py_space *)object)->space, .seed = seed, .wanted = wanted};
    a.n = atn_space_count_parameters(a.space);
    a.points = wanted >= 0 && wanted < (1LL << 40) ? calloc((size_t)(wanted * a.n) + 1, sizeof *a.points) : NULL;
    if (!a.points) return PyErr_NoMemory();
    atn_status status = py_work(engine, how, &a);
    PyObject *out = status == ATN_OK ? PyList_New(0) : py_fail(engine->ctx, status);
    for (int64_t k = 0; k < a.got && out; ++k) {
        PyObject *point = tuple_of(a.points + k * a.n, a.n);
        if (!point || PyList_Append(out, point) != 0) Py_CLEAR(out);
        Py_XDECREF(point);
    }
    free(a.points);
    return out;
}

/* sample(count, seed), list(count) -> [levels] */
static PyObject *sample(PyObject *self, PyObject *args) {
    long long wanted;
    unsigned long long seed;
    return PyArg_ParseTuple(args, "LK", &wanted, &seed) ? points_by(self, wanted, seed, draw_points) : NULL;
}

static PyObject *list(PyObject *self, PyObject *args) {
    long long wanted;
    return PyArg_ParseTuple(args, "L", &wanted) ? points_by(self, wanted, 0, list_points) : NULL;
}

/* why(levels) -> None, or what excludes the point */
static bool read_levels(PyObject *object, const atn_space *space, int32_t *out) {
    int32_t n = atn_space_count_parameters(space);
    if (!PyTuple_Check(object) || PyTuple_Size(object) != n) {
        PyErr_SetString(PyExc_ValueError, "space: a point has one value for each parameter");
        return false;
    }
    for (int32_t k = 0; k < n; ++k) {
        long level = PyLong_AsLong(PyTuple_GetItem(object, k));
        if (level < 0 || level >= atn_space_levels(space, k)) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "space: no such level");
            return false;
        }
        out[k] = (int32_t)level;
    }
    return true;
}

static PyObject *why(PyObject *object, PyObject *point) {
    py_engine *engine = engine_of(object);
    const atn_space *space = ((py_space *)object)->space;
    int32_t *levels = engine ? calloc((size_t)atn_space_count_parameters(space) + 1, sizeof *levels) : NULL;
    bool allowed = false, good = levels && read_levels(point, space, levels);
    const char *by = NULL;
    atn_status status = good ? atn_space_why(engine->ctx, space, levels, &allowed, &by) : ATN_OK;
    free(levels);
    if (!good) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    if (allowed) Py_RETURN_NONE;
    return PyUnicode_FromString(by ? by : "");
}

/* ---- searches ---- */

typedef struct py_search {
    PyObject_HEAD py_space *space; /* owned */
    atn_space_domain domain;
    const atn_strategy *strategy;
    void *self;
    int32_t *point;
} py_search;

typedef struct searching {
    py_search *search;
    uint64_t seed;
    int64_t evaluations;
    atn_score score;
    bool any;
} searching;

static atn_status open_search(void *user) {
    searching *s = user;
    py_search *search = s->search;
    const atn_ctx *ctx = search->space->engine->ctx;
    atn_status status = atn_space_domain_open(ctx, search->space->space, &search->domain);
    if (status != ATN_OK) return status;
    return atn_strategy_begin(search->strategy, ctx, &search->domain.domain, s->seed, s->evaluations, &search->self);
}

static atn_status ask_search(void *user) {
    searching *s = user;
    s->any = s->search->strategy->ask(s->search->self, s->search->point);
    return s->any || !atn_strategy_lost(s->search->self) ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status tell_search(void *user) {
    searching *s = user;
    s->search->strategy->tell(s->search->self, s->search->point, &s->score);
    return ATN_OK;
}

static const atn_strategy *find_strategy(const char *name) {
    const atn_strategy *found = atn_strategy_find(name);
    char all[256] = "";
    size_t at = 0;
    for (const atn_strategy *const *k = ATN_STRATEGIES; *k && !found && at < sizeof all; ++k)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", at ? ", " : "", (*k)->name);
    if (!found) PyErr_Format(PyExc_ValueError, "strategy cannot be '%s'; there are %s", name, all);
    return found;
}

static PyObject *make_search(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *space;
    const char *name;
    unsigned long long seed;
    long long evaluations;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OzKL", &space, &name, &seed, &evaluations)) return NULL;
    if (PyObject_IsInstance(space, space_type) != 1) {
        PyErr_SetString(PyExc_TypeError, "expected a space");
        return NULL;
    }
    py_engine *engine = engine_of(space);
    const atn_strategy *strategy = engine ? find_strategy(name) : NULL;
    if (!strategy) return NULL;
    py_search *self = PyObject_New(py_search, type);
    if (!self) return NULL;
    self->space = (py_space *)space;
    Py_INCREF(space);
    self->domain = (atn_space_domain){0};
    self->strategy = strategy;
    self->self = NULL;
    self->point = calloc((size_t)atn_space_count_parameters(self->space->space) + 1, sizeof *self->point);
    searching s = {.search = self, .seed = seed, .evaluations = evaluations};
    atn_status status = self->point ? py_work(engine, open_search, &s) : ATN_ERR_MEMORY;
    if (status == ATN_OK) return (PyObject *)self;
    py_fail(engine->ctx, status);
    Py_DECREF(self);
    return NULL;
}

static void dealloc_search(PyObject *object) {
    py_search *self = (py_search *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (!self->space->engine->abandoned) { /* who asks or tells holds it: nothing of it runs */
        atn_strategy_end(self->strategy, self->self);
        atn_space_domain_close(&self->domain);
    }
    free(self->point);
    Py_DECREF(self->space);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ask() -> levels, or None where nothing is left */
static PyObject *ask(PyObject *object, PyObject *nothing) {
    py_search *self = (py_search *)object;
    (void)nothing;
    py_engine *engine = engine_of((PyObject *)self->space);
    searching s = {.search = self};
    atn_status status = engine ? py_work(engine, ask_search, &s) : ATN_OK;
    if (!engine) return NULL;
    if (status != ATN_OK) return py_fail(engine->ctx, status);
    if (!s.any) Py_RETURN_NONE;
    return tuple_of(self->point, self->domain.n);
}

/* tell(levels, seconds, outcome): seconds of a run, or inf with the name of what went wrong */
static PyObject *tell(PyObject *object, PyObject *args) {
    py_search *self = (py_search *)object;
    PyObject *point;
    const char *outcome;
    searching s = {.search = self};
    if (!PyArg_ParseTuple(args, "Ods", &point, &s.score.seconds, &outcome)) return NULL;
    py_engine *engine = engine_of((PyObject *)self->space);
    if (!engine || !read_levels(point, self->space->space, self->point)) return NULL;
    int k = 0;
    while (k < ATN_OUTCOME_COUNT && strcmp(atn_outcome_name((atn_outcome)k), outcome) != 0) ++k;
    if (k == ATN_OUTCOME_COUNT) return PyErr_Format(PyExc_ValueError, "there is no outcome '%s'", outcome);
    s.score.outcome = (atn_outcome)k;
    s.score.low = s.score.high = s.score.seconds;
    s.score.usable = s.score.outcome == ATN_OUTCOME_RIGHT;
    if (!s.score.usable) s.score.seconds = INFINITY;
    (void)py_work(engine, tell_search, &s);
    Py_RETURN_NONE;
}

/* ---- functions ---- */

static PyObject *shipped_space(PyObject *module, PyObject *args) {
    const char *name;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    const char *text = atn_space_shipped(name);
    if (text) return PyUnicode_FromString(text);
    Py_RETURN_NONE;
}

PyMethodDef PY_SPACE_FUNCTIONS[] = {{"shipped_space", shipped_space, METH_VARARGS, NULL}, {0}};

int py_search_add(PyObject *module) {
    static PyMethodDef methods[] = {{"parameters", parameters, METH_NOARGS, NULL},
                                    {"constraints", constraints, METH_NOARGS, NULL},
                                    {"count", count, METH_NOARGS, NULL},
                                    {"product", product, METH_NOARGS, NULL},
                                    {"sample", sample, METH_VARARGS, NULL},
                                    {"list", list, METH_VARARGS, NULL},
                                    {"why", why, METH_O, NULL},
                                    {0}};
    static PyMethodDef search_methods[] = {{"ask", ask, METH_NOARGS, NULL}, {"tell", tell, METH_VARARGS, NULL}, {0}};
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Slot search_slots[] = {{Py_tp_new, (void *)make_search},
                                         {Py_tp_dealloc, (void *)dealloc_search},
                                         {Py_tp_methods, search_methods},
                                         {0, NULL}};
    static PyType_Spec spec = {
        .name = "attune._attune.Space", .basicsize = sizeof(py_space), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    static PyType_Spec search_spec = {.name = "attune._attune.Search",
                                      .basicsize = sizeof(py_search),
                                      .flags = Py_TPFLAGS_DEFAULT,
                                      .slots = search_slots};
    space_type = py_type_add(module, &spec, "Space");
    search_type = py_type_add(module, &search_spec, "Search");
    return space_type && search_type ? 0 : -1;
}
