/* Writes LAS: version 1.2 with point format 0 to 3, or 1.4 with 6 to 8 where something needs it: classes above 31, near
 * infrared, fine scan angles, more points than 32 bits count. Coordinates become whole numbers of a power of ten that
 * makes use of their 32 bits. */
#include "cloud/las.h"

#include "cloud/formats.h"

#include <math.h>
#include <string.h>

enum { MOST_FIELDS = 16, MOST_BYTES = 67 };

typedef struct plan {
    const atn_cloud *cloud;
    bool modern; /* 1.4 */
    int format;
    double scale[3], offset[3];
    size_t extra[MOST_FIELDS]; /* of each row of LAS_FIELDS; SIZE_MAX: none */
    double factor[MOST_FIELDS];
} plan;

static const las_field *field_of(const char *name) {
    for (const las_field *f = LAS_FIELDS; f->name; ++f)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

static bool is_colour(const char *name) {
    return strcmp(name, "red") == 0 || strcmp(name, "green") == 0 || strcmp(name, "blue") == 0;
}

/* Whole numbers that the field's type has, times of any kind. */
bool cloud_las_holds(const atn_cloud *cloud, const cloud_extra *extra) {
    static const double LIMITS[][2] = {{-128, 127}, {0, 255}, {-32768, 32767}, {0, 65535}};
    const las_field *f = field_of(extra->name);
    if (!f || extra->values != 1) return false;
    if (!number_is_whole(f->type)) return true;
    if (!number_is_whole(extra->type)) return false;
    size_t index = cloud_extras_find(&cloud->extra, extra);
    for (size_t k = 0; k < cloud->count; ++k) {
        double value = cloud_extras_get(&cloud->extra, index, 0, k);
        if (value < LIMITS[f->type][0] || value > LIMITS[f->type][1]) return false;
    }
    return true;
}

static size_t field_index(const char *name) { return (size_t)(field_of(name) - LAS_FIELDS); }

static bool has(const plan *p, const char *name) { return p->extra[field_index(name)] != SIZE_MAX; }

static double value_of(const plan *p, size_t field, size_t point) {
    if (p->extra[field] == SIZE_MAX) return 0;
    return p->factor[field] * cloud_extras_get(&p->cloud->extra, p->extra[field], 0, point);
}

static bool needs_modern(const plan *p) {
    if (has(p, "nir") || has(p, "scan_angle") || has(p, "returns") || has(p, "class_flags")) return true;
    for (size_t k = 0; k < p->cloud->count && has(p, "classification"); ++k)
        if (value_of(p, field_index("classification"), k) > 31) return true;
    return p->cloud->count > UINT32_MAX;
}

/* A power of ten with which the steps from the middle stay below 10^9, but no finer than a trillionth of the
 * coordinates; the middle is a whole number unless steps are so short that it would not be reached. */
static void choose_scale(plan *p) {
    atn_cloud_info info = atn_cloud_info_of(p->cloud);
    for (int d = 0; d < 3; ++d) {
        double low = info.low[d], high = info.high[d], half = high / 2 - low / 2, middle = high / 2 + low / 2;
        double finest = fmax(fabs(low), fabs(high)) * 1e-12, step = fmax(half * 1e-9, finest);
        p->scale[d] = pow(10, step > 0 ? fmax(ceil(log10(step)), -300) : -3);
        p->offset[d] = p->scale[d] >= 1e-9 ? floor(middle) : middle;
    }
}

static void make_plan(const atn_cloud *cloud, plan *p) {
    *p = (plan){.cloud = cloud};
    for (size_t f = 0; LAS_FIELDS[f].name; ++f) {
        p->extra[f] = SIZE_MAX;
        for (size_t k = 0; k < cloud->extra.count && p->extra[f] == SIZE_MAX; ++k) {
            const cloud_extra *e = &cloud->extra.field[k];
            if (strcmp(e->name, LAS_FIELDS[f].name) != 0 || !cloud_las_holds(cloud, e)) continue;
            p->extra[f] = k;
            p->factor[f] = is_colour(e->name) && e->type == NUMBER_U8 ? 257 : 1; /* 255 becomes 65535 */
        }
    }
    p->modern = needs_modern(p);
    bool colours = has(p, "red") || has(p, "green") || has(p, "blue");
    p->format = p->modern ? has(p, "nir") ? 8 : colours ? 7 : 6 : (has(p, "gps_time") ? 1 : 0) + (colours ? 2 : 0);
    choose_scale(p);
}

static void put(char *at, number_type type, double value) { number_store(type, value, at); }

static int32_t step_of(const plan *p, int axis, size_t point) {
    return (int32_t)llrint((cloud_get(p->cloud, (cloud_role)axis, point) - p->offset[axis]) / p->scale[axis]);
}

/* Which of how many returns a point is; both are at least 1. */
static void returns_of(const plan *p, size_t point, unsigned *number, unsigned *of) {
    unsigned old = (unsigned)value_of(p, field_index("return_bits"), point);
    unsigned all = (unsigned)value_of(p, field_index("returns"), point);
    *number = has(p, "returns") ? all & 15 : old & 7;
    *of = has(p, "returns") ? all >> 4 : old >> 3 & 7;
    if (*number == 0) *number = 1;
    if (*of == 0) *of = 1;
}

static void add_header(const plan *p, atn_text *out) {
    char h[LAS_NEW_HEADER] = "LASF";
    size_t bytes = p->modern ? LAS_NEW_HEADER : LAS_OLD_HEADER, count = p->cloud->count;
    size_t by_return[16] = {0};
    atn_cloud_info info = atn_cloud_info_of(p->cloud);
    for (size_t k = 0; k < count; ++k) {
        unsigned number, of;
        returns_of(p, k, &number, &of);
        ++by_return[number];
    }
    h[LAS_VERSION] = 1;
    h[LAS_VERSION + 1] = p->modern ? 4 : 2;
    memcpy(h + 26, "attune", 6); /* NOLINT(bugprone-not-null-terminated-result): fields are filled up with zeros */
    memcpy(h + 58, "attune", 6); /* NOLINT(bugprone-not-null-terminated-result) */
    put(h + LAS_HEADER_BYTES, NUMBER_U16, (double)bytes);
    put(h + LAS_POINTS_AT, NUMBER_U32, (double)bytes);
    h[LAS_FORMAT] = (char)p->format;
    put(h + LAS_POINT_BYTES, NUMBER_U16, LAS_BYTES[p->format]);
    put(h + LAS_COUNT, NUMBER_U32, p->modern ? 0 : (double)count);
    for (size_t k = 1; k <= 5 && !p->modern; ++k) put(h + LAS_COUNT + 4 * k, NUMBER_U32, (double)by_return[k]);
    for (size_t d = 0; d < 3; ++d) {
        put(h + LAS_SCALE + 8 * d, NUMBER_F64, p->scale[d]);
        put(h + LAS_OFFSET + 8 * d, NUMBER_F64, p->offset[d]);
        put(h + LAS_BOUNDS + 16 * d, NUMBER_F64, info.high[d]);
        put(h + LAS_BOUNDS + 16 * d + 8, NUMBER_F64, info.low[d]);
    }
    put(h + LAS_LONG_COUNT, NUMBER_U64, (double)count);
    for (size_t k = 1; k <= 15; ++k) put(h + LAS_LONG_COUNT + 8 * k, NUMBER_U64, (double)by_return[k]);
    if (p->modern) put(h + 6, NUMBER_U16, 16); /* coordinate systems would be WKT, as these formats want it */
    atn_text_add_bytes(out, h, bytes);
}

static void add_point(const plan *p, size_t point, atn_text *out) {
    char record[MOST_BYTES] = {0};
    unsigned number, of;
    for (int d = 0; d < 3; ++d) put(record + 4 * d, NUMBER_I32, step_of(p, d, point));
    for (size_t f = 0; LAS_FIELDS[f].name; ++f)
        if (LAS_FIELDS[f].at[p->format] >= 0 && p->extra[f] != SIZE_MAX)
            put(record + LAS_FIELDS[f].at[p->format], LAS_FIELDS[f].type, value_of(p, f, point));
    returns_of(p, point, &number, &of);
    if (p->modern)
        record[14] = (char)(number | of << 4);
    else
        record[14] = (char)(number | of << 3 | ((unsigned)value_of(p, field_index("return_bits"), point) & 0xc0));
    atn_text_add_bytes(out, record, LAS_BYTES[p->format]);
}

atn_status cloud_las_write(const atn_cloud *cloud, char separator, atn_text *out) {
    plan p;
    (void)separator;
    if (cloud->count == 0) return atn_fail(cloud->ctx, ATN_ERR_INPUT, "LAS without points is not written");
    make_plan(cloud, &p);
    add_header(&p, out);
    for (size_t k = 0; k < cloud->count; ++k) add_point(&p, k, out);
    return ATN_OK;
}
