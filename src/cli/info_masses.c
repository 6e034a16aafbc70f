/* Masses of an atom probe frame for attune info: the peaks of its spectrum, and with --ranges its composition. A peak
 * is a run of bins that exceed the background around them: count > b + 5 sqrt(b + 1), where b is the median over 4 Da.
 * */
#include "cli/info.h"

#include "base/memory.h"
#include "geom/nth.h"

#include <math.h>
#include <string.h>

enum { BINS = 6000, AROUND = 40, MOST_PEAKS = 16 };
static const double BIN_DA = 0.05; /* 300 Da in all */

typedef struct peak {
    double low, high; /* Da */
    uint64_t ions;    /* above the background */
} peak;

struct atn_cli_masses {
    const atn_ctx *ctx;
    double least, most; /* Da */
    uint64_t ions, beyond;
    double bin[BINS];
    peak peaks[MOST_PEAKS];
    int n_peaks;
    atn_mass_ranges *ranges; /* NULL: not given */
    uint64_t *counts;        /* by range */
    uint64_t ranged;
};

/* ---- counting ---- */

static void count_piece(atn_cli_masses *m, const atn_atoms *atoms) {
    for (size_t k = 0; k < atoms->count; ++k) {
        double mass = (double)atoms->mass[k];
        if (!isfinite(mass)) continue;
        m->least = fmin(m->least, mass);
        m->most = fmax(m->most, mass);
        if (mass >= 0 && mass < BINS * BIN_DA)
            m->bin[(int)fmin(BINS - 1, mass / BIN_DA)] += 1;
        else
            ++m->beyond;
        ++m->ions;
    }
    if (m->ranges) m->ranged += atn_mass_ranges_apply(m->ranges, atoms->mass, atoms->count, NULL, m->counts);
}

static double background(const atn_cli_masses *m, int at) {
    double around[2 * AROUND + 1];
    size_t n = 0;
    for (int k = at - AROUND; k <= at + AROUND; ++k)
        if (k >= 0 && k < BINS) around[n++] = m->bin[k];
    return geom_nth(around, n, n / 2);
}

static void keep_peak(atn_cli_masses *m, peak p) {
    int at = m->n_peaks;
    if (at == MOST_PEAKS) { /* the smallest gives way */
        at = 0;
        for (int k = 1; k < MOST_PEAKS; ++k)
            if (m->peaks[k].ions < m->peaks[at].ions) at = k;
        if (m->peaks[at].ions >= p.ions) return;
        memmove(m->peaks + at, m->peaks + at + 1, (size_t)(MOST_PEAKS - 1 - at) * sizeof p);
        at = MOST_PEAKS - 1;
    } else
        ++m->n_peaks;
    m->peaks[at] = p; /* by mass, since bins are */
}

static void find_peaks(atn_cli_masses *m) {
    peak now = {0};
    bool inside = false;
    for (int k = 0; k <= BINS; ++k) {
        double b = k < BINS ? background(m, k) : 0;
        bool out = k < BINS && m->bin[k] > b + 5 * sqrt(b + 1);
        if (out && !inside) now = (peak){.low = k * BIN_DA};
        if (out) {
            now.ions += (uint64_t)(m->bin[k] - b);
            now.high = (k + 1) * BIN_DA;
        }
        if (inside && !out) keep_peak(m, now);
        inside = out;
    }
}

atn_status atn_cli_masses_read(atn_cli_call *call, atn_frame *frame, atn_cli_masses **out) {
    const char *path = atn_cli_value(call, "ranges");
    atn_atoms atoms = ATN_INIT(atn_atoms);
    atn_cli_masses *m = atn_zalloc(call->ctx, sizeof *m);
    *out = NULL;
    if (!m) return ATN_ERR_MEMORY;
    m->ctx = call->ctx;
    m->least = INFINITY;
    m->most = -INFINITY;
    atn_status status = path ? atn_mass_ranges_read(call->ctx, path, &m->ranges) : ATN_OK;
    if (!status && m->ranges) {
        m->counts = atn_zalloc(call->ctx, atn_mass_ranges_info_of(m->ranges).ranges * sizeof *m->counts);
        if (!m->counts) status = ATN_ERR_MEMORY;
    }
    if (!status) status = atn_frame_rewind(frame);
    do {
        if (!status) status = atn_frame_next(frame, &atoms);
        if (!status) count_piece(m, &atoms);
        if (!status) status = atn_check_cancel(call->ctx);
    } while (!status && atoms.count);
    find_peaks(m);
    if (!status)
        *out = m;
    else
        atn_cli_masses_free(m);
    return status;
}

void atn_cli_masses_free(atn_cli_masses *m) {
    if (!m) return;
    atn_mass_ranges_free(m->ranges);
    atn_free(m->ctx, m->counts);
    atn_free(m->ctx, m);
}

/* ---- telling ---- */

static uint64_t ions_of(const atn_cli_masses *m, size_t ion) {
    uint64_t sum = 0;
    for (size_t k = 0; k < atn_mass_ranges_info_of(m->ranges).ranges; ++k)
        if ((size_t)atn_mass_ranges_get(m->ranges, k)->ion == ion) sum += m->counts[k];
    return sum;
}

static double share(uint64_t part, uint64_t of) { return of ? (double)part / (double)of : 0; }

void atn_cli_masses_text(const atn_cli_masses *m, atn_text *page) {
    if (m->ions) atn_text_printf(page, "masses    %.4g to %.4g Da\n", m->least, m->most);
    for (int k = 0; k < m->n_peaks; ++k)
        atn_text_printf(page, "%s%7.2f to %.2f Da  %llu ions, %.2f %%\n", k ? "          " : "peaks     ",
                        m->peaks[k].low, m->peaks[k].high, (unsigned long long)m->peaks[k].ions,
                        100 * share(m->peaks[k].ions, m->ions));
    if (!m->ranges) return;
    atn_text_printf(page, "ranged    %llu of %llu ions, %.2f %%\n", (unsigned long long)m->ranged,
                    (unsigned long long)m->ions, 100 * share(m->ranged, m->ions));
    for (size_t k = 0; k < atn_mass_ranges_info_of(m->ranges).ions; ++k)
        atn_text_printf(page, "%s%-6s %6.2f %%  %llu ions\n", k ? "          " : "of these  ",
                        atn_mass_ranges_ion(m->ranges, k)->name, 100 * share(ions_of(m, k), m->ranged),
                        (unsigned long long)ions_of(m, k));
}

static json_t *peaks_json(const atn_cli_masses *m) {
    json_t *list = json_array();
    for (int k = 0; k < m->n_peaks; ++k)
        if (json_array_append_new(list, json_pack("{s:f,s:f,s:I,s:f}", "low", m->peaks[k].low, "high", m->peaks[k].high,
                                                  "ions", (json_int_t)m->peaks[k].ions, "share",
                                                  share(m->peaks[k].ions, m->ions))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *composition_json(const atn_cli_masses *m) {
    json_t *list = json_array();
    bool good = true;
    for (size_t k = 0; k < atn_mass_ranges_info_of(m->ranges).ions && good; ++k)
        good = json_array_append_new(list, json_pack("{s:o,s:I,s:f}", "ion",
                                                     atn_cli_json_text(m->ctx, atn_mass_ranges_ion(m->ranges, k)->name),
                                                     "ions", (json_int_t)ions_of(m, k), "share",
                                                     share(ions_of(m, k), m->ranged))) == 0;
    if (good)
        return json_pack("{s:I,s:I,s:o}", "ranged", (json_int_t)m->ranged, "of", (json_int_t)m->ions, "ions", list);
    json_decref(list);
    return NULL;
}

bool atn_cli_masses_json(const atn_cli_masses *m, json_t *root) {
    return json_object_set_new(root, "mass_min", m->ions ? json_real(m->least) : json_null()) == 0 &&
           json_object_set_new(root, "mass_max", m->ions ? json_real(m->most) : json_null()) == 0 &&
           json_object_set_new(root, "peaks", peaks_json(m)) == 0 &&
           (!m->ranges || json_object_set_new(root, "composition", composition_json(m)) == 0);
}
