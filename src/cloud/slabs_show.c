/* Atoms of a slab, from the records that were sorted to arrays. */
#include "cloud/slabs.h"

/* Is the atom in there? Along the axis, and across it. */
static bool is_in(double along, double across, const slabs_edges *e) {
    return (along >= e->low[0]) & (along <= e->high[0]) & (across >= e->low[1]) & (across <= e->high[1]);
}

static size_t show_records(const atn_slabs *s, const slabs_record *from, size_t count, const slabs_edges *around,
                           size_t at) {
    size_t first = at;
    for (size_t k = 0; k < count; ++k) {
        const double *p = from[k].position;
        if (!around || is_in(p[s->axis[0]], p[s->axis[1]], around)) slabs_show(s, &from[k], at++);
    }
    return at - first;
}

/* Each is written where the next one that is in there goes, and stays if it is: there is room for all of them. */
static size_t show_ions(const atn_slabs *s, const slabs_ion *restrict from, size_t count, const slabs_edges *around,
                        size_t at) {
    double *restrict x = s->position[0] + at, *restrict y = s->position[1] + at, *restrict z = s->position[2] + at;
    float *restrict mass = s->mass ? s->mass + at : NULL;
    uint64_t *restrict index = s->index + at;
    size_t kept = 0;
    for (size_t k = 0; k < count; ++k) {
        const float *p = from[k].position;
        x[kept] = (double)p[0], y[kept] = (double)p[1], z[kept] = (double)p[2];
        index[kept] = from[k].index;
        if (mass) mass[kept] = from[k].mass;
        kept += !around || is_in((double)p[s->axis[0]], (double)p[s->axis[1]], around);
    }
    return kept;
}

size_t slabs_show_some(const atn_slabs *s, const void *sorted, size_t count, const slabs_edges *around, size_t at) {
    return s->bytes == sizeof(slabs_record) ? show_records(s, sorted, count, around, at)
                                            : show_ions(s, sorted, count, around, at);
}
