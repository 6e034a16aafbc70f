/* attune unwrap --report: the surface as a map with axes and a profile, its figures, its Zernike terms. */
#include "cli/unwrap.h"

#include "base/memory.h"
#include "base/number.h"
#include "plot/chart.h"
#include "plot/page.h"
#include "plot/surface.h"

#include <math.h>
#include <stdlib.h>

static void add_row(atn_text *rows, const char *name, double value, const char *unit) {
    char text[ATN_NUMBER_TEXT + 8];
    atn_number_si(value, unit, text, sizeof text);
    atn_text_printf(rows, "%s\t%s\t\n", name, text);
}

static void draw_figures(atn_text *page, const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *r) {
    atn_text rows = {.ctx = page->ctx};
    form_figures f = unwrap_figures(job, phase);
    const char *unit = unwrap_height_of(job, phase) > 0 ? "m" : "rad";
    atn_text_add(&rows, "quantity\tvalue\t\n");
    add_row(&rows, "PV", f.pv, unit);
    add_row(&rows, "RMS", f.rms, unit);
    add_row(&rows, "Sa (levelled)", f.sa, unit);
    add_row(&rows, "Sq (levelled)", f.sq, unit);
    atn_text_printf(&rows, "size\t%lld x %lld (rows x columns), %lld pixels valid\t\n", (long long)phase->height,
                    (long long)phase->width, (long long)f.valid);
    if (phase->spacing_m[0] > 0) {
        add_row(&rows, "width", phase->spacing_m[0] * (double)phase->width, "m");
        add_row(&rows, "pixel", phase->spacing_m[0], "m");
    }
    double wavelength = job->wavelength > 0 ? job->wavelength : phase->wavelength;
    if (wavelength > 0) add_row(&rows, "wavelength", wavelength, "m");
    atn_text_printf(&rows, "removed\t%s\t\n",
                    atn_cli_value(job->call, "remove") ? atn_cli_value(job->call, "remove") : "nothing");
    atn_text_printf(&rows, "residues\t%lld\t\ncut length\t%lld pairs\t\nislands\t%lld\t\n", (long long)r->residues,
                    (long long)r->cut_length, (long long)r->islands);
    add_row(&rows, "time", r->seconds, "s");
    atn_cli_add_cell(&rows, "device");
    atn_cli_add_cell(&rows, atn_device_get_info(job->device)->name);
    atn_text_add(&rows, "\n");
    atn_page_table(page, atn_text_str(&rows), "ll");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static void draw_zernike(atn_text *page, const unwrap_job *job, const unwrap_phase *phase) {
    enum { MOST = 36, NAME = 48 };
    double height = unwrap_height_of(job, phase), factor = height > 0 ? height : 1;
    const char *unit = height > 0 ? "m" : "rad";
    atn_bar bars[MOST];
    char names[MOST][NAME], notes[MOST][ATN_NUMBER_TEXT + 8], line[256];
    atn_text rows = {.ctx = page->ctx};
    atn_page_heading(page, "Zernike terms");
    snprintf(line, sizeof line,
             "Noll's numbering; each coefficient is the RMS of its term. Aperture: centre (%.1f, %.1f), radius %.1f "
             "pixels. Fitted before anything is removed.",
             phase->aperture.x, phase->aperture.y, phase->aperture.radius);
    atn_page_paragraph(page, line);
    int32_t drawn = 0;
    atn_text_add(&rows, "term\tn\tm\tname\tcoefficient\t\n");
    for (int32_t j = 1; j <= phase->terms; ++j) {
        int32_t n, m;
        char value[ATN_NUMBER_TEXT + 8];
        form_zernike_orders(j, &n, &m);
        atn_number_si(phase->zernike[j - 1] * factor, unit, value, sizeof value);
        atn_text_printf(&rows, "Z%d\t%d\t%d\t%s\t%s\t\n", (int)j, (int)n, (int)m, form_zernike_name(j), value);
        if (j < 4 || drawn == MOST) continue; /* piston and tilt say where it stood, not what it is */
        snprintf(names[drawn], NAME, "Z%d %s", (int)j, form_zernike_name(j));
        snprintf(notes[drawn], sizeof *notes, "%s", value);
        bars[drawn] =
            (atn_bar){names[drawn], notes[drawn], fabs(phase->zernike[j - 1] * factor) * (height > 0 ? 1e9 : 1),
                      phase->zernike[j - 1] < 0 ? 1 : 0};
        ++drawn;
    }
    if (drawn)
        atn_bars_draw(page, "Size of the terms (orange: negative)", height > 0 ? "nm RMS" : "rad RMS", bars, drawn, 0,
                      false);
    atn_page_fold(page, "All coefficients");
    atn_page_table(page, atn_text_str(&rows), "lrrlr");
    atn_page_unfold(page);
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static void draw_verdict(atn_text *page, const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *r) {
    const char *unit = unwrap_height_of(job, phase) > 0 ? "m" : "rad";
    form_figures f = unwrap_figures(job, phase);
    char pv[ATN_NUMBER_TEXT + 8], rms[ATN_NUMBER_TEXT + 8], word[128];
    atn_number_si(f.pv, unit, pv, sizeof pv);
    atn_number_si(f.rms, unit, rms, sizeof rms);
    snprintf(word, sizeof word, "PV %s, RMS %s", pv, rms);
    if (job->settings.unwrapped)
        atn_page_verdict(page, ATN_PAGE_DOUBT, word, phase->note);
    else if (r->residues || r->islands > 1) {
        char sentence[320];
        snprintf(sentence, sizeof sentence, "%lld residues, cuts of %lld pairs%s. %s", (long long)r->residues,
                 (long long)r->cut_length, r->islands > 1 ? "; heights of islands are not related to each other" : "",
                 r->reason);
        atn_page_verdict(page, r->smeared || r->islands > 1 ? ATN_PAGE_DOUBT : ATN_PAGE_GOOD, word, sentence);
    } else
        atn_page_verdict(page, ATN_PAGE_GOOD, word, "No residues: the surface is unique up to a whole turn.");
}

atn_status unwrap_write_report(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *r,
                               const char *path) {
    const atn_ctx *ctx = job->call->ctx;
    double height = unwrap_height_of(job, phase), factor = height > 0 ? height : 1;
    size_t count = (size_t)(phase->width * phase->height);
    float *values = atn_alloc(ctx, count * sizeof *values);
    if (!values) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k)
        values[k] = (float)(factor * (job->options.bits == 64 ? ((const double *)phase->value)[k]
                                                              : (double)((const float *)phase->value)[k]));
    atn_text page = {.ctx = ctx};
    atn_page_begin(&page, "Unwrapped surface", job->input);
    draw_verdict(&page, job, phase, r);
    atn_surface_draw(&page, &(atn_surface){.width = phase->width,
                                           .height = phase->height,
                                           .values = values,
                                           .unit = height > 0 ? "m" : "rad",
                                           .spacing_m = {phase->spacing_m[0], phase->spacing_m[1]}});
    atn_page_heading(&page, "Figures");
    draw_figures(&page, job, phase, r);
    if (phase->terms) draw_zernike(&page, job, phase);
    atn_status status = atn_cli_page_write(job->call, &page, path);
    atn_text_free(&page);
    atn_free(ctx, values);
    return status;
}
