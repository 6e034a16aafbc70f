/* A model's tables, as kernels and the host look them up: scores of the nearer neighbours, one byte a voxel; what EM
 * steps look up, wide and sharp. Learning makes them again for other constants, in the memory of those before. */
#include "apps/lattice/lattice.h"

#include "base/lane_math.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "num/array.h"

#include <math.h>
#include <string.h>

enum { SCORES = 255, VOXELS = 1 << 12 }; /* steps of a score; voxels for which a core is worth waking */

/* What parts of a loop over voxels need. */
typedef struct scoring {
    const lattice_slot *s;
    const float *value;
    uint8_t *bytes;
} scoring;

ATN_IN_LANES static void score(const float *restrict value, float low, float per_unit, int64_t n,
                               uint8_t *restrict to) {
    ATN_LANES()
    for (int64_t k = 0; k < n; ++k) {
        int32_t step = (int32_t)((atn_lane_log_single(value[k]) - low) * per_unit + 0.5F);
        to[k] = (uint8_t)(step < 0 ? 0 : step > SCORES ? SCORES : step);
    }
}

ATN_IN_LANES static void find_span(const float *restrict value, size_t voxels, float *low, float *high) {
    float least = INFINITY, most = 0;
    ATN_LANES(reduction(min : least) reduction(max : most))
    for (size_t k = 0; k < voxels; ++k) {
        least = value[k] < least ? value[k] : least;
        most = value[k] > most ? value[k] : most;
    }
    *low = least, *high = most;
}

static void score_part(void *user, int64_t from, int64_t to) {
    const scoring *x = user;
    score(x->value + from, (float)x->s->low, (float)(1 / x->s->unit), to - from, x->bytes + from);
}

/* A vector that the host writes at once, so that nothing in it has to be zero before: on a host the one that is there,
 * if it is as long. */
static atn_status vector(atn_lattice *l, atn_type type, size_t length, atn_array **out, void **to) {
    bool cpu = atn_device_get_info(l->device)->cpu;
    atn_status status = ATN_OK;
    if (!cpu || !*out || (*out)->size[0] != (int64_t)length) {
        atn_array_free(*out);
        *out = NULL;
        status = atn_array_create_vector(l->device, type, (int64_t)length, out);
        if (status == ATN_OK && cpu) status = atn_array_ready_device(*out, true);
        if (status == ATN_OK && cpu) atn_array_written_on_device(*out);
    }
    return status == ATN_OK ? atn_array_map_write(*out, to) : status;
}

/* Logarithms of the density in 255 steps. */
static atn_status put_scores(atn_lattice *l, lattice_slot *s, const float *value) {
    size_t voxels = lattice_box_voxels(&s->coarse);
    void *bytes = NULL;
    float low, high;
    atn_status status = vector(l, ATN_U8, voxels, &s->table, &bytes);
    if (status != ATN_OK) return status;
    find_span(value, voxels, &low, &high);
    s->low = log((double)low);
    s->unit = fmax((log((double)high) - s->low) / SCORES, 1e-6);
    atn_parallel((int64_t)voxels, VOXELS, score_part, &(scoring){s, value, bytes});
    return status;
}

/* Memory that holds so many numbers: what there is, if it is enough. */
static atn_status room_for(const atn_ctx *ctx, size_t numbers, float **block, size_t *room) {
    if (*block && *room >= numbers) return ATN_OK;
    atn_free(ctx, *block);
    *block = atn_alloc(ctx, numbers * sizeof **block);
    *room = *block ? numbers : 0;
    return *block ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status put_pull(atn_lattice *l, lattice_slot *s, int sharp, const float *value, const float *mean) {
    size_t voxels = lattice_box_voxels(&s->box);
    void *words = NULL;
    atn_status status = room_for(l->ctx, LATTICE_PULL * voxels, &s->host_pull[sharp], &s->pull_room[sharp]);
    if (status == ATN_OK) status = vector(l, ATN_INT32, 2 * voxels, &s->pull[sharp], &words);
    if (status == ATN_OK && sharp) status = room_for(l->ctx, voxels, &s->density, &s->density_room);
    if (status == ATN_OK && sharp) memcpy(s->density, value, voxels * sizeof *value);
    if (status == ATN_OK)
        lattice_pull_make(&s->box, l->background_density, value, mean, s->host_pull[sharp], words, &s->packing[sharp]);
    return status;
}

atn_status lattice_tables_put(atn_lattice *l, lattice_slot *s) {
    size_t fine = lattice_box_voxels(&s->box), coarse = lattice_box_voxels(&s->coarse);
    lattice_density d = {
        .noise = l->info.shift_noise, .efficiency = l->info.efficiency, .background = l->background_density};
    atn_status status = room_for(l->ctx, 4 * (fine > coarse ? fine : coarse), &l->table_room, &l->table_numbers);
    if (status != ATN_OK) return status;
    float *value = l->table_room, *mean = value + fine;
    d.turn = s->turns.spread;
    status = lattice_table_make(l->ctx, &s->points, &s->coarse, &d, value, NULL, NULL);
    if (status == ATN_OK) status = put_scores(l, s, value);
    for (int sharp = 0; sharp < 2 && status == ATN_OK; ++sharp) {
        if (sharp) d = (lattice_density){l->sharp, 0, d.efficiency, d.background};
        status = lattice_table_make(l->ctx, &s->points, &s->box, &d, value, mean, sharp ? &s->expected : NULL);
        if (status == ATN_OK) status = put_pull(l, s, sharp, value, mean);
    }
    return status;
}

void lattice_tables_free(atn_lattice *l, lattice_slot *s) {
    atn_array **const arrays[] = {&s->table, &s->pull[0], &s->pull[1]};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) {
        atn_array_free(*arrays[k]);
        *arrays[k] = NULL;
    }
    for (int sharp = 0; sharp < 2; ++sharp) {
        atn_free(l->ctx, s->host_pull[sharp]);
        s->host_pull[sharp] = NULL;
        s->pull_room[sharp] = 0;
    }
    atn_free(l->ctx, s->density);
    s->density = NULL;
    s->density_room = 0;
}

void lattice_tables_end(atn_lattice *l) {
    atn_free(l->ctx, l->table_room);
    l->table_room = NULL;
    l->table_numbers = 0;
}
