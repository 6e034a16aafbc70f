/* Matching atoms: checks the input, passes batches of neighbourhoods through the kernels, and classifies each atom. */
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- making ---- */

static atn_status check_number(const atn_ctx *ctx, const char *what, double value, double low, double high) {
    if (value >= low && value <= high) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT, "lattice: %s is %g; it must be from %g to %g", what, value, low, high);
}

static atn_status check(const atn_ctx *ctx, const atn_lattice_settings *s) {
    atn_status status = ATN_OK;
    if (s->models < 0 || s->models > ATN_LATTICE_MOST_MODELS)
        return atn_fail(ctx, ATN_ERR_INPUT, "lattice: %d models; 1 to %d are supported", (int)s->models,
                        ATN_LATTICE_MOST_MODELS);
    status = check_number(ctx, "the cut-off", s->cutoff, 0, 100);
    if (status == ATN_OK) status = check_number(ctx, "the noise", s->noise, 0, 10);
    if (status == ATN_OK) status = check_number(ctx, "the depth noise", s->depth_noise, 0, 10);
    if (status == ATN_OK) status = check_number(ctx, "the efficiency", s->efficiency, 0, 1);
    if (status == ATN_OK) status = check_number(ctx, "the background", s->background, 0, 0.99);
    for (int32_t m = 0; m < s->models && status == ATN_OK; ++m) {
        const atn_lattice_model *model = &s->model[m];
        if (!model->points && !lattice_kind_is_known(model->name))
            status =
                atn_fail(ctx, ATN_ERR_INPUT,
                         "lattice: no model '%.31s'; bcc, fcc, hcp, sc, diamond, B2 and L12 are known", model->name);
        if (status == ATN_OK && model->points == 1)
            status =
                atn_fail(ctx, ATN_ERR_INPUT,
                         "lattice: the model '%.31s' has one point; at least 2 are needed to determine an orientation",
                         model->name);
        if (status == ATN_OK && model->points > 4096)
            status =
                atn_fail(ctx, ATN_ERR_INPUT, "lattice: the model '%.31s' has %zu points; at most 4096 are supported",
                         model->name, model->points);
        if (status == ATN_OK) status = check_number(ctx, "a lattice constant", model->constant, 0, 100);
        for (int32_t k = 0; k < m && status == ATN_OK; ++k)
            if (strncmp(model->name, s->model[k].name, 31) == 0 &&
                (!(model->constant > 0) || model->constant == s->model[k].constant || !(s->model[k].constant > 0)))
                status = atn_fail(
                    ctx, ATN_ERR_INPUT,
                    "lattice: the model '%.31s' is given twice; phases of one structure need different constants",
                    model->name);
    }
    return status;
}

/* Points of models are copied: the caller's may go. */
static atn_status copy_points(atn_lattice *l, int32_t m) {
    atn_lattice_model *model = &l->settings.model[m];
    for (int axis = 0; axis < 3 && model->points; ++axis) {
        size_t bytes = model->points * sizeof **l->given[m];
        l->given[m][axis] = atn_alloc(l->ctx, bytes);
        if (!l->given[m][axis]) return ATN_ERR_MEMORY;
        memcpy(l->given[m][axis], model->axis[axis], bytes);
        for (size_t k = 0; k < model->points; ++k)
            if (!isfinite(model->axis[axis][k]))
                return atn_fail(l->ctx, ATN_ERR_INPUT, "lattice: point %zu of the model '%.31s' is not finite", k + 1,
                                model->name);
        model->axis[axis] = l->given[m][axis];
    }
    return ATN_OK;
}

/* An ordered model and the plain one are one structure until species are looked at. */
static void set_order(atn_lattice *l, int32_t m) {
    lattice_order *o = &l->order[m];
    const atn_lattice_model *model = &l->settings.model[m];
    o->base = model->points ? NULL : lattice_kind_order(lattice_kind_find(model->name), &o->sites, o->on);
    o->plain = -1;
    for (int32_t k = 0; k < l->settings.models && o->base; ++k)
        if (!l->settings.model[k].points && strcmp(l->settings.model[k].name, o->base) == 0 && o->plain < 0)
            o->plain = k;
    if (o->plain >= 0) l->info.structure[m] = l->info.structure[o->plain];
    o->structure = l->info.structure[m];
}

atn_status atn_lattice_create(atn_device *device, const atn_lattice_settings *given, atn_lattice **out) {
    static const char *const NAMES[3] = {"bcc", "fcc", "hcp"};
    const atn_ctx *ctx = atn_device_ctx(device);
    *out = NULL;
    atn_lattice *l = atn_zalloc(ctx, sizeof *l);
    if (!l) return ATN_ERR_MEMORY;
    atn_status status = ATN_TAKE(ctx, atn_lattice_settings, given, &l->settings);
    if (status == ATN_OK) status = check(ctx, &l->settings);
    if (status != ATN_OK) {
        atn_free(ctx, l);
        return status;
    }
    l->device = device;
    l->ctx = ctx;
    l->shape = 12;
    l->temper = 0.65;
    l->temper_part = 0.12;
    if (l->settings.models == 0) {
        l->settings.models = 3;
        for (int m = 0; m < 3; ++m)
            snprintf(l->settings.model[m].name, sizeof l->settings.model[m].name, "%s", NAMES[m]);
    }
    l->info.models = l->settings.models;
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
        int32_t first = 0;
        status = copy_points(l, m);
        l->settings.model[m].name[31] = 0;
        while (strcmp(l->settings.model[first].name, l->settings.model[m].name) != 0) ++first;
        lattice_set_phase(l, m, m);
        l->info.structure[m] = first + 1;
    }
    for (int32_t m = 0; m < l->info.models; ++m) set_order(l, m);
    if (status == ATN_OK)
        *out = l;
    else
        atn_lattice_free(l);
    return status;
}

void atn_lattice_free(atn_lattice *l) {
    if (!l) return;
    lattice_engine_free(l);
    for (int32_t m = 0; m < ATN_LATTICE_MOST_MODELS; ++m)
        for (int axis = 0; axis < 3; ++axis) atn_free(l->ctx, l->given[m][axis]);
    atn_free(l->ctx, l);
}

atn_status atn_lattice_get_info(const atn_lattice *l, atn_lattice_info *out) {
    atn_lattice_info info = l->info;
    for (int32_t m = 0; m < l->settings.models; ++m)
        if (l->order[m].sites) info.structure[m] = m + 1;
    return ATN_GIVE(l->ctx, atn_lattice_info, &info, out);
}

double atn_lattice_reach(const atn_lattice *l) { return l->info.cutoff; }

atn_status lattice_match_usable(atn_lattice *l, const atn_atoms *atoms, double angstrom, atn_lattice_atom *out) {
    atn_status status = l->ready ? ATN_OK : lattice_engine_open(l);
    return status == ATN_OK ? lattice_match_atoms(l, atoms, angstrom, out) : status;
}

atn_status atn_lattice_match(atn_lattice *l, const atn_atoms *given, double angstrom, atn_lattice_atom *out) {
    atn_atoms all, *atoms = &all;
    atn_status status = ATN_TAKE(l->ctx, atn_atoms, given, atoms);
    if (status == ATN_OK) status = l->known ? lattice_atoms_check(l, atoms) : atn_lattice_learn(l, atoms, angstrom);
    return status == ATN_OK ? lattice_match_usable(l, atoms, angstrom, out) : status;
}
