/* Internals of point clouds: the arrays, how readers fill them, how writers query them. */
#ifndef ATN_CLOUD_CLOUD_H
#define ATN_CLOUD_CLOUD_H

#include "cloud/extras.h"
#include "cloud/source.h"

#include <attune/cloud.h>

/* What a column of a file can be to a cloud. */
typedef enum cloud_role {
    ROLE_X,
    ROLE_Y,
    ROLE_Z,
    ROLE_NX,
    ROLE_NY,
    ROLE_NZ,
    ROLE_WEIGHT,
    ROLE_MASS,
    ROLE_SPECIES,
    ROLE_COUNT,
    ROLE_NONE = ROLE_COUNT /* left out */
} cloud_role;

#define ROLE_BIT(role) (1u << (role))
#define ROLE_POSITION  (ROLE_BIT(ROLE_X) | ROLE_BIT(ROLE_Y) | ROLE_BIT(ROLE_Z))
#define ROLE_NORMAL    (ROLE_BIT(ROLE_NX) | ROLE_BIT(ROLE_NY) | ROLE_BIT(ROLE_NZ))

typedef struct cloud_faces cloud_faces;

/* What a reader keeps in addition to the columns; bits. */
typedef enum cloud_keep {
    KEEP_EXTRAS = 1,
    KEEP_FACES = 2,
    KEEP_FACES_NEEDED = 4 /* faces that are wrong are refused, not left out */
} cloud_keep;

enum { CLOUD_RUN = 1 << 14 }; /* points that one rank reads before it is the next one's turn */

struct atn_cloud {
    const atn_ctx *ctx;
    unsigned roles;           /* bits of the columns that are there; positions always, normals all or none */
    void *column[ROLE_COUNT]; /* owned; double for positions, int32_t for species, else float */
    size_t count, capacity;
    size_t *frame; /* first point of each frame; owned; NULL: one frame */
    size_t n_frames, frame_capacity;
    size_t nan, inf; /* points that were dropped */
    atn_cloud_invalid invalid;
    unsigned keep;      /* bits of cloud_keep */
    cloud_extras extra; /* properties that only travel */
    cloud_faces *faces; /* owned; NULL: none */
    size_t *dropped;    /* owned; which points of the file were dropped, where faces are kept */
    size_t n_dropped, dropped_capacity;
    /* Takes `most` points away, which the cloud then has no more; NULL: it keeps all that are added. */
    atn_status (*drain)(void *user, atn_cloud *cloud);
    void *drain_user;
    size_t most;
    struct {               /* where one of several ranks reads its part of a file (part.h) */
        size_t number, of; /* which part, of how many; 0: the whole file */
        bool straight;     /* its points follow each other in the file, else it has every `of`-th run of them */
        size_t seen;       /* points of the file so far */
        size_t *start;     /* owned; where each of its runs begins among its points */
        size_t runs, capacity;
        bool faces; /* the file has faces, which a part does not keep */
    } part;
    struct {       /* what is written is a stretch of a larger file (part.h) */
        size_t of; /* points of that; 0: it is the whole file */
        bool first;
    } stretch;
    char format[64];
    char left_out[160];
};

/* An empty one, without roles. */
atn_status cloud_make(const atn_ctx *ctx, const atn_cloud_settings *options, atn_cloud **out);

/* An empty one with the same additional properties, and room for that many points. */
atn_status cloud_make_like(const atn_cloud *cloud, unsigned roles, size_t points, atn_cloud **out);

/* The points index[0], index[1], ... with all they have; faces whose corners are all there. */
atn_status cloud_select(const atn_cloud *cloud, const uint32_t *index, size_t count, atn_cloud **out);

/* The same points, with room for `roles` too, which are not filled. */
atn_status cloud_copy(const atn_cloud *cloud, unsigned roles, atn_cloud **out);

/* Says which columns are filled, before the first point: positions are needed, else `where` is wrong. Normals that
 * are not complete are left out. Room for `points` is made, which the caller knows to be in the file. */
atn_status cloud_begin(atn_cloud *cloud, const source *where, unsigned roles, size_t points);

/* A point; value has an element for each role. Invalid ones are refused or dropped and counted. A normal that is not
 * finite becomes zeros. */
atn_status cloud_add(atn_cloud *cloud, const source *where, const double value[ROLE_COUNT]);
/* Points `from` on were filled in place, as many as `count` says, with coordinates that may be invalid: those are
 * refused, by `wrong` for the first of them, or dropped and counted. */
atn_status cloud_filled(atn_cloud *cloud, size_t from, atn_status (*wrong)(void *user, size_t point), void *user);
atn_status cloud_add_frame(atn_cloud *cloud); /* the points to come are a new frame */

void cloud_drop_role(atn_cloud *cloud, cloud_role role); /* as if it had never been there */
cloud_role cloud_role_of(const char *name);              /* a column's name, any case; ROLE_NONE: not known */
const char *cloud_role_name(cloud_role role);
/* A property that only travels; *index is SIZE_MAX, and it is noted as left out, where it is not kept. */
atn_status cloud_add_extra(atn_cloud *cloud, const char *name, number_type type, size_t values, size_t *index);
/* Columns `from` to `to`, counted from 1, that have no names: properties column4, column5, ... *first is SIZE_MAX, and
 * they are noted as left out, where they are not kept. */
#define CLOUD_COLUMN "column"
atn_status cloud_add_columns(atn_cloud *cloud, size_t from, size_t to, number_type type, size_t *first);
double cloud_get(const atn_cloud *cloud, cloud_role role, size_t point); /* the role is there */
bool cloud_is_single(const atn_cloud *cloud);                            /* do positions lose nothing as floats? */

bool cloud_holds_all(const atn_cloud *cloud, const cloud_extra *extra); /* every property travels */

/* Which of `total` points are read, for readers that reach any of them directly: all, or those of the part, which are
 * then added or filled in without asking whose they are. */
void cloud_part_range(atn_cloud *cloud, size_t total, size_t *first, size_t *count);

/* The same where the reader could not but read all of them: the others are left out. */
void cloud_part_cut(atn_cloud *cloud);

/* What a header says: the points of the file; is there one? */
static inline size_t cloud_file_points(const atn_cloud *cloud) {
    return cloud->stretch.of ? cloud->stretch.of : cloud->count;
}
static inline bool cloud_file_begins(const atn_cloud *cloud) { return !cloud->stretch.of || cloud->stretch.first; }

/* For atn_cloud_info.left_out. */
static inline void cloud_leave_out(atn_cloud *cloud, const char *name) {
    cloud_list_name(cloud->left_out, sizeof cloud->left_out, name);
}

#endif
