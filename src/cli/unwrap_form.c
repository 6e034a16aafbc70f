/* The form of the surface: an aperture cut out, Zernike terms fitted and subtracted, figures. */
#include "cli/unwrap.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* What --remove subtracts in addition to what the solver does itself. */
static const struct {
    const char *word;
    int32_t terms;
} REMOVED[] = {{"power", 4}, {"astigmatism", 6}};

static atn_status read_remove(atn_cli_call *call, unwrap_job *job) {
    const char *text = atn_cli_value(call, "remove");
    char *end;
    if (!text) return ATN_OK;
    for (size_t k = 0; k < sizeof REMOVED / sizeof *REMOVED; ++k)
        if (strcmp(text, REMOVED[k].word) == 0) job->remove_terms = REMOVED[k].terms;
    if (strncmp(text, "zernike:", 8) != 0) return ATN_OK;
    double terms = atn_number_read(text + 8, &end);
    if (end == text + 8 || *end || !(terms >= 1 && terms <= FORM_MOST_TERMS) || terms != floor(terms))
        return atn_cli_misuse(call, "--remove cannot be '%s'; it takes zernike:1 to zernike:%d", text, FORM_MOST_TERMS);
    job->remove_terms = (int32_t)terms;
    return ATN_OK;
}

static atn_status read_aperture(atn_cli_call *call, form_aperture *aperture) {
    const char *text = atn_cli_value(call, "aperture");
    double number[3];
    char *end = NULL;
    if (!text) return ATN_OK;
    const char *at = text;
    for (int k = 0; k < 3; ++k, at = end + 1) {
        number[k] = atn_number_read(at, &end);
        if (end == at || !isfinite(number[k]) || *end != (k < 2 ? ',' : '\0'))
            return atn_cli_misuse(call, "--aperture cannot be '%s'; it takes X,Y,R in pixels", text);
    }
    if (!(number[2] > 0)) return atn_cli_misuse(call, "--aperture cannot be '%s'; its radius must be above 0", text);
    *aperture = (form_aperture){number[0], number[1], number[2]};
    return ATN_OK;
}

atn_status unwrap_form_read(atn_cli_call *call, unwrap_job *job) {
    double terms;
    atn_status status = read_remove(call, job);
    if (!status) status = read_aperture(call, &job->aperture);
    if (!status) status = atn_cli_read_whole(call, "zernike", 1, 0, &terms);
    if (!status && terms > FORM_MOST_TERMS)
        status = atn_cli_misuse(call, "--zernike cannot be above %d", FORM_MOST_TERMS);
    if (!status) job->zernike_terms = (int32_t)terms;
    if (!status) status = atn_cli_read_length(call, "pixel", 1e-12, 1, 0, &job->pixel_m);
    return status;
}

form_surface unwrap_surface_of(const unwrap_job *job, const unwrap_phase *phase) {
    return (form_surface){.width = phase->width,
                          .height = phase->height,
                          .single = job->options.bits == 64 ? NULL : phase->value,
                          .doubles = job->options.bits == 64 ? phase->value : NULL};
}

atn_status unwrap_form(const unwrap_job *job, unwrap_phase *phase) {
    const atn_ctx *ctx = job->call->ctx;
    form_surface surface = unwrap_surface_of(job, phase);
    double removed[FORM_MOST_TERMS];
    atn_status status = ATN_OK;
    if (job->aperture.radius > 0) form_aperture_cut(&surface, &job->aperture);
    if (!job->zernike_terms && !job->remove_terms) return ATN_OK;
    phase->aperture = job->aperture.radius > 0 ? job->aperture : form_aperture_find(&surface);
    if (job->zernike_terms) {
        phase->zernike = atn_alloc(ctx, FORM_MOST_TERMS * sizeof *phase->zernike);
        if (!phase->zernike) return ATN_ERR_MEMORY;
        phase->terms = job->zernike_terms;
        status = form_zernike_fit(ctx, &surface, &phase->aperture, phase->terms, phase->zernike);
    }
    /* where the aperture is no full disc, terms depend on how many are fitted: what is removed is fitted alone */
    if (!status && job->remove_terms)
        status = form_zernike_fit(ctx, &surface, &phase->aperture, job->remove_terms, removed);
    if (!status && job->remove_terms)
        status = form_zernike_subtract(ctx, &surface, &phase->aperture, job->remove_terms, removed);
    return status;
}
