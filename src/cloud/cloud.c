/* The arrays of a point cloud: creating, filling and querying them. */
#include "cloud/cloud.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/sized.h"
#include "cloud/faces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    cloud_role role;
} NAMES[] = {
    {"x", ROLE_X},
    {"y", ROLE_Y},
    {"z", ROLE_Z},
    {"nx", ROLE_NX},
    {"ny", ROLE_NY},
    {"nz", ROLE_NZ},
    {"normal_x", ROLE_NX},
    {"normal_y", ROLE_NY},
    {"normal_z", ROLE_NZ},
    {"weight", ROLE_WEIGHT},
    {"mass", ROLE_MASS},
    {"m/z", ROLE_MASS},
    {"species", ROLE_SPECIES},
};

static size_t bytes_of(cloud_role role) {
    return role <= ROLE_Z ? sizeof(double) : role == ROLE_SPECIES ? sizeof(int32_t) : sizeof(float);
}

atn_status cloud_make(const atn_ctx *ctx, const atn_cloud_settings *options, atn_cloud **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->ctx = ctx;
    if (options) (*out)->invalid = options->invalid;
    return ATN_OK;
}

void atn_cloud_free(atn_cloud *cloud) {
    if (!cloud) return;
    for (int k = 0; k < ROLE_COUNT; ++k) atn_free(cloud->ctx, cloud->column[k]);
    atn_free(cloud->ctx, cloud->frame);
    atn_free(cloud->ctx, cloud->dropped);
    atn_free(cloud->ctx, cloud->part.start);
    cloud_extras_free(cloud->ctx, &cloud->extra);
    cloud_faces_free(cloud->ctx, cloud->faces);
    atn_free(cloud->ctx, cloud);
}

static atn_status make_room(atn_cloud *cloud, size_t points) {
    for (cloud_role k = 0; k < ROLE_COUNT; ++k) {
        if (!(cloud->roles & ROLE_BIT(k))) continue;
        size_t bytes;
        if (!atn_size_mul(points, bytes_of(k), &bytes)) return atn_fail_memory(cloud->ctx, SIZE_MAX, "points");
        void *moved = atn_resize(cloud->ctx, cloud->column[k], bytes ? bytes : 1);
        if (!moved) return ATN_ERR_MEMORY;
        cloud->column[k] = moved;
    }
    atn_status status = cloud_extras_room(cloud->ctx, &cloud->extra, points);
    if (status == ATN_OK) cloud->capacity = points;
    return status;
}

static atn_status copy_arrays(const atn_cloud *from, atn_cloud *to) {
    atn_status status = make_room(to, from->count);
    if (status != ATN_OK) return status;
    to->count = from->count;
    for (cloud_role k = 0; k < ROLE_COUNT; ++k)
        if (from->roles & ROLE_BIT(k)) memcpy(to->column[k], from->column[k], from->count * bytes_of(k));
    if (from->extra.bytes) memcpy(to->extra.data, from->extra.data, from->count * from->extra.bytes);
    if (!from->n_frames) return ATN_OK;
    to->frame = atn_alloc(to->ctx, from->n_frames * sizeof *to->frame);
    if (!to->frame) return ATN_ERR_MEMORY;
    memcpy(to->frame, from->frame, from->n_frames * sizeof *to->frame);
    to->n_frames = to->frame_capacity = from->n_frames;
    return ATN_OK;
}

atn_status cloud_copy(const atn_cloud *cloud, unsigned roles, atn_cloud **out) {
    atn_cloud_settings options = {.invalid = cloud->invalid};
    atn_status status = cloud_make(cloud->ctx, &options, out);
    if (status != ATN_OK) return status;
    atn_cloud *copy = *out;
    copy->roles = cloud->roles | roles;
    copy->keep = cloud->keep;
    copy->nan = cloud->nan;
    copy->inf = cloud->inf;
    memcpy(copy->format, cloud->format, sizeof copy->format);
    memcpy(copy->left_out, cloud->left_out, sizeof copy->left_out);
    status = cloud_extras_like(cloud->ctx, &cloud->extra, &copy->extra);
    if (status == ATN_OK) status = copy_arrays(cloud, copy);
    if (status == ATN_OK) status = cloud_faces_append(cloud, 0, copy);
    if (status == ATN_OK) return ATN_OK;
    atn_cloud_free(copy);
    *out = NULL;
    return status;
}

atn_status cloud_begin(atn_cloud *cloud, const source *where, unsigned roles, size_t points) {
    for (cloud_role k = ROLE_X; k <= ROLE_Z; ++k)
        if (!(roles & ROLE_BIT(k))) return source_wrong(where, "there is no column '%s'", NAMES[k].name);
    if ((roles & ROLE_NORMAL) != ROLE_NORMAL) {
        for (cloud_role k = ROLE_NX; k <= ROLE_NZ; ++k)
            if (roles & ROLE_BIT(k)) cloud_leave_out(cloud, NAMES[k].name);
        roles &= ~ROLE_NORMAL;
    }
    cloud->roles = roles;
    return make_room(cloud, cloud->part.of > 1 ? points / cloud->part.of + 1 : points);
}

/* ---- parts of a file ---- */

void cloud_part_range(atn_cloud *cloud, size_t total, size_t *first, size_t *count) {
    size_t of = cloud->part.of > 1 ? cloud->part.of : 1, number = cloud->part.number, more = total % of;
    cloud->part.straight = true;
    *first = total / of * number + (number < more ? number : more);
    *count = total / of + (number < more);
}

void cloud_part_cut(atn_cloud *cloud) {
    size_t first, count, bytes = cloud->extra.bytes;
    cloud_part_range(cloud, cloud->count, &first, &count);
    for (cloud_role k = 0; k < ROLE_COUNT; ++k)
        if (cloud->roles & ROLE_BIT(k) && count)
            memmove(cloud->column[k], (char *)cloud->column[k] + first * bytes_of(k), count * bytes_of(k));
    if (bytes && count) memmove(cloud->extra.data, cloud->extra.data + first * bytes, count * bytes);
    cloud->count = count;
    if (cloud->part.number) cloud->nan = cloud->inf = 0; /* counted by the first rank */
}

/* Runs of points are dealt out in turn where nobody knows how many there will be. */
static atn_status take_turn(atn_cloud *cloud, bool *mine) {
    size_t run = cloud->part.seen / CLOUD_RUN;
    bool begins = cloud->part.seen++ % CLOUD_RUN == 0;
    *mine = run % cloud->part.of == cloud->part.number;
    if (!*mine || !begins) return ATN_OK;
    void *start = cloud->part.start;
    atn_status status =
        atn_grow(cloud->ctx, &start, &cloud->part.capacity, cloud->part.runs, sizeof *cloud->part.start);
    cloud->part.start = start;
    if (status == ATN_OK) cloud->part.start[cloud->part.runs++] = cloud->count;
    return status;
}

static bool store(atn_cloud *cloud, cloud_role role, size_t point, double value) {
    if (!(cloud->roles & ROLE_BIT(role))) return true;
    if (role <= ROLE_Z)
        ((double *)cloud->column[role])[point] = value;
    else if (role == ROLE_SPECIES) {
        if (!(value >= INT32_MIN && value <= INT32_MAX)) return false;
        ((int32_t *)cloud->column[role])[point] = (int32_t)value;
    } else
        ((float *)cloud->column[role])[point] = (float)value;
    return true;
}

/* A point of the file that faces may name. */
static atn_status note_dropped(atn_cloud *cloud, size_t point) {
    if (!(cloud->keep & KEEP_FACES)) return ATN_OK;
    void *dropped = cloud->dropped;
    atn_status status =
        atn_grow(cloud->ctx, &dropped, &cloud->dropped_capacity, cloud->n_dropped, sizeof *cloud->dropped);
    cloud->dropped = dropped;
    if (status == ATN_OK) cloud->dropped[cloud->n_dropped++] = point;
    return status;
}

/* Reads as "its x is NaN"; the file is refused, or the point counted and dropped. */
static atn_status meet_invalid(atn_cloud *cloud, const source *where, const double *value) {
    bool is_nan = isnan(value[0]) || isnan(value[1]) || isnan(value[2]);
    cloud->nan += is_nan;
    cloud->inf += !is_nan;
    if (cloud->invalid == ATN_INVALID_DROP) return note_dropped(cloud, cloud->count + cloud->n_dropped);
    int axis = 0;
    while (isfinite(value[axis])) ++axis;
    return source_wrong(where, "%c is %s; a point needs three finite numbers (drop such points with --drop-invalid)",
                        "xyz"[axis], isnan(value[axis]) ? "NaN" : "infinite");
}

atn_status cloud_add(atn_cloud *cloud, const source *where, const double value[ROLE_COUNT]) {
    bool mine = true;
    atn_status turn = cloud->part.of > 1 && !cloud->part.straight ? take_turn(cloud, &mine) : ATN_OK;
    if (turn != ATN_OK || !mine) return turn;
    if (!isfinite(value[0]) || !isfinite(value[1]) || !isfinite(value[2])) return meet_invalid(cloud, where, value);
    if (cloud->drain && cloud->count == cloud->most) {
        atn_status status = cloud->drain(cloud->drain_user, cloud);
        if (status != ATN_OK) return status;
        cloud->count = 0;
    }
    if (cloud->count == cloud->capacity) {
        atn_status status = make_room(cloud, cloud->capacity < 512 ? 1024 : cloud->capacity * 2);
        if (status != ATN_OK) return status;
    }
    size_t at = cloud->count;
    bool known = isfinite((float)value[ROLE_NX]) && isfinite((float)value[ROLE_NY]) && isfinite((float)value[ROLE_NZ]);
    for (cloud_role k = 0; k < ROLE_COUNT; ++k) {
        bool normal = k >= ROLE_NX && k <= ROLE_NZ;
        if (!store(cloud, k, at, normal && !known ? 0 : value[k]))
            return source_wrong(where, "a species is a whole number of 32 bits");
    }
    if (cloud->extra.bytes) memcpy(cloud->extra.data + at * cloud->extra.bytes, cloud->extra.next, cloud->extra.bytes);
    ++cloud->count;
    return ATN_OK;
}

/* Point `from` with all it has; two clouds of the same roles and properties, or one. */
static void copy_point(const atn_cloud *cloud, size_t from, atn_cloud *out, size_t to) {
    for (cloud_role k = 0; k < ROLE_COUNT; ++k)
        if (cloud->roles & ROLE_BIT(k))
            memcpy((char *)out->column[k] + to * bytes_of(k), (const char *)cloud->column[k] + from * bytes_of(k),
                   bytes_of(k));
    size_t bytes = cloud->extra.bytes;
    if (bytes) memmove(out->extra.data + to * bytes, cloud->extra.data + from * bytes, bytes);
}

atn_status cloud_filled(atn_cloud *cloud, size_t from, atn_status (*wrong)(void *user, size_t point), void *user) {
    size_t end = cloud->count, to = from;
    const double *const *p = (const double *const *)(const void *)cloud->column;
    for (size_t k = from; k < end; ++k) {
        bool is_nan = isnan(p[0][k]) || isnan(p[1][k]) || isnan(p[2][k]);
        bool finite = isfinite(p[0][k]) && isfinite(p[1][k]) && isfinite(p[2][k]);
        if (finite) {
            if (to < k) copy_point(cloud, k, cloud, to);
            ++to;
            continue;
        }
        if (cloud->invalid != ATN_INVALID_DROP) return wrong(user, k);
        cloud->nan += is_nan;
        cloud->inf += !is_nan;
        atn_status status = note_dropped(cloud, k);
        if (status != ATN_OK) return status;
    }
    cloud->count = to;
    return ATN_OK;
}

atn_status cloud_make_like(const atn_cloud *cloud, unsigned roles, size_t points, atn_cloud **out) {
    atn_status status = cloud_make(cloud->ctx, NULL, out);
    if (status != ATN_OK) return status;
    (*out)->roles = roles;
    (*out)->keep = cloud->keep;
    memcpy((*out)->format, cloud->format, sizeof cloud->format);
    memcpy((*out)->left_out, cloud->left_out, sizeof cloud->left_out);
    status = cloud_extras_like(cloud->ctx, &cloud->extra, &(*out)->extra);
    if (status == ATN_OK) status = make_room(*out, points);
    if (status == ATN_OK) return ATN_OK;
    atn_cloud_free(*out);
    *out = NULL;
    return status;
}

static atn_status select_points(const atn_cloud *cloud, const uint32_t *index, size_t count, atn_cloud *out) {
    uint32_t *becomes = cloud->faces ? atn_alloc(cloud->ctx, cloud->count * sizeof *becomes) : NULL;
    if (cloud->faces && !becomes) return ATN_ERR_MEMORY;
    for (size_t k = 0; becomes && k < cloud->count; ++k) becomes[k] = UINT32_MAX;
    atn_status status = ATN_OK;
    size_t frames = cloud->n_frames, frame = 0;
    for (size_t k = 0; status == ATN_OK && k < count; ++k) {
        while (status == ATN_OK && frame < frames && index[k] >= cloud->frame[frame]) {
            status = cloud_add_frame(out);
            ++frame;
        }
        copy_point(cloud, index[k], out, k);
        if (becomes) becomes[index[k]] = (uint32_t)k;
        ++out->count;
    }
    for (; status == ATN_OK && frame < frames; ++frame) status = cloud_add_frame(out);
    if (status == ATN_OK && becomes) status = cloud_faces_follow(cloud, becomes, out);
    atn_free(cloud->ctx, becomes);
    return status;
}

atn_status cloud_select(const atn_cloud *cloud, const uint32_t *index, size_t count, atn_cloud **out) {
    atn_status status = cloud_make_like(cloud, cloud->roles, count, out);
    if (status == ATN_OK) status = select_points(cloud, index, count, *out);
    if (status == ATN_OK || !*out) return status;
    atn_cloud_free(*out);
    *out = NULL;
    return status;
}

atn_status cloud_add_frame(atn_cloud *cloud) {
    if (cloud->part.of > 1) return ATN_OK; /* of a part nobody asks */
    void *frame = cloud->frame;
    atn_status status = atn_grow(cloud->ctx, &frame, &cloud->frame_capacity, cloud->n_frames, sizeof *cloud->frame);
    cloud->frame = frame;
    if (status == ATN_OK) cloud->frame[cloud->n_frames++] = cloud->count;
    return status;
}

void cloud_drop_role(atn_cloud *cloud, cloud_role role) {
    atn_free(cloud->ctx, cloud->column[role]);
    cloud->column[role] = NULL;
    cloud->roles &= ~ROLE_BIT(role);
}

cloud_role cloud_role_of(const char *name) {
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k)
        if (strcasecmp(name, NAMES[k].name) == 0) return NAMES[k].role;
    return ROLE_NONE;
}

const char *cloud_role_name(cloud_role role) {
    size_t k = 0;
    while (NAMES[k].role != role) ++k;
    return NAMES[k].name;
}

atn_status cloud_add_extra(atn_cloud *cloud, const char *name, number_type type, size_t values, size_t *index) {
    *index = SIZE_MAX;
    atn_status status =
        cloud->keep & KEEP_EXTRAS ? cloud_extras_add(cloud->ctx, &cloud->extra, name, type, values, index) : ATN_OK;
    if (status == ATN_OK && *index == SIZE_MAX) cloud_leave_out(cloud, name);
    return status;
}

atn_status cloud_add_columns(atn_cloud *cloud, size_t from, size_t to, number_type type, size_t *first) {
    atn_status status = ATN_OK;
    char name[64];
    *first = SIZE_MAX;
    if (!(cloud->keep & KEEP_EXTRAS) && to >= from) {
        snprintf(name, sizeof name, to > from ? "columns %zu to %zu" : "column %zu", from, to);
        cloud_leave_out(cloud, name);
        return ATN_OK;
    }
    for (size_t k = from; status == ATN_OK && k <= to; ++k) {
        size_t index;
        snprintf(name, sizeof name, CLOUD_COLUMN "%zu", k);
        status = cloud_add_extra(cloud, name, type, 1, &index);
        if (k == from) *first = index;
    }
    return status;
}

double cloud_get(const atn_cloud *cloud, cloud_role role, size_t point) {
    const void *column = cloud->column[role];
    return role <= ROLE_Z         ? ((const double *)column)[point]
           : role == ROLE_SPECIES ? ((const int32_t *)column)[point]
                                  : (double)((const float *)column)[point];
}

bool cloud_is_single(const atn_cloud *cloud) {
    if (cloud->stretch.of) return false; /* of the other stretches nothing is known */
    for (cloud_role k = ROLE_X; k <= ROLE_Z; ++k) {
        const double *column = cloud->column[k];
        for (size_t at = 0; at < cloud->count; ++at)
            if ((double)(float)column[at] != column[at]) return false;
    }
    return true;
}

/* ---- for those outside ---- */

atn_status atn_cloud_create(atn_ctx *ctx, size_t points, const double *positions, const float *normals,
                            atn_cloud **out) {
    atn_status status = cloud_make(ctx, NULL, out);
    if (status != ATN_OK) return status;
    (*out)->roles = normals ? ROLE_POSITION | ROLE_NORMAL : ROLE_POSITION;
    status = make_room(*out, points);
    for (size_t k = 0; status == ATN_OK && k < points; ++k) {
        double value[ROLE_COUNT] = {positions[3 * k], positions[3 * k + 1], positions[3 * k + 2]};
        for (size_t d = 0; normals && d < 3; ++d) value[ROLE_NX + d] = (double)normals[3 * k + d];
        if (isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]))
            status = cloud_add(*out, NULL, value);
        else
            status = atn_fail(ctx, ATN_ERR_INPUT, "point %zu has a coordinate that is not finite", k);
    }
    if (status != ATN_OK) {
        atn_cloud_free(*out);
        *out = NULL;
    }
    return status;
}

typedef struct bounding {
    const atn_cloud *cloud;
    double low[ATN_PARALLEL_MOST][3], high[ATN_PARALLEL_MOST][3]; /* by worker */
} bounding;

/* Comparisons: fmin and fmax are calls on some processors. */
static void bound_some(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    bounding *t = user;
    for (int d = 0; d < 3; ++d) {
        const double *column = t->cloud->column[d];
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = from; k < to; ++k) {
            low = column[k] < low ? column[k] : low;
            high = column[k] > high ? column[k] : high;
        }
        t->low[worker][d] = low;
        t->high[worker][d] = high;
    }
}

static void find_bounds(const atn_cloud *cloud, double low[3], double high[3]) {
    enum { WORTH_A_THREAD = 16384 };
    bounding t = {.cloud = cloud};
    for (int w = 0; w < ATN_PARALLEL_MOST; ++w)
        for (int d = 0; d < 3; ++d) t.low[w][d] = INFINITY, t.high[w][d] = -INFINITY;
    atn_parallel((int64_t)cloud->count, WORTH_A_THREAD, bound_some, &t);
    for (int d = 0; d < 3; ++d) {
        low[d] = INFINITY, high[d] = -INFINITY;
        for (int w = 0; w < ATN_PARALLEL_MOST; ++w) {
            low[d] = fmin(low[d], t.low[w][d]);
            high[d] = fmax(high[d], t.high[w][d]);
        }
    }
}

atn_status atn_cloud_get_info(const atn_cloud *cloud, atn_cloud_info *out) {
    atn_cloud_info info = {.format = cloud->format,
                           .points = cloud->count,
                           .nan = cloud->nan,
                           .inf = cloud->inf,
                           .frames = cloud->n_frames ? cloud->n_frames : 1,
                           .normals = cloud->roles & ROLE_NORMAL,
                           .weights = cloud->roles & ROLE_BIT(ROLE_WEIGHT),
                           .masses = cloud->roles & ROLE_BIT(ROLE_MASS),
                           .species = cloud->roles & ROLE_BIT(ROLE_SPECIES),
                           .faces = cloud->faces ? cloud->faces->count : 0,
                           .properties = cloud->extra.names,
                           .left_out = cloud->left_out};
    if (cloud->count) find_bounds(cloud, info.low, info.high);
    return ATN_GIVE(cloud->ctx, atn_cloud_info, &info, out);
}

static void *column_of(const atn_cloud *cloud, cloud_role first, int axis) {
    return axis < 0 || axis > 2 ? NULL : cloud->column[(int)first + axis];
}

const double *atn_cloud_positions(const atn_cloud *cloud, int axis) { return column_of(cloud, ROLE_X, axis); }
const float *atn_cloud_normals(const atn_cloud *cloud, int axis) { return column_of(cloud, ROLE_NX, axis); }
const float *atn_cloud_weights(const atn_cloud *cloud) { return cloud->column[ROLE_WEIGHT]; }
const float *atn_cloud_masses(const atn_cloud *cloud) { return cloud->column[ROLE_MASS]; }
const int32_t *atn_cloud_species(const atn_cloud *cloud) { return cloud->column[ROLE_SPECIES]; }

size_t atn_cloud_frame(const atn_cloud *cloud, size_t frame) {
    if (frame < cloud->n_frames) return cloud->frame[frame];
    return frame == 0 ? 0 : cloud->count;
}

bool cloud_holds_all(const atn_cloud *cloud, const cloud_extra *extra) {
    (void)cloud, (void)extra;
    return true;
}
