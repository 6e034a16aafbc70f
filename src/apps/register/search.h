/* Where registration starts without an initial pose: any rotation, any translation, partial overlap. Points that look
 * alike by the shape around them are paired, pairs that agree with each other make starts, and the start that puts most
 * of the source on the target wins; a few dozen turns spread evenly are tried as well. The same few points tell which
 * other poses would fit as well as an answer. */
#ifndef ATN_APPS_REGISTER_SEARCH_H
#define ATN_APPS_REGISTER_SEARCH_H

#include "base/attempt.h"
#include "cloud/points.h"

#include <attune/register.h>

/* Both clouds thinned to about a thousand points, to look at poses; ended with reg_scene_free. The clouds must stay. */
typedef struct reg_scene reg_scene;
/* scaled: their sizes may differ. Fails where a cloud has no points. */
struct reg_client; /* through which its long steps go (gather.h); NULL: none do */
atn_status reg_scene_make(const cloud_points *source, const cloud_points *target, bool scaled,
                          struct reg_client *client, reg_scene **out);
/* The same beside other work, pieces of it by cores that would wait. It may be left undone where the scene fails. */
typedef struct reg_meanwhile {
    atn_attempt_part *part; /* one piece at a time; its failure is that of the scene */
    void *user;
    int64_t pieces;
} reg_meanwhile;
atn_status reg_scene_make_beside(const cloud_points *source, const cloud_points *target, bool scaled,
                                 struct reg_client *client, const reg_meanwhile *other, reg_scene **out);
/* The same with the source the other way round along x; `scene` is described, and must stay. Not for scaled scenes. */
atn_status reg_scene_mirror(reg_scene *scene, reg_scene **out);
void reg_scene_free(reg_scene *scene); /* NULL is fine */

/* Share of the source that lies on the target, in [0, 1], at a transform that is refined by a few steps. Not for scaled
 * scenes. */
double reg_scene_refine(reg_scene *scene, double transform[16]);

/* A plain value. */
typedef struct reg_start {
    double transform[16]; /* 4 x 4, row-major, target = T source */
    double score;         /* share of the source that lies on the target, in [0, 1]; 0 where nothing could be tried */
    double runner_up;     /* of the best start that is turned by over 15 degrees from it */
    int32_t tried;        /* starts; 0: points on a line or at one place, which have no turn: centroids are aligned */
} reg_start;

/* A start for moving the source onto the target, good to a few degrees and some percent of the extent; with a scale
 * where the scene is scaled. The same every time, for any number of threads. */
atn_status reg_search(reg_scene *scene, reg_start *out);

double reg_scene_grain(const reg_scene *scene); /* side of the cubes that it is thinned by, in the target's unit */

enum { REG_MOST_RIVALS = 16 };
/* What the search has met, the best first; at most REG_MOST_RIVALS, their number. */
size_t reg_scene_bests(const reg_scene *scene, double (*out)[16]);

/* Poses far from `answer` that fit nearly as well or better, the best first, refined; at most REG_MOST_RIVALS. Not for
 * scaled scenes. */
atn_status reg_scene_rivals(reg_scene *scene, const double answer[16], double (*out)[16], size_t *count);

#endif
