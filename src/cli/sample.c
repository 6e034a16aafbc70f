/* attune sample: synthetic data with the truth beside it. Subjects are rows of a table. */
#include "cli/sample.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *name;
    atn_status (*run)(atn_cli_sample *sample);
} SUBJECTS[] = {
    {"scans", atn_cli_sample_scans},
    {"needle", atn_cli_sample_needle},
    {"fringes", atn_cli_sample_fringes},
    {"atoms", atn_cli_sample_atoms},
};
enum { N_SUBJECTS = sizeof SUBJECTS / sizeof *SUBJECTS };

char *atn_cli_sample_path(const atn_cli_sample *sample, const char *name) {
    atn_text path = {.ctx = sample->call->ctx};
    atn_text_printf(&path, "%s/%s", sample->folder, name);
    if (path.failed) {
        atn_text_free(&path);
        return NULL;
    }
    return path.data; /* the text's, now the caller's */
}

/* The folder and those above it. */
static atn_status make_folder(const atn_ctx *ctx, const char *folder) {
    char *path = atn_strdup(ctx, folder);
    struct stat info;
    if (!path) return ATN_ERR_MEMORY;
    int error = 0;
    for (char *end = path; *end && !error;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        char held = *end;
        *end = '\0';
        if (mkdir(path, 0777) != 0 && !(stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
            error = errno == EEXIST ? ENOTDIR : errno;
        *end = held;
    }
    atn_free(ctx, path);
    return error ? atn_fail(ctx, ATN_ERR_IO, "%s: cannot be made a folder: %s", folder, strerror(error)) : ATN_OK;
}

static atn_status write_truth(const atn_cli_sample *sample) {
    const atn_ctx *ctx = sample->call->ctx;
    char *path = atn_cli_sample_path(sample, "truth.json");
    atn_text text = {.ctx = ctx};
    atn_status status = path ? atn_cli_json_add(&text, sample->truth) : ATN_ERR_MEMORY;
    if (!status) status = atn_file_write(ctx, path, atn_text_str(&text), text.length);
    atn_text_free(&text);
    atn_free(ctx, path);
    return status;
}

static atn_status unknown_subject(atn_cli_call *call) {
    atn_suggest suggest = {.typed = call->operands[0]};
    char names[128] = "";
    for (size_t k = 0, at = 0; k < N_SUBJECTS && at < sizeof names; ++k) {
        atn_suggest_try(&suggest, SUBJECTS[k].name);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", k ? ", " : "", SUBJECTS[k].name);
    }
    if (suggest.best)
        return atn_cli_misuse(call, "there is no sample of '%s'; did you mean '%s'?", call->operands[0], suggest.best);
    return atn_cli_misuse(call, "there is no sample of '%s'; there is: %s", call->operands[0], names);
}

static atn_status run(atn_cli_call *call) {
    atn_cli_sample sample = {.call = call, .folder = atn_cli_value(call, "output")};
    double seed;
    size_t k = 0;
    while (k < N_SUBJECTS && strcmp(SUBJECTS[k].name, call->operands[0]) != 0) ++k;
    if (k == N_SUBJECTS) return unknown_subject(call);
    if (!sample.folder || !*sample.folder) return atn_cli_misuse(call, "where to is missing: -o DIR");
    atn_status status = atn_cli_read_whole(call, "seed", 0, 0, &seed);
    if (status) return status;
    sample.seed = (uint64_t)seed;
    sample.truth = json_object();
    status = SUBJECTS[k].run(&sample);
    atn_cli_progress_end(call);
    if (!status) status = write_truth(&sample);
    if (!status && call->json) {
        json_object_set_new(sample.truth, "folder", atn_cli_json_text(call->ctx, sample.folder));
        status = atn_cli_print_json(call, json_incref(sample.truth));
    }
    if (!status && !call->json) fprintf(call->out, "%s/truth.json: what is true of them\n", sample.folder);
    json_decref(sample.truth);
    return status;
}

atn_status atn_cli_sample_begin(const atn_cli_sample *sample) { return make_folder(sample->call->ctx, sample->folder); }

atn_status atn_cli_sample_inside(const atn_cli_sample *sample, const char *name, char **path) {
    const atn_ctx *ctx = sample->call->ctx;
    *path = atn_cli_sample_path(sample, name);
    atn_status status = *path ? make_folder(ctx, *path) : ATN_ERR_MEMORY;
    if (status == ATN_OK) return ATN_OK;
    atn_free(ctx, *path);
    *path = NULL;
    return status;
}

atn_status atn_cli_sample_folder(const atn_cli_sample *sample, const char *name) {
    char *path = NULL;
    atn_status status = atn_cli_sample_inside(sample, name, &path);
    atn_free(sample->call->ctx, path);
    return status;
}

const atn_cli_verb ATN_VERB_SAMPLE = {
    .name = "sample",
    .summary = "make synthetic data, with the truth beside it",
    .synopsis = "scans|needle|fringes|atoms",
    .paragraphs =
        (const char *const[]){
            "Writes files into a folder, which is made where it is missing, and truth.json with what is true of them. "
            "The same seed gives the same bytes. Files of the same names are replaced.",
            "scans: source.ply and target.ply, two scans of one lumpy thing of radius 1 from two sides, for attune "
            "register. Each shows what its scanner sees, denser where it looks at the surface squarely, with noise "
            "along the rays and 2 % of points that belong to nothing; the source lies in a pose of its own.",
            "truth.json of scans, also printed with --json: transform (4 x 4, row-major, target = T source), overlap "
            "(share of the source's points that the target shows too), noise, outliers, turn_deg, seed, size.",
            "scans --views N: scan00.ply, scan01.ply and on, N scans of one thing from all sides, each in a pose of "
            "its "
            "own, for attune register of many; --stranger adds one of another thing, the last. truth.json of these: "
            "poses: [{file, transform (thing = T scan), stranger}], noise, outliers, seed, size.",
            "needle: model.stl and model.ply, a bevelled needle with its axis along z and its tip at z = 0, and scan, "
            "a "
            "folder of B-scans as an OCT scanner gives them of it, with volume.json, for attune needle. Lengths are "
            "mm; "
            "the cube is 2.7 x 2.4 x 3. Metal shines, most where the beam meets it squarely, and throws a shadow; "
            "below "
            "lies a retina; there is speckle and a noise floor. At roll 0 the bevel looks at the scanner.",
            "truth.json of needle: transform (scan = T model), tip_model, tip_scan, roll_deg, shift (z of the tip in "
            "the "
            "scan), tilt_deg, needle (is it there?), from, spacing, unit, shape, gauge, diameter, lumen, bevel_deg, "
            "bevel_length, bend, "
            "bevel_visible (all of it in the scan, met at 75 degrees or less), bevel_incidence_deg, tip_in_scan, "
            "clearance (to the tissue), noise, missing (numbers of the scans that are black), seed; with --frames "
            "this is of the first, and frames has name, transform, tip_scan, roll_deg and shift of each.",
            "fringes: wrapped.npy (radians, with noise), truth.npy (the phase), mask.npy (1 where valid) and frames/ "
            "(what a camera sees while the phase is stepped, PNG of 8 bits), for attune unwrap. Surfaces: peaks, tilt "
            "and zernike are smooth; steps are terraces; shear has a cut that ends inside, and so residues.",
            "truth.json of fringes: surface, shape, wavelength (m), noise, hidden (share of pixels under the mask), "
            "turns, steps, steps_deg, amplitude, precision, seed.",
            "atoms: frame.pos, a frame of an atom probe for attune lattice: a cube of crystal grains (Voronoi cells, "
            "each "
            "turned its own way) of which some atoms are missing, with noise, in any order. Positions in frame.pos are "
            "nm; "
            "constants and noise are given in angstrom. Beside it, a row for each atom: labels.npy (0 none, 1 bcc, 2 "
            "fcc, 3 hcp, 4 sc, 5 diamond; 0 of planes, gas and packing), quaternions.npy (w x y z, turns the "
            "crystal into the frame; hcp has a along x and c along z), "
            "grains.npy (-1: a stranger) and boundary.npy (angstrom from its site to the next grain, infinite without "
            "one, 0 of strangers); and ranges.rrng, which masses are which element.",
            "truth.json of atoms: lattice, a, noise (one number, or sideways and in depth), efficiency, strangers, "
            "species, "
            "atoms, sites (detected or not), box_nm, unit, seed, grains: [{lattice, a, centre_nm, quaternion}].",
            NULL},
    .options =
        (const atn_cli_option[]){
            {.name = "output", .letter = 'o', .value = "DIR", .meaning = "the folder to write into"},
            {.name = "size",
             .value = "N|SIZES",
             .meaning =
                 "scans: points of each; 10000 unless given. needle: SCANSxROWSxCOLUMNS; 128x1024x512 unless "
                 "given. fringes: rows x columns; 512x512 unless given. atoms: detected ones; 100000 unless given"},
            {.name = "seed", .value = "S", .meaning = "another thing, other views, another pose; 0 unless given"},
            {.name = "noise",
             .value = "SIGMA",
             .meaning = "scans: deviation along the rays; 0.002 unless given. needle: 0 to 4; 1, as scanners have it, "
                        "unless given. fringes: deviation of the phase in radians; 0 "
                        "unless given. atoms: angstrom; 0.2 unless given, or sideways and in depth: 0.5,0.2"},
            {.name = "lattice",
             .value = "LIST",
             .meaning = "atoms: bcc, fcc, hcp, sc, diamond, planes (of square grids), gas, packing (of hard spheres); "
                        "grains have them in turn: "
                        "bcc,fcc"},
            {.name = "constant",
             .value = "LIST",
             .meaning =
                 "atoms: lattice constant a of each; 3.2 for bcc, 4.794 for fcc, 3.39 for hcp, 2.8 for sc, 5.431 for "
                 "diamond "
                 "unless given; of a gas the cube root of an atom's volume, 2.54, of a packing the diameter, 2.5"},
            {.name = "grains", .value = "N", .meaning = "atoms: up to 4096; 2 unless given"},
            {.name = "efficiency", .value = "F", .meaning = "atoms: share that is detected; 0.6 unless given"},
            {.name = "strangers", .value = "F", .meaning = "atoms: share that is on no site; 0 unless given"},
            {.name = "species",
             .value = "LIST",
             .meaning = "atoms: elements and their shares; Al:0.2,Co:0.2,Cr:0.2,Fe:0.2,Ni:0.2 unless given"},
            {.name = "views", .value = "N", .meaning = "scans: so many of one thing from all sides, instead of two"},
            {.name = "stranger", .meaning = "scans: with --views, one more of another thing"},
            {.name = "overlap", .value = "F", .meaning = "scans: from 0.1 to 1; 0.65 unless given"},
            {.name = "turn",
             .value = "DEG|any",
             .meaning = "scans: angle between source and target, and a shift that suits it; any unless given"},
            {.name = "gauge", .value = "G", .meaning = "needle: its thickness, 20 to 34; 25 unless given"},
            {.name = "bevel", .value = "DEG", .meaning = "needle: between axis and cut, 5 to 89; 22 unless given"},
            {.name = "bend",
             .value = "MM",
             .meaning = "needle: radius of the shaft behind the bevel, from 5; else straight"},
            {.name = "tilt",
             .value = "DEG",
             .meaning = "needle: of the axis about x and y at most, 0 to 30; 15 unless given"},
            {.name = "roll", .value = "DEG|any", .meaning = "needle: to either side at most; 45 unless given"},
            {.name = "from",
             .value = "low|high",
             .meaning = "needle: where its tip is, towards the first or the last scans; low unless given"},
            {.name = "missing",
             .value = "F",
             .meaning = "needle: share of scans that are black, 0 to 0.9; 0 unless given. atoms: share that is not "
                        "detected, instead of --efficiency"},
            {.name = "no-tissue", .meaning = "needle: nothing below it"},
            {.name = "no-needle", .meaning = "needle: only what is below it, as scans that must not find one"},
            {.name = "frames",
             .value = "N",
             .meaning = "needle: so many volumes of one that sways, frames/0000 and on instead of scan"},
            {.name = "surface",
             .value = "peaks|tilt|zernike|steps|shear",
             .meaning = "fringes: of what; peaks unless given"},
            {.name = "turns",
             .value = "T",
             .meaning = "fringes: from the lowest to the highest; 6 unless given, fewer where the image is small"},
            {.name = "mask", .value = "F", .meaning = "fringes: share of the pixels that are hidden; 0 unless given"},
            {.name = "steps", .value = "N", .meaning = "fringes: frames of the camera, 3 to 64; 4 unless given"},
            {.name = "wavelength", .value = "M", .meaning = "fringes: in metres; 632.8e-9 unless given"},
            {.name = "precision",
             .value = "32|64",
             .meaning = "fringes: of wrapped.npy and truth.npy; 32 unless given"},
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune sample scans -o data", "two scans of 10,000 points in any pose"},
                               {"attune sample scans -o data --size 1000000 --turn 20 --seed 7", "larger, and nearer"},
                               {"attune sample needle -o data --seed 3", "a needle and its OCT scans"},
                               {"attune sample fringes -o data --surface shear --noise 0.3 --mask 0.1", "not easy"},
                               {"attune sample atoms -o frame --size 1000000", "bcc, two grains, 40 % missing"},
                               {"attune sample atoms -o frame --lattice bcc,fcc --grains 8 --noise 0.5,0.2",
                                "two lattices, sharper in depth"},
                               {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
