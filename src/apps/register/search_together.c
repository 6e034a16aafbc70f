/* How poses lie on the target, in one launch with those of other pairs of a batch: programs/search_near.atn,
 * search_lies_step.atn. The raster is not filled: a cell's point is looked for where it is wanted, among blocks of
 * points that are near. Poses go on a step of each at a time. */
#include "apps/register/gather.h"
#include "apps/register/search_parts.h"

#include "base/memory.h"

#include <string.h>

/* Both clouds, for the device. */
typedef struct kept {
    reg_client *client;
    int32_t place[REG_GATHER_PLACE];
    double points; /* of the source */
    search_raster raster;
} kept;

static float *keep_surface(const search_surface *s, float *to) {
    for (int a = 0; a < 3; ++a) {
        memcpy(to + (size_t)a * s->count, s->at[a], s->count * sizeof *to);
        memcpy(to + (size_t)(3 + a) * s->count, s->normal[a], s->count * sizeof *to);
    }
    return to + REG_LIES_POINT * s->count;
}

/* The scene's own source is not sent again. */
static bool send(const reg_scene *scene, const search_surface *source, int32_t *base) {
    const search_surface *target = &scene->of_target;
    uint64_t key = source == &scene->of_source ? scene->number : 0;
    if (reg_gather_has(scene->client, REG_GATHER_LIES, key, base)) return true;
    size_t both = REG_LIES_POINT * (source->count + target->count), boxes = REG_BOX * REG_BLOCKS(target->count);
    float *room = reg_gather_room(scene->client, REG_GATHER_LIES, both + boxes, base);
    if (!room) return false;
    float *onto = keep_surface(source, room);
    reg_gather_boxes(onto, target->count, keep_surface(target, onto));
    reg_gather_name(scene->client, REG_GATHER_LIES, key);
    return true;
}

static bool keep(const reg_scene *scene, const search_surface *source, size_t poses, kept *out) {
    int32_t base = 0, n = (int32_t)source->count, m = (int32_t)scene->of_target.count;
    search_raster raster;
    if (!scene->client || poses > REG_LIES_MOST || search_raster_measure(&scene->of_target, &raster) != ATN_OK ||
        !send(scene, source, &base))
        return false;
    *out = (kept){.client = scene->client,
                  .place = {base, base + REG_LIES_POINT * n, n, m, 0, base + REG_LIES_POINT * (n + m)},
                  .points = (double)source->count,
                  .raster = raster};
    return true;
}

bool search_normals_together(reg_client *client, search_surface *const *surface, int count, double reach) {
    const float item[2] = {(float)(reach * reach), (float)(reach * reach)};
    int32_t place[2][REG_GATHER_PLACE] = {{0}}, base = 0;
    size_t all = 0, most = 0;
    for (int k = 0; k < count; ++k) {
        place[k][1] = (int32_t)surface[k]->count;
        all += surface[k]->count;
        most = surface[k]->count > most ? surface[k]->count : most;
    }
    float *room = most > REG_LIES_POINTS ? NULL : reg_gather_room(client, REG_GATHER_NORMALS, 3 * all, &base);
    float *found = room ? atn_alloc(surface[0]->ctx, (size_t)count * 3 * most * sizeof *found) : NULL;
    for (int k = 0; k < count && found; ++k) {
        place[k][0] = base + (k ? 3 * place[0][1] : 0);
        for (int a = 0; a < 3; ++a, room += surface[k]->count)
            memcpy(room, surface[k]->at[a], surface[k]->count * sizeof *room);
    }
    bool done = found && reg_gather_run(client, REG_GATHER_NORMALS, (size_t)count, item, place[0], 3 * most, found);
    for (int k = 0; k < count && done; ++k)
        for (size_t i = 0; i < 3 * surface[k]->count; ++i)
            surface[k]->normal[i % 3][i / 3] = found[3 * most * (size_t)k + i];
    if (found) atn_free(surface[0]->ctx, found);
    return done;
}

static void describe(const search_raster *r, const search_pose *pose, float width, float item[REG_LIES_ITEM]) {
    for (int k = 0; k < 9; ++k) item[k] = (float)(pose->scale * pose->turn[k]);
    for (int a = 0; a < 3; ++a) item[9 + a] = (float)pose->shift[a];
    item[12] = 1 / (width * width);
    item[13] = (float)(1 / pose->scale);
    for (int a = 0; a < 3; ++a) item[14 + a] = r->corner[a];
    item[17] = (float)r->step;
}

static search_moments moments_of(const float sum[REG_LIES_SUMS]) {
    search_moments m = {
        .pairs = (int32_t)sum[1], .weight = (double)sum[2], .yy = (double)sum[18], .xx = (double)sum[19]};
    for (int a = 0; a < 3; ++a) m.y[a] = (double)sum[3 + a], m.x[a] = (double)sum[6 + a];
    for (int k = 0; k < 9; ++k) m.xy[k] = (double)sum[9 + k];
    return m;
}

/* Poses on their way, and what is asked of them. */
typedef struct poses {
    search_path path[REG_LIES_MOST];
    size_t index[REG_LIES_MOST]; /* of those that go on */
    float item[REG_LIES_MOST][REG_LIES_ITEM], sum[REG_LIES_MOST][REG_LIES_SUMS];
    int32_t place[REG_LIES_MOST][REG_GATHER_PLACE];
} poses;

static bool look_at(const kept *t, poses *p, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        const search_path *path = &p->path[p->index[k]];
        describe(&t->raster, &path->at, search_path_width(path), p->item[k]);
        memcpy(p->place[k], t->place, sizeof t->place);
        p->place[k][4] = reg_gather_row(t->client, REG_GATHER_LIES, (int32_t)k);
    }
    return reg_gather_run(t->client, REG_GATHER_LIES, count, p->item[0], p->place[0], REG_LIES_SUMS, p->sum[0]);
}

static void begin(const search_pose *pose, size_t count, poses *out) {
    for (size_t k = 0; k < count; ++k) {
        out->path[k] = (search_path){.at = pose[k]};
        out->index[k] = k;
    }
}

bool search_score_together(const reg_scene *scene, const search_surface *source, search_pose *pose, size_t count) {
    kept t;
    poses p;
    if (!keep(scene, source, count, &t)) return false;
    begin(pose, count, &p);
    if (!look_at(&t, &p, count)) return false;
    for (size_t k = 0; k < count; ++k) pose[k].score = (double)p.sum[k][0] / t.points;
    return true;
}

bool search_middle_together(const reg_scene *scene, search_pose *pose, double middle[3]) {
    kept t;
    poses p;
    if (!keep(scene, &scene->of_source, 1, &t)) return false;
    begin(pose, 1, &p);
    if (!look_at(&t, &p, 1)) return false;
    double lies = (double)p.sum[0][0];
    pose->score = lies / t.points;
    for (int a = 0; a < 3; ++a) middle[a] = lies > 0 ? (double)p.sum[0][20 + a] / lies : 0;
    return true;
}

bool search_refine_together(const reg_scene *scene, const search_surface *source, bool scaled, double worth,
                            search_pose *pose, size_t count) {
    kept t;
    poses p;
    size_t left = count;
    if (!keep(scene, source, count, &t)) return false;
    begin(pose, count, &p);
    while (left) {
        size_t go_on = 0;
        if (!look_at(&t, &p, left)) return false;
        for (size_t k = 0; k < left; ++k) {
            search_moments moments = moments_of(p.sum[k]);
            if (search_path_go(&p.path[p.index[k]], (double)p.sum[k][0] / t.points, &moments, scaled, worth))
                p.index[go_on++] = p.index[k];
        }
        left = go_on;
    }
    for (size_t k = 0; k < count; ++k) pose[k] = p.path[k].best;
    return true;
}
