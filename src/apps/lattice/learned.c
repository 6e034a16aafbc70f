/* What was learned from a frame, copied from one matcher to another. */
#include "apps/lattice/learned.h"

#include "apps/lattice/parts.h"

#include <stddef.h>
#include <string.h>

/* Fields that both have, of the same name and type. */
#define FIELD(name)                                                                                                    \
    { offsetof(atn_lattice, name), offsetof(lattice_learned, name), sizeof(((lattice_learned *)NULL)->name) }
static const struct {
    size_t matcher, learned, bytes;
} SHARED[] = {FIELD(info),  FIELD(inner), FIELD(temper), FIELD(temper_part), FIELD(background_density),
              FIELD(shape), FIELD(knots), FIELD(rival),  FIELD(null),        FIELD(follows)};

atn_status lattice_learned_get(const atn_lattice *l, lattice_learned *out) {
    memset(out, 0, sizeof *out); /* so that all bytes are known, between fields too */
    if (!l->known || l->alone) return atn_fail(l->ctx, ATN_ERR_INPUT, "lattice: nothing was learned of a frame yet");
    for (size_t k = 0; k < sizeof SHARED / sizeof *SHARED; ++k)
        memcpy((char *)out + SHARED[k].learned, (const char *)l + SHARED[k].matcher, SHARED[k].bytes);
    memcpy(out->order, l->order, sizeof out->order);
    for (int32_t m = 0; m < l->info.models; ++m) {
        out->strange[m] = l->slot[m].strange;
        out->order[m].base = NULL; /* an address says nothing elsewhere */
        while (strcmp(l->settings.model[out->phase_of[m]].name, l->info.name[m]) != 0) ++out->phase_of[m];
    }
    return ATN_OK;
}

static bool fits(const atn_lattice *l, const lattice_learned *from) {
    bool good = from->info.models >= l->settings.models && from->info.models <= ATN_LATTICE_MOST_MODELS;
    for (int32_t m = 0; m < from->info.models && good; ++m) {
        int32_t of = from->phase_of[m];
        good = of >= 0 && of < l->settings.models && (m >= l->settings.models || of <= m) &&
               strcmp(l->settings.model[of].name, from->info.name[m]) == 0;
    }
    return good;
}

atn_status lattice_learned_set(atn_lattice *l, const lattice_learned *from) {
    if (!fits(l, from))
        return atn_fail(l->ctx, ATN_ERR_INPUT, "lattice: what was learned is of other models than those given here");
    for (int32_t m = l->settings.models; m < from->info.models; ++m) lattice_set_phase(l, m, from->phase_of[m]);
    for (size_t k = 0; k < sizeof SHARED / sizeof *SHARED; ++k)
        memcpy((char *)l + SHARED[k].matcher, (const char *)from + SHARED[k].learned, SHARED[k].bytes);
    for (int32_t m = 0; m < from->info.models; ++m) {
        const char *base = l->order[m].base;
        l->order[m] = from->order[m];
        l->order[m].base = base;
        l->slot[m].strange = from->strange[m];
    }
    memset(&l->recent, 0, sizeof l->recent);
    atn_status status = lattice_engine_open(l);
    l->known = status == ATN_OK;
    return status;
}
