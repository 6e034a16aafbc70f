/* attune sample atoms: a frame of an atom probe, with structure, orientation and grain of each atom. */
#include "cli/sample.h"

#include "apps/lattice/atoms.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/writer.h"
#include "cloud/elements.h"
#include "num/npy.h"

#include <math.h>
#include <string.h>

/* ---- options ---- */

/* The next word between commas, copied; false behind the last, or where it is too long. */
static bool next_word(const char **list, char word[32]) {
    size_t length = strcspn(*list, ",");
    if (length == 0 || length >= 32) return false;
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length + ((*list)[length] == ',');
    return true;
}

/* Numbers above or from `least`, between commas; 0: something is wrong. */
static size_t read_list(const char *list, double least, bool above, double *out, size_t most) {
    char word[32], *end;
    size_t count = 0;
    for (; *list; ++count) {
        if (count == most || !next_word(&list, word)) return 0;
        out[count] = atn_number_read(word, &end);
        if (end == word || *end || !isfinite(out[count]) || out[count] < least || (above && out[count] == least))
            return 0;
    }
    return count;
}

static atn_status read_lattices(atn_cli_call *call, atn_sample_atoms_settings *s) {
    const char *names = atn_cli_value(call, "lattice"), *constants = atn_cli_value(call, "constant"), *at;
    char word[32];
    for (at = names ? names : "bcc"; *at && s->lattices < ATOMS_LATTICES && next_word(&at, word); ++s->lattices) {
        crystal_structure k = CRYSTAL_BCC;
        while (k < CRYSTAL_STRUCTURES && strcmp(word, crystal_name(k)) != 0) ++k;
        if (k == CRYSTAL_STRUCTURES) break;
        s->lattice[s->lattices] = k;
        s->constant[s->lattices] = crystal_usual(k);
    }
    if (*at || s->lattices == 0)
        return atn_cli_misuse(call,
                              "--lattice cannot be '%s'; it takes bcc, fcc, hcp, sc, diamond, planes, gas and packing, "
                              "with commas between",
                              names);
    if (constants && read_list(constants, 0, true, s->constant, s->lattices) != s->lattices)
        return atn_cli_misuse(call, "--constant cannot be '%s'; it takes a length above 0 for each lattice", constants);
    return ATN_OK;
}

/* "Al:0.2": the shares are made to add up to 1. */
static bool read_one_species(const char *word, atn_sample_species *out) {
    size_t length = strcspn(word, ":");
    char *end;
    if (length == 0 || length >= sizeof out->name) return false;
    memcpy(out->name, word, length);
    out->name[length] = '\0';
    out->mass = element_weight(element_number(out->name));
    out->share = 1;
    if (word[length]) {
        out->share = atn_number_read(word + length + 1, &end);
        if (end == word + length + 1 || *end) return false;
    }
    return out->mass > 0 && out->share > 0 && isfinite(out->share);
}

static atn_status read_species(atn_cli_call *call, atn_sample_atoms_settings *s) {
    const char *list = atn_cli_value(call, "species"), *at = list ? list : "Al,Co,Cr,Fe,Ni";
    char word[32];
    double total = 0;
    bool good = *at;
    while (good && *at) {
        good =
            s->n_species < ATOMS_SPECIES && next_word(&at, word) && read_one_species(word, &s->species[s->n_species]);
        for (size_t k = 0; good && k < s->n_species; ++k)
            good = strcmp(s->species[k].name, s->species[s->n_species].name) != 0;
        if (good) total += s->species[s->n_species++].share;
    }
    if (!good)
        return atn_cli_misuse(call,
                              "--species cannot be '%s'; it takes elements up to U, each once, with shares: "
                              "Al:0.2,Ni:0.8",
                              list);
    for (size_t k = 0; k < s->n_species; ++k) s->species[k].share /= total;
    return ATN_OK;
}

static atn_status read_noise(atn_cli_call *call, atn_sample_atoms_settings *s) {
    const char *text = atn_cli_value(call, "noise");
    double noise[2] = {0.2};
    size_t count = text ? read_list(text, 0, false, noise, 2) : 1;
    if (count == 0)
        return atn_cli_misuse(call,
                              "--noise cannot be '%s'; it takes angstrom from 0, or those sideways and in depth: "
                              "0.5,0.2",
                              text);
    s->lateral = noise[0];
    s->depth = noise[count - 1];
    return ATN_OK;
}

static atn_status read_options(atn_cli_call *call, atn_sample_atoms_settings *s) {
    double size, grains, missing;
    atn_status status = atn_cli_read_whole(call, "size", 1, 100000, &size);
    if (!status) status = atn_cli_read_whole(call, "grains", 1, 2, &grains);
    if (!status) status = atn_cli_read_number(call, "efficiency", 0.01, 1, 0.6, &s->efficiency);
    if (!status) status = atn_cli_read_number(call, "missing", 0, 0.99, 1 - s->efficiency, &missing);
    if (!status) status = atn_cli_read_number(call, "background", 0, 0.99, 0, &s->background);
    if (!status) status = read_lattices(call, s);
    if (!status) status = read_noise(call, s);
    if (!status) status = read_species(call, s);
    if (status) return status;
    if (atn_cli_has(call, "missing") && atn_cli_has(call, "efficiency"))
        return atn_cli_misuse(call, "--missing is 1 - --efficiency; one of them is enough");
    if (atn_cli_has(call, "missing")) s->efficiency = 1 - missing;
    if (grains > 4096) return atn_cli_misuse(call, "--grains takes up to 4096");
    s->size = (size_t)size;
    s->grains = (size_t)grains;
    return ATN_OK;
}

/* ---- files ---- */

enum { FRAME, LABELS, QUATERNIONS, GRAINS, BOUNDARY, FILES, PIECE = 4096 };

static const struct {
    const char *name;
    atn_type type; /* of an array; NONE: it is none */
    int32_t columns;
} FILE_KINDS[FILES] = {{"frame.pos", ATN_TYPE_NONE, 4},
                       {"labels.npy", ATN_U8, 1},
                       {"quaternions.npy", ATN_SP, 4},
                       {"grains.npy", ATN_INT32, 1},
                       {"boundary.npy", ATN_SP, 1}};

static atn_status open_files(const atn_cli_sample *sample, size_t size, atn_writer *writer[FILES]) {
    const atn_ctx *ctx = sample->call->ctx;
    atn_status status = ATN_OK;
    for (int k = 0; !status && k < FILES; ++k) {
        char *path = atn_cli_sample_path(sample, FILE_KINDS[k].name), head[ATN_NPY_HEAD];
        bool matrix = FILE_KINDS[k].columns > 1;
        atn_view view = {.type = FILE_KINDS[k].type, .rank = matrix ? 2 : 1};
        view.size[0] = matrix ? FILE_KINDS[k].columns : (int64_t)size;
        view.size[1] = (int64_t)size;
        status = path ? atn_writer_open(ctx, path, &writer[k]) : ATN_ERR_MEMORY;
        if (!status && k != FRAME) status = atn_writer_add(writer[k], head, atn_npy_head(&view, head));
        atn_free(ctx, path);
    }
    return status;
}

static void put_big(unsigned char *to, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int k = 0; k < 4; ++k) to[k] = (unsigned char)(bits >> (24 - 8 * k) & 255);
}

static atn_status write_atom(atn_writer *const writer[FILES], const crystal *c, const atn_sample_atom *atom) {
    const crystal_grain *grain = atom->grain < 0 ? NULL : &c->grain[atom->grain];
    unsigned char record[16], label = (unsigned char)(grain ? crystal_label(grain->structure) : CRYSTAL_OTHER);
    float quaternion[4] = {1};
    for (int d = 0; d < 3; ++d) put_big(record + 4 * d, atom->position[d]);
    put_big(record + 12, atom->mass);
    for (int k = 0; grain && k < 4; ++k) quaternion[k] = (float)grain->quaternion[k];
    atn_status status = atn_writer_add(writer[FRAME], record, sizeof record);
    if (!status) status = atn_writer_add(writer[LABELS], &label, 1);
    if (!status) status = atn_writer_add(writer[QUATERNIONS], quaternion, sizeof quaternion);
    if (!status) status = atn_writer_add(writer[GRAINS], &atom->grain, sizeof atom->grain);
    return status ? status : atn_writer_add(writer[BOUNDARY], &atom->boundary, sizeof atom->boundary);
}

static atn_status write_atoms(const atn_cli_sample *sample, atn_sample_atoms *atoms, size_t size) {
    const atn_ctx *ctx = sample->call->ctx;
    atn_writer *writer[FILES] = {0};
    atn_sample_atom *rows = atn_alloc(ctx, PIECE * sizeof *rows);
    atn_status status = rows ? open_files(sample, size, writer) : ATN_ERR_MEMORY;
    for (size_t got = 1; !status && got;) {
        status = atn_sample_atoms_next(atoms, PIECE, rows, &got);
        for (size_t k = 0; !status && k < got; ++k)
            status = write_atom(writer, atn_sample_atoms_crystal(atoms), &rows[k]);
    }
    for (int k = 0; !status && k < FILES; ++k) status = atn_writer_finish(writer[k]);
    for (int k = 0; k < FILES; ++k) atn_writer_free(writer[k]);
    atn_free(ctx, rows);
    return status;
}

static atn_status write_ranges(const atn_cli_sample *sample, const atn_sample_atoms_settings *s) {
    static const uint32_t colours[] = {0x33ffff, 0x3366ff, 0xff33cc, 0xff00ff, 0x00cc33, 0xff9900, 0xcccccc, 0x996633};
    const atn_ctx *ctx = sample->call->ctx;
    atn_text text = {.ctx = ctx};
    atn_text_printf(&text, "[Ions]\nNumber=%zu\n", s->n_species);
    for (size_t k = 0; k < s->n_species; ++k) atn_text_printf(&text, "Ion%zu=%s\n", k + 1, s->species[k].name);
    atn_text_printf(&text, "[Ranges]\nNumber=%zu\n", s->n_species);
    for (size_t k = 0; k < s->n_species; ++k) {
        long low = lround((s->species[k].mass - ATOMS_RANGE) * 1e4),
             high = lround((s->species[k].mass + ATOMS_RANGE) * 1e4);
        atn_text_printf(&text, "Range%zu=%ld.%04ld %ld.%04ld Vol:0 %s:1 Color:%06X\n", k + 1, low / 10000, low % 10000,
                        high / 10000, high % 10000, s->species[k].name,
                        (unsigned)colours[k % (sizeof colours / sizeof *colours)]);
    }
    char *path = atn_cli_sample_path(sample, "ranges.rrng");
    atn_status status = path ? atn_text_status(&text) : ATN_ERR_MEMORY;
    if (!status) status = atn_file_write(ctx, path, text.data, text.length);
    atn_free(ctx, path);
    atn_text_free(&text);
    return status;
}

/* ---- the truth ---- */

static json_t *numbers(const double *value, size_t count, double factor) {
    json_t *list = json_array();
    for (size_t k = 0; list && k < count; ++k)
        if (json_array_append_new(list, json_real(factor * value[k])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *grains_json(const crystal *c) {
    json_t *list = json_array();
    bool good = list;
    for (size_t k = 0; good && k < c->grains; ++k) {
        const crystal_grain *g = &c->grain[k];
        json_t *one = json_object();
        good = json_object_set_new(one, "lattice", json_string(crystal_name(g->structure))) == 0 &&
               json_object_set_new(one, "a", json_real(g->a)) == 0 &&
               json_object_set_new(one, "centre_nm", numbers(g->centre, 3, c->side / 10)) == 0 &&
               json_object_set_new(one, "quaternion", numbers(g->quaternion, 4, 1)) == 0;
        good = json_array_append_new(list, one) == 0 && good;
    }
    return atn_cli_json_if(good, list);
}

static json_t *species_json(const atn_sample_atoms_settings *s) {
    json_t *list = json_object();
    for (size_t k = 0; list && k < s->n_species; ++k)
        if (json_object_set_new(list, s->species[k].name, json_real(s->species[k].share)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static atn_status tell(const atn_cli_sample *sample, const atn_sample_atoms_settings *s,
                       const atn_sample_atoms *atoms) {
    const crystal *c = atn_sample_atoms_crystal(atoms);
    const double noise[2] = {s->lateral, s->depth}, box[3] = {c->side, c->side, c->height};
    char names[ATOMS_LATTICES * 8] = "";
    for (size_t k = 0, at = 0; k < s->lattices; ++k)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", k ? "," : "", crystal_name(s->lattice[k]));
    json_t *root = sample->truth;
    bool good =
        json_object_set_new(root, "lattice", json_string(names)) == 0 &&
        json_object_set_new(root, "a",
                            s->lattices == 1 ? json_real(s->constant[0]) : numbers(s->constant, s->lattices, 1)) == 0 &&
        json_object_set_new(root, "noise", s->lateral == s->depth ? json_real(s->lateral) : numbers(noise, 2, 1)) ==
            0 &&
        json_object_set_new(root, "efficiency", json_real(s->efficiency)) == 0 &&
        json_object_set_new(root, "background", json_real(s->background)) == 0 &&
        json_object_set_new(root, "species", species_json(s)) == 0 &&
        json_object_set_new(root, "atoms", json_integer((json_int_t)s->size)) == 0 &&
        json_object_set_new(root, "sites", json_integer((json_int_t)atn_sample_atoms_sites(atoms))) == 0 &&
        json_object_set_new(root, "box_nm", numbers(box, 3, 0.1)) == 0 &&
        json_object_set_new(root, "unit", json_string("frame.pos in nm; a, noise and boundary in angstrom")) == 0 &&
        json_object_set_new(root, "seed", json_integer((json_int_t)s->seed)) == 0 &&
        json_object_set_new(root, "grains", grains_json(c)) == 0;
    return good ? ATN_OK : atn_fail_memory(sample->call->ctx, 0, "truth.json");
}

static void show_progress(void *user, double done) { atn_cli_show_share(user, "placing atoms", done); }

atn_status atn_cli_sample_atoms(atn_cli_sample *sample) {
    atn_cli_call *call = sample->call;
    atn_sample_atoms_settings settings = {.seed = sample->seed};
    atn_sample_atoms *atoms = NULL;
    atn_status status = read_options(call, &settings);
    if (!status) status = atn_cli_sample_begin(sample);
    if (!status) status = atn_sample_atoms_make(call->ctx, &settings, show_progress, call, &atoms);
    if (!status) status = write_atoms(sample, atoms, settings.size);
    if (!status) status = write_ranges(sample, &settings);
    if (!status) status = tell(sample, &settings, atoms);
    atn_sample_atoms_free(atoms);
    atn_cli_progress_end(call);
    if (!status && !call->json)
        fprintf(call->out,
                "%s/frame.pos: %zu atoms\n%s: labels.npy, quaternions.npy, grains.npy, boundary.npy, ranges.rrng\n",
                sample->folder, settings.size, sample->folder);
    return status;
}
