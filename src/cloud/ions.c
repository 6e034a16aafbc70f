/* Ions of an atom probe file, one after the other: records with x y z and the mass behind them, or masses elsewhere. */
#include "cloud/ions.h"

#include "cloud/binary.h"

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
