/* What was learned of a frame, taken out of one matcher and put into another. */
#include "apps/lattice/learned.h"

#include "apps/lattice/parts.h"

#include <string.h>

atn_status lattice_learned_get(const atn_lattice *l, lattice_learned *out) {
    memset(out, 0, sizeof *out); /* so that all bytes are known, between fields too */
    if (!l->known || l->alone) return atn_fail(l->ctx, ATN_ERR_INPUT, "lattice: nothing was learned of a frame yet");
    out->info = l->info;
    out->inner = l->inner, out->temper = l->temper, out->temper_part = l->temper_part;
    out->background_density = l->background_density, out->shape = l->shape;
    memcpy(out->knots, l->knots, sizeof out->knots);
    memcpy(out->rival, l->rival, sizeof out->rival);
    memcpy(out->null, l->null, sizeof out->null);
    memcpy(out->follows, l->follows, sizeof out->follows);
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
    l->info = from->info;
    l->inner = from->inner, l->temper = from->temper, l->temper_part = from->temper_part;
    l->background_density = from->background_density, l->shape = from->shape;
    memcpy(l->knots, from->knots, sizeof l->knots);
    memcpy(l->rival, from->rival, sizeof l->rival);
    memcpy(l->null, from->null, sizeof l->null);
    memcpy(l->follows, from->follows, sizeof l->follows);
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
