/* VTK XML poly data, for ParaView: points, normals, weights, masses and species, each a base64 array of doubles.
 * Written only. */
#include "cloud/formats.h"
#include "cloud/points.h"
#include "plot/base64.h"

#include <string.h>

/* One array of `components` roles from `first` on. */
static void add_array(const atn_cloud *cloud, const char *name, cloud_role first, int components, atn_text *out) {
    atn_text data = {.ctx = out->ctx};
    size_t n = cloud_count(cloud);
    atn_text_printf(out, "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n", name,
                    components);
    number_add(&data, NUMBER_U64, 8 * (double)n * components, false);
    for (size_t k = 0; k < n; ++k)
        for (int d = 0; d < components; ++d)
            number_add(&data, NUMBER_F64, cloud_get(cloud, (cloud_role)((int)first + d), k), false);
    atn_base64_add(out, (const unsigned char *)atn_text_str(&data), data.length);
    if (data.failed) out->failed = true;
    atn_text_free(&data);
    atn_text_add(out, "\n</DataArray>\n");
}

/* Every point is a cell of its own: connectivity 0 to n - 1, offsets 1 to n. */
static void add_cells(size_t n, const char *name, double from, atn_text *out) {
    atn_text data = {.ctx = out->ctx};
    atn_text_printf(out, "<DataArray type=\"Int64\" Name=\"%s\" format=\"binary\">\n", name);
    number_add(&data, NUMBER_U64, 8 * (double)n, false);
    for (size_t k = 0; k < n; ++k) number_add(&data, NUMBER_I64, from + (double)k, false);
    atn_base64_add(out, (const unsigned char *)atn_text_str(&data), data.length);
    if (data.failed) out->failed = true;
    atn_text_free(&data);
    atn_text_add(out, "\n</DataArray>\n");
}

static atn_status write(const atn_cloud *cloud, char separator, atn_text *out) {
    static const struct {
        const char *name;
        cloud_role role;
    } SCALARS[] = {{"weight", ROLE_WEIGHT}, {"mass", ROLE_MASS}, {"species", ROLE_SPECIES}};
    size_t n = cloud_count(cloud);
    (void)separator;
    atn_text_printf(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<PolyData>\n<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\">\n<Points>\n",
        n, n);
    add_array(cloud, "points", ROLE_X, 3, out);
    atn_text_add(out, "</Points>\n<Verts>\n");
    add_cells(n, "connectivity", 0, out);
    add_cells(n, "offsets", 1, out);
    atn_text_add(out, "</Verts>\n<PointData>\n");
    if ((cloud->roles & ROLE_NORMAL) == ROLE_NORMAL) add_array(cloud, "normals", ROLE_NX, 3, out);
    for (size_t k = 0; k < sizeof SCALARS / sizeof *SCALARS; ++k)
        if (cloud->roles & ROLE_BIT(SCALARS[k].role)) add_array(cloud, SCALARS[k].name, SCALARS[k].role, 1, out);
    atn_text_add(out, "</PointData>\n</Piece>\n</PolyData>\n</VTKFile>\n");
    return atn_text_status(out);
}

const cloud_format CLOUD_VTK = {
    .name = "VTK", .endings = "vtp", .write = write, .roles = CLOUD_ALL_ROLES, .whole = true};
