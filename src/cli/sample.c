/* attune sample: synthetic data with ground truth. Subjects are rows of a table. */
#include "cli/sample.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

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
        return atn_cli_misuse(call, "there is no sample '%s'; did you mean '%s'?", call->operands[0], suggest.best);
    return atn_cli_misuse(call, "there is no sample '%s'; there are %s", call->operands[0], names);
}

static atn_status run(atn_cli_call *call) {
    atn_cli_sample sample = {.call = call, .folder = atn_cli_value(call, "output")};
    double seed;
    size_t k = 0;
    while (k < N_SUBJECTS && strcmp(SUBJECTS[k].name, call->operands[0]) != 0) ++k;
    if (k == N_SUBJECTS) return unknown_subject(call);
    if (!sample.folder || !*sample.folder) return atn_cli_misuse(call, "the output folder is missing: -o DIR");
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

const atn_cli_verb ATN_VERB_SAMPLE = {
    .name = "sample",
    .summary = "generate synthetic data with ground truth",
    .synopsis = "scans|needle|fringes|atoms",
    .paragraphs =
        (const char *const[]){
            "Writes files into a folder, which is created if necessary, and truth.json with the ground truth. The same "
            "seed gives the same bytes. Existing files are replaced.",
            "scans: source.ply and target.ply, two scans of an irregular object of radius 1 from two sides, for attune "
            "register. Each has what its scanner sees, denser at normal incidence, with noise along the rays and 2 % "
            "outliers; the source is in another pose.",
            "truth.json of scans, also printed with --json: transform (4 x 4, row-major, target = T source), overlap "
            "(fraction of source points that are visible in the target), noise, outliers, turn_deg, seed, size.",
            "scans --views N: scan00.ply, scan01.ply and on, N scans of one object from all sides, each in its own "
            "pose, for multiway registration; --distractor adds one of another object, the last. truth.json of these: "
            "poses: [{file, transform (object = T scan), distractor}], noise, outliers, seed, size.",
            "needle: model.stl and model.ply, a bevelled needle with its axis along z and its tip at z = 0, and scan, "
            "a folder of its B-scans as from an OCT scanner, with volume.json, for attune needle. Lengths are mm; the "
            "cube is 2.7 x 2.4 x 3. Metal is bright, most at normal incidence, and casts a shadow; a retina lies "
            "below; there is speckle and a noise floor. At roll 0 the bevel faces the scanner.",
            "truth.json of needle: transform (scan = T model), tip_model, tip_scan, roll_deg, shift (z of the tip in "
            "the scan), tilt_deg, needle (present or not), from, spacing, unit, shape, gauge, diameter, lumen, "
            "bevel_deg, bevel_length, bend, bevel_visible (completely in the scan, incidence at most 75 degrees), "
            "bevel_incidence_deg, tip_in_scan, clearance (distance to the tissue), noise, missing (indices of black "
            "scans), seed; with --frames this describes the first frame, and frames has name, transform, tip_scan, "
            "roll_deg and shift of each.",
            "fringes: wrapped.npy (radians, with noise), truth.npy (the phase), mask.npy (1 where valid) and frames/ "
            "(camera frames of the stepped phase, 8-bit PNG), for attune unwrap. Surfaces: peaks, tilt "
            "and zernike are smooth; steps are terraces; shear has a cut that ends inside the image, hence residues.",
            "truth.json of fringes: surface, shape, wavelength (m), noise, hidden (fraction of masked pixels), "
            "turns, steps, steps_deg, amplitude, precision, seed.",
            "atoms: frame.pos, a frame of an atom probe for attune lattice: a cube of crystal grains (Voronoi cells "
            "with random orientations) with missing atoms and noise, in random order. Positions in frame.pos are nm; "
            "constants and noise are given in angstrom. Beside it, a row for each atom: labels.npy (0 none, 1 bcc, 2 "
            "fcc, 3 hcp, 4 sc, 5 diamond; 0 of planes, gas and packing), quaternions.npy (w x y z, rotation from the "
            "crystal to the frame; hcp has a along x and c along z), grains.npy (-1: background) and boundary.npy "
            "(angstrom from its site to the next grain, infinite without one, 0 for background); and ranges.rrng, the "
            "mass ranges of elements.",
            "truth.json of atoms: lattice, a, noise (one number, or lateral and depth), efficiency, background, "
            "species, atoms, sites (detected or not), box_nm, unit, seed, grains: [{lattice, a, centre_nm, "
            "quaternion}].",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("output", "DIR", "output folder", .letter = 'o'),
            ATN_OPTION("size", "N|SIZES",
                       "scans: points of each; default: 10000. needle: SCANSxROWSxCOLUMNS; default: 128x1024x512. "
                       "fringes: rows x columns; default: 512x512. atoms: detected atoms; default: 100000"),
            ATN_OPTION("seed", "S", "random seed; default: 0"),
            ATN_OPTION("noise", "SIGMA",
                       "scans: standard deviation along the rays; default: 0.002. needle: 0 to 4; default: 1, as of "
                       "real scanners. fringes: standard deviation of the phase in radians; default: 0. atoms: "
                       "angstrom; default: 0.2; or lateral and depth: 0.5,0.2"),
            ATN_OPTION("lattice", "LIST",
                       "atoms: bcc, fcc, hcp, sc, diamond, planes (of square grids), gas, packing (of hard spheres); "
                       "assigned to grains in turn: bcc,fcc",
                       .only = "atoms"),
            ATN_OPTION("constant", "LIST",
                       "atoms: lattice constant a of each; 3.2 for bcc, 4.794 for fcc, 3.39 for hcp, 2.8 for sc, 5.431 "
                       "for diamond by default; of a gas the cube root of the volume per atom, 2.54, of a packing the "
                       "diameter, 2.5",
                       .only = "atoms"),
            ATN_OPTION("grains", "N", "atoms: up to 4096; default: 2", .only = "atoms"),
            ATN_OPTION("efficiency", "F", "atoms: fraction detected; default: 0.6", .only = "atoms"),
            ATN_OPTION("background", "F", "atoms: fraction of background atoms; default: 0", .only = "atoms"),
            ATN_OPTION("species", "LIST",
                       "atoms: elements and their fractions; default: Al:0.2,Co:0.2,Cr:0.2,Fe:0.2,Ni:0.2",
                       .only = "atoms"),
            ATN_OPTION("views", "N", "scans: N of one object from all sides, instead of two", .only = "scans"),
            ATN_FLAG("distractor", "scans: with --views, one more scan, of another object", .only = "scans"),
            ATN_OPTION("overlap", "F", "scans: from 0.1 to 1; default: 0.65", .only = "scans"),
            ATN_OPTION("turn", "DEG|any",
                       "scans: rotation between source and target, with a matching translation; default: any",
                       .only = "scans"),
            ATN_OPTION("gauge", "G", "needle: gauge, 20 to 34; default: 25", .only = "needle"),
            ATN_OPTION("bevel", "DEG", "needle: bevel angle to the axis, 5 to 89; default: 22", .only = "needle"),
            ATN_OPTION("bend", "MM", "needle: bending radius of the shaft behind the bevel, from 5; default: straight",
                       .only = "needle"),
            ATN_OPTION("tilt", "DEG", "needle: largest tilt of the axis about x and y, 0 to 30; default: 15",
                       .only = "needle"),
            ATN_OPTION("roll", "DEG|any", "needle: largest roll to either side; default: 45", .only = "needle"),
            ATN_OPTION("from", "low|high", "needle: its tip points to the first or the last scans; default: low",
                       .only = "needle"),
            ATN_OPTION("missing", "F",
                       "needle: fraction of black scans, 0 to 0.9; default: 0. atoms: fraction not detected, instead "
                       "of --efficiency",
                       .only = "needle, atoms"),
            ATN_FLAG("no-tissue", "needle: no tissue", .only = "needle"),
            ATN_FLAG("no-needle", "needle: tissue only, for negative tests", .only = "needle"),
            ATN_OPTION("frames", "N", "needle: N volumes of a moving needle, frames/0000 and so on instead of scan",
                       .only = "needle"),
            ATN_OPTION("surface", "peaks|tilt|zernike|steps|shear", "fringes: default: peaks", .only = "fringes"),
            ATN_OPTION("turns", "T",
                       "fringes: height of the surface in multiples of 2 pi; default: 6, less for small images",
                       .only = "fringes"),
            ATN_OPTION("mask", "F", "fringes: fraction of masked pixels; default: 0", .only = "fringes"),
            ATN_OPTION("steps", "N", "fringes: camera frames, 3 to 64; default: 4", .only = "fringes"),
            ATN_OPTION("wavelength", "M", "fringes: in metres; default: 632.8e-9", .only = "fringes"),
            ATN_OPTION("precision", "32|64", "fringes: bits of wrapped.npy and truth.npy; default: 32",
                       .only = "fringes"),
            {0}},
    .examples =
        (const atn_cli_pair[]){
            {"attune sample scans -o data", "two scans of 10,000 points in unknown pose"},
            {"attune sample scans -o data --size 1000000 --turn 20 --seed 7", "larger, and roughly aligned"},
            {"attune sample needle -o data --seed 3", "a needle and OCT scans of it"},
            {"attune sample fringes -o data --surface shear --noise 0.3 --mask 0.1", "a difficult case"},
            {"attune sample atoms -o frame --size 1000000", "bcc, two grains, 40 % missing"},
            {"attune sample atoms -o frame --lattice bcc,fcc --grains 8 --noise 0.5,0.2",
             "two lattices, sharper in depth"},
            {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
