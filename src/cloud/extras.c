/* Attributes that are passed through: a table of them, and a packed record per point. */
#include "cloud/extras.h"

#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void cloud_extras_free(const atn_ctx *ctx, cloud_extras *extras) {
    atn_free(ctx, extras->field);
    atn_free(ctx, extras->next);
    atn_free(ctx, extras->data);
    *extras = (cloud_extras){0};
}

void cloud_list_name(char *list, size_t size, const char *name) {
    size_t used = strlen(list), room = size - used;
    if (used && strlen(name) + 8 > room) { /* no room for the name, and more to come after it */
        if (used < 4 || strcmp(list + used - 3, "...") != 0) snprintf(list + used, room, room > 5 ? ", ..." : "");
        return;
    }
    size_t start = used ? used + 2 : 0;
    snprintf(list + used, room, "%s%.*s", used ? ", " : "", 100, name);
    for (char *c = list + start; *c; ++c)
        if (*c < ' ' || *c > '~') *c = '?'; /* names are shown to people */
}

atn_status cloud_extras_add(const atn_ctx *ctx, cloud_extras *extras, const char *name, number_type type, size_t values,
                            size_t *index) {
    enum { MOST_BYTES = 1 << 20 };
    void *field = extras->field;
    *index = SIZE_MAX;
    size_t bytes = extras->bytes + number_bytes(type) * values;
    if (extras->count == EXTRAS_MOST || values > MOST_BYTES || bytes > MOST_BYTES) return ATN_OK;
    atn_status status = atn_grow(ctx, &field, &extras->capacity, extras->count, sizeof *extras->field);
    extras->field = field;
    char *next = status == ATN_OK ? atn_resize(ctx, extras->next, bytes) : NULL;
    if (!next) return ATN_ERR_MEMORY;
    extras->next = next;
    memset(next + extras->bytes, 0, bytes - extras->bytes);
    cloud_extra *e = &extras->field[extras->count];
    *e = (cloud_extra){.type = type, .values = values, .at = extras->bytes};
    snprintf(e->name, sizeof e->name, "%s", name);
    cloud_list_name(extras->names, sizeof extras->names, name);
    extras->bytes = bytes;
    *index = extras->count++;
    return ATN_OK;
}

atn_status cloud_extras_like(const atn_ctx *ctx, const cloud_extras *from, cloud_extras *to) {
    size_t index;
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < from->count; ++k)
        status = cloud_extras_add(ctx, to, from->field[k].name, from->field[k].type, from->field[k].values, &index);
    return status;
}

atn_status cloud_extras_room(const atn_ctx *ctx, cloud_extras *extras, size_t points) {
    size_t bytes;
    if (!extras->bytes) return ATN_OK;
    if (!atn_size_mul(points, extras->bytes, &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "properties of points");
    char *data = atn_resize(ctx, extras->data, bytes ? bytes : 1);
    if (!data) return ATN_ERR_MEMORY;
    extras->data = data;
    return ATN_OK;
}

void cloud_extras_put(cloud_extras *extras, size_t index, size_t value, double number) {
    const cloud_extra *e = &extras->field[index];
    number_store(e->type, number, extras->next + e->at + value * number_bytes(e->type));
}

static double load(const cloud_extras *extras, const cloud_extra *e, size_t value, size_t point) {
    return number_load(e->type, extras->data + point * extras->bytes + e->at + value * number_bytes(e->type), false);
}

double cloud_extras_get(const cloud_extras *extras, size_t index, size_t value, size_t point) {
    return load(extras, &extras->field[index], value, point);
}

/* The shortest type of whole numbers that has all values; what it was where some are none. */
static number_type shortest(const cloud_extras *extras, const cloud_extra *e, size_t points) {
    static const struct {
        number_type type;
        double low, high;
    } WHOLE[] = {{NUMBER_U8, 0, 255}, {NUMBER_U16, 0, 65535}, {NUMBER_I32, INT32_MIN, INT32_MAX}};
    double low = 0, high = 0;
    if (e->type != NUMBER_F64) return e->type;
    for (size_t k = 0; k < points; ++k)
        for (size_t v = 0; v < e->values; ++v) {
            double x = load(extras, e, v, k);
            if (!(floor(x) == x) || (x == 0 && signbit(x))) return e->type; /* NaN too */
            low = fmin(low, x);
            high = fmax(high, x);
        }
    for (size_t k = 0; k < sizeof WHOLE / sizeof *WHOLE; ++k)
        if (low >= WHOLE[k].low && high <= WHOLE[k].high) return WHOLE[k].type;
    return e->type;
}

atn_status cloud_extras_settle(const atn_ctx *ctx, cloud_extras *extras, size_t points) {
    cloud_extras settled = {0};
    size_t from[EXTRAS_MOST] = {0}, index;
    bool changed = false;
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < extras->count; ++k) {
        const cloud_extra *e = &extras->field[k];
        number_type type = e->gone ? NUMBER_NONE : shortest(extras, e, points);
        changed |= type != e->type;
        if (e->gone) continue;
        from[settled.count] = k;
        status = cloud_extras_add(ctx, &settled, e->name, type, e->values, &index);
    }
    if (status == ATN_OK && changed) status = cloud_extras_room(ctx, &settled, points);
    if (status != ATN_OK || !changed) {
        cloud_extras_free(ctx, &settled);
        return status;
    }
    for (size_t p = 0; p < points && settled.bytes; ++p) {
        for (size_t k = 0; k < settled.count; ++k)
            for (size_t v = 0; v < settled.field[k].values; ++v)
                cloud_extras_put(&settled, k, v, load(extras, &extras->field[from[k]], v, p));
        memcpy(settled.data + p * settled.bytes, settled.next, settled.bytes);
    }
    cloud_extras_free(ctx, extras);
    *extras = settled;
    return ATN_OK;
}

size_t cloud_extras_find(const cloud_extras *extras, const cloud_extra *like) {
    for (size_t k = 0; k < extras->count; ++k) {
        const cloud_extra *e = &extras->field[k];
        if (e->type == like->type && e->values == like->values && strcmp(e->name, like->name) == 0) return k;
    }
    return SIZE_MAX;
}

void cloud_extra_name(const cloud_extra *extra, size_t value, char name[EXTRA_NAME + 8]) {
    if (extra->values > 1)
        snprintf(name, EXTRA_NAME + 8, "%s_%zu", extra->name, value % 1000000);
    else
        snprintf(name, EXTRA_NAME + 8, "%s", extra->name);
    for (char *c = name; *c; ++c)
        if (*c <= ' ' || *c > '~' || *c == ',' || *c == ':' || *c == '"') *c = '_';
}
