/* Arrays and views: creating and freeing them, their shapes, and operations on all elements. */
#include "num/array.h"

#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

atn_device *atn_array_device(const atn_array *a) { return a->storage->device; }

static atn_status make(atn_device *device, const atn_array *shape, size_t bytes, atn_array **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_array *array = atn_zalloc(ctx, sizeof *array);
    atn_storage *storage = array ? atn_zalloc(ctx, sizeof *storage) : NULL;
    if (!storage) {
        atn_free(ctx, array);
        return ATN_ERR_MEMORY;
    }
    *storage = (atn_storage){.device = device, .users = 1, .bytes = bytes};
    *array = *shape;
    array->storage = storage;
    *out = array;
    return ATN_OK;
}

static bool is_element(atn_type type) { return type > ATN_TYPE_NONE && type < ATN_TYPE_COUNT && type != ATN_INDEX; }

static atn_status create(atn_device *device, const atn_array *shape, atn_array **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    *out = NULL;
    if (!is_element(shape->type))
        return atn_fail(ctx, ATN_ERR_INPUT, "array: %s is not a type of elements", atn_type_name(shape->type));
    char planes[48] = "";
    if (shape->rank > 2) snprintf(planes, sizeof planes, "%lld planes, ", (long long)shape->size[2]);
    if (shape->size[0] < 0 || shape->size[1] < 0 || shape->size[2] < 0 || shape->pitch < shape->size[0])
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "array: %s%lld columns, %lld rows and a pitch of %lld; sizes are not negative", planes,
                        (long long)shape->size[0], (long long)shape->size[1], (long long)shape->pitch);
    int64_t rows, elements, bytes;
    if (!atn_i64_mul(shape->size[1], shape->size[2], &rows) || !atn_i64_mul(shape->pitch, rows, &elements) ||
        !atn_i64_mul(elements, (int64_t)atn_type_bytes(shape->type), &bytes) || (uint64_t)bytes > SIZE_MAX / 2)
        return atn_fail(ctx, ATN_ERR_INPUT, "array: %s%lld rows of %lld elements are larger than any memory", planes,
                        (long long)shape->size[1], (long long)shape->pitch);
    return make(device, shape, shape->size[0] ? (size_t)bytes : 0, out);
}

atn_status atn_array_create_vector(atn_device *device, atn_type type, int64_t length, atn_array **out) {
    return create(device, &(atn_array){.type = type, .rank = 1, .size = {length, 1, 1}, .pitch = length}, out);
}

atn_status atn_array_create_matrix(atn_device *device, atn_type type, int64_t rows, int64_t columns, int64_t pitch,
                                   atn_array **out) {
    if (pitch == 0) pitch = columns;
    return create(device, &(atn_array){.type = type, .rank = 2, .size = {columns, rows, 1}, .pitch = pitch}, out);
}

atn_status atn_array_create_volume(atn_device *device, atn_type type, int64_t planes, int64_t rows, int64_t columns,
                                   int64_t pitch, atn_array **out) {
    if (pitch == 0) pitch = columns;
    return create(device, &(atn_array){.type = type, .rank = 3, .size = {columns, rows, planes}, .pitch = pitch}, out);
}

atn_status atn_array_create_around(atn_device *device, atn_type type, int64_t rows, int64_t columns, const void *data,
                                   atn_array **out) {
    atn_buffer *buffer = NULL;
    atn_array *array = NULL;
    *out = NULL;
    atn_status status = atn_array_create_matrix(device, type, rows, columns, 0, &array);
    if (status == ATN_OK) status = atn_buffer_around(device, data, array->storage->bytes, &buffer);
    if (status != ATN_OK || !buffer) {
        atn_array_free(array);
        return status;
    }
    atn_storage *s = array->storage;
    s->buffer = buffer;
    s->host = atn_buffer_host(buffer);
    s->on_host = s->on_device = true;
    *out = array;
    return ATN_OK;
}

atn_status atn_array_create_at(atn_device *device, const atn_array_info *given, void *address, atn_array **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_array_info all, *info = &all;
    atn_array *array = NULL;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_array_info, given, info);
    if (status != ATN_OK) return status;
    atn_array shape = {.type = info->type, .rank = info->rank, .size = {1, 1, 1}};
    if (info->rank < 1 || info->rank > ATN_MAX_RANK)
        return atn_fail(ctx, ATN_ERR_INPUT, "array: %d axes; there are 1 to %d", (int)info->rank, ATN_MAX_RANK);
    atn_array_turn_shape(info->rank, info->shape, shape.size);
    shape.pitch = info->pitch ? info->pitch : shape.size[0];
    status = create(device, &shape, &array);
    atn_storage *s = array ? array->storage : NULL;
    if (status == ATN_OK && s->bytes && !address)
        status = atn_fail(ctx, ATN_ERR_INPUT, "array: no address for its %zu bytes", s->bytes);
    if (status == ATN_OK && s->bytes) status = atn_buffer_at(device, address, s->bytes, &s->buffer);
    if (status == ATN_OK && s->bytes && !s->buffer)
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "array: %s (%s) cannot use memory of the caller",
                          atn_device_get_info(device)->name, atn_device_get_info(device)->backend);
    if (status != ATN_OK) {
        atn_array_free(array);
        return status;
    }
    s->host = s->buffer ? atn_buffer_host(s->buffer) : NULL;
    s->on_device = true;
    s->on_host = s->host != NULL;
    *out = array;
    return ATN_OK;
}

atn_status atn_array_create_like(atn_device *device, const atn_view *v, atn_array **out) {
    atn_array shape = {.type = v->type, .rank = v->rank, .pitch = v->size[0]};
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis) shape.size[axis] = axis < v->rank ? v->size[axis] : 1;
    return create(device, &shape, out);
}

/* ---- views ---- */

static bool inside(int64_t first, int64_t count, int64_t size) {
    return first >= 0 && count >= 0 && first <= size && count <= size - first;
}

static atn_status view(const atn_array *parent, const atn_array *shape, atn_array **out) {
    atn_array *array = atn_zalloc(atn_array_ctx(parent), sizeof *array);
    if (!array) return ATN_ERR_MEMORY;
    *array = *shape;
    array->type = parent->type;
    array->storage = parent->storage;
    if (atn_array_is_empty(array)) array->offset = 0; /* nothing there: never point behind the end */
    ++array->storage->users;
    *out = array;
    return ATN_OK;
}

atn_status atn_array_view_range(atn_array *v, int64_t first, int64_t length, atn_array **out) {
    *out = NULL;
    if (v->rank != 1)
        return atn_fail(atn_array_ctx(v), ATN_ERR_INPUT, "view: a range is taken from a vector, not from a %s",
                        atn_rank_name(v->rank));
    if (!inside(first, length, v->size[0]))
        return atn_fail(atn_array_ctx(v), ATN_ERR_INPUT,
                        "view: %lld elements from %lld on are not inside a vector of %lld", (long long)length,
                        (long long)first, (long long)v->size[0]);
    return view(v, &(atn_array){.offset = v->offset + first, .rank = 1, .size = {length, 1, 1}, .pitch = length}, out);
}

atn_status atn_array_view_block(atn_array *m, int64_t first_row, int64_t first_column, int64_t rows, int64_t columns,
                                atn_array **out) {
    *out = NULL;
    if (m->rank != 2)
        return atn_fail(atn_array_ctx(m), ATN_ERR_INPUT, "view: a block is taken from a matrix, not from a %s",
                        atn_rank_name(m->rank));
    if (!inside(first_column, columns, m->size[0]) || !inside(first_row, rows, m->size[1]))
        return atn_fail(
            atn_array_ctx(m), ATN_ERR_INPUT,
            "view: %lld columns from %lld on and %lld rows from %lld on are not inside a matrix of %lld columns "
            "and %lld rows",
            (long long)columns, (long long)first_column, (long long)rows, (long long)first_row, (long long)m->size[0],
            (long long)m->size[1]);
    atn_array shape = {.offset = m->offset + first_row * m->pitch + first_column,
                       .rank = 2,
                       .size = {columns, rows, 1},
                       .pitch = m->pitch};
    return view(m, &shape, out);
}

atn_status atn_array_view_matrix(atn_array *v, int64_t rows, int64_t columns, atn_array **out) {
    int64_t all;
    *out = NULL;
    if (v->rank != 1 || columns < 0 || rows < 0 || !atn_i64_mul(columns, rows, &all) || all != v->size[0])
        return atn_fail(atn_array_ctx(v), ATN_ERR_INPUT,
                        "view: %lld rows of %lld columns need a vector of as many elements, not of %lld",
                        (long long)rows, (long long)columns, (long long)v->size[0]);
    return view(v, &(atn_array){.offset = v->offset, .rank = 2, .size = {columns, rows, 1}, .pitch = columns}, out);
}

atn_status atn_array_view_row(atn_array *m, int64_t row, atn_array **out) {
    *out = NULL;
    if (m->rank != 2)
        return atn_fail(atn_array_ctx(m), ATN_ERR_INPUT, "view: a row is taken from a matrix, not from a %s",
                        atn_rank_name(m->rank));
    if (!inside(row, 1, m->size[1]))
        return atn_fail(atn_array_ctx(m), ATN_ERR_INPUT, "view: row %lld is not inside a matrix of %lld rows",
                        (long long)row, (long long)m->size[1]);
    int64_t columns = m->size[0];
    return view(
        m, &(atn_array){.offset = m->offset + row * m->pitch, .rank = 1, .size = {columns, 1, 1}, .pitch = columns},
        out);
}

atn_status atn_array_view_plane(atn_array *v, int64_t plane, atn_array **out) {
    *out = NULL;
    if (v->rank != 3)
        return atn_fail(atn_array_ctx(v), ATN_ERR_INPUT, "view: a plane is taken from a volume, not from a %s",
                        atn_rank_name(v->rank));
    if (!inside(plane, 1, v->size[2]))
        return atn_fail(atn_array_ctx(v), ATN_ERR_INPUT, "view: plane %lld is not inside a volume of %lld planes",
                        (long long)plane, (long long)v->size[2]);
    atn_array shape = {.offset = v->offset + plane * v->size[1] * v->pitch,
                       .rank = 2,
                       .size = {v->size[0], v->size[1], 1},
                       .pitch = v->pitch};
    return view(v, &shape, out);
}

void atn_array_free(atn_array *array) {
    if (!array) return;
    const atn_ctx *ctx = atn_array_ctx(array);
    atn_storage *storage = array->storage;
    if (--storage->users == 0) {
        (void)atn_storage_settle(storage);
        if (storage->shared.data && storage->busy) (void)atn_queue_finish(atn_device_queue(storage->device));
        atn_event_free(storage->moved);
        atn_buffer_free(storage->buffer);
        atn_host_free(storage->device, &storage->shared);
        atn_host_free(storage->device, &storage->block);
        atn_free(ctx, storage);
    }
    atn_free(ctx, array);
}

/* ---- what it is ---- */

void atn_array_turn_shape(int32_t rank, const int64_t *from, int64_t *to) {
    for (int32_t axis = 0; axis < rank; ++axis) to[axis] = from[rank - 1 - axis];
}

atn_status atn_array_get_info(const atn_array *a, atn_array_info *out) {
    atn_array_info info = {.type = a->type, .rank = a->rank, .shape = {1, 1, 1}, .pitch = a->pitch};
    atn_array_turn_shape(a->rank, a->size, info.shape);
    return ATN_GIVE(atn_array_ctx(a), atn_array_info, &info, out);
}

bool atn_view_is_alike(const atn_view *a, const atn_view *b) {
    return a->type == b->type && a->rank == b->rank &&
           memcmp(a->size, b->size, (size_t)a->rank * sizeof *a->size) == 0 && (a->rank == 1 || a->pitch == b->pitch);
}
