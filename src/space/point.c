/* Single points: allowed or excluded and why, parsing and printing, and their neighbours. */
#include "base/memory.h"
#include "base/number.h"
#include "base/suggest.h"
#include "space/plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- allowed? ---- */

static atn_status judge(const atn_ctx *ctx, atn_lan_env *env, bool *allowed, const char **by) {
    const atn_space *space = env->space;
    *allowed = false;
    for (size_t k = 0; k < space->n_order; ++k) {
        const atn_lan_parameter *p = &space->parameters[space->order[k]];
        const atn_lan_levels *list = atn_lan_allowed(space, p, env->levels);
        *by = p->name;
        if (!list) { /* computed again, for its sentence */
            atn_lan_value value;
            (void)atn_lan_call(env, &space->functions[p->function], &value);
            return atn_lan_failed(ctx, env, &space->functions[p->function]);
        }
        if (!atn_lan_has_level(&p->iterator, list, env->levels[space->order[k]])) return ATN_OK;
    }
    for (size_t k = 0; k < space->n_constraints; ++k) {
        const atn_lan_function *function = &space->functions[space->constraints[k]];
        if (function->built) continue;
        *by = function->name;
        int keeps = atn_lan_keeps(env, function);
        if (keeps < 0) return atn_lan_failed(ctx, env, function);
        if (!keeps) return ATN_OK;
    }
    *by = NULL;
    *allowed = true;
    return ATN_OK;
}

atn_status atn_space_why(const atn_ctx *ctx, const atn_space *space, const int32_t *levels, bool *allowed,
                         const char **by) {
    atn_lan_env env;
    *allowed = false;
    *by = NULL;
    for (size_t k = 0; k < space->n_parameters; ++k)
        if (levels[k] < 0 || levels[k] >= space->parameters[k].levels)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' has no level %d, there are %d", space->name,
                            space->parameters[k].name, levels[k], space->parameters[k].levels);
    atn_status status = atn_lan_env_begin(&env, space, levels);
    if (!status) status = judge(ctx, &env, allowed, by);
    atn_lan_env_end(&env);
    return status;
}

bool atn_space_allows(const atn_space *space, const int32_t *levels, const char **by) {
    bool allowed;
    const char *who;
    atn_status status = atn_space_why(space->ctx, space, levels, &allowed, &who);
    if (by) *by = who;
    return !status && allowed;
}

bool atn_space_allows_built(const atn_space *space, const int32_t *levels, const atn_given *built, size_t n_built,
                            const char **by) {
    atn_lan_env env;
    bool allowed = atn_lan_env_begin(&env, space, levels) == ATN_OK;
    env.built = built;
    env.n_built = n_built;
    if (by) *by = NULL;
    for (size_t k = 0; k < space->n_constraints && allowed; ++k) {
        const atn_lan_function *function = &space->functions[space->constraints[k]];
        if (!function->built) continue;
        int keeps = atn_lan_keeps(&env, function);
        allowed = keeps > 0 || (keeps < 0 && env.undecided);
        if (!allowed && by) *by = function->name;
    }
    atn_lan_env_end(&env);
    return allowed;
}

/* ---- as text ---- */

void atn_space_print(const atn_space *space, const int32_t *levels, atn_text *out) {
    for (size_t k = 0; k < space->n_parameters; ++k) {
        if (k) atn_text_add_bytes(out, ",", 1);
        atn_text_add(out, space->parameters[k].name);
        atn_text_add_bytes(out, "=", 1);
        atn_setting_print(&space->parameters[k].settings[levels[k]], out);
    }
}

static bool is_setting(const atn_setting *setting, const char *text, size_t length) {
    char copy[64], *end;
    if (setting->kind == ATN_SETTING_TEXT)
        return strlen(setting->text) == length && !memcmp(setting->text, text, length);
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (setting->kind == ATN_SETTING_BOOL && (!strcmp(copy, "True") || !strcmp(copy, "true")))
        return setting->whole == 1;
    if (setting->kind == ATN_SETTING_BOOL && (!strcmp(copy, "False") || !strcmp(copy, "false")))
        return setting->whole == 0;
    long long whole = strtoll(copy, &end, 10);
    if (*end == '\0' && setting->kind != ATN_SETTING_REAL) return whole == setting->whole;
    double number = atn_number_read(copy, &end);
    return *end == '\0' && number == setting->number;
}

static atn_status no_value(const atn_ctx *ctx, const atn_space *space, const atn_lan_parameter *p, const char *value,
                           size_t length) {
    atn_text values = {.ctx = ctx};
    for (int32_t level = 0; level < p->levels; ++level) {
        if (level >= 12 && level + 1 < p->levels) {
            atn_text_add(&values, ", ...");
            level = p->levels - 1;
        }
        if (level) atn_text_add(&values, ", ");
        atn_setting_print(&p->settings[level], &values);
    }
    atn_status status = atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' cannot be '%.*s'; it is one of %s", space->name, p->name,
                                 (int)(length < 100 ? length : 100), value, atn_text_str(&values));
    if (values.failed) status = ATN_ERR_MEMORY;
    atn_text_free(&values);
    return status;
}

static int32_t find_parameter(const atn_space *space, const char *name, size_t length) {
    for (size_t k = 0; k < space->n_parameters; ++k)
        if (strlen(space->parameters[k].name) == length && memcmp(space->parameters[k].name, name, length) == 0)
            return (int32_t)k;
    return -1;
}

static atn_status no_parameter(const atn_ctx *ctx, const atn_space *space, const char *name, size_t length) {
    char typed[64] = "";
    if (length < sizeof typed) memcpy(typed, name, length);
    atn_suggest suggest = {.typed = typed};
    for (size_t k = 0; k < space->n_parameters; ++k) atn_suggest_try(&suggest, space->parameters[k].name);
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: there is no parameter '%.*s'%s%s%s", space->name,
                    (int)(length < 60 ? length : 60), name, suggest.best ? "; did you mean '" : "",
                    suggest.best ? suggest.best : "", suggest.best ? "'?" : "");
}

/* The end of the value that begins at `text`: the next ',' behind which a parameter is named, for texts hold commas. */
static size_t value_length(const atn_space *space, const char *text) {
    size_t length = 0;
    for (;;) {
        length += strcspn(text + length, ",");
        if (!text[length]) return length;
        size_t name = strcspn(text + length + 1, "=,");
        if (text[length + 1 + name] == '=' && find_parameter(space, text + length + 1, name) >= 0) return length;
        if (text[length + 1 + name] == '=' && !strchr(text, ' ')) return length; /* a name that is wrong */
        ++length;
    }
}

atn_status atn_space_point(const atn_ctx *ctx, const atn_space *space, const char *text, int32_t *levels) {
    for (size_t k = 0; k < space->n_parameters; ++k) levels[k] = -1;
    for (const char *at = text; *at;) {
        size_t name = strcspn(at, "=,");
        if (at[name] != '=')
            return atn_fail(ctx, ATN_ERR_INPUT, "'%.*s' is not a name=value", (int)(name < 100 ? name : 100), at);
        int32_t k = find_parameter(space, at, name);
        if (k < 0) return no_parameter(ctx, space, at, name);
        const atn_lan_parameter *p = &space->parameters[k];
        if (levels[k] >= 0) return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is given twice", space->name, p->name);
        const char *value = at + name + 1;
        size_t length = value_length(space, value);
        for (int32_t level = 0; level < p->levels && levels[k] < 0; ++level)
            if (is_setting(&p->settings[level], value, length)) levels[k] = level;
        if (levels[k] < 0) return no_value(ctx, space, p, value, length);
        at = value + length + (value[length] == ',');
    }
    for (size_t k = 0; k < space->n_parameters; ++k) {
        if (levels[k] < 0 && space->parameters[k].levels == 1) levels[k] = 0; /* there is no other */
        if (levels[k] < 0)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: the point has no value for '%s'", space->name,
                            space->parameters[k].name);
    }
    return ATN_OK;
}

/* ---- neighbours ---- */

atn_status atn_space_neighbours(const atn_ctx *ctx, const atn_space *space, const int32_t *levels, bool near,
                                bool (*visit)(void *user, const int32_t *levels), void *user) {
    atn_lan_env env;
    bool allowed, go_on = true;
    const char *by;
    int32_t *point = atn_alloc(space->ctx, (space->n_parameters + 1) * sizeof *point);
    atn_status status = point ? atn_lan_env_begin(&env, space, point) : ATN_ERR_MEMORY;
    if (!point) return status;
    if (space->n_parameters) memcpy(point, levels, space->n_parameters * sizeof *point);
    for (size_t k = 0; k < space->n_parameters && !status && go_on; ++k) {
        int32_t own = levels[k], from = near ? own - 1 : 0, to = near ? own + 1 : space->parameters[k].levels - 1;
        for (int32_t level = from; level <= to && !status && go_on; ++level) {
            if (level < 0 || level == own || level >= space->parameters[k].levels) continue;
            point[k] = level;
            status = judge(ctx, &env, &allowed, &by);
            if (!status && allowed) go_on = visit(user, point);
            if (!status) status = atn_check_cancel(ctx);
        }
        point[k] = own;
    }
    atn_lan_env_end(&env);
    atn_free(space->ctx, point);
    return status;
}
