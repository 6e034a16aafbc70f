/* attune info for point clouds: format, points, bounds, attributes, what was invalid or omitted. */
#include "cli/info.h"

#include "cloud/source.h"

#include <attune/frame.h>
#include <string.h>

static bool set_box(json_t *root, const char *key, const double *corner, bool any) {
    json_t *array = any ? json_array() : json_null();
    bool good = json_object_set_new(root, key, array) == 0;
    for (int d = 0; good && any && d < 3; ++d) good = json_array_append_new(array, json_real(corner[d])) == 0;
    return good;
}

static atn_status print_json(atn_cli_call *call, const atn_cloud_info *info, const atn_cli_masses *masses) {
    json_t *root = json_object();
    if (json_object_set_new(root, "kind", json_string("cloud")) != 0 ||
        json_object_set_new(root, "format", atn_cli_json_text(call->ctx, info->format)) != 0 ||
        json_object_set_new(root, "points", json_integer((json_int_t)info->points)) != 0 ||
        json_object_set_new(root, "frames", json_integer((json_int_t)info->frames)) != 0 ||
        !set_box(root, "min", info->low, info->points) || !set_box(root, "max", info->high, info->points) ||
        json_object_set_new(root, "nan", json_integer((json_int_t)info->nan)) != 0 ||
        json_object_set_new(root, "inf", json_integer((json_int_t)info->inf)) != 0 ||
        json_object_set_new(root, "normals", json_boolean(info->normals)) != 0 ||
        json_object_set_new(root, "weights", json_boolean(info->weights)) != 0 ||
        json_object_set_new(root, "masses", json_boolean(info->masses)) != 0 ||
        json_object_set_new(root, "species", json_boolean(info->species)) != 0 ||
        json_object_set_new(root, "faces", json_integer((json_int_t)info->faces)) != 0 ||
        json_object_set_new(root, "properties",
                            atn_cli_json_text(call->ctx, info->properties ? info->properties : "")) != 0 ||
        json_object_set_new(root, "left_out", atn_cli_json_text(call->ctx, info->left_out)) != 0 ||
        (masses && !atn_cli_masses_json(masses, root))) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status print_text(atn_cli_call *call, const atn_cloud_info *info, const atn_cli_masses *masses) {
    atn_text page = {.ctx = call->ctx};
    atn_text_printf(&page, "kind      point cloud (%s)\npoints    %zu\n", info->format, info->points);
    if (info->frames > 1) atn_text_printf(&page, "frames    %zu\n", info->frames);
    for (int d = 0; d < 3; ++d)
        if (info->points)
            atn_text_printf(&page, "%c         %.9g to %.9g%s\n", "xyz"[d], info -> low[d], info -> high[d],
                            masses ? " nm" : ""); /* of atom probes, whatever the format */
        else
            atn_text_printf(&page, "%c         none\n", "xyz"[d]);
    atn_text_printf(&page, "NaN       %zu\nInf       %zu\nalso has ", info->nan, info->inf);
    const char *other = info->properties && *info->properties ? info->properties : NULL;
    char faces[32];
    snprintf(faces, sizeof faces, "%zu faces", info->faces);
    const char *const has[] = {info->normals ? "normals" : NULL, info->weights ? "weights" : NULL,
                               info->masses ? "masses" : NULL,   info->species ? "species" : NULL,
                               info->faces ? faces : NULL,       other};
    bool any = false;
    for (size_t k = 0; k < sizeof has / sizeof *has; ++k)
        if (has[k]) {
            atn_text_printf(&page, "%s %s", any ? "," : "", has[k]);
            any = true;
        }
    atn_text_printf(&page, "%s\n", any ? "" : " nothing");
    if (*info->left_out) atn_text_printf(&page, "left out  %s\n", info->left_out);
    if (masses) atn_cli_masses_text(masses, &page);
    atn_status status = atn_cli_print_text(call, "info", &page);
    atn_text_free(&page);
    return status;
}

/* Frames of atoms may be larger than memory. */
static atn_status info_frame(atn_cli_call *call, const char *path, const atn_cloud_settings *options) {
    atn_frame *frame;
    atn_status status = atn_frame_open(call->ctx, path, options, &frame);
    if (status != ATN_OK) return status;
    atn_frame_info of = atn_frame_info_of(frame);
    atn_cloud_info info = {.format = of.format,
                           .points = of.atoms,
                           .nan = of.nan,
                           .inf = of.inf,
                           .frames = 1,
                           .masses = of.masses,
                           .species = of.species,
                           .left_out = of.left_out};
    memcpy(info.low, of.low, sizeof info.low);
    memcpy(info.high, of.high, sizeof info.high);
    atn_cli_masses *masses = NULL;
    if (of.masses && of.atoms) status = atn_cli_masses_read(call, frame, &masses);
    if (!status) status = call->json ? print_json(call, &info, masses) : print_text(call, &info, masses);
    atn_cli_masses_free(masses);
    atn_frame_close(frame);
    return status;
}

atn_status atn_cli_info_cloud(atn_cli_call *call, const char *path) {
    const atn_cloud_settings options = {.invalid = ATN_INVALID_DROP}; /* they are counted */
    atn_cloud *cloud;
    if (source_has_ending(path, "pos epos apt")) return info_frame(call, path, &options);
    atn_status status = atn_cloud_read(call->ctx, path, &options, &cloud);
    if (status != ATN_OK) return status;
    atn_cloud_info info = atn_cloud_info_of(cloud);
    status = call->json ? print_json(call, &info, NULL) : print_text(call, &info, NULL);
    atn_cloud_free(cloud);
    return status;
}
