/* Options of the verb lattice: models by name or as a file, constants, noise. */
#include "base/number.h"
#include "cli/lattice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool read_list(const char *text, int most, double *out, int *count) {
    for (*count = 0; *count < most;) {
        char *end;
        out[*count] = atn_number_read(text, &end);
        if (end == text || !isfinite(out[*count])) return false;
        ++*count;
        if (*end == 0) return true;
        if (*end != ',') return false;
        text = end + 1;
    }
    return false;
}

/* A small file of points: the first row is the atom in the middle. */
static atn_status read_model(atn_cli_call *call, const char *path, atn_lattice_settings *s, atn_cloud **cloud) {
    if (*cloud) return atn_cli_misuse(call, "--models %s: at most one model can be a file", path);
    atn_status status = atn_cloud_read(call->ctx, path, NULL, cloud);
    if (status) return status;
    atn_lattice_model *model = &s->model[s->models++];
    const char *slash = strrchr(path, '/');
    size_t points = atn_cloud_info_of(*cloud).points;
    snprintf(model->name, sizeof model->name, "%.*s", (int)strcspn(slash ? slash + 1 : path, "."),
             slash ? slash + 1 : path);
    if (points < 2)
        return atn_fail(call->ctx, ATN_ERR_INPUT, "%s: a model needs a central atom and its neighbours", path);
    model->points = points - 1;
    double middle[3];
    atn_cloud *moved = NULL;
    for (int axis = 0; axis < 3; ++axis) middle[axis] = atn_cloud_positions(*cloud, axis)[0];
    const double by[16] = {1, 0, 0, -middle[0], 0, 1, 0, -middle[1], 0, 0, 1, -middle[2], 0, 0, 0, 1};
    status = atn_cloud_moved(*cloud, by, &moved);
    if (status) return status;
    atn_cloud_free(*cloud);
    *cloud = moved;
    for (int axis = 0; axis < 3; ++axis) model->axis[axis] = atn_cloud_positions(*cloud, axis) + 1;
    return ATN_OK;
}

static bool is_known(const char *word) {
    static const char *const NAMES[] = {"bcc", "fcc", "hcp", "sc", "diamond", "B2", "L12"};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k)
        if (strcmp(word, NAMES[k]) == 0) return true;
    return false;
}

static atn_status read_models(atn_cli_call *call, atn_lattice_settings *s, atn_cloud **cloud) {
    const char *text = atn_cli_value(call, "models");
    for (text = text ? text : "bcc,fcc,hcp"; *text;) {
        size_t length = strcspn(text, ",");
        char word[512];
        if (length == 0 || length >= sizeof word)
            return atn_cli_misuse(call, "--models takes a comma-separated list of names and a file, such as bcc,fcc");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        text += length + (text[length] == ',');
        if (s->models == ATN_LATTICE_MOST_MODELS)
            return atn_cli_misuse(call, "--models takes at most %d", ATN_LATTICE_MOST_MODELS);
        double constant = 0;
        char *equals = strchr(word, '='), *end;
        if (equals && !strpbrk(word, "/")) {
            constant = atn_number_read(equals + 1, &end);
            if (end == equals + 1 || *end || !(constant > 0) || !isfinite(constant))
                return atn_cli_misuse(call, "--models: '%s' is not a model; a constant is given as bcc=2.87", word);
            *equals = 0;
        }
        for (int32_t m = 0; m < s->models; ++m)
            if (strcmp(s->model[m].name, word) == 0 &&
                (constant == 0 || s->model[m].constant == 0 || s->model[m].constant == constant))
                return atn_cli_misuse(call, "--models: '%s' is given twice; phases have constants: bcc=2.87,bcc=3.3",
                                      word);
        atn_status status = ATN_OK;
        if (is_known(word)) {
            s->model[s->models].constant = constant;
            snprintf(s->model[s->models++].name, sizeof s->model->name, "%s", word);
        } else if (strpbrk(word, "./")) {
            status = read_model(call, word, s, cloud);
        } else {
            status = atn_cli_misuse(
                call, "--models: '%s' is not known; bcc, fcc, hcp, sc, diamond, B2, L12, or a file of points", word);
        }
        if (status) return status;
    }
    return ATN_OK;
}

/* "bcc=3.2,fcc=4.79", or one number where there is one model. */
static atn_status read_constants(atn_cli_call *call, atn_lattice_settings *s) {
    const char *text = atn_cli_value(call, "constant");
    for (; text && *text;) {
        size_t name = strcspn(text, "=,");
        char *end;
        int32_t found = s->models == 1 && text[name] != '=' ? 0 : -1;
        const char *number = text[name] == '=' ? text + name + 1 : text;
        for (int32_t m = 0; m < s->models; ++m)
            if (text[name] == '=' && strlen(s->model[m].name) == name && strncmp(s->model[m].name, text, name) == 0)
                found = m;
        double value = atn_number_read(number, &end);
        if (end == number || (*end && *end != ',') || !(value > 0) || !isfinite(value))
            return atn_cli_misuse(call, "--constant cannot be '%s'; it takes a comma-separated list of NAME=LENGTH",
                                  atn_cli_value(call, "constant"));
        if (found < 0)
            return atn_cli_misuse(call, "--constant %s: each names one of the models, as bcc=3.2",
                                  atn_cli_value(call, "constant"));
        s->model[found].constant = value;
        text = *end ? end + 1 : end;
    }
    return ATN_OK;
}

atn_status lattice_read_options(atn_cli_call *call, atn_lattice_settings *s, atn_cloud **model) {
    const char *noise = atn_cli_value(call, "noise");
    double pair[2] = {0};
    int count = 0;
    atn_status status = read_models(call, s, model);
    if (!status) status = read_constants(call, s);
    if (!status) status = atn_cli_read_number(call, "cutoff", 0.5, 50, 0, &s->cutoff);
    if (!status) status = atn_cli_read_number(call, "efficiency", 0.01, 1, 0, &s->efficiency);
    if (!status) status = atn_cli_read_number(call, "background", 0, 0.9, 0, &s->background);
    s->has_background = atn_cli_has(call, "background");
    if (!status && noise && (!read_list(noise, 2, pair, &count) || !(pair[0] > 0) || pair[1] < 0))
        status = atn_cli_misuse(call, "--noise cannot be '%s'; it takes S, or LATERAL,DEPTH", noise);
    s->noise = pair[0];
    s->depth_noise = pair[1];
    s->exact = atn_cli_has(call, "exact");
    s->even = atn_cli_has(call, "even");
    return status;
}
