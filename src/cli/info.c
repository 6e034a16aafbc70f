/* attune info: describes a file. Arrays here; point clouds in info_cloud.c, images and volumes in info_image.c. */
#include "cli/info.h"

#include "cloud/formats.h"
#include "graph/type.h"
#include "image/formats.h"
#include "num/npy.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* What the elements are like. Of complex ones the modulus counts. */
typedef struct census {
    int64_t count, finite, nan, inf;
    double low, high; /* of those that are finite */
} census;

static census count_elements(const atn_view *view) {
    census c = {.count = atn_view_elements(view)};
    bool whole = atn_type_is_integer(view->type), complex_type = atn_type_is_complex(view->type);
    size_t bytes = atn_type_bytes(view->type);
    for (int64_t k = 0; k < c.count; ++k) {
        double number[2];
        int64_t integer;
        atn_element_load(view->type, (const char *)view->data + (size_t)k * bytes, number, &integer);
        double value = whole ? (double)integer : complex_type ? hypot(number[0], number[1]) : number[0];
        bool is_nan = complex_type ? isnan(number[0]) || isnan(number[1]) : isnan(value);
        if (is_nan || isinf(value)) {
            c.nan += is_nan;
            c.inf += !is_nan;
            continue;
        }
        c.low = c.finite == 0 || value < c.low ? value : c.low;
        c.high = c.finite == 0 || value > c.high ? value : c.high;
        ++c.finite;
    }
    return c;
}

static json_t *shape_json(const atn_npy *npy) {
    json_t *shape = json_array();
    for (int32_t d = 0; d < npy->dims; ++d)
        if (json_array_append_new(shape, json_integer(npy->shape[d])) != 0) {
            json_decref(shape);
            return NULL;
        }
    return shape;
}

static atn_status print_json(atn_cli_call *call, const atn_npy *npy, const census *c) {
    json_t *root = json_object();
    if (json_object_set_new(root, "kind", json_string("npy")) != 0 ||
        json_object_set_new(root, "type", json_string(atn_type_name(npy->type))) != 0 ||
        json_object_set_new(root, "dtype", atn_cli_json_text(call->ctx, npy->dtype)) != 0 ||
        json_object_set_new(root, "shape", shape_json(npy)) != 0 ||
        json_object_set_new(root, "order", json_string(npy->fortran ? "Fortran" : "C")) != 0 ||
        json_object_set_new(root, "elements", json_integer(c->count)) != 0 ||
        json_object_set_new(root, "min", c->finite ? json_real(c->low) : json_null()) != 0 ||
        json_object_set_new(root, "max", c->finite ? json_real(c->high) : json_null()) != 0 ||
        json_object_set_new(root, "nan", json_integer(c->nan)) != 0 ||
        json_object_set_new(root, "inf", json_integer(c->inf)) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status print_text(atn_cli_call *call, const atn_npy *npy, const census *c) {
    atn_text page = {.ctx = call->ctx};
    atn_text_printf(&page, "kind   NPY, a %s\n", atn_rank_name(npy->dims > 0 ? npy->dims : 1));
    atn_text_printf(&page, "type   %s (%s)\nshape  (", atn_type_name(npy->type), npy->dtype);
    for (int32_t d = 0; d < npy->dims; ++d) atn_text_printf(&page, "%s%lld", d ? ", " : "", (long long)npy->shape[d]);
    atn_text_printf(&page, "%s)\norder  %s\n", npy->dims == 1 ? "," : "", npy->fortran ? "Fortran" : "C");
    if (c->finite)
        atn_text_printf(&page, "range  %.9g to %.9g%s\n", c->low, c->high,
                        atn_type_is_complex(npy->type) ? " (modulus)" : "");
    else
        atn_text_add(&page, "range  none\n");
    atn_text_printf(&page, "NaN    %lld\nInf    %lld\n", (long long)c->nan, (long long)c->inf);
    atn_status status = atn_cli_print_text(call, "info", &page);
    atn_text_free(&page);
    return status;
}

static atn_status info_array(atn_cli_call *call, const char *path) {
    atn_npy npy;
    atn_status status = atn_npy_read(call->ctx, path, &npy);
    if (status) return status;
    atn_view view = atn_npy_view(&npy);
    census c = count_elements(&view);
    status = call->json ? print_json(call, &npy, &c) : print_text(call, &npy, &c);
    atn_npy_free(&npy);
    return status;
}

static bool image_begins(const char *head, size_t length) { return image_format_of(head, length); }
static atn_status info_image(atn_cli_call *call, const char *path) { return atn_cli_info_image(call, path, NULL); }

/* Kinds of files by how they begin; what begins otherwise may be a cloud. */
static const struct {
    bool (*begins)(const char *head, size_t length);
    atn_status (*info)(atn_cli_call *call, const char *path);
} KINDS[] = {{atn_npy_begins, info_array}, {image_begins, info_image}, {NULL, atn_cli_info_cloud}};

static atn_status run(atn_cli_call *call) {
    const char *path = call->operands[0], *shape_text = atn_cli_value(call, "shape"), *head;
    int64_t shape[3];
    if (atn_cli_has(call, "ranges") && !source_has_ending(path, "pos epos apt"))
        return atn_cli_misuse(call, "--ranges does not apply to %s, only to POS, ePOS and APT files", path);
    if (shape_text) {
        int count = atn_cli_read_shape(shape_text, shape);
        if (count == 0)
            return atn_cli_misuse(call, "--shape cannot be '%s'; it takes HxW or ZxHxW, such as 512x1024", shape_text);
        return count == 2 ? atn_cli_info_image(call, path, shape) : atn_cli_info_volume(call, path, shape);
    }
    struct stat what;
    if (stat(path, &what) == 0 && S_ISDIR(what.st_mode)) return atn_cli_info_volume(call, path, NULL);
    if (source_has_ending(path, "rrng rng")) return atn_cli_info_ranges(call, path);
    source s;
    size_t length, kind = 0;
    atn_status status = source_open(call->ctx, path, &s);
    if (status == ATN_OK) status = source_peek(&s, IMAGE_HEAD, &head, &length);
    while (status == ATN_OK && KINDS[kind].begins && !KINDS[kind].begins(head, length)) ++kind;
    bool known = status == ATN_OK && (KINDS[kind].begins || cloud_format_of(path, head, length));
    source_close(&s);
    if (status != ATN_OK) return status; /* what cannot be opened, or is empty */
    status = KINDS[kind].info(call, path);
    if (known || status != ATN_ERR_INPUT) return status;
    return atn_fail(call->ctx, status, "%s: unknown file format, see 'attune help info'; raw needs --shape", path);
}

const atn_cli_verb ATN_VERB_INFO = {
    .name = "info",
    .summary = "describe a file: kind, size, value range, invalid values",
    .synopsis = "FILE",
    .paragraphs =
        (const char *const[]){
            "Reads the whole file and describes it. Supported are NPY files (vectors, matrices and volumes, versions 1 "
            "to 3), point clouds (@READ@), range files of atom probes "
            "(RRNG, RNG), images (PNG, BMP, TIFF, Zygo .dat, SDF) and volumes: folders of PNG, BMP and TIFF files, "
            "multi-page TIFF. Raw files are read with --shape: HxW is an image of float32, ZxHxW a volume of 8 or 16 "
            "bits, little-endian.",
            "JSON of a cloud: kind, format, points, frames, min and max (x, y, z; null without points), nan and inf "
            "(points dropped for them), normals, weights, masses, species (true if present), faces (number), "
            "properties (names of data that is passed through), left_out.",
            "Of an atom probe file the masses, too: where the spectrum has peaks, and with --ranges the composition. "
            "JSON: mass_min and mass_max (dalton), peaks: [{low, high, ions (above the background), share}], "
            "composition: {ranged, of, ions: [{ion, ions, share (of those in a range)}]}.",
            "JSON of an array: kind, type, dtype, shape, order, elements, min, max (null if no element is finite; of "
            "complex elements the modulus), nan and inf (counts).",
            "JSON of a range file: kind, format, min, max (masses, in dalton), overlaps (pairs of overlapping ranges "
            "of different ions; the narrower one wins), duplicates (dropped), ions: [{name, element, atoms, "
            "colour}], ranges: [{low, high, ion, volume_nm3}].",
            "JSON of an image: kind, format, width, height, pages, bits, min, max (null if all pixels are invalid), "
            "invalid (count), unit, wavelength_m and spacing_m (x, y), null if unknown. Of a "
            "volume: kind, format, frames, height, width, bits, min, max, unit and spacing (x, y, z).",
            NULL},
    .examples = (const atn_cli_pair[]){{"attune info A.npy", "what is in A.npy?"},
                                       {"attune info scan.ply --json", "points, bounds, invalid ones"},
                                       {"attune info frame.pos --ranges frame.rrng", "mass peaks and composition"},
                                       {"attune info oct/ --json", "the scans of a folder"},
                                       {"attune info peaks.raw --shape 512x512", "raw float32"},
                                       {0}},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("shape", "SHAPE", "the file is raw: rows x columns, or scans x rows x columns"),
            ATN_OPTION("ranges", "FILE", "RRNG or RNG: mass ranges of ions, for the composition"),
            {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
