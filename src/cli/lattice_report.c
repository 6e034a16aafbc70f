/* attune lattice --report: shares of the classes, the atoms in 3D and as slices with scales, grains, pole figures with
 * a colour key, composition, and confidences. */
#include "cli/lattice.h"

#include "base/memory.h"
#include "cli/lattice_grains.h"
#include "cli/lattice_turns.h"
#include "plot/chart.h"
#include "plot/page.h"
#include "plot/view.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 560, EDGE = 50, MOST_POLES = 2500 };

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
        atn_text_printf(&rows, "constant of %s\t%.4f Å, %zu atoms\t\n", o->info.name[m], o->info.constant[m],
                        o->phase[m]);
    atn_text_printf(&rows, "cut-off\t%.3f Å, %.1f neighbours\t\nnoise\t%.3f Å\t\n", o->info.cutoff, o->info.neighbours,
                    o->info.noise);
    if (o->info.depth_noise != o->info.noise) atn_text_printf(&rows, "noise in depth\t%.3f Å\t\n", o->info.depth_noise);
    atn_text_printf(&rows, "efficiency\t%.3f\t\nbackground\t%.3f\t\n", o->info.efficiency,
                    o->info.background_neighbours);
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
            y[c][k] = (double)o->bin[c][k]; /* none: not drawn on a logarithmic axis */
        }
        series[lines++] = (atn_series){class_name(o, c), ATN_SERIES_LINE, c % 6, LATTICE_BINS, x, y[c], NULL};
    }
    atn_chart chart = {"How sure", "confidence", "atoms", false, true, series, lines};
    atn_chart_draw(page, &chart);
}

/* ---- atoms in 3D ---- */

/* Lengths are shown in nanometres from 5 nm on, otherwise in angstrom: this many angstrom per unit. */
static double unit_of(const lattice_outcome *o) {
    return fmax(o->high[0] - o->low[0], o->high[1] - o->low[1]) >= 50 ? 10 : 1;
}

/* A cloud for each structure, or for each of the largest grains. */
static void draw_atoms(atn_text *page, const lattice_outcome *o, const int32_t *group, int32_t groups,
                       const char *const *names, const char *title) {
    const atn_ctx *ctx = page->ctx;
    double *axis = atn_alloc(ctx, 3 * (o->n_shown + 1) * sizeof *axis);
    atn_view_cloud *clouds = atn_zalloc(ctx, ((size_t)groups + 1) * sizeof *clouds);
    size_t used = 0, shown = 0;
    double length = unit_of(o);
    if (!axis || !clouds) page->failed = true;
    for (int32_t g = 0; g < groups && axis && clouds; ++g) {
        size_t from = used;
        for (size_t k = 0; k < o->n_shown; ++k) {
            if (group[k] != g) continue;
            for (size_t d = 0; d < 3; ++d) axis[d * o->n_shown + used] = (double)o->shown[k].position[d] / length;
            ++used;
        }
        if (used == from) continue;
        clouds[shown++] =
            (atn_view_cloud){.name = names[g],
                             .color = g,
                             .n = used - from,
                             .axis = {axis + from, axis + o->n_shown + from, axis + 2 * o->n_shown + from}};
    }
    const atn_view_panel panel = {.title = title, .unit = length > 1 ? "nm" : "Å"};
    if (shown && axis) atn_view_draw(page, clouds, shown, &panel, 1, NULL);
    atn_free(ctx, clouds);
    atn_free(ctx, axis);
}

static void draw_structures(atn_text *page, const lattice_outcome *o) {
    const char *names[ATN_LATTICE_MOST_MODELS + 1];
    int32_t *group = atn_alloc(page->ctx, (o->n_shown + 1) * sizeof *group);
    if (!group) page->failed = true;
    for (int32_t c = 0; c <= o->info.models; ++c) names[c] = class_name(o, c);
    for (size_t k = 0; k < o->n_shown && group; ++k) group[k] = o->shown[k].atom.structure;
    if (group) draw_atoms(page, o, group, o->info.models + 1, names, "Structures");
    atn_free(page->ctx, group);
}

/* ---- slices ---- */

static bool is_hexagonal(const lattice_outcome *o, const atn_lattice_atom *a) {
    return o->info.name[a->structure - 1][0] == 'h';
}

/* A frame with numbers along x and y. */
static void draw_frame(atn_text *page, const lattice_outcome *o, double wide, double scale) {
    double unit = unit_of(o), span = wide / unit, step = pow(10, floor(log10(span / 3)));
    bool nano = unit > 1;
    while (span / step > 6) step *= span / step > 12 ? 5 : 2;
    atn_text_printf(page, "<rect x=\"%d\" y=\"10\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"var(--line)\"/>\n",
                    EDGE, SIDE - EDGE - 10, SIDE - EDGE - 10);
    for (int k = 0; k * step <= span + 1e-9; ++k) {
        int x = EDGE + (int)(k * step * unit * scale), y = SIDE - EDGE - (int)(k * step * unit * scale);
        atn_text_printf(page,
                        "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"15\">%g</text>\n", x,
                        SIDE - EDGE + 18, k * step);
        atn_text_printf(page, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"15\">%g</text>\n",
                        EDGE - 6, y + 4, k * step);
    }
    atn_text_printf(page,
                    "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"15\">x (%s)</text>\n",
                    (SIDE + EDGE) / 2, SIDE - EDGE + 38, nano ? "nm" : "Å");
    atn_text_printf(page,
                    "<text class=\"axis\" text-anchor=\"middle\" font-size=\"15\" transform=\"translate(17 %d) "
                    "rotate(-90)\">y (%s)</text>\n",
                    (SIDE - EDGE) / 2, nano ? "nm" : "Å");
}

/* A dot for each atom of a slice across z; by structure, or by orientation. */
static void draw_slice(atn_text *page, const lattice_outcome *o, bool orientation) {
    double wide = fmax(o->high[0] - o->low[0], o->high[1] - o->low[1]), middle = 0.5 * (o->low[2] + o->high[2]);
    double thick = fmax(0.12 * (o->high[2] - o->low[2]), 6), scale = wide > 0 ? (SIDE - EDGE - 20) / wide : 1;
    atn_text_printf(page,
                    "<figure><svg viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" role=\"img\" aria-label=\"%s\">\n",
                    SIDE, SIDE, SIDE, orientation ? "orientations in a slice" : "structures in a slice");
    draw_frame(page, o, wide > 0 ? wide : 1, scale);
    for (size_t k = 0; k < o->n_shown; ++k) {
        const lattice_shown *s = &o->shown[k];
        if (fabs((double)s->position[2] - middle) > thick || (orientation && s->atom.structure == 0)) continue;
        int rgb[3];
        double x = EDGE + ((double)s->position[0] - o->low[0]) * scale;
        double y = SIDE - EDGE - ((double)s->position[1] - o->low[1]) * scale;
        atn_text_printf(page, "<circle cx=\"%d\" cy=\"%d\" r=\"2.4\" ", (int)lround(x), (int)lround(y));
        if (orientation) {
            lattice_turn_colour(s->atom.quaternion, is_hexagonal(o, &s->atom), rgb);
            atn_text_printf(page, "fill=\"#%02x%02x%02x\"/>\n", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
        } else
            atn_text_printf(page, "style=\"fill:var(--c%d);fill-opacity:.%02d\"/>\n", (int)s->atom.structure % 6,
                            25 + (int)(74 * fminf(1, fmaxf(0, s->atom.confidence))));
    }
    atn_text_add(page, "</svg><figcaption>");
    for (int32_t c = 0; c <= o->info.models && !orientation; ++c) {
        if (!lattice_is_structure(o, c)) continue;
        atn_text_printf(page, "<span style=\"color:var(--c%d)\">&#9679;</span> ", (int)c % 6);
        atn_page_escape(page, class_name(o, c));
        atn_text_add(page, " ");
    }
    atn_text_printf(page, "%s Atoms within %.3g Å of the centre along z%s.</figcaption></figure>\n",
                    orientation ? "Colour: the crystal direction along z (key below)." : "(opacity: confidence).",
                    thick, o->n_shown < o->atoms ? ", subsampled" : "");
}

/* ---- orientations ---- */

/* The key: crystal directions of the corner between [001], [011] and [111], stereographic, each with its colour. */
static void draw_key(atn_text *page) {
    enum { CELLS = 36, WIDE = 260 };
    const double size = 480;
    atn_text_printf(page,
                    "<figure><svg viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" role=\"img\" "
                    "aria-label=\"key of orientations\">\n",
                    WIDE, 230, WIDE);
    for (int j = 0; j < CELLS; ++j)
        for (int i = 0; i < CELLS; ++i) { /* directions (x, y, 1), 0 <= y <= x <= 1: all of the corner */
            double x0 = (double)i / CELLS, x1 = (i + 1.0) / CELLS, corner[4][2];
            for (int c = 0; c < 4; ++c) {
                double x = c == 1 || c == 2 ? x1 : x0, y = (double)(j + (c > 1)) / CELLS * x,
                       n = sqrt(x * x + y * y + 1);
                corner[c][0] = 20 + size * (x / n) / (1 + 1 / n);
                corner[c][1] = 190 - size * (y / n) / (1 + 1 / n);
            }
            double x = 0.5 * (x0 + x1), y = (j + 0.5) / CELLS * x, n = sqrt(x * x + y * y + 1);
            int rgb[3];
            lattice_direction_colour((const double[]){x / n, y / n, 1 / n}, false, rgb);
            atn_text_printf(page, "<path fill=\"#%02x%02x%02x\" stroke=\"#%02x%02x%02x\" stroke-width=\".5\" d=\"M",
                            (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2], (unsigned)rgb[0], (unsigned)rgb[1],
                            (unsigned)rgb[2]);
            for (int c = 0; c < 4; ++c)
                atn_text_printf(page, "%s%d.%d %d.%d", c ? "L" : "", (int)corner[c][0], (int)(corner[c][0] * 10) % 10,
                                (int)corner[c][1], (int)(corner[c][1] * 10) % 10);
            atn_text_add(page, "Z\"/>\n");
        }
    atn_text_add(page,
                 "<text class=\"axis\" x=\"8\" y=\"212\" font-size=\"14\">[001]</text>"
                 "<text class=\"axis\" x=\"200\" y=\"212\" font-size=\"14\">[011]</text>"
                 "<text class=\"axis\" x=\"186\" y=\"12\" font-size=\"14\">[111]</text></svg>"
                 "<figcaption>Cubic crystals: the crystal direction along z. Hexagonal ones: red along the c axis, "
                 "else green to blue by the angle about it.</figcaption></figure>\n");
}

typedef struct family {
    const char *name;
    int n;
    double direction[6][3];
} family;
static const family CUBIC[] = {{"{001}", 3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                               {"{011}", 6, {{0, 1, 1}, {0, 1, -1}, {1, 0, 1}, {1, 0, -1}, {1, 1, 0}, {1, -1, 0}}},
                               {"{111}", 4, {{1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}}}};
static const family HEXAGONAL[] = {
    {"{0001}", 1, {{0, 0, 1}}},
    {"{10-10}", 3, {{1, 0, 0}, {0.5, 0.8660254037844386, 0}, {-0.5, 0.8660254037844386, 0}}}};

/* Poles of a family of one structure's atoms on the upper half, stereographic: x to the right, y up, z in the middle.
 */
static void draw_pole_figure(atn_text *page, const lattice_outcome *o, int32_t structure, const family *f) {
    size_t of = 0, step;
    for (size_t k = 0; k < o->n_shown; ++k) of += o->shown[k].atom.structure == structure;
    step = of / MOST_POLES + 1;
    atn_text_add(page, "<figure style=\"flex:1 1 12rem;margin:0\"><svg viewBox=\"-118 -118 236 250\" "
                       "role=\"img\"><title>pole figure</title><circle r=\"100\" fill=\"none\" "
                       "stroke=\"var(--soft)\"/><path d=\"M-100 0H100M0-100V100\" stroke=\"var(--line)\"/>\n");
    atn_text_add(page, "<g style=\"fill:var(--c0);fill-opacity:.25\">\n");
    for (size_t k = 0, seen = 0; k < o->n_shown; ++k) {
        if (o->shown[k].atom.structure != structure || seen++ % step) continue;
        for (int d = 0; d < f->n; ++d) {
            double v[3], n;
            lattice_turned(o->shown[k].atom.quaternion, f->direction[d], v);
            n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * (v[2] < 0 ? -1 : 1);
            for (int c = 0; c < 3; ++c) v[c] /= n;
            atn_text_printf(page, "<circle cx=\"%d\" cy=\"%d\" r=\"1.6\"/>", (int)lround(100 * v[0] / (1 + v[2])),
                            (int)lround(-100 * v[1] / (1 + v[2])));
        }
    }
    atn_text_printf(page,
                    "</g><text class=\"axis\" text-anchor=\"middle\" y=\"126\" font-size=\"13\">%s %s</text><text "
                    "class=\"axis\" x=\"105\" y=\"4\" font-size=\"12\">x</text><text class=\"axis\" x=\"-3\" "
                    "y=\"-105\" font-size=\"12\">y</text></svg></figure>\n",
                    o->info.name[structure - 1], f->name);
}

static void draw_poles(atn_text *page, const lattice_outcome *o) {
    for (int32_t c = 1; c <= o->info.models; ++c) {
        if (!lattice_is_structure(o, c) || o->count[c] * 100 < o->atoms) continue; /* a hundredth at least */
        bool six = o->info.name[c - 1][0] == 'h';
        const family *list = six ? HEXAGONAL : CUBIC;
        atn_text_add(page, "<div style=\"display:flex;flex-wrap:wrap;gap:1rem\">\n");
        for (int f = 0; f < (six ? 2 : 3); ++f) draw_pole_figure(page, o, c, &list[f]);
        atn_text_add(page, "</div>\n");
    }
}

/* ---- grains ---- */

static void draw_grains(atn_text *page, const lattice_outcome *o, const lattice_grains *g) {
    enum { TOLD = 12, DRAWN = 6 };
    atn_text rows = {.ctx = page->ctx};
    char line[400], names[DRAWN + 1][32];
    const char *name[DRAWN + 1];
    double factor = o->n_shown ? (double)o->atoms / (double)o->n_shown : 1;
    snprintf(line, sizeof line,
             "%d grains of 20 or more of the %zu atoms shown; neighbours of one grain differ by less than %.0f "
             "degrees. %.1f %% of the atoms with a structure have a neighbour in another grain or structure.",
             (int)g->n, o->n_shown, LATTICE_GRAIN_DEG, g->atoms ? 100 * (double)g->border / (double)g->atoms : 0);
    atn_page_paragraph(page, line);
    atn_text_add(&rows, "grain\tstructure\tatoms\tshare\tto the largest\t\n");
    for (int32_t k = 0; k < g->n && k < TOLD; ++k) {
        const lattice_grain *one = &g->list[k], *first = &g->list[0];
        atn_text_printf(&rows, "%d\t%s\t%.0f\t%.1f %%\t", (int)k + 1, o->info.name[one->structure - 1],
                        (double)one->atoms * factor, 100 * (double)one->atoms / (double)o->n_shown);
        if (k && one->structure == first->structure)
            atn_text_printf(&rows, "%.1f°\t\n",
                            lattice_misorientation(one->example.quaternion, first->example.quaternion,
                                                   is_hexagonal(o, &one->example)));
        else
            atn_text_add(&rows, "\t\n");
    }
    atn_page_table(page, atn_text_str(&rows), "rlrrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
    int32_t *group = atn_alloc(page->ctx, (o->n_shown + 1) * sizeof *group);
    if (!group) page->failed = true;
    for (int32_t k = 0; k <= DRAWN; ++k) {
        snprintf(names[k], sizeof names[k], k < DRAWN ? "grain %d" : "all others", (int)k + 1);
        name[k] = names[k];
    }
    for (size_t k = 0; k < o->n_shown && group; ++k) group[k] = g->of[k] > 0 && g->of[k] <= DRAWN ? g->of[k] - 1 : -1;
    if (group && g->n > 1) draw_atoms(page, o, group, DRAWN, name, "The largest grains");
    atn_free(page->ctx, group);
}

/* ---- composition ---- */

static void draw_composition(atn_text *page, const lattice_outcome *o) {
    atn_text rows = {.ctx = page->ctx};
    size_t of[ATN_LATTICE_MOST_MODELS + 1] = {0};
    if (!o->composition) return;
    atn_page_heading(page, "Composition");
    atn_text_add(&rows, "ion\t");
    for (int32_t c = 0; c <= o->info.models; ++c) {
        if (!lattice_is_structure(o, c)) continue;
        atn_text_printf(&rows, "%s\t", class_name(o, c));
        for (size_t i = 0; i < o->ions; ++i) of[c] += o->composition[i][c];
    }
    atn_text_add(&rows, "\n");
    for (size_t i = 0; i < o->ions; ++i) {
        atn_cli_add_cell(&rows, o->ion[i]);
        for (int32_t c = 0; c <= o->info.models; ++c)
            if (lattice_is_structure(o, c))
                atn_text_printf(&rows, "%.2f %%\t", of[c] ? 100 * (double)o->composition[i][c] / (double)of[c] : 0);
        atn_text_add(&rows, "\n");
    }
    atn_page_table(page, atn_text_str(&rows), "lrrrrrrrrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

atn_status lattice_report(atn_cli_call *call, const lattice_outcome *o, const char *path) {
    atn_text page = {.ctx = call->ctx};
    lattice_grains grains = {0};
    atn_status status = o->n_shown ? lattice_find_grains(call->ctx, o, &grains) : ATN_OK;
    atn_page_begin(&page, "Local structure of atoms", call->operands[0]);
    draw_shares(&page, o);
    if (o->n_shown) draw_structures(&page, o);
    draw_settings(&page, o);
    draw_composition(&page, o);
    if (o->n_shown && !status) {
        atn_page_heading(&page, "Grains");
        draw_grains(&page, o, &grains);
        atn_page_heading(&page, "A slice");
        draw_slice(&page, o, false);
        atn_page_heading(&page, "Orientations");
        draw_slice(&page, o, true);
        draw_key(&page);
        atn_page_heading(&page, "Pole figures");
        draw_poles(&page, o);
    }
    atn_page_heading(&page, "Confidence");
    atn_page_paragraph(&page, "Of atoms with a confidence of 0.9, nine in ten should be what they are called.");
    draw_confidence(&page, o);
    if (!status) status = atn_cli_page_write(call, &page, path);
    lattice_grains_free(call->ctx, &grains);
    atn_text_free(&page);
    return status;
}
