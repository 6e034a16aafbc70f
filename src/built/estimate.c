/* A reasonable variant without any measurement: derived from the access patterns, the device and, where known, the
 * sizes of points and ranges. Simple rules; tuning finds better variants. */
#include "built/built.h"
#include "built/outlook.h"
#include "built/scan.h"
#include "device/facts.h"
#include "graph/bilinear.h"
#include "lower/contract.h"

#include <math.h>
#include <string.h>

/* Largest power of two up to `most` with which one tile of the points still fits into the extent. */
static int32_t fitting(int64_t extent, int32_t most) {
    int32_t n = 1;
    while (n * 2 <= most && n * 2 <= extent) n *= 2;
    return n;
}

/* As many as cover the extent; `most` where it is not known. */
static int32_t covering(int64_t extent, int32_t most) {
    int32_t n = 1;
    while (n < most && (n < extent || extent < 1)) n *= 2;
    return n < most ? n : most;
}

static bool writes_apart(const atn_outlook *o) {
    for (int32_t k = 0; k < o->g->n_objects; ++k)
        if (o->g->objects[k].read && o->g->objects[k].written) return false;
    return true;
}

static int64_t pieces(int64_t n, int64_t each) { return n / each + (n % each != 0); }

/* Two panels and the results at rest, of `tile` steps; all in elements. */
static int64_t staged_elements(int64_t span0, int64_t span1, int64_t tile) {
    return (span0 + span1) * tile + span0 * span1;
}

/* The share of all points that the thread has which has most; tiles at the end are smaller. Of many groups none has
 * many more. */
static double largest_share(const int64_t n[2], const int64_t span[2], int64_t threads) {
    enum { FEW = 16 }; /* a thread */
    int64_t tiles0 = pieces(n[0], span[0]), groups = tiles0 * pieces(n[1], span[1]), each = pieces(groups, threads);
    double most = 0;
    if (groups > FEW * threads) return (double)each / (double)groups;
    for (int64_t first = 0; first < groups; first += each) {
        double points = 0;
        for (int64_t k = first; k < groups && k < first + each; ++k) {
            int64_t left0 = n[0] - k % tiles0 * span[0], left1 = n[1] - k / tiles0 * span[1];
            points += (double)(left0 < span[0] ? left0 : span[0]) * (double)(left1 < span[1] ? left1 : span[1]);
        }
        most = fmax(most, points);
    }
    return most / ((double)n[0] * (double)n[1]);
}

/* What a product takes in such tiles, relative to its arithmetic: packing costs more the more tiles there are. */
static double relative_time(const int64_t n[2], const int64_t span[2], int64_t threads) {
    static const double PACKING = 8; /* steps of a vector's length that an element of a panel costs */
    double packing = 1;
    for (int d = 0; d < 2; ++d) packing += PACKING * (double)pieces(n[d], span[d]) / (double)n[d];
    return largest_share(n, span, threads) * packing;
}

/* Short vectors, and as many registers: the sequences that take least of those that stay in a core's second cache. */
static void best_sequences(const atn_outlook *o, const atn_device_info *info, const int64_t n[2], atn_variant *v) {
    enum { CACHE = 1000 << 10, WIDEST = 512 };
    const int64_t each[2] = {(int64_t)v->p[0].vec * v->p[0].regs, v->p[1].regs};
    double least = INFINITY;
    for (int64_t seq0 = 1; seq0 * each[0] <= (n[0] < WIDEST ? n[0] : WIDEST); ++seq0)
        for (int64_t seq1 = 1; seq1 * each[1] <= (n[1] < WIDEST ? n[1] : WIDEST); ++seq1) {
            if (staged_elements(seq0 * each[0], seq1 * each[1], v->q[0].tile) * o->bytes > CACHE) break;
            double time = relative_time(n, (int64_t[2]){seq0 * each[0], seq1 * each[1]}, info->cores);
            if (time >= least) continue;
            least = time;
            v->p[0].seq = (int32_t)seq0;
            v->p[1].seq = (int32_t)seq1;
        }
}

/* Sequences and tiles so that both panels and the results at rest stay in a core's second cache; along p1 as even as
 * can be, since the last tile is moved back and does points again. */
static void estimate_panels(const atn_outlook *o, const atn_device_info *info, int64_t n0, int64_t n1, atn_variant *v) {
    enum { CACHE = 900 << 10, STEPS = 22, WIDE = 2048 /* bytes along p0 */ };
    bool by_lane = v->wide > 1;
    int64_t tile = by_lane ? 256 : 128;
    int32_t each0 = v->p[0].vec * v->p[0].regs, each1 = v->p[1].regs;
    int64_t seq0 = WIDE / ((int64_t)each0 * o->bytes), seq1 = STEPS * 12 / each1;
    v->q[0].tile = (int32_t)tile;
    v->stage = 1;
    v->stage_swap = 2;
    if (n0 < 1 || n1 < 1) return;            /* no points: nothing to cut */
    const int64_t enough = (int64_t)1 << 30; /* sizes that are not known are large */
    if (n0 > enough) n0 = enough;
    if (n1 > enough) n1 = enough;
    if (by_lane) {
        best_sequences(o, info, (int64_t[2]){n0, n1}, v);
        return;
    }
    int64_t steps1 = pieces(n1, each1);
    if (seq0 > pieces(n0, each0)) seq0 = pieces(n0, each0);
    if (seq0 < 1) seq0 = 1;
    if (seq1 < 1) seq1 = 1;
    while (seq1 > 1 && staged_elements(seq0 * each0, seq1 * each1, tile) * o->bytes > CACHE) --seq1;
    int64_t groups = pieces(steps1, seq1); /* enough for every thread */
    if (groups * pieces(n0, seq0 * each0) < info->cores) groups = pieces(info->cores, pieces(n0, seq0 * each0));
    seq1 = pieces(steps1, groups);
    v->p[0].seq = (int32_t)seq0;
    v->p[1].seq = (int32_t)(seq1 < 1 ? 1 : seq1);
    while (v->p[1].seq > 1 && (int64_t)v->p[1].seq * each1 > n1) --v->p[1].seq;
    while (v->p[0].seq > 1 && (int64_t)v->p[0].seq * each0 > n0) --v->p[0].seq;
}

/* Results that their next reader may still find in the cache. */
static bool stays_in_caches(const atn_outlook *o, const atn_extent *extent) {
    enum { CACHE = 1 << 20 };
    return extent && (double)atn_extent_points(extent) * o->bytes <= CACHE;
}

/* So little that waking threads takes longer than doing it. */
static bool is_little(const atn_outlook *o, const atn_extent *extent) {
    enum { LITTLE = 16384 };
    if (!extent || (o->block >= 0 && extent->range == 0)) return false;
    double steps = (double)atn_extent_points(extent) * (double)(extent->range > 0 ? extent->range : 1);
    return steps * atn_outlook_length(o->g) <= LITTLE;
}

/* So much for one point that several at once share no registers, and take the compiler seconds. */
static bool is_long(const atn_outlook *o) {
    enum { LONG = 80 };
    return o->points == 1 && o->g->n_values > LONG;
}

/* Vectors of a range at once, whose accumulators stay in registers. Reads with a boundary take each lane by itself: of
 * many, compilers take minutes. */
static int32_t at_once(const atn_graph *g, int32_t lanes) {
    enum { MOST = 4, LANES = 192 };
    int32_t apart = 0;
    for (int32_t k = 0; k < g->n_reads; ++k) apart += g->reads[k].boundary != ATN_EDGE_NONE ? lanes : 0;
    return apart == 0 || LANES / apart > MOST ? MOST : LANES / apart;
}

/* Products of small matrices, p2 numbers them. */
static bool is_stack(const atn_outlook *o, const atn_extent *extent) {
    enum { SMALL = 64 };
    return o->points > 2 && o->shared_p0 && o->shared_p1 && o->along_p0 > 0 && extent && extent->points[0] >= 1 &&
           extent->points[1] >= 1 && extent->points[0] <= SMALL && extent->points[1] <= SMALL;
}

/* A factor of a whole vector may be one lane of a register, so that a load brings several. */
static bool multiplies_by_lane(const atn_device_info *info) { return strcmp(info->arch, "aarch64") == 0; }

enum { STRIP_BYTES = 128, ACCUMULATORS = 16 /* at most, in registers */ };

static void estimate_host(const atn_outlook *o, const atn_device_info *info, const atn_extent *extent, atn_variant *v) {
    int32_t lanes = o->complex_values || o->ordered ? 1 : info->simd * 4 / o->bytes;
    lanes = lanes > 16 ? 16 : lanes;
    int64_t n0 = extent ? extent->points[0] : INT64_MAX, n1 = extent ? extent->points[1] : INT64_MAX;
    if (is_little(o, extent)) v->threads = 1;
    if (o->points == 0 && o->block >= 0) { /* everything into one result */
        if (o->ordered) return;
        v->q[0].vec = o->ragged ? 1 : lanes;
        v->q[0].regs = fitting(16 / o->g->blocks[o->block].n_accs, at_once(o->g, v->q[0].vec));
        enum { PART = 4096, LONG_PART = 1024 }; /* short steps, and what counts as so many */
        int32_t splits = 64;                    /* whatever the number of threads: the same result */
        double length = atn_outlook_length(o->g), part = length > 1 ? LONG_PART : PART;
        if (extent && extent->range > 0) splits = fitting((int64_t)((double)extent->range * length / part), splits);
        v->q[o->g->blocks[o->block].rank - 1].split = splits;
        return;
    }
    if (o->points == 0) return;
    if (o->block < 0 && o->along_p1 > 0 && o->along_p1 >= o->along_p0 &&
        lanes > 1) { /* transposed in registers: whole cache lines, of no more rows than the TLB has pages for */
        enum { LINE = 64, ROWS = 64, LONG = 1024 };
        v->p[1].vec = fitting(n1, lanes);
        v->p[0].regs = fitting(n0, LINE / o->bytes > v->p[1].vec ? LINE / o->bytes : v->p[1].vec);
        bool lines = v->p[1].vec * o->bytes == LINE; /* then they come in pairs, and long rows of them */
        if (lines) v->p[1].regs = fitting(n1 / v->p[1].vec, 2);
        v->p[1].seq = fitting(n1 / v->p[1].vec / v->p[1].regs, (lines ? LONG : ROWS) / v->p[1].vec / v->p[1].regs);
        v->stream = 1;
        return;
    }
    bool vectors = o->along_p0 + o->pairs_p0 >= o->across || is_long(o); /* much arithmetic is worth gathers */
    if (o->block < 0 && o->stencil && vectors) {                         /* rows share what they read */
        v->p[0].vec = fitting(n0, lanes);
        v->p[1].regs = fitting(n1, o->pairs_p0 > o->along_p0 ? 1 : 4); /* rows of pairs share little, and are many */
        v->p[0].seq = fitting((n0 - 2) / v->p[0].vec, 64); /* a tile as wide as the row would have no interior */
        v->stream = writes_apart(o) && !stays_in_caches(o, extent);
        return;
    }
    if (o->block < 0) { /* point by point */
        v->p[0].vec = vectors ? fitting(n0, lanes) : 1;
        v->p[0].regs = is_long(o) ? 1 : fitting(n0 / v->p[0].vec, 4);
        v->p[0].seq = fitting(n0 / v->p[0].vec / v->p[0].regs, 16);
        v->stream = writes_apart(o) && !stays_in_caches(o, extent);
        return;
    }
    if (o->rows && o->along_p0 > 0) { /* blocks of points, each against a list of its own */
        enum { TILE = 16 };           /* points at once against a list of blocks: blocks are small */
        bool blocks = o->g->n_blocks > 2;
        v->p[0].vec = fitting(n0, lanes);
        v->p[0].regs = fitting(n0 / v->p[0].vec, blocks && v->p[0].vec >= TILE ? 1 : 2);
        v->schedule = ATN_SCHEDULE_DYNAMIC;
        v->chunk = 4;
        return;
    }
    if (o->ragged) {
        v->p[0].seq = fitting(n0, 64);
        v->q[0].vec = o->along_q > 0 && lanes >= 4 ? 4 : 1; /* longer ones lose in short ranges and in gathers */
        return;
    }
    if (is_stack(o, extent)) { /* many small products: each is one group's, in registers */
        v->p[0].vec = fitting(n0, lanes);
        v->p[0].regs = fitting(n0 / v->p[0].vec, 4);
        v->p[1].regs = fitting(n1, v->p[0].regs > 2 ? 4 : 8);
        v->p[0].seq = (int32_t)pieces(n0, (int64_t)v->p[0].vec * v->p[0].regs);
        v->p[1].seq = (int32_t)pieces(n1, v->p[1].regs);
        v->p[2].seq = fitting(extent->points[2] / (4 * info->cores), 16);
        return;
    }
    if (o->product) { /* tiles of both, as in a matrix product */
        v->p[0].vec = fitting(n0, lanes);
        v->p[0].regs = fitting(n0 / v->p[0].vec, 2);
        v->p[1].regs = n1 >= 12 && info->simd >= 16 ? 12 : fitting(n1, 4);
        if (multiplies_by_lane(info) && v->p[0].vec == lanes && n0 >= 3 * lanes && n1 >= 8) {
            v->p[0].regs = 3; /* 24 results, 3 of one side and 2 vectors of the other: 29 registers of 32 */
            v->p[1].regs = 8;
            v->wide = 4;
        }
        estimate_panels(o, info, n0, n1, v);
        return;
    }
    if (o->along_range) { /* rows along the range: no vector is longer than that */
        v->q[0].vec = extent && extent->range > 0 ? fitting(extent->range, lanes) : lanes;
        v->p[0].regs = fitting(n0, 4);
        v->p[0].seq = fitting(n0 / v->p[0].regs, 8);
        return;
    }
    if (multiplies_by_lane(info) && o->points == 1 && o->exponential && !o->gathers && o->along_q > 0) {
        v->q[0].vec = lanes < info->simd ? lanes : info->simd; /* vectors along the range are loaded, the points' splats
                                                                  stay: no copies of either */
        v->p[0].regs = fitting(n0, 8);
        return;
    }
    v->p[0].vec = fitting(n0, lanes); /* many points against a common range */
    if (o->gathers) {                 /* lane by lane anyway; neighbouring points look up neighbouring places */
        enum { AT_ONCE = 16, PARTS = 8, SHORTEST = 256 };
        v->p[0].regs = fitting(n0 / v->p[0].vec, v->p[0].vec < AT_ONCE ? AT_ONCE / v->p[0].vec : 1);
        if (extent && !o->ordered) v->q[0].split = fitting(extent->range / SHORTEST, PARTS); /* that caches keep */
        return;
    }
    int32_t regs = o->exponential ? 2 : 4;
    if (o->streams_p0 > 0 && !o->window &&
        !o->exponential) { /* columns: strips of two cache lines, for the prefetcher */
        int32_t strip = STRIP_BYTES / (v->p[0].vec * o->bytes), room = ACCUMULATORS / o->g->blocks[o->block].n_accs;
        if (strip > regs && room > regs) regs = strip < room ? strip : room;
    }
    v->p[0].regs = fitting(n0 / v->p[0].vec, regs);
    v->q[0].unroll = o->exponential ? 1 : 2;
}

/* Splits of a range that all points share, so that every core has some groups even where points are few. */
static int32_t shares(const atn_device_info *info, const atn_extent *extent, int32_t span) {
    enum { GROUPS = 16 /* a core */, SHORTEST = 512, MOST = 64 };
    if (!extent || extent->range == 0 || extent->points[0] < 1) return 1;
    int64_t groups = pieces(extent->points[0], span), wanted = (int64_t)info->cores * GROUPS / groups;
    if (wanted > extent->range / SHORTEST) wanted = extent->range / SHORTEST;
    return wanted < 1 ? 1 : wanted > MOST ? MOST : (int32_t)wanted;
}

/* Points that leave most of the device idle with an item each, and a range that has work for many items. */
static bool are_few(const atn_device_info *info, const atn_extent *extent) {
    enum { ITEMS = 256 /* a core, at least */, SHORTEST = 64 };
    return extent && extent->range >= SHORTEST && extent->points[0] < (int64_t)info->cores * ITEMS;
}

enum { SHORT = 64, WARP = 32 };

/* Lanes that a row with a range from data has where most of the device would be idle otherwise; more where there are
 * loops inside. 0: rows are many. */
static int32_t lanes_of_few_rows(const atn_outlook *o, const atn_device_info *info, const atn_extent *extent) {
    enum { GROUP = 8 * WARP, FEW = 2, SOME = 32, MANY = 64 }; /* rows a core */
    bool loops = o->g->n_blocks > 2;
    if (!extent || extent->any || extent->range > 0) return 0;
    int64_t rows = extent->points[0] / info->cores;
    if (rows < (loops ? SOME : FEW)) return GROUP;
    return loops && rows < MANY ? WARP : 0;
}

/* Groups that share the range of a row where rows are so few that cores would be idle, and loops inside take long. The
 * range is not known: of a short one, some have nothing to do. */
static int32_t groups_of_few_rows(const atn_outlook *o, const atn_device_info *info, const atn_extent *extent) {
    enum { MOST = 4, EACH = 2 /* for a core */ };
    int64_t rows = extent->points[0];
    return o->g->n_blocks > 2 && rows > 0 ? fitting(EACH * (int64_t)info->cores / rows, MOST) : 1;
}

/* Sums of weights in halves, where the device multiplies matrices of them. */
static bool multiplies_halves(const atn_outlook *o, const atn_device_info *info) {
    atn_bilinear form;
    return o->halves && !o->scaled && atn_device_has_matrix(info) && atn_bilinear_find(o->g, &form, NULL) &&
           form.list < 0;
}

/* Products of matrices that are not small. */
static bool multiplies_matrices(const atn_outlook *o, const atn_device_info *info, const atn_extent *extent) {
    enum { SMALL = 64 };
    return atn_device_has_matrix(info) && lower_is_contraction(o->g) && info->max_group >= 256 &&
           info->local_bytes >= 80 << 10 && (!extent || (extent->points[0] > SMALL && extent->points[1] > SMALL));
}

static void estimate_items(const atn_outlook *o, const atn_device_info *info, const atn_extent *extent,
                           atn_variant *v) {
    bool shuffle = atn_backend_facts_of(info)->shuffle;
    int32_t most = info->max_group < 256 ? info->max_group : 256;
    if (o->points == 0 && o->block >= 0) {
        if (o->ordered) return;
        int32_t twice = info->max_group < 512 ? info->max_group : 512;
        int32_t accumulators = o->g->blocks[o->block].n_accs;
        v->q[0].lanes = shuffle && accumulators <= 4 ? twice : most;
        while (!shuffle && v->q[0].lanes > 32 && (int64_t)v->q[0].lanes * accumulators * 16 > info->local_bytes)
            v->q[0].lanes /= 2;                  /* the tree holds them all, and half of the memory is enough */
        v->q[0].regs = accumulators > 4 ? 1 : 8; /* that registers hold them */
        v->reduce = shuffle ? ATN_REDUCE_SHUFFLE : ATN_REDUCE_TREE;
        int32_t splits = info->cores * 4 < 1024 ? info->cores * 4 : 1024, rank = o->g->blocks[o->block].rank;
        int64_t each = (int64_t)v->q[0].lanes * v->q[0].regs;
        if (rank == 1 && extent && extent->range > 0 && extent->range < splits * each) /* none without work */
            splits = (int32_t)((extent->range + each - 1) / each);
        v->q[rank - 1].split = splits;
        /* Many are joined by a launch of their own: in a branch of the first one compilers take a second for them. */
        v->finish = accumulators > ACCUMULATORS ? ATN_FINISH_LAUNCH : ATN_FINISH_LAST;
        return;
    }
    if (o->points == 0) return;
    bool plane = o->points > 1;
    if (o->block < 0 && o->along_p1 > 0 && o->along_p1 >= o->along_p0 && most >= 256) { /* transposed in local memory */
        v->p[0].lanes = 32;
        v->p[1].lanes = 8;
        v->p[1].regs = 4;
        v->stage = 1;
        v->pad = 1;
        return;
    }
    if (o->block < 0) {
        int32_t row = most < 64 ? most : 64;
        v->p[0].lanes = plane ? covering(extent ? extent->points[0] : 0, row) : most;
        if (plane) v->p[1].lanes = most / v->p[0].lanes;
        v->p[plane ? 1 : 0].regs = is_long(o) ? 1 : 4;
        return;
    }
    bool common = o->rows || (!o->ragged && !plane && !o->along_range);                /* neighbours read the same */
    if (info->cpu && common && o->along_p0 > 0 && !o->ordered && !o->complex_values) { /* a CPU has vectors, no warps */
        int64_t n0 = extent ? extent->points[0] : INT64_MAX;
        int32_t lanes = info->simd * 4 / o->bytes;
        v->p[0].vec = fitting(n0, lanes < 1 ? 1 : lanes > 16 ? 16 : lanes);
        v->p[0].regs = fitting(n0 / v->p[0].vec, 2);
        return;
    }
    if (o->rows && o->along_p0 > 0) { /* a warp to a row: neighbours follow one list and read the same */
        int64_t n0 = extent ? extent->points[0] : 64;
        int32_t items = most < 128 ? most : 128;
        v->p[0].lanes = fitting(n0, items < 32 ? items : 32);
        v->p[0].regs = o->alike ? fitting(n0 / v->p[0].lanes, 2) : 1;
        v->p[1].lanes = items / v->p[0].lanes;
        return;
    }
    if (o->ragged || (o->along_range && !plane)) { /* several lanes to a row */
        v->q[0].lanes = o->ordered ? 1 : o->ragged ? 8 : 32;
        if (o->ragged && !o->ordered && !info->cpu && are_few(info, extent)) /* long ranges of few points */
            v->q[0].lanes = fitting(extent->range / 8, most);
        int32_t group = o->ragged && !plane && !o->ordered && !info->cpu ? lanes_of_few_rows(o, info, extent) : 0;
        if (group) v->q[0].lanes = group < most ? group : most;
        v->p[0].lanes = group > WARP ? 1 : most / v->q[0].lanes;
        if (group > WARP) v->q[0].split = groups_of_few_rows(o, info, extent);
        v->q[0].regs = o->ordered || group ? 1 : 4;
        v->reduce = shuffle ? ATN_REDUCE_SHUFFLE : ATN_REDUCE_TREE;
        return;
    }
    if (is_stack(o, extent)) {
        v->p[0].lanes = fitting(extent->points[0], 16);
        v->p[1].lanes = fitting(extent->points[1], 16);
        v->p[2].lanes = fitting(extent->points[2], most / (v->p[0].lanes * v->p[1].lanes));
        v->p[1].regs = fitting(extent->points[1] / v->p[1].lanes, 4);
        v->q[0].unroll = 8;
        return;
    }
    if (multiplies_matrices(o, info, extent)) {
        bool halves = o->halves, singles = !halves && o->bytes == 4;
        int64_t tiles = extent ? extent->points[0] / 128 * (extent->points[1] / 128) : 0;
        bool many = tiles >= info->cores, room = info->local_bytes >= 192 << 10;
        v->stage = info->local_bytes >= 120 << 10 ? 3 : 2;
        if (halves && room && tiles >= 2 * info->cores && atn_device_has_warpgroup(info)) {
            v->p[0].lanes = 4;
            v->p[1].lanes = v->p[0].regs = v->q[0].tile = 64;
            v->p[1].regs = 2;
            v->stage = 4;
            v->matrix = ATN_MATRIX_WARPGROUP;
            return;
        }
        bool doubles = !halves && !singles && many && room;
        if (doubles) v->stage = 4;
        v->p[0].lanes = doubles ? 16 : 8;
        v->p[1].lanes = halves ? 32 : 16;
        v->p[0].regs = halves || (singles && many) ? 16 : 8;
        v->p[1].regs = (singles && many) || doubles ? 8 : 4;
        v->q[0].tile = halves ? 64 : 16;
        v->resident = halves ? 2 : 0;
        v->matrix = halves ? ATN_MATRIX_HALF : singles ? ATN_MATRIX_PAIR : ATN_MATRIX_DOUBLE;
        return;
    }
    if (o->product && most >= 256) {
        v->p[0].lanes = v->p[1].lanes = 16;
        v->p[0].regs = v->p[1].regs = 8;
        v->p[0].pack = v->p[1].pack = 4;
        v->q[0].tile = 8;
        v->q[0].unroll = 8;
        int64_t tile = 2 * 8 * (16 * 8 + 4) * o->bytes; /* of both factors */
        v->stage = 2 * tile <= info->local_bytes ? 2 : 1;
        v->stage_swap = 2;
        v->wide = 4;
        v->pad = 4;
        return;
    }
    if (plane && o->window) { /* filters: neighbours share lines of the caches, rows the weights */
        v->p[0].lanes = most < 32 ? most : 32;
        v->p[1].lanes = most / v->p[0].lanes;
        v->p[1].regs = 4;
        return;
    }
    if (!plane && !o->exponential && !o->ordered && !info->cpu && are_few(info, extent)) { /* a group to each point */
        v->q[0].lanes = fitting(extent->range, most);
        v->q[0].regs = o->gathers ? 1 : fitting(extent->range / v->q[0].lanes, 4);
        v->reduce = shuffle ? ATN_REDUCE_SHUFFLE : ATN_REDUCE_TREE;
        return;
    }
    if (!plane && o->exponential && !info->cpu && most >= 128) { /* many points against a common range */
        bool matrix = multiplies_halves(o, info);
        v->p[0].lanes = 128;
        v->p[0].regs = matrix ? 2 : 4;
        v->q[0].tile = 128;
        v->q[0].unroll = matrix ? 4 : 8;
        v->q[0].split = shares(info, extent, matrix ? 256 : 512);
        v->stage = 1;
        if (matrix) { /* a quarter of the exponentials by polynomial keeps the units for both busy */
            v->matrix = ATN_MATRIX_HALF;
            v->mix = 2;
            v->degree = 3;
        }
        return;
    }
    v->p[0].lanes = plane ? 32 : most;
    if (v->p[0].lanes > most) v->p[0].lanes = most;
    if (plane) v->p[1].lanes = most / v->p[0].lanes;
    v->p[0].regs = 2;
    v->q[0].unroll = 4;
    if (extent && extent->range > 0 && extent->range < SHORT) return; /* a tile of it would be filled for nothing */
    v->q[0].tile = most;
    v->stage = 1;
}

/* Where ranges differ between registers, or lanes of a vector, there are neither; items and parts stay. */
static void one_at_a_time(atn_variant *v) {
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        v->p[d].regs = v->p[d].pack = v->p[d].vec = 1;
        v->q[d].regs = v->q[d].vec = 1;
    }
}

atn_variant atn_variant_estimate(const atn_graph *graph, const atn_device_info *info, const atn_extent *extent) {
    atn_outlook o = atn_outlook_of(graph);
    atn_variant v = atn_variant_plain();
    atn_target target = atn_target_of(info);
    if (info->cpu && o.exponential) {
        v.exp = ATN_EXP_POLYNOMIAL; /* within the 3 ulps that are allowed to a library's, and it vectorises */
        v.degree = o.scaled ? 6 : 5;
    }
    if (!info->cpu && o.exponential && !o.scaled) v.exp = ATN_EXP_NATIVE; /* what the hardware has, as it is */
    if (atn_graph_has_scan(graph))
        atn_estimate_scan(graph, info, extent, target.host, &v);
    else if (target.host)
        estimate_host(&o, info, extent, &v);
    else
        estimate_items(&o, info, extent, &v);
    if (!atn_variant_fits(graph, &v, &target, NULL)) one_at_a_time(&v);
    if (!atn_variant_fits(graph, &v, &target, NULL)) v = atn_variant_plain();
    return v;
}
