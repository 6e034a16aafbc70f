/* From results to files and text: TIFF, NPY, previews; heights = phase x wavelength / 4 pi in reflection. */
#include "cli/unwrap.h"

#include "base/memory.h"
#include "base/number.h"
#include "cloud/source.h"
#include "device/building.h"

#include <math.h>

static const double PI = 3.141592653589793;

atn_status unwrap_check_output(const unwrap_job *job, const char *path, const char *option) {
    if (!path || source_has_ending(path, "png")) return ATN_OK;
    bool preview = option[1] == '-';
    if (!preview && source_has_ending(path, "tif tiff npy sdf dat gwy vti")) return ATN_OK;
    return atn_cli_misuse(job->call, "%s %s: %s", option, path,
                          preview ? "a preview is a png"
                                  : "the ending says how it is written: tif, npy, gwy, sdf, dat, vti or png");
}

double unwrap_height_of(const unwrap_job *job, const unwrap_phase *phase) {
    double wavelength = job->wavelength > 0 ? job->wavelength : phase->wavelength;
    if (job->radians || !(wavelength > 0)) return 0;
    return wavelength / ((job->transmission ? 2 : 4) * PI);
}

static atn_status image_of(const unwrap_job *job, const unwrap_phase *phase, atn_image **out) {
    const atn_ctx *ctx = job->call->ctx;
    double height = unwrap_height_of(job, phase), factor = height > 0 ? height : 1;
    size_t count = (size_t)(phase->width * phase->height);
    void *values = atn_alloc(ctx, count * unwrap_value_bytes(job));
    if (!values) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k)
        if (job->options.bits == 64)
            ((double *)values)[k] = ((const double *)phase->value)[k] * factor;
        else
            ((float *)values)[k] = (float)((double)((const float *)phase->value)[k] * factor);
    atn_status status = job->options.bits == 64
                            ? atn_image_create_doubles(job->call->ctx, phase->width, phase->height, values, out)
                            : atn_image_create(job->call->ctx, phase->width, phase->height, values, out);
    atn_free(ctx, values);
    if (!status) status = atn_image_set_unit(*out, height > 0 ? "m" : "rad");
    if (!status)
        status = atn_image_set_scale(*out, phase->spacing_m[0], phase->spacing_m[1],
                                     job->wavelength > 0 ? job->wavelength : phase->wavelength);
    if (!status) return ATN_OK;
    atn_image_free(*out);
    *out = NULL;
    return status;
}

atn_status unwrap_write(const unwrap_job *job, const unwrap_phase *phase, const char *path) {
    atn_image *image = NULL;
    atn_status status = image_of(job, phase, &image);
    if (!status)
        status =
            source_has_ending(path, "png") ? atn_image_write_preview(image, path, NULL) : atn_image_write(image, path);
    atn_image_free(image);
    return status;
}

/* ---- words ---- */

static void range_of(const unwrap_job *job, const unwrap_phase *phase, double *low, double *high) {
    double height = unwrap_height_of(job, phase), factor = height > 0 ? height : 1;
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t k = 0; k < phase->width * phase->height; ++k) {
        double value =
            job->options.bits == 64 ? ((const double *)phase->value)[k] : (double)((const float *)phase->value)[k];
        if (isnan(value)) continue;
        *low = fmin(*low, value * factor);
        *high = fmax(*high, value * factor);
    }
}

form_figures unwrap_figures(const unwrap_job *job, const unwrap_phase *phase) {
    form_surface surface = unwrap_surface_of(job, phase);
    double height = unwrap_height_of(job, phase), factor = height > 0 ? height : 1;
    form_figures f;
    form_figures_of(&surface, &f);
    return (form_figures){.valid = f.valid,
                          .low = f.low * factor,
                          .high = f.high * factor,
                          .mean = f.mean * factor,
                          .pv = f.pv * factor,
                          .rms = f.rms * factor,
                          .sa = f.sa * factor,
                          .sq = f.sq * factor};
}

static json_t *zernike_json(const unwrap_job *job, const unwrap_phase *phase) {
    double height = unwrap_height_of(job, phase), factor = height > 0 ? height : 1;
    if (!phase->terms) return json_null();
    json_t *terms = json_array();
    for (int32_t j = 1; j <= phase->terms && terms; ++j) {
        int32_t n, m;
        form_zernike_orders(j, &n, &m);
        json_array_append_new(terms, json_pack("{s:i,s:i,s:i,s:s,s:f}", "j", (int)j, "n", (int)n, "m", (int)m, "name",
                                               form_zernike_name(j), "value", phase->zernike[j - 1] * factor));
    }
    return json_pack("{s:{s:f,s:f,s:f},s:o}", "aperture", "x", phase->aperture.x, "y", phase->aperture.y, "radius",
                     phase->aperture.radius, "terms", terms);
}

static json_t *spacing_json(const unwrap_phase *phase) {
    return phase->spacing_m[0] > 0 ? json_pack("[f,f]", phase->spacing_m[0], phase->spacing_m[1]) : json_null();
}

static json_t *real_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static atn_status print_json(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *r) {
    json_t *root = json_object(), *shape = json_array();
    double low, high;
    range_of(job, phase, &low, &high);
    form_figures f = unwrap_figures(job, phase);
    const struct {
        const char *name;
        json_t *value;
    } fields[] = {
        {"residues", json_integer(r->residues)},
        {"residual_rms", real_or_null(r->residual_rms)},
        {"congruence_max", real_or_null(r->congruence_max)},
        {"cut_length", json_integer(r->cut_length)},
        {"cycles", json_integer(r->cycles)},
        {"seconds", json_real(r->seconds)},
        {"fps", atn_cli_json_rate(1 / r->seconds)},
        {"valid", json_integer(r->valid)},
        {"invalid", json_integer(phase->width * phase->height - r->valid)},
        {"islands", json_integer(r->islands)},
        {"converged", json_boolean(r->converged)},
        {"reason", atn_cli_json_text(job->call->ctx, r->reason)},
        {"residual", real_or_null(r->residual)},
        {"weighted", json_boolean(r->weighted)},
        {"solutions", json_integer(r->solutions)},
        {"shortest", json_boolean(r->shortest)},
        {"smeared", json_boolean(r->smeared)},
        {"unwrapped", json_boolean(job->settings.unwrapped)},
        {"unit", json_string(unwrap_height_of(job, phase) > 0 ? "m" : "rad")},
        {"min", real_or_null(low)},
        {"max", real_or_null(high)},
        {"pv", json_real(f.pv)},
        {"rms", json_real(f.rms)},
        {"sa", json_real(f.sa)},
        {"sq", json_real(f.sq)},
        {"spacing", spacing_json(phase)},
        {"zernike", zernike_json(job, phase)},
        {"precision", json_integer(job->options.bits)},
        {"device", atn_cli_json_text(job->call->ctx, atn_device_get_info(job->device)->name)},
        {"note", atn_cli_json_text(job->call->ctx, phase->note)},
    };
    bool good = json_object_set_new(root, "shape", shape) == 0 &&
                json_array_append_new(shape, json_integer(phase->height)) == 0 &&
                json_array_append_new(shape, json_integer(phase->width)) == 0;
    for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k)
        good = json_object_set_new(root, fields[k].name, fields[k].value) == 0 && good;
    return atn_cli_print_json(job->call, atn_cli_json_if(good, root));
}

static atn_status print_text(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *r) {
    atn_text page = {.ctx = job->call->ctx};
    double low, high;
    range_of(job, phase, &low, &high);
    atn_text_printf(&page, "size        %lld x %lld (rows x columns), %lld valid pixels, %lld invalid\n",
                    (long long)phase->height, (long long)phase->width, (long long)r->valid,
                    (long long)(phase->width * phase->height - r->valid));
    bool heights = unwrap_height_of(job, phase) > 0;
    form_figures f = unwrap_figures(job, phase);
    const double each[] = {f.pv, f.rms, f.sa, f.sq, low, high};
    char text[6][ATN_NUMBER_TEXT + 8];
    for (int k = 0; k < 6; ++k) atn_number_si(each[k], heights ? "m" : "rad", text[k], sizeof text[k]);
    if (heights)
        atn_text_printf(&page, "heights     %s to %s\n", text[4], text[5]);
    else
        atn_text_printf(&page, "phase       %.6g to %.6g rad\n", low, high);
    atn_text_printf(&page, "form        PV %s, RMS %s; levelled Sa %s, Sq %s\n", text[0], text[1], text[2], text[3]);
    atn_text_printf(&page, "residues    %lld; cut length %lld pairs; %.3g rad rms from the wrapped differences\n",
                    (long long)r->residues, (long long)r->cut_length, r->residual_rms);
    if (r->islands > 1)
        atn_text_printf(&page, "islands     %lld, solved separately: offsets between them are unknown modulo 2 pi\n",
                        (long long)r->islands);
    if (job->settings.unwrapped)
        atn_text_printf(&page, "solved      nothing: already unwrapped\n");
    else if (r->shortest)
        atn_text_printf(&page, "solved      shortest cuts in %.3g s\n", r->seconds);
    else if (r->solutions == 0 && r->converged)
        atn_text_printf(&page, "solved      by path following in %.3g s\n", r->seconds);
    else
        atn_text_printf(&page, "solved      %d %s in %.3g s, %s\n", (int)r->cycles,
                        r->weighted ? "iterations" : "cycles", r->seconds,
                        r->converged ? "converged" : "not converged");
    if (atn_building_seconds() > 0.1)
        atn_text_printf(&page, "kernels     compiled in %.2g s, first run only\n", atn_building_seconds());
    if (*r->reason) atn_text_printf(&page, "note: %s\n", r->reason);
    if (*phase->note) atn_text_printf(&page, "note: %s\n", phase->note);
    atn_status status = atn_cli_print_text(job->call, "unwrap", &page);
    atn_text_free(&page);
    return status;
}

atn_status unwrap_print(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *result) {
    return job->call->json ? print_json(job, phase, result) : print_text(job, phase, result);
}
