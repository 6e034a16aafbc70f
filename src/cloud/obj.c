/* Wavefront OBJ: the vertices, "v x y z", of a mesh, and its faces, "f 1/2/3 4 -1", where they are kept; all else is
 * left out. */
#include "cloud/faces.h"
#include "cloud/fields.h"
#include "cloud/formats.h"

#include <string.h>

static atn_status read_vertex(source *s, atn_cloud *cloud, char *rest, bool *extra) {
    double value[ROLE_COUNT] = {0};
    for (int d = 0; d < 3; ++d) {
        char *field = fields_next(&rest);
        if (!field) return source_wrong(s, "a vertex of %d numbers; three are needed", d);
        if (!field_number(field, &value[d])) return source_wrong(s, "'%.40s' is not a number", field);
    }
    *extra |= fields_next(&rest) != NULL;
    return cloud_add(cloud, s, value);
}

/* That the file had so far. */
static size_t vertices_of(const atn_cloud *cloud) {
    return cloud->part.of > 1 ? cloud->part.seen : cloud->count + cloud->nan + cloud->inf;
}

/* Corners are counted from 1, or back from the last vertex so far; what follows a slash are normals and textures. */
static atn_status read_corners(source *s, atn_cloud *cloud, char *rest) {
    atn_status status = ATN_OK;
    for (char *field; status == ATN_OK && (field = fields_next(&rest));) {
        bool back = *field == '-';
        size_t number;
        field[strcspn(field, "/")] = '\0';
        if (!field_count(field + back, &number) || !number || (back && number > vertices_of(cloud)))
            cloud_faces_wrong(cloud, s, "'%.40s' names no vertex", field);
        else
            status = cloud_faces_add(cloud, s, (double)(back ? vertices_of(cloud) - number : number - 1));
    }
    return status;
}

static atn_status read(source *s, atn_cloud *cloud) {
    char *line;
    bool goes_on = false, extra = false, normals = false, face = false;
    s->text = true;
    atn_status status = source_skip_mark(s);
    if (status == ATN_OK) status = cloud_begin(cloud, s, ROLE_POSITION, 0);
    while (status == ATN_OK && (status = source_line(s, &line)) == ATN_OK && line) {
        bool inside = goes_on; /* of a statement that began on the line before */
        size_t length = strlen(line);
        goes_on = length && line[length - 1] == '\\';
        if (goes_on) line[length - 1] = '\0';
        if (inside) {
            if (face) status = read_corners(s, cloud, line);
            continue;
        }
        char *rest = line, *word = fields_next(&rest);
        face = false;
        if (!word || *word == '#') continue;
        normals |= strcmp(word, "vn") == 0;
        if (strcmp(word, "v") == 0) {
            if (goes_on) return source_wrong(s, "a vertex that continues on the next line is not supported");
            status = read_vertex(s, cloud, rest, &extra);
        } else if (strcmp(word, "f") == 0 && !(cloud->keep & KEEP_FACES))
            cloud->part.faces = true;
        else if (strcmp(word, "f") == 0) {
            face = true;
            status = cloud_faces_begin(cloud);
            if (status == ATN_OK) status = read_corners(s, cloud, rest);
        } else if (!((*word >= 'a' && *word <= 'z') || (*word >= 'A' && *word <= 'Z')))
            return source_wrong(s, "unknown OBJ keyword '%.40s'", word);
    }
    if (status != ATN_OK) return status;
    if (vertices_of(cloud) == 0)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there is no vertex; those are lines \"v x y z\"", s->name);
    if (extra) cloud_leave_out(cloud, "what follows z");
    if (normals) cloud_leave_out(cloud, "vn");
    return ATN_OK;
}

const cloud_format CLOUD_OBJ = {.name = "OBJ", .endings = "obj", .read = read};
