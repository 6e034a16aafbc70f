/* Directions that slide. The normals on which the clouds meet tell a twist by J = (y x n, n); where the mean of J J^T
 * has a small eigenvalue the source may move without leaving the surface, as on a plane, a ball or a cylinder. Such a
 * twist is tried, either way, by more than an answer may be off: it slides where the fit stays. */
#include "apps/register/judge.h"

#include "geom/eigen.h"

#include <math.h>
#include <stdio.h>

static const double WEAK = 0.06;    /* eigenvalue below which a direction is tried */
static const double BY = 6;         /* spacings, */
static const double BY_SIZE = 0.08; /* or that part of the size of what overlaps, if that is more */
static const double STAYS = 0.85;   /* of the agreement */
static const double GROWS = 1.3;    /* times the misfit */
static const double REMAINS = 0.5;  /* of the samples beside the surface */
static const double HINDERED = 3;   /* deviations by which more samples come to be over the surface than leave it */

/* Moved about the centre by a twist in units of the size. */
static geom_pose shifted(const geom_pose *pose, const fitness_seen *seen, const double *e, double by) {
    double twist[6], moved[3];
    for (int a = 0; a < 3; ++a) {
        twist[a] = by * e[a] / seen->size;
        twist[3 + a] = 0;
    }
    geom_pose turn = geom_pose_exp(twist);
    geom_pose_apply(&turn, seen->centre, moved);
    for (int a = 0; a < 3; ++a) turn.b[a] += seen->centre[a] - moved[a] + by * e[3 + a];
    return geom_pose_compose(&turn, pose);
}

/* What stands on a floor does not slide along it, though the floor does. Outliers are over it in both poses, and say
 * nothing. */
static bool hindered(const reg_problem *p, const geom_pose *slid) {
    size_t only[2];
    fitness_over(p->fitness, &p->pose, slid, only);
    double here = (double)only[0], there = (double)only[1];
    return there - here > HINDERED * sqrt(there + here);
}

enum { WAYS = 2 };

/* Moved either way, by more than an answer may be off. */
static void move_both_ways(const reg_problem *p, const fitness_seen *seen, const double *e, geom_pose out[WAYS]) {
    double spacing = fmax(p->spacing, p->source_spacing), by = fmax(BY * spacing, BY_SIZE * seen->size);
    for (int way = 0; way < WAYS; ++way) out[way] = shifted(&p->pose, seen, e, way ? by : -by);
}

static bool stays(const fitness_seen *there, const fitness_seen *seen) {
    return !(there->precision < STAYS * seen->precision) && !(there->misfit > GROWS * seen->misfit + 0.02) &&
           !((double)there->near < REMAINS * (double)seen->near);
}

/* glance: what is known of both ways already; or NULL. */
static bool slides(const reg_problem *p, const fitness_seen *seen, const double *e, const fitness_seen *glance) {
    geom_pose pose[WAYS];
    move_both_ways(p, seen, e, pose);
    for (int way = 0; way < WAYS; ++way) {
        fitness_seen there;
        if (glance && !stays(&glance[way], seen)) return false;
        if (!glance) fitness_look(p->fitness, &pose[way], &there);
        if ((!glance && !stays(&there, seen)) || hindered(p, &pose[way])) return false;
    }
    return true;
}

static void name(const atn_register_result *r, const double (*e)[6], double turns, char *like, size_t bytes) {
    const char *const MANY = "it slides in %d directions%s";
    if (r->n_sliding == 1 && turns > 0.7)
        snprintf(like, bytes, "it turns freely about the axis (%.2f, %.2f, %.2f)", e[0][0], e[0][1], e[0][2]);
    else if (r->n_sliding == 1)
        snprintf(like, bytes, "it slides along (%.2f, %.2f, %.2f)", e[0][3], e[0][4], e[0][5]);
    else if (r->n_sliding == 2)
        snprintf(like, bytes, MANY, 2, turns > 0.5 && turns < 1.5 ? ", as on a cylinder" : "");
    else
        snprintf(like, bytes, MANY, (int)r->n_sliding,
                 r->n_sliding > 3 ? ""
                 : turns > 2.3    ? ", as on a sphere"
                                  : ", as on a plane");
}

void judge_sliding(const reg_problem *p, const fitness_seen *seen, atn_register_result *r, char *like, size_t bytes) {
    double value[6], vector[36], e[6][6] = {{0}}, turns = 0;
    *like = '\0';
    if (p->fitness->solid || !seen->fits) return;
    geom_eigen(6, seen->information, value, vector);
    size_t weak = 0;
    geom_pose tried[6 * WAYS];
    fitness_seen glance[6 * WAYS];
    for (; weak < 6 && value[weak] < WEAK; ++weak) {
        for (int i = 0; i < 6; ++i) e[0][i] = vector[6 * i + (int)weak];
        move_both_ways(p, seen, e[0], &tried[WAYS * weak]);
    }
    bool seen_there = fitness_glance(p->fitness, WAYS * weak, tried, glance);
    for (size_t k = 0; k < weak; ++k) {
        double *own = e[r->n_sliding], length = 0;
        for (int i = 0; i < 6; ++i) own[i] = vector[6 * i + (int)k];
        if (!slides(p, seen, own, seen_there ? &glance[WAYS * k] : NULL)) continue;
        double *out = r->sliding[r->n_sliding++], c[3];
        turns += own[0] * own[0] + own[1] * own[1] + own[2] * own[2];
        for (int a = 0; a < 3; ++a) { /* about the target's origin, in its unit */
            c[a] = seen->centre[a] * p->unit + p->target_origin[a];
            out[a] = own[a] / seen->size;
            out[3 + a] = own[3 + a] * p->unit;
        }
        out[3] += c[1] * out[2] - c[2] * out[1];
        out[4] += c[2] * out[0] - c[0] * out[2];
        out[5] += c[0] * out[1] - c[1] * out[0];
        for (int i = 0; i < 6; ++i) length += out[i] * out[i];
        for (int i = 0; i < 6; ++i) out[i] /= sqrt(length);
    }
    if (r->n_sliding) name(r, (const double(*)[6])e, turns, like, bytes);
}
