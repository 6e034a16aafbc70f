/* attune lattice: the local structure of every atom in a frame. */
#include "cli/lattice.h"

#include "apps/lattice/lattice.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cli/kernel.h"
#include "cli/serve.h"

#include <math.h>
#include <string.h>

static const char *class_name(const lattice_outcome *o, int32_t k) { return k ? o->info.name[k - 1] : "other"; }

/* ---- what came out ---- */

static double share_of(const lattice_outcome *o, int32_t k) {
    double sum = k ? 0 : o->info.share[0];
    for (int32_t m = 0; m < o->info.models && k; ++m)
        if (o->info.structure[m] == k) sum += o->info.share[m + 1];
    return sum;
}

static json_t *phases_json(const lattice_outcome *o) {
    json_t *list = json_array();
    bool good = list;
    for (int32_t m = 0; m < o->info.models && good; ++m) {
        json_t *one = json_object();
        good = json_object_set_new(one, "structure", json_string(o->info.name[m])) == 0 &&
               json_object_set_new(one, "constant", json_real(o->info.constant[m])) == 0 &&
               json_object_set_new(one, "share", json_real(o->info.share[m + 1])) == 0 &&
               json_object_set_new(one, "mismatched", json_boolean(o->info.mismatched[m])) == 0 &&
               json_object_set_new(one, "atoms", json_integer((json_int_t)o->phase[m])) == 0;
        good = json_array_append_new(list, one) == 0 && good;
    }
    return atn_cli_json_if(good, list);
}

static json_t *counts_json(const atn_ctx *ctx, const lattice_outcome *o) {
    json_t *object = json_object();
    (void)ctx;
    for (int32_t k = o->info.models; k >= 0 && object; --k)
        if (lattice_is_structure(o, k) &&
            json_object_set_new(object, class_name(o, k), json_integer((json_int_t)o->count[k])) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static json_t *settings_json(const lattice_outcome *o) {
    json_t *root = json_object(), *constant = json_object(), *share = json_object();
    bool good = true;
    for (int32_t k = 0; k <= o->info.models; ++k) {
        if (!lattice_is_structure(o, k)) continue;
        if (k) good = good && json_object_set_new(constant, class_name(o, k), json_real(o->info.constant[k - 1])) == 0;
        good = good && json_object_set_new(share, class_name(o, k), json_real(share_of(o, k))) == 0;
    }
    good = json_object_set_new(root, "constant", constant) == 0 && good;
    good = json_object_set_new(root, "share", share) == 0 && good;
    good = json_object_set_new(root, "phases", phases_json(o)) == 0 && good;
    good = good && json_object_set_new(root, "cutoff", json_real(o->info.cutoff)) == 0 &&
           json_object_set_new(root, "noise", json_real(o->info.noise)) == 0 &&
           json_object_set_new(root, "depth_noise", json_real(o->info.depth_noise)) == 0 &&
           json_object_set_new(root, "efficiency", json_real(o->info.efficiency)) == 0 &&
           json_object_set_new(root, "background_neighbours", json_real(o->info.background_neighbours)) == 0 &&
           json_object_set_new(root, "background", json_real(o->info.background)) == 0 &&
           json_object_set_new(root, "gain", json_real(o->info.gain)) == 0 &&
           json_object_set_new(root, "neighbours", json_real(o->info.neighbours)) == 0 &&
           json_object_set_new(root, "rotations", json_integer(o->info.rotations)) == 0 &&
           json_object_set_new(root, "estimated", json_boolean(o->info.estimated)) == 0;
    return atn_cli_json_if(good, root);
}

static json_t *labels_json(const lattice_outcome *o) {
    json_t *list = json_array();
    for (size_t k = 0; k < o->labels && list; ++k)
        if (json_array_append_new(list, json_string(class_name(o, o->label[k]))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Of each ion its atoms of each class. */
static json_t *composition_json(const atn_ctx *ctx, const lattice_outcome *o) {
    json_t *list = json_array();
    for (size_t i = 0; i < o->ions && list; ++i) {
        json_t *one = json_object();
        bool good = json_object_set_new(one, "ion", atn_cli_json_text(ctx, o->ion[i])) == 0;
        for (int32_t k = o->info.models; k >= 0; --k)
            if (lattice_is_structure(o, k))
                good =
                    json_object_set_new(one, class_name(o, k), json_integer((json_int_t)o->composition[i][k])) == 0 &&
                    good;
        if (json_array_append_new(list, one) == 0 && good) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

/* Where the time of the first device's run went: `add` gets each part that took some. */
typedef void add_part(void *to, const char *when, const char *name, int64_t calls, double seconds);
static void each_part(const lattice_outcome *o, add_part *add, void *to) {
    static const char *const WHEN[2] = {"learning", "matching"};
    for (int when = 0; when < 2; ++when)
        for (int part = 0; part < LATTICE_PARTS; ++part)
            if (o->spent->seconds[when][part] > 0)
                add(to, WHEN[when], lattice_part_name((lattice_part)part), o->spent->calls[when][part],
                    o->spent->seconds[when][part]);
}

static void add_json(void *to, const char *when, const char *name, int64_t calls, double seconds) {
    json_array_append_new(
        to, json_pack("{s:s,s:s,s:I,s:f}", "when", when, "name", name, "calls", (json_int_t)calls, "seconds", seconds));
}

static void add_row(void *to, const char *when, const char *name, int64_t calls, double seconds) {
    atn_text_printf(to, "%s\t%s\t%lld\t%.4g\t\n", when, name, (long long)calls, seconds);
}

static void print_spent(atn_text *page, const lattice_outcome *o) {
    atn_text rows = {.ctx = page->ctx};
    atn_text_add(&rows, "when\tpart\tcalls\tseconds\t\n");
    each_part(o, add_row, &rows);
    atn_cli_add_table(page, atn_text_str(&rows), "llrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static json_t *line_json(const lattice_outcome *o, int32_t ranks) {
    static const char *const WHEN[2] = {"learning", "matching"};
    json_t *list = json_array();
    for (int32_t rank = 0; rank < ranks; ++rank) {
        const lattice_line *line = &o->line[rank];
        json_t *one = json_pack("{s:f,s:f}", "joining", -line->joining, "joined", -line->joined);
        json_t *waited = json_object();
        for (int k = 0; k < LATTICE_MOMENTS; ++k) {
            json_object_set_new(one, lattice_moment_name((lattice_moment)k), json_real(line->moment[k]));
            json_object_set_new(waited, lattice_moment_name((lattice_moment)k), json_real(line->waited[k]));
        }
        json_object_set_new(one, "waited", waited);
        for (int when = 0; when < 2; ++when) {
            json_t *parts = json_object();
            for (int part = 0; part < LATTICE_PARTS; ++part)
                if (line->seconds[when][part] > 0)
                    json_object_set_new(parts, lattice_part_name((lattice_part)part),
                                        json_real(line->seconds[when][part]));
            json_object_set_new(one, WHEN[when], parts);
        }
        json_array_append_new(list, one);
    }
    return list;
}

/* Of each moment the first rank to reach it, and the last. */
static void print_line(atn_text *page, const lattice_outcome *o, int32_t ranks) {
    atn_text rows = {.ctx = page->ctx};
    atn_text_add(&rows, "moment\tfirst rank, s\tlast rank, s\t\n");
    for (int k = 0; k < LATTICE_MOMENTS; ++k) {
        double first = o->line[0].moment[k], last = first;
        for (int32_t rank = 1; rank < ranks; ++rank) {
            first = fmin(first, o->line[rank].moment[k]);
            last = fmax(last, o->line[rank].moment[k]);
        }
        atn_text_printf(&rows, "%s\t%.4g\t%.4g\t\n", lattice_moment_name((lattice_moment)k), first, last);
    }
    atn_cli_add_table(page, atn_text_str(&rows), "lrr");
    if (rows.failed) page->failed = true;
    atn_text_free(&rows);
}

static atn_status print_json(atn_cli_call *call, const lattice_outcome *o) {
    json_t *root = json_object();
    double rate = o->match_seconds > 0 ? (double)o->atoms / o->match_seconds : 0;
    bool good = json_object_set_new(root, "atoms", json_integer((json_int_t)o->atoms)) == 0 &&
                json_object_set_new(root, "counts", counts_json(call->ctx, o)) == 0 &&
                json_object_set_new(root, "background", json_integer((json_int_t)o->background)) == 0 &&
                json_object_set_new(root, "dropped", json_integer((json_int_t)o->dropped)) == 0 &&
                json_object_set_new(root, "seconds", json_real(o->seconds)) == 0 &&
                json_object_set_new(root, "match_seconds", json_real(o->match_seconds)) == 0 &&
                json_object_set_new(root, "read_seconds", json_real(o->read_seconds)) == 0 &&
                json_object_set_new(root, "learn_seconds", json_real(o->learn_seconds)) == 0 &&
                json_object_set_new(root, "write_seconds", json_real(o->write_seconds)) == 0 &&
                json_object_set_new(root, "ranks", json_integer(call->ranks->count)) == 0 &&
                (call->ranks->count == 1 ||
                 json_object_set_new(root, "quickest",
                                     json_pack("{s:f,s:f,s:f}", "match_seconds", o->quickest[0], "read_seconds",
                                               o->quickest[1], "learn_seconds", o->quickest[2])) == 0) &&
                json_object_set_new(root, "atoms_per_second", json_real(rate)) == 0 &&
                json_object_set_new(root, "peak_bytes", json_integer((json_int_t)atn_ctx_peak_bytes(call->ctx))) == 0 &&
                json_object_set_new(root, "estimated_bytes", json_integer((json_int_t)o->estimated_bytes)) == 0 &&
                json_object_set_new(root, "settings", settings_json(o)) == 0 &&
                json_object_set_new(root, "device", atn_cli_json_text(call->ctx, o->device)) == 0;
    if (good && o->composition) good = json_object_set_new(root, "composition", composition_json(call->ctx, o)) == 0;
    if (good && o->spent) {
        json_t *list = json_array();
        each_part(o, add_json, list);
        good = json_object_set_new(root, "profile", list) == 0;
    }
    if (good && o->line) good = json_object_set_new(root, "timeline", line_json(o, call->ranks->count)) == 0;
    if (good && o->label) good = json_object_set_new(root, "labels", labels_json(o)) == 0;
    if (good && atn_cli_value(call, "ranges"))
        good = json_object_set_new(root, "unranged", json_integer((json_int_t)o->unranged)) == 0 &&
               json_object_set_new(root, "overlaps", json_integer((json_int_t)o->overlaps)) == 0;
    return atn_cli_print_json(call, atn_cli_json_if(good, root));
}

/* How many atoms a phase has, where its structure has several. */
static void print_phase(atn_text *page, const lattice_outcome *o, int32_t phase) {
    int32_t same = 0;
    for (int32_t m = 0; m < o->info.models; ++m) same += o->info.structure[m] == o->info.structure[phase];
    if (same > 1) atn_text_printf(page, " (%zu)", o->phase[phase]);
    if (o->info.mismatched[phase]) atn_text_add(page, ", but another lattice lies on its sites: other");
}

atn_status lattice_print(atn_cli_call *call, const lattice_outcome *o) {
    if (call->json) return print_json(call, o);
    atn_text page = {.ctx = call->ctx};
    atn_text_printf(&page, "%zu atoms in %.3g s, %.3g per second\n", o->atoms, o->seconds,
                    o->match_seconds > 0 ? (double)o->atoms / o->match_seconds : 0);
    if (o->estimated_bytes)
        atn_text_printf(&page, "peak memory %.3g MB (estimated %.3g MB)\n",
                        1e-6 * (double)atn_ctx_peak_bytes(call->ctx), 1e-6 * (double)o->estimated_bytes);
    for (int32_t k = 1; k <= o->info.models + 1; ++k) {
        int32_t c = k % (o->info.models + 1);
        if (!lattice_is_structure(o, c)) continue;
        atn_text_printf(&page, "%-8s %12zu  %5.1f %%", class_name(o, c), o->count[c],
                        o->atoms ? 100 * (double)o->count[c] / (double)o->atoms : 0);
        for (int32_t m = 0, n = 0; m < o->info.models && c; ++m) {
            if (o->info.structure[m] != c) continue;
            atn_text_printf(&page, "%s %.4g Å", n++ ? " and" : "   constant", o->info.constant[m]);
            print_phase(&page, o, m);
        }
        if (!c && o->background) atn_text_printf(&page, "   of which %zu background atoms", o->background);
        atn_text_add(&page, "\n");
    }
    atn_text_printf(&page, "cut-off %.3g Å, %.3g neighbours; noise %.3g Å, efficiency %.3g, background %.2g\n",
                    o->info.cutoff, o->info.neighbours, o->info.noise, o->info.efficiency,
                    o->info.background_neighbours);
    if (o->dropped) atn_text_printf(&page, "%zu atoms with NaN or infinite coordinates dropped\n", o->dropped);
    if (o->unranged) atn_text_printf(&page, "%zu atoms are in no range\n", o->unranged);
    if (o->overlaps) atn_text_printf(&page, "%zu pairs of ranges overlap: the narrower range wins\n", o->overlaps);
    if (!o->info.estimated && o->info.gain != 0)
        atn_text_add(&page, "no model fits better than chance: every atom is other\n");
    else if (!o->info.estimated)
        atn_text_add(&page, "too few atoms have neighbours: constants and noise are defaults\n");
    if (o->spent) print_spent(&page, o);
    if (o->line) print_line(&page, o, call->ranks->count);
    atn_status status = atn_cli_print_text(call, "lattice", &page);
    atn_text_free(&page);
    return status;
}

/* ---- the verb ---- */

typedef struct shown {
    atn_serve *serve;
    double since_s;
} shown;

static void show(void *user, const atn_progress *now, double share) {
    const shown *s = user;
    atn_serve_event(s->serve, json_pack("{s:f,s:f,s:s}", "t", atn_clock_seconds() - s->since_s, "share", share, "note",
                                        now->doing));
}

static void end_show(const lattice_outcome *o, atn_serve *serve) {
    json_t *summary = json_pack("{s:b,s:I,s:f}", "summary", 1, "atoms", (json_int_t)o->atoms, "seconds", o->seconds);
    if (summary) json_object_set_new(summary, "counts", counts_json(NULL, o));
    atn_serve_end(serve, summary);
}

static atn_status match(atn_cli_call *call, atn_device *const *devices, int32_t n, const atn_lattice_settings *settings,
                        lattice_outcome *o) {
    atn_lattice *lattice[ATN_MOST_DEVICES] = {NULL};
    double from = atn_clock_seconds();
    const char *report = atn_cli_value(call, "report");
    shown s = {.since_s = from};
    bool first = call->ranks->rank == 0, frames = atn_cli_has(call, "frames");
    if (frames && !first) return ATN_OK; /* neighbourhoods are the first rank's */
    atn_status status = first ? atn_serve_open(call, "lattice", call->operands[0], &s.serve) : ATN_OK;
    if (s.serve) call->watch.listener = show, call->watch.listener_user = &s;
    for (int32_t k = 0; k < n && !status; ++k) status = atn_lattice_create(devices[k], settings, &lattice[k]);
    if (!status) status = frames ? lattice_run_frames(call, lattice[0], o) : lattice_run_slabs(call, lattice, n, o);
    o->seconds = (o->ended > 0 ? o->ended : atn_clock_seconds()) - from;
    if (!frames) status = lattice_join_line(call, status, lattice[0] ? &lattice[0]->spent : NULL, o);
    if (!status && report && first) status = lattice_report(call, o, report);
    if (!status && atn_cli_has(call, "profile")) o->spent = &lattice[0]->spent;
    if (!status && first) status = lattice_print(call, o);
    for (int32_t k = 0; k < n; ++k) atn_lattice_free(lattice[k]);
    call->watch.listener = NULL;
    if (!status && s.serve) end_show(o, s.serve);
    atn_serve_close(s.serve);
    return status;
}

static atn_status check_together(atn_cli_call *call) {
    static const char *const NOT[] = {"output", "ranges", "resume", "memory"};
    for (size_t k = 0; k < sizeof NOT / sizeof *NOT; ++k)
        if (atn_cli_has(call, "frames") && atn_cli_value(call, NOT[k]))
            return atn_cli_misuse(call, "--%s cannot be combined with --frames, whose frames are neighbourhoods",
                                  NOT[k]);
    return ATN_OK;
}

static atn_status run(atn_cli_call *call) {
    atn_lattice_settings settings = {0};
    atn_cloud *model = NULL;
    lattice_outcome *o = atn_zalloc(call->ctx, sizeof *o);
    atn_device *devices[ATN_MOST_DEVICES];
    int32_t count = 0;
    atn_status status = o ? check_together(call) : ATN_ERR_MEMORY;
    if (!status) status = lattice_check_output(call);
    if (!status) status = lattice_read_options(call, &settings, &model);
    if (!status) status = atn_cli_same_wisdom(call);
    if (!status) status = atn_cli_open_devices(call, devices, &count);
    if (!status) o->device_info = atn_device_get_info(devices[0]);
    for (int32_t k = 0; k < count && !status; ++k) {
        size_t at = strlen(o->device);
        snprintf(o->device + at, sizeof o->device - at, "%s%s", k ? ", " : "", atn_device_get_info(devices[k])->name);
    }
    if (!status) status = match(call, devices, count, &settings, o);
    for (int32_t k = 0; k < count; ++k) atn_device_close(devices[k]);
    if (o) {
        atn_free(call->ctx, o->label);
        atn_free(call->ctx, o->shown);
        atn_free(call->ctx, o->line);
        atn_free(call->ctx, o->composition);
        atn_free(call->ctx, o->ion);
    }
    atn_free(call->ctx, o);
    atn_cloud_free(model);
    return status;
}

const atn_cli_verb ATN_VERB_LATTICE = {
    .name = "lattice",
    .summary = "find the local crystal structure of every atom",
    .synopsis = "FRAME",
    .paragraphs =
        (const char *const[]){
            "For every atom of FRAME (POS, ePOS, APT in nm; XYZ and other clouds in Angstrom): its lattice, its "
            "orientation and the confidence. Atoms may be missing and displaced. Lengths in options are in Angstrom.",
            "Settings that are not given are estimated from a sample of the frame: lattice constants (the same volume "
            "per atom for all models), cut-off, noise, detection efficiency, background, and class frequencies. -o "
            "writes extended XYZ with the columns structure_type (0 other, 1 bcc, 2 fcc, 3 hcp, or in the order of "
            "--models), orientation (x y z w, from the crystal to the frame), confidence, rmsd, matched, value, "
            "background, phase (the number of the lattice constant, where a structure has several); a .pos file gets "
            "the structure in place of the mass.",
            "--frames: each frame of a file is one neighbourhood, its first atom the centre; repeated rows are "
            "dropped. Cut-off, noise, efficiency and background are estimated from all of them by default, from 40 "
            "frames on; constants are bcc=3.2, fcc=4.79 and hcp=3.39, or these times a factor that fits much better.",
            "mpirun -n N attune lattice: ranks share the frame, cut into slabs (docs/cluster.md). The same number of "
            "slabs gives the same result, however many ranks there are (--memory may make them smaller). Several "
            "devices share the slabs: --device cuda,host, or all. With --resume FOLDER finished slabs are kept there: "
            "the same command, repeated on any number of ranks, continues with the rest.",
            "JSON: atoms, counts (of each class), background (atoms of other on no site of the surrounding lattice), "
            "dropped, seconds, match_seconds, read_seconds, learn_seconds, write_seconds (of the slowest rank), ranks, "
            "quickest (with several ranks: match_seconds, read_seconds and learn_seconds of the fastest rank), "
            "atoms_per_second, peak_bytes, estimated_bytes (before the run; 0 with --frames), settings (constant, "
            "share, phases: [{structure, constant, share, atoms, mismatched: another lattice lies on its sites}], "
            "cutoff, noise, depth_noise, efficiency, background_neighbours: fraction of neighbours on no lattice, "
            "background: fraction of atoms on no site, gain: log-likelihood ratio to the null model in nats per atom, "
            "neighbours, rotations, estimated: false if no model fits better than chance and these are defaults), "
            "device; with --frames labels; with --profile profile (when, name, calls, seconds) and timeline "
            "(for each rank: when it began to join the others, had joined them, finished what, in seconds "
            "since it began to read; how long it had waited for others by then; parts of learning and matching); with "
            "--ranges unranged and overlaps "
            "(pairs of ranges; masses in both count for the narrower one).",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("output", "FILE", "write the atoms: .xyz or .pos", .letter = 'o'),
            ATN_OPTION("ranges", "FILE", "RRNG or RNG: mass ranges of ions, for names in -o and for B2 and L12"),
            ATN_OPTION("models", "LIST",
                       "bcc, fcc, hcp, sc, diamond, B2 and L12 (by species), a file of points; with constants: "
                       "bcc=2.87,bcc=3.3; default: bcc,fcc,hcp"),
            ATN_FLAG("frames", "each frame of the file is one neighbourhood"),
            ATN_OPTION("cutoff", "R", "neighbour radius; default: about 40 neighbours"),
            ATN_OPTION("constant", "LIST", "lattice constants: bcc=3.2,fcc=4.79; hcp: nearest-neighbour distance"),
            ATN_OPTION("noise", "S", "standard deviation of a coordinate; or LATERAL,DEPTH (along z)"),
            ATN_OPTION("efficiency", "P", "detection efficiency: fraction of atoms detected"),
            ATN_OPTION("background", "E", "background: fraction of neighbours that belong to no lattice"),
            ATN_FLAG("even", "equal prior probability for all classes"),
            ATN_FLAG("exact", "equation 1 as printed: an explicit assignment for each atom"),
            ATN_OPTION(
                "slabs", "N",
                "number of slabs; default: two to six per rank, four per device if there are several, at most 2^20 "
                "atoms each"),
            ATN_OPTION("memory", "BYTES", "memory limit, e.g. 500M: smaller slabs, more in temporary files"),
            ATN_OPTION("resume", "FOLDER",
                       "keep finished slabs there until the output is written; an interrupted run continues"),
            ATN_FLAG("profile", "show where the time goes (on the first device)"),
            ATN_OPTION("report", "FILE", "write an HTML report"),
            ATN_SERVE_OPTION,
            ATN_FLAG("drop-invalid", "drop atoms with NaN or infinite coordinates"),
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune lattice frame.pos -o out.xyz --report out.html", "a frame of an atom probe"},
                               {"attune lattice cells.xyz --frames --json", "separate neighbourhoods"},
                               {0}},
    .min_operands = 1,
    .max_operands = 1,
    .ranks = true,
    .run = run,
};
