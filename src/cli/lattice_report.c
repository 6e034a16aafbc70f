/* attune lattice --report: shares of the classes, how sure they are, orientations, and a slice to look at. */
#include "cli/lattice.h"

#include "base/memory.h"
#include "plot/chart.h"
#include "plot/page.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 520 };

static const char *class_name(const lattice_outcome *o, int32_t k) { return k ? o->info.name[k - 1] : "other"; }

static void draw_shares(atn_text *page, const lattice_outcome *o) {
    atn_bar bars[ATN_LATTICE_MOST_MODELS + 1];
    char note[ATN_LATTICE_MOST_MODELS + 1][64];
    int32_t n = o->info.models + 1, rows = 0;
    for (int32_t k = 0; k < n; ++k) {
        int32_t c = (k + 1) % n;
        if (!lattice_is_structure(o, c)) continue;
        double share = o->atoms ? 100 * (double)o->count[c] / (double)o->atoms : 0;
        snprintf(note[rows], sizeof note[rows], "%.2f %%, %zu", share, o->count[c]);
        bars[rows] = (atn_bar){class_name(o, c), note[rows], share, c % 6};
        ++rows;
    }
    atn_bars_draw(page, "Structures", "% of the atoms", bars, rows, 0, false);
}

static void draw_settings(atn_text *page, const lattice_outcome *o) {
    atn_text rows = {.ctx = page->ctx};
    atn_text_add(&rows, "what\tvalue\t\n");
    atn_text_printf(&rows, "atoms\t%zu\t\ntime\t%.3g s\t\ndevice\t%.100s\t\n", o->atoms, o->seconds, o->device);
    for (int32_t m = 0; m < o->info.models; ++m)
        atn_text_printf(&rows, "constant of %s\t%.4f, %zu atoms\t\n", o->info.name[m], o->info.constant[m],
                        o->phase[m]);
    atn_text_printf(&rows, "cut-off\t%.3f Angstrom, %.1f neighbours\t\nnoise\t%.3f Angstrom\t\n", o->info.cutoff,
                    o->info.neighbours, o->info.noise);
    if (o->info.depth_noise != o->info.noise)
        atn_text_printf(&rows, "noise in depth\t%.3f Angstrom\t\n", o->info.depth_noise);
    atn_text_printf(&rows, "efficiency\t%.3f\t\nstrangers\t%.3f\t\n", o->info.efficiency, o->info.strangers);
    atn_page_table(page, atn_text_str(&rows), "ll");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

/* How many atoms are how sure. */
static void draw_confidence(atn_text *page, const lattice_outcome *o) {
    double x[LATTICE_BINS], y[ATN_LATTICE_MOST_MODELS + 1][LATTICE_BINS];
    atn_series series[ATN_LATTICE_MOST_MODELS + 1];
    int32_t lines = 0;
    for (int32_t c = 0; c <= o->info.models; ++c) {
        if (!lattice_is_structure(o, c)) continue;
        for (int k = 0; k < LATTICE_BINS; ++k) {
            x[k] = (k + 0.5) / LATTICE_BINS;
            y[c][k] = o->bin[c][k] ? (double)o->bin[c][k] : 0.5;
        }
        series[lines++] = (atn_series){class_name(o, c), ATN_SERIES_LINE, c % 6, LATTICE_BINS, x, y[c], NULL};
    }
    atn_chart chart = {"How sure", "confidence", "atoms", false, true, series, lines};
    atn_chart_draw(page, &chart);
}

/* ---- pictures of a slice ---- */

/* The crystal direction along the frame's z, brought into the corner x >= y >= z >= 0, as a colour: red where it is
 * [001], green [011], blue [111]. Hexagonal crystals: red along c, else by the angle about it. */
static void orientation_colour(const lattice_outcome *o, const atn_lattice_atom *a, int rgb[3]) {
    double w = (double)a->quaternion[0], x = (double)a->quaternion[1], y = (double)a->quaternion[2],
           z = (double)a->quaternion[3];
    double v[3] = {fabs(2 * (x * z - w * y)), fabs(2 * (y * z + w * x)), fabs(1 - 2 * (x * x + y * y))}, part[3];
    bool hexagonal = o->info.name[a->structure - 1][0] == 'h';
    if (hexagonal) {
        double turn = fmod(atan2(v[1], v[0]) * 6 / 3.14159265358979323846 + 12, 2);
        part[0] = v[2], part[1] = (1 - v[2]) * fabs(turn - 1), part[2] = (1 - v[2]) * (1 - fabs(turn - 1));
    } else {
        for (int k = 0; k < 2; ++k) /* the largest last */
            for (int n = 0; n < 2; ++n)
                if (v[n] > v[n + 1]) {
                    double other = v[n];
                    v[n] = v[n + 1], v[n + 1] = other;
                }
        part[0] = v[2] - v[1], part[1] = (v[1] - v[0]) * 1.4142135623730951, part[2] = v[0] * 1.7320508075688772;
    }
    double most = fmax(fmax(part[0], part[1]), fmax(part[2], 1e-9));
    for (int k = 0; k < 3; ++k) rgb[k] = (int)(255 * sqrt(fmin(fmax(part[k] / most, 0), 1)));
}

/* A dot for each atom of a slice across z; by structure, or by orientation. */
static void draw_slice(atn_text *page, const lattice_outcome *o, bool orientation) {
    double wide = fmax(o->high[0] - o->low[0], o->high[1] - o->low[1]), middle = 0.5 * (o->low[2] + o->high[2]);
    double thick = fmax(0.12 * (o->high[2] - o->low[2]), 6), scale = wide > 0 ? (SIDE - 20) / wide : 1;
    atn_text_printf(page, "<figure><svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s\">\n", SIDE,
                    SIDE, SIDE, orientation ? "orientations in a slice" : "structures in a slice");
    for (size_t k = 0; k < o->n_shown; ++k) {
        const lattice_shown *s = &o->shown[k];
        if (fabs((double)s->position[2] - middle) > thick || (orientation && s->atom.structure == 0)) continue;
        int rgb[3];
        double x = 10 + ((double)s->position[0] - o->low[0]) * scale;
        double y = SIDE - 10 - ((double)s->position[1] - o->low[1]) * scale;
        if (orientation) orientation_colour(o, &s->atom, rgb);
        atn_text_printf(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.4\" ", x, y);
        if (orientation)
            atn_text_printf(page, "fill=\"#%02x%02x%02x\"/>\n", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
        else
            atn_text_printf(page, "style=\"fill:var(--c%d);fill-opacity:%.2f\"/>\n", (int)s->atom.structure % 6,
                            0.25 + 0.75 * (double)s->atom.confidence);
    }
    atn_text_add(page, "</svg><figcaption>");
    if (orientation) {
        atn_text_add(page,
                     "Which crystal direction lies along z: red [001], green [011], blue [111]; hcp: red the c axis.");
    } else {
        for (int32_t c = 0; c <= o->info.models; ++c) {
            if (!lattice_is_structure(o, c)) continue;
            atn_text_printf(page, "<span style=\"color:var(--c%d)\">&#9679;</span> ", (int)c % 6);
            atn_page_escape(page, class_name(o, c));
            atn_text_add(page, " ");
        }
        atn_text_add(page, "; paler where less sure.");
    }
    atn_text_printf(page, " Atoms within %.3g Angstrom of the middle along z, thinned out.</figcaption></figure>\n",
                    thick);
}

atn_status lattice_report(atn_cli_call *call, const lattice_outcome *o, const char *path) {
    atn_text page = {.ctx = call->ctx};
    atn_page_begin(&page, "Local structure of atoms", call->operands[0]);
    draw_shares(&page, o);
    draw_settings(&page, o);
    atn_page_heading(&page, "How sure");
    atn_page_paragraph(&page, "Of atoms with a confidence of 0.9, nine in ten should be what they are called.");
    draw_confidence(&page, o);
    if (o->n_shown) {
        atn_page_heading(&page, "A slice");
        draw_slice(&page, o, false);
        atn_page_heading(&page, "Orientations");
        draw_slice(&page, o, true);
    }
    atn_status status = atn_cli_page_write(call, &page, path);
    atn_text_free(&page);
    return status;
}
