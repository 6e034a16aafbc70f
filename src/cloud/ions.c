/* Ions of an atom probe file, one after the other: records with x y z and the mass behind them, or masses elsewhere. */
#include "cloud/ions.h"

#include "base/parallel.h"
#include "cloud/binary.h"

#include <stdatomic.h>
#include <string.h>

void ions_seek(ion_stream *i, size_t ion) {
    source_seek(i->s, i->layout.at + ion * i->layout.bytes);
    if (i->layout.mass_at) source_seek(&i->mass, i->layout.mass_at + ion * i->layout.mass_bytes);
    i->next = ion;
}

atn_status ions_open(source *s, const ion_layout *layout, ion_stream *out) {
    *out = (ion_stream){.s = s, .layout = *layout};
    atn_status status = layout->mass_at ? source_twin(s, &out->mass) : ATN_OK;
    if (status == ATN_OK) ions_seek(out, 0);
    return status;
}

void ions_close(ion_stream *i) { source_close(&i->mass); }

unsigned ions_roles(const ion_stream *i) { return ROLE_POSITION | (i->layout.masses ? ROLE_BIT(ROLE_MASS) : 0); }

atn_status ions_next(ion_stream *i, atn_cloud *cloud) {
    const ion_layout *l = &i->layout;
    const char *record, *mass = NULL;
    atn_status status = source_take(i->s, l->bytes, &record);
    if (status == ATN_OK && l->mass_at) status = source_take(&i->mass, l->mass_bytes, &mass);
    if (status != ATN_OK) return status;
    double value[ROLE_COUNT] = {0};
    for (size_t d = 0; d < 3; ++d) value[d] = number_load(NUMBER_F32, record + 4 * d, l->big);
    if (l->masses) value[ROLE_MASS] = number_load(NUMBER_F32, mass ? mass : record + 12, l->big);
    ++i->next;
    return cloud_add(cloud, i->s, value);
}

enum { AT_ONCE = 1 << 15, PART = 1 << 11 }; /* ions that are taken together; for which a core is worth waking */

static inline float load(const char *from, bool big) {
    uint32_t bits;
    float value;
    memcpy(&bits, from, sizeof bits);
    if (big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) bits = __builtin_bswap32(bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Records that go into a cloud behind its points, which are not counted. */
typedef struct loading {
    const ion_layout *l;
    const char *record;
    const atn_cloud *cloud;
    atomic_bool invalid; /* one of them is */
} loading;

static void load_part(void *user, int64_t from, int64_t to) {
    loading *x = user;
    const ion_layout *l = x->l;
    size_t begin = x->cloud->count + (size_t)from, count = (size_t)(to - from);
    const char *record = x->record + (size_t)from * l->bytes;
    double *axis[3], zero = 0; /* what is finite times nothing; NaN for the rest */
    float *mass = l->masses ? (float *)x->cloud->column[ROLE_MASS] + begin : NULL;
    for (int d = 0; d < 3; ++d) axis[d] = (double *)x->cloud->column[d] + begin;
    for (size_t k = 0; k < count; ++k, record += l->bytes) {
        for (size_t d = 0; d < 3; ++d) axis[d][k] = (double)load(record + 4 * d, l->big);
        if (mass) mass[k] = load(record + 12, l->big);
        zero += 0 * axis[0][k] + 0 * axis[1][k] + 0 * axis[2][k];
    }
    if (!(zero == 0)) atomic_store(&x->invalid, true);
}

atn_status ions_some(ion_stream *i, size_t most, atn_cloud *cloud) {
    const ion_layout *l = &i->layout;
    size_t count = l->ions - i->next < AT_ONCE ? l->ions - i->next : AT_ONCE, first = i->next;
    const char *record;
    if (count > most) count = most;
    if (count * l->bytes > i->s->room) count = i->s->room / l->bytes;
    if (l->mass_at || count < 2 || i->next < i->alone) return ions_next(i, cloud);
    atn_status status = source_take(i->s, count * l->bytes, &record);
    if (status != ATN_OK) return status;
    i->next += count;
    loading x = {.l = l, .record = record, .cloud = cloud};
    atn_parallel((int64_t)count, PART, load_part, &x);
    if (!atomic_load(&x.invalid)) {
        cloud->count += count;
        return ATN_OK;
    }
    i->alone = i->next;
    ions_seek(i, first);
    return ions_next(i, cloud);
}
