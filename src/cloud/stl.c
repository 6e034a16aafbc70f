/* STL: triangles, text or binary; a cloud has each of their corners once, whatever facets share it. Binary is known by
 * its size, 84 + 50 n, never by a missing "solid": many binary files begin with that word. */
#include "base/memory.h"
#include "cloud/binary.h"
#include "cloud/faces.h"
#include "cloud/fields.h"
#include "cloud/formats.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_BYTES = 84, FACET_BYTES = 50 };

/* Corners seen so far, by position: open addressing, at most half full. */
typedef struct welder {
    source *s;
    atn_cloud *cloud;
    size_t *slot; /* index of a point plus one; 0: free */
    size_t slots; /* a power of two */
    size_t corner[3];
    bool broken; /* a corner of this facet was dropped */
} welder;

static size_t hash_of(const double *position) {
    uint64_t hash = 0;
    for (int d = 0; d < 3; ++d) {
        double value = position[d] + 0.0; /* -0 and 0 are one place */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
        hash *= 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 32;
    }
    return (size_t)hash;
}

/* The slot where the position is, or where it belongs. */
static size_t *find(const welder *w, const double *position) {
    for (size_t at = hash_of(position);; ++at) {
        size_t *slot = &w->slot[at & (w->slots - 1)];
        if (!*slot) return slot;
        double x = cloud_get(w->cloud, ROLE_X, *slot - 1), y = cloud_get(w->cloud, ROLE_Y, *slot - 1);
        if (x == position[0] && y == position[1] && cloud_get(w->cloud, ROLE_Z, *slot - 1) == position[2]) return slot;
    }
}

static atn_status grow(welder *w) {
    size_t slots = w->slots ? w->slots * 2 : 256;
    size_t *slot = atn_zalloc(w->s->ctx, slots * sizeof *slot);
    if (!slot) return ATN_ERR_MEMORY;
    atn_free(w->s->ctx, w->slot);
    w->slot = slot;
    w->slots = slots;
    for (size_t k = 0; k < w->cloud->count; ++k) {
        double position[3];
        for (cloud_role d = 0; d < 3; ++d) position[d] = cloud_get(w->cloud, d, k);
        *find(w, position) = k + 1;
    }
    return ATN_OK;
}

/* The point that it became, `*point`, unless it was dropped. */
static atn_status weld(welder *w, const double value[ROLE_COUNT], size_t *point) {
    size_t before = w->cloud->count, *slot = NULL;
    atn_status status = before * 2 >= w->slots ? grow(w) : ATN_OK;
    if (status != ATN_OK) return status;
    bool comparable = value[0] - value[0] == 0 && value[1] - value[1] == 0 && value[2] - value[2] == 0; /* finite */
    if (comparable) {
        slot = find(w, value);
        *point = *slot - 1;
        if (*slot) return ATN_OK;
    }
    *point = before;
    status = cloud_add(w->cloud, w->s, value);
    if (slot && w->cloud->count > before) *slot = before + 1;
    return status;
}

static atn_status add_corner(welder *w, const double value[ROLE_COUNT], size_t place) {
    size_t point = 0;
    atn_status status = weld(w, value, &point);
    if (place == 0) w->broken = false;
    if (place < 3) w->corner[place] = point;
    w->broken |= point >= w->cloud->count;
    if (status != ATN_OK || place != 2 || w->broken) return status;
    status = cloud_faces_begin(w->cloud);
    for (int k = 0; status == ATN_OK && k < 3; ++k) status = cloud_faces_add(w->cloud, w->s, (double)w->corner[k]);
    return status;
}

static atn_status read_binary(welder *w, size_t facets) {
    atn_status status = source_skip(w->s, HEAD_BYTES);
    snprintf(w->cloud->format, sizeof w->cloud->format, "STL, binary, %zu triangles", facets);
    for (size_t k = 0; status == ATN_OK && k < facets; ++k) {
        const char *facet;
        status = source_take(w->s, FACET_BYTES, &facet);
        for (size_t corner = 1; status == ATN_OK && corner <= 3; ++corner) {
            double value[ROLE_COUNT] = {0};
            for (size_t d = 0; d < 3; ++d) value[d] = number_load(NUMBER_F32, facet + 12 * corner + 4 * d, false);
            status = add_corner(w, value, corner - 1);
        }
    }
    return status;
}

static atn_status read_vertex(welder *w, char *rest, size_t place) {
    double value[ROLE_COUNT] = {0};
    for (int d = 0; d < 3; ++d) {
        const char *field = fields_next(&rest);
        if (!field) return source_wrong(w->s, "a vertex of %d numbers; three are needed", d);
        if (!field_number(field, &value[d])) return source_wrong(w->s, "'%.40s' is not a number", field);
    }
    return add_corner(w, value, place);
}

/* What may follow what: facets of three vertices between solid and endsolid. */
static atn_status read_text(welder *w) {
    static const char *const others[] = {"facet", "outer", "endloop"};
    size_t solids = 0, corners = 0, facets = 0;
    bool open = false;
    char *line;
    w->s->text = true;
    atn_status status = source_skip_mark(w->s);
    while (status == ATN_OK && (status = source_line(w->s, &line)) == ATN_OK && line) {
        const char *word = fields_next(&line);
        if (!word) continue;
        if (strcmp(word, "solid") == 0 || strcmp(word, "endsolid") == 0) {
            if (open == (*word == 's')) return source_wrong(w->s, "%s where the other one is expected", word);
            open = *word == 's';
            solids += open;
            continue;
        }
        if (!open) return source_wrong(w->s, "'%.40s' outside a solid", word);
        if (strcmp(word, "vertex") == 0) {
            status = read_vertex(w, line, corners++);
        } else if (strcmp(word, "endfacet") == 0) {
            if (corners != 3) return source_wrong(w->s, "a facet of %zu vertices; three are needed", corners);
            corners = 0;
            ++facets;
        } else {
            size_t k = 0;
            while (k < 3 && strcmp(word, others[k]) != 0) ++k;
            if (k == 3) return source_wrong(w->s, "unknown STL keyword '%.40s'", word);
        }
    }
    if (status == ATN_OK && (open || !solids)) status = source_wrong(w->s, "the solid does not end");
    snprintf(w->cloud->format, sizeof w->cloud->format, "STL, text, %zu triangles", facets);
    return status;
}

static bool begins_as_text(const char *head, size_t length) {
    size_t at = length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < length && (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || head[at] == '\r')) ++at;
    return length - at >= 5 && memcmp(head + at, "solid", 5) == 0;
}

static atn_status read_either(welder *w) {
    const char *head;
    size_t length;
    source *s = w->s;
    atn_status status = cloud_begin(w->cloud, s, ROLE_POSITION, 0);
    if (status == ATN_OK) status = source_peek(s, HEAD_BYTES, &head, &length);
    if (status != ATN_OK) return status;
    uint64_t facets = length == HEAD_BYTES ? number_load_u32(head + 80, false) : 0;
    if (length == HEAD_BYTES && HEAD_BYTES + FACET_BYTES * facets == s->size) return read_binary(w, (size_t)facets);
    if (begins_as_text(head, length)) return read_text(w);
    if (length < HEAD_BYTES) return source_wrong(s, "%zu bytes; neither text nor a whole header of 84 bytes", s->size);
    return source_wrong(s, "%llu triangles at byte 80 make a file of %llu bytes, this one has %zu",
                        (unsigned long long)facets, HEAD_BYTES + FACET_BYTES * (unsigned long long)facets, s->size);
}

static atn_status read(source *s, atn_cloud *cloud) {
    welder w = {.s = s, .cloud = cloud};
    size_t parts = cloud->part.of;
    cloud->part.of = 0; /* a corner is looked for among all points */
    atn_status status = read_either(&w);
    cloud->part.of = parts;
    cloud->part.faces = true;
    if (status == ATN_OK && parts > 1) cloud_part_cut(cloud);
    cloud->n_dropped = 0; /* facets name points that are kept */
    atn_free(s->ctx, w.slot);
    return status;
}

const cloud_format CLOUD_STL = {.name = "STL", .endings = "stl", .read = read};
