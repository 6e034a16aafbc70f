/* The fraction of the source that lies on the target in a pose: points whose nearest target point's plane is within
 * half a cube, with similar normals. Nearest points are looked up in a grid, made once. */
#include "apps/register/search_parts.h"

#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 3000000 };
static const double MOST_EXTENT = 1e8; /* in cubes: edges are at least a millionth of the extent */
static const float REACH = 1.5F;       /* from a source point to its target point */
static const float OFF_PLANE = 0.5F;   /* where a point lies on the target no more */
static const float ALIKE = 0.8F;       /* least cosine between the normals of both */
static const double AROUND = 3;        /* of the raster around the points */
static const double FINEST_STEP = 0.5;
static const double STILL = 1e-3;   /* radians and cubes: less is no step */
static const double HOPELESS = 0.6; /* of a score that is wanted, halfway to it */
static const float NOBODY = 1e6F;   /* where a target point is that nothing lies on */

/* Bounds of the points that have normals (strays have none), or of all. */
static void bounds(const search_surface *s, double low[3], double high[3]) {
    for (int round = 0; round < 2; ++round) {
        size_t counted = 0;
        for (int a = 0; a < 3; ++a) low[a] = INFINITY, high[a] = -INFINITY;
        for (size_t k = 0; k < s->count; ++k) {
            if (round == 0 && s->normal[0][k] == 0 && s->normal[1][k] == 0 && s->normal[2][k] == 0) continue;
            ++counted;
            for (int a = 0; a < 3; ++a) {
                low[a] = fmin(low[a], s->at[a][k]);
                high[a] = fmax(high[a], s->at[a][k]);
            }
        }
        if (2 * counted > s->count) return;
    }
}

/* The cells around a target point, and where it is among them, from their middles. */
typedef struct spot {
    int32_t first[3], last[3];
    float at[3];
} spot;

/* Cells of a row that are looked at together. Those beyond the last one of a spot are out of its reach, and rows have
 * room for them. */
enum { TOGETHER = 12 };

/* Layers of cells that are filled by all cores, each by one. */
typedef struct entering {
    const search_raster *raster;
    const spot *spot;
    size_t spots, row; /* cells of a row, and TOGETHER */
    float *distance2;  /* of the cells of a layer of such rows, for each worker, */
    int32_t *nearest;  /* and who that is */
} entering;

static void find_spots(const search_raster *r, spot *out) {
    const search_surface *t = r->target;
    int32_t span = (int32_t)ceil((REACH + r->step) / r->step);
    for (size_t j = 0; j < t->count; ++j)
        for (int a = 0; a < 3; ++a) {
            double at = (t->at[a][j] - r->low[a]) / r->step - 0.5, cell = fmax(-1e6, fmin(1e6, rint(at)));
            out[j].at[a] = (float)at;
            out[j].first[a] = (int32_t)fmax(0, cell - span);
            out[j].last[a] = (int32_t)fmin(r->size[a] - 1, cell + span);
        }
}

/* Some cells of a row from `first` on: those that spot j is nearer to than others were. */
ATN_IN_LANES static void enter_cells(int32_t j, int32_t first, float at, float yz2, float *restrict distance2,
                                     int32_t *restrict nearest) {
    ATN_LANES()
    for (int32_t k = 0; k < TOGETHER; ++k) {
        float x = (float)(first + k) - at, d2 = yz2 + x * x, before = distance2[k];
        int32_t nearer = -(int32_t)(d2 < before), who = nearest[k]; /* a mask: a choice would become a branch */
        distance2[k] = d2 < before ? d2 : before;
        nearest[k] = (who & ~nearer) | (j & nearer);
    }
}

/* Cells of a layer whose middle is within reach of a target point, each with the nearest. */
static void enter_layer(void *user, int64_t from, int64_t to) {
    const entering *t = user;
    const search_raster *r = t->raster;
    const float reach = (float)((REACH + r->step) / r->step);
    const size_t row = t->row, rows = (size_t)r->size[1], wide = (size_t)r->size[0];
    float *distance2 = t->distance2 + (size_t)atn_parallel_worker() * rows * row;
    int32_t *nearest = t->nearest + (size_t)atn_parallel_worker() * rows * row;
    for (int64_t z = from; z < to; ++z) {
        for (size_t k = 0; k < rows * row; ++k) distance2[k] = reach * reach, nearest[k] = (int32_t)t->spots;
        for (size_t j = 0; j < t->spots; ++j) {
            const spot *s = &t->spot[j];
            if (z < s->first[2] || z > s->last[2] || s->last[0] < s->first[0]) continue;
            float dz = (float)z - s->at[2];
            for (int32_t y = s->first[1]; y <= s->last[1]; ++y) {
                float dy = (float)y - s->at[1], yz2 = dz * dz + dy * dy;
                size_t first = (size_t)y * row + (size_t)s->first[0];
                if (yz2 < reach * reach)
                    enter_cells((int32_t)j, s->first[0], s->at[0], yz2, distance2 + first, nearest + first);
            }
        }
        for (size_t y = 0; y < rows; ++y)
            memcpy(r->nearest + ((size_t)z * rows + y) * wide, nearest + y * row, wide * sizeof *nearest);
    }
}

/* Cells of half a cube, larger ones where these would be too many. */
atn_status search_raster_measure(const search_surface *target, search_raster *out) {
    double high[3], cells = 1;
    *out = (search_raster){.target = target, .step = FINEST_STEP};
    bounds(target, out->low, high);
    atn_status status = cloud_extent_check(target->ctx, "register", out->low, high, 1, MOST_EXTENT);
    if (status != ATN_OK) return status;
    for (int a = 0; a < 3; ++a) {
        out->low[a] -= AROUND;
        cells *= (high[a] + AROUND - out->low[a]) / out->step + 1;
    }
    if (cells > MOST_CELLS) out->step *= cbrt(cells / MOST_CELLS);
    out->per_step = (float)(1 / out->step);
    for (int a = 0; a < 3; ++a) {
        out->corner[a] = (float)out->low[a];
        out->size[a] = (int32_t)((high[a] + AROUND - out->low[a]) / out->step) + 1;
    }
    return ATN_OK;
}

/* Those of the target, and nobody's, which is far from everything. */
static void find_places(const search_surface *t, search_place *out) {
    for (size_t j = 0; j < t->count; ++j) {
        out[j] = (search_place){.known = t->normal[0][j] != 0 || t->normal[1][j] != 0 || t->normal[2][j] != 0};
        for (int a = 0; a < 3; ++a) {
            out[j].at[a] = t->at[a][j];
            out[j].normal[a] = t->normal[a][j];
        }
    }
    out[t->count] = (search_place){.at = {NOBODY, NOBODY, NOBODY}};
}

atn_status search_raster_make(const search_surface *target, search_raster *out) {
    atn_status status = search_raster_measure(target, out);
    if (status != ATN_OK) return status;
    size_t count = (size_t)out->size[0] * (size_t)out->size[1] * (size_t)out->size[2];
    spot *spots = atn_alloc(target->ctx, target->count * sizeof *spots);
    size_t row = (size_t)out->size[0] + TOGETHER, room = row * (size_t)out->size[1] * (size_t)atn_parallel_workers();
    float *distance2 = atn_alloc(target->ctx, room * sizeof *distance2);
    int32_t *nearest = atn_alloc(target->ctx, room * sizeof *nearest);
    out->nearest = atn_alloc(target->ctx, (count + 1) * sizeof *out->nearest);
    out->place = atn_alloc(target->ctx, (target->count + 1) * sizeof *out->place);
    status = spots && distance2 && nearest && out->nearest && out->place ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        find_spots(out, spots);
        find_places(target, out->place);
        out->nearest[count] = (int32_t)target->count;
        atn_parallel_pieces(out->size[2], enter_layer, &(entering){out, spots, target->count, row, distance2, nearest});
    }
    atn_free(target->ctx, nearest);
    atn_free(target->ctx, distance2);
    atn_free(target->ctx, spots);
    if (status != ATN_OK) search_raster_free(out);
    return status;
}

void search_raster_free(search_raster *raster) {
    if (raster->target) {
        atn_free(raster->target->ctx, raster->nearest);
        atn_free(raster->target->ctx, raster->place);
    }
    *raster = (search_raster){0};
}

/* ---- a pose ---- */

/* Points are looked at in blocks: where they go, which target points are there, and how they lie, each step for all of
 * a block, so that memory is waited for at most once and the rest is done in lanes. */
enum { BLOCK = 256 };
typedef struct landing {
    float y[3][BLOCK]; /* the points, */
    float m[3][BLOCK]; /* and their normals, */
    float p[3][BLOCK]; /* where they go */
    int32_t cell[BLOCK];
    float t[3][BLOCK], n[3][BLOCK], known[BLOCK]; /* the nearest target points */
} landing;

/* What the points of a block come to. */
typedef struct tally {
    float score;
    int32_t pairs;
    float w, y[3], x[3], xy[9], yy, xx; /* weighed by the square of how well they lie */
} tally;

/* Where points go, and their cells; those outside of the raster come into the last, which is nobody's. */
ATN_IN_LANES static void place_block(const search_raster *r, const search_surface *s, size_t first, size_t count,
                                     const search_pose *pose, landing *b) {
    float by[9], turn[9], shift[3];
    const float low[3] = {r->corner[0], r->corner[1], r->corner[2]}, per = r->per_step;
    const float high[3] = {(float)r->size[0], (float)r->size[1], (float)r->size[2]};
    const int32_t row = r->size[0], layer = r->size[0] * r->size[1], nobody = layer * r->size[2];
    for (int k = 0; k < 9; ++k) turn[k] = (float)pose->turn[k], by[k] = (float)(pose->scale * pose->turn[k]);
    for (int a = 0; a < 3; ++a) {
        shift[a] = (float)pose->shift[a];
        memcpy(b->y[a], s->at[a] + first, count * sizeof *b->y[a]);
    }
    const float *nx = s->normal[0] + first, *ny = s->normal[1] + first, *nz = s->normal[2] + first;
    for (int a = 0; a < 3; ++a) {
        const float *row_by = by + 3 * a, *row_turn = turn + 3 * a;
        float *p = b->p[a], *m = b->m[a];
        ATN_LANES()
        for (size_t i = 0; i < count; ++i) {
            p[i] = row_by[0] * b->y[0][i] + row_by[1] * b->y[1][i] + row_by[2] * b->y[2][i] + shift[a];
            m[i] = row_turn[0] * nx[i] + row_turn[1] * ny[i] + row_turn[2] * nz[i];
        }
    }
    ATN_LANES()
    for (size_t i = 0; i < count; ++i) {
        float x = (b->p[0][i] - low[0]) * per, y = (b->p[1][i] - low[1]) * per, z = (b->p[2][i] - low[2]) * per;
        bool in = (x >= 0) & (y >= 0) & (z >= 0) & (x < high[0]) & (y < high[1]) & (z < high[2]);
        x = in ? x : 0, y = in ? y : 0, z = in ? z : 0;
        int32_t cell = (int32_t)z * layer + (int32_t)y * row + (int32_t)x;
        b->cell[i] = in ? cell : nobody;
    }
}

static void fetch_block(const search_raster *r, size_t count, landing *b) {
    for (size_t i = 0; i < count; ++i) {
        const search_place *place = &r->place[r->nearest[b->cell[i]]];
        for (int a = 0; a < 3; ++a) {
            b->t[a][i] = place->at[a];
            b->n[a][i] = place->normal[a];
        }
        b->known[i] = place->known;
    }
}

/* How a point lies on the target: 1 on its surface, 0 from where it is off by more than it may; `per2`: 1 / that
 * squared. */
static inline float lies(float off2, float per2) {
    float left = 1 - off2 * per2;
    return left > 0 ? left : 0;
}

/* How a point comes to lie. Choices between two values are all that loops in lanes may decide: of what it is off, plane
 * or point; by how much it may be; and whether it lies there at all. */
typedef struct fall {
    float d2, height, plane, off2, least, cosine; /* least: the cosine below which it is turned too far */
} fall;

static inline fall fall_of(const landing *b, size_t i) {
    float dx = b->p[0][i] - b->t[0][i], dy = b->p[1][i] - b->t[1][i], dz = b->p[2][i] - b->t[2][i];
    float mx = b->m[0][i], my = b->m[1][i], mz = b->m[2][i], nx = b->n[0][i], ny = b->n[1][i], nz = b->n[2][i];
    float d2 = dx * dx + dy * dy + dz * dz, height = dx * nx + dy * ny + dz * nz;
    float plane = (mx * mx + my * my + mz * mz) * b->known[i], cosine = fabsf(mx * nx + my * ny + mz * nz);
    float least = plane > 0 ? ALIKE : -1, off2 = plane > 0 ? height * height : d2;
    return (fall){d2, height, plane, off2, least, cosine};
}

/* How well it lies there, of 1, where it may be off by so much. */
static inline float lies_there(const fall *f, float per_plane2, float per_reach2) {
    float left = lies(f->off2, f->plane > 0 ? per_plane2 : per_reach2);
    left = f->cosine >= f->least ? left : 0;
    return f->d2 <= REACH * REACH ? left : 0;
}

ATN_IN_LANES static void score_block(size_t count, const landing *b, float *lie) {
    const float per_reach2 = 1 / (REACH * REACH), per_off2 = 1 / (OFF_PLANE * OFF_PLANE);
    ATN_LANES()
    for (size_t i = 0; i < count; ++i) {
        fall f = fall_of(b, i);
        lie[i] = lies_there(&f, per_off2, per_reach2);
    }
}

ATN_IN_LANES static void sum_block(size_t count, const landing *b, float off_plane, tally *out) {
    const float per_reach2 = 1 / (REACH * REACH), per_off2 = 1 / (OFF_PLANE * OFF_PLANE);
    const float per_wide2 = 1 / (off_plane * off_plane);
    float score = 0, w = 0, y0 = 0, y1 = 0, y2 = 0, x0 = 0, x1 = 0, x2 = 0, yy = 0, xx = 0, pairs = 0;
    float a00 = 0, a01 = 0, a02 = 0, a10 = 0, a11 = 0, a12 = 0, a20 = 0, a21 = 0, a22 = 0;
    ATN_LANES(reduction(+ : score, w, y0, y1, y2, x0, x1, x2, yy, xx, a00, a01, a02, a10, a11, a12, a20, a21, a22, pairs))
    for (size_t i = 0; i < count; ++i) {
        fall f = fall_of(b, i);
        float strict = lies_there(&f, per_off2, per_reach2), wide = lies_there(&f, per_wide2, per_reach2);
        float weight = wide * wide, back = f.plane > 0 ? f.height : 0, u = b->y[0][i], v = b->y[1][i], z = b->y[2][i];
        /* the target's point is its own nearest place where there is no plane */
        float px = f.plane > 0 ? b->p[0][i] : b->t[0][i], py = f.plane > 0 ? b->p[1][i] : b->t[1][i];
        float pz = f.plane > 0 ? b->p[2][i] : b->t[2][i];
        float on0 = px - back * b->n[0][i], on1 = py - back * b->n[1][i], on2 = pz - back * b->n[2][i];
        float wx0 = weight * on0, wx1 = weight * on1, wx2 = weight * on2;
        score += strict;
        pairs += weight > 0 ? 1.0F : 0.0F;
        w += weight;
        y0 += weight * u, y1 += weight * v, y2 += weight * z;
        x0 += wx0, x1 += wx1, x2 += wx2;
        yy += weight * (u * u + v * v + z * z);
        xx += wx0 * on0 + wx1 * on1 + wx2 * on2;
        a00 += wx0 * u, a01 += wx0 * v, a02 += wx0 * z;
        a10 += wx1 * u, a11 += wx1 * v, a12 += wx1 * z;
        a20 += wx2 * u, a21 += wx2 * v, a22 += wx2 * z;
    }
    *out = (tally){
        score, (int32_t)pairs, w, {y0, y1, y2}, {x0, x1, x2}, {a00, a01, a02, a10, a11, a12, a20, a21, a22}, yy, xx};
}

static size_t block_at(const search_surface *s, size_t first) {
    return s->count - first < BLOCK ? s->count - first : BLOCK;
}

void search_lies(const search_raster *raster, const search_surface *source, const search_pose *pose, float *out) {
    landing b;
    for (size_t first = 0; first < source->count; first += BLOCK) {
        size_t count = block_at(source, first);
        place_block(raster, source, first, count, pose, &b);
        fetch_block(raster, count, &b);
        score_block(count, &b, out + first);
    }
}

double search_score(const search_raster *raster, const search_surface *source, const search_pose *pose) {
    double sum = 0;
    landing b;
    float lie[BLOCK];
    for (size_t first = 0; first < source->count; first += BLOCK) {
        size_t count = block_at(source, first);
        place_block(raster, source, first, count, pose, &b);
        fetch_block(raster, count, &b);
        score_block(count, &b, lie);
        for (size_t i = 0; i < count; ++i) sum += (double)lie[i];
    }
    return sum / (double)source->count;
}

static void add_tally(const tally *t, search_moments *m) {
    m->pairs += t->pairs;
    m->weight += (double)t->w;
    m->yy += (double)t->yy;
    m->xx += (double)t->xx;
    for (int a = 0; a < 3; ++a) m->y[a] += (double)t->y[a], m->x[a] += (double)t->x[a];
    for (int k = 0; k < 9; ++k) m->xy[k] += (double)t->xy[k];
}

/* The score of a pose, and where the points that lie on the target pull it. */
static double look(const search_raster *raster, const search_surface *source, const search_pose *pose, float off_plane,
                   search_moments *moments) {
    double score = 0;
    landing b;
    *moments = (search_moments){0};
    for (size_t first = 0; first < source->count; first += BLOCK) {
        tally t;
        size_t count = block_at(source, first);
        place_block(raster, source, first, count, pose, &b);
        fetch_block(raster, count, &b);
        sum_block(count, &b, off_plane, &t);
        score += (double)t.score;
        add_tally(&t, moments);
    }
    return score / (double)source->count;
}

/* Did a step hardly move a pose? */
static bool is_still(const search_pose *a, const search_pose *b) {
    double way2 = (a->scale - b->scale) * (a->scale - b->scale);
    for (int k = 0; k < 9; ++k) way2 += (a->turn[k] - b->turn[k]) * (a->turn[k] - b->turn[k]);
    for (int k = 0; k < 3; ++k) way2 += (a->shift[k] - b->shift[k]) * (a->shift[k] - b->shift[k]);
    return way2 < STILL * STILL;
}

float search_path_width(const search_path *path) {
    return path->step < SEARCH_PATH_STEPS / 2 ? 3 * OFF_PLANE : OFF_PLANE;
}

bool search_path_go(search_path *path, double score, const search_moments *moments, bool scaled, double worth) {
    enum { HALF = SEARCH_PATH_STEPS / 2 };
    search_pose before = path->at;
    path->at.score = score;
    if (path->step == 0 || score > path->best.score) path->best = path->at;
    if (path->still && path->step > HALF) return false; /* narrow steps are over */
    if (path->step == HALF && path->best.score < HOPELESS * worth) return false;
    if (path->step == SEARCH_PATH_STEPS) return false;
    if (moments->pairs < 6 || !search_moments_fit(moments, scaled, &path->at)) return false;
    ++path->step;
    path->still = is_still(&path->at, &before);
    if (path->still && path->step < HALF) path->step = HALF; /* wide ones are */
    return true;
}

void search_refine(const search_raster *raster, const search_surface *source, bool scaled, double worth,
                   search_pose *pose) {
    search_path path = {.at = *pose};
    search_moments moments;
    double score;
    do score = look(raster, source, &path.at, search_path_width(&path), &moments);
    while (search_path_go(&path, score, &moments, scaled, worth));
    *pose = path.best;
}
