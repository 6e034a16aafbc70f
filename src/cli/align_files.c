/* Files of attune register with many scans: which are read, the truth, what is written. */
#include "cli/align.h"

#include "base/file.h"
#include "base/memory.h"
#include "cloud/formats.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONGEST = 1 << 26 };

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ---- which files ---- */

typedef struct listing {
    const atn_ctx *ctx;
    char **paths;
    size_t count, capacity;
} listing;

static atn_status add(listing *l, const char *folder, const char *name) {
    void *paths = l->paths;
    atn_status status = atn_grow(l->ctx, &paths, &l->capacity, l->count, sizeof *l->paths);
    l->paths = paths;
    if (status) return status;
    atn_text path = {.ctx = l->ctx};
    size_t length = folder ? strlen(folder) : 0;
    if (folder) atn_text_printf(&path, "%s%s", folder, length && folder[length - 1] == '/' ? "" : "/");
    atn_text_add(&path, name);
    if (path.failed) {
        atn_text_free(&path);
        return ATN_ERR_MEMORY;
    }
    l->paths[l->count++] = path.data;
    return ATN_OK;
}

/* Numbers in names count as numbers: scan2 is before scan10. */
static int by_name(const void *left, const void *right) {
    return strverscmp(*(char *const *)left, *(char *const *)right);
}

static bool is_same(const char *folder, const char *name, const struct stat *other) {
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 && info.st_dev == other->st_dev && info.st_ino == other->st_ino;
}

/* Every file with an extension of a point format, except the output, which may exist from the previous run. */
static atn_status add_folder(listing *l, const char *folder, const char *output) {
    DIR *open = opendir(folder);
    if (!open) return atn_fail(l->ctx, ATN_ERR_IO, "%s: %s", folder, strerror(errno));
    size_t first = l->count;
    struct stat written;
    bool known = output && stat(output, &written) == 0;
    atn_status status = ATN_OK;
    for (const struct dirent *entry; !status && (entry = readdir(open));) {
        if (entry->d_name[0] == '.' || !cloud_format_of(entry->d_name, "", 0)) continue;
        if (!known || !is_same(folder, entry->d_name, &written)) status = add(l, folder, entry->d_name);
    }
    closedir(open);
    if (!status && l->count == first)
        status = atn_fail(l->ctx, ATN_ERR_INPUT, "%s: no point clouds in this folder", folder);
    if (!status && l->paths) qsort(l->paths + first, l->count - first, sizeof *l->paths, by_name);
    return status;
}

atn_status atn_cli_align_list(atn_cli_call *call, char ***paths, size_t *count) {
    listing l = {.ctx = call->ctx};
    atn_status status = ATN_OK;
    for (size_t k = 0; k < call->n_operands && !status; ++k) {
        const char *name = call->operands[k];
        status = is_folder(name) ? add_folder(&l, name, atn_cli_value(call, "output")) : add(&l, NULL, name);
    }
    *paths = l.paths;
    *count = l.count;
    return status;
}

/* ---- the truth ---- */

static bool take_matrix(const json_t *from, double out[16]) {
    for (size_t k = 0; k < 16; ++k) {
        const json_t *number = json_array_get(json_array_get(from, k / 4), k % 4);
        if (!json_is_number(number)) return false;
        out[k] = json_number_value(number);
    }
    return true;
}

static const json_t *pose_of(const json_t *poses, const char *path) {
    size_t k;
    json_t *each;
    json_array_foreach(poses, k, each) {
        const char *file = json_string_value(json_object_get(each, "file"));
        if (file && strcmp(atn_cli_align_name(file), atn_cli_align_name(path)) == 0)
            return json_object_get(each, "transform");
    }
    return NULL;
}

/* inverse(anchor) scan, both rigid: where the scan lies in the anchor's frame. */
static void relative(const double anchor[16], const double scan[16], double out[16]) {
    memset(out, 0, 16 * sizeof *out);
    out[15] = 1;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k)
            for (int n = 0; n < 3; ++n)
                out[4 * i + k] += anchor[4 * n + i] * (scan[4 * n + k] - (k == 3 ? anchor[4 * n + 3] : 0));
}

static atn_status compare(atn_cli_align *a, const json_t *poses, const char *path) {
    const atn_ctx *ctx = a->r->call->ctx;
    double anchor[16], scan[16], wanted[16];
    a->apart = atn_zalloc(ctx, a->count * sizeof *a->apart);
    a->has_truth = a->apart ? atn_zalloc(ctx, a->count * sizeof *a->has_truth) : NULL;
    if (!a->has_truth) return ATN_ERR_MEMORY;
    if (!a->result.placed) return ATN_OK;
    if (!take_matrix(pose_of(poses, a->paths[a->result.anchor]), anchor))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: no transform for %s in \"poses\"", path,
                        atn_cli_align_name(a->paths[a->result.anchor]));
    for (size_t k = 0; k < a->count; ++k) {
        if (!a->result.scan[k]->placed || !take_matrix(pose_of(poses, a->paths[k]), scan)) continue;
        relative(anchor, scan, wanted);
        a->apart[k] = atn_cli_matrix_apart(a->result.scan[k]->transform, wanted, a->clouds[k]);
        a->has_truth[k] = true;
    }
    return ATN_OK;
}

atn_status atn_cli_align_truth(atn_cli_align *a, const char *path) {
    const atn_ctx *ctx = a->r->call->ctx;
    char *text;
    size_t length;
    json_error_t error;
    atn_status status = atn_file_read(ctx, path, LONGEST, &text, &length);
    if (status) return status;
    json_t *root = json_loads(text, 0, &error);
    atn_free(ctx, text);
    if (!root) return atn_fail(ctx, ATN_ERR_INPUT, "%s:%d: %s", path, error.line, error.text);
    const json_t *poses = json_object_get(root, "poses");
    if (!json_is_array(poses))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: there is no list \"poses\" of {file, transform}", path);
    else
        status = compare(a, poses, path);
    json_decref(root);
    return status;
}

/* ---- what is written ---- */

static atn_status write_matrices(const atn_cli_align *a, const char *path) {
    const atn_ctx *ctx = a->r->call->ctx;
    atn_text text = {.ctx = ctx};
    for (size_t k = 0; k < a->count; ++k) {
        const double *t = a->result.scan[k]->transform;
        if (!a->result.scan[k]->placed) continue;
        atn_text_printf(&text, "# %s\n", atn_cli_align_name(a->paths[k]));
        for (int i = 0; i < 4; ++i)
            atn_text_printf(&text, "%.17g %.17g %.17g %.17g\n", t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]);
    }
    atn_status status = atn_text_status(&text);
    if (!status) status = atn_file_write(ctx, path, atn_text_str(&text), text.length);
    atn_text_free(&text);
    return status;
}

/* Into a folder: each under its own name. */
static atn_status write_each(const atn_cli_align *a, const char *folder) {
    atn_status status = ATN_OK;
    for (size_t k = 0; k < a->count && !status; ++k) {
        const char *name = atn_cli_align_name(a->paths[k]);
        const cloud_format *format = cloud_format_of(name, "", 0);
        atn_text path = {.ctx = a->r->call->ctx};
        atn_cloud *moved = NULL;
        if (!a->result.scan[k]->placed) continue;
        atn_text_printf(&path, "%s/%s%s", folder, name, format && format->write ? "" : ".ply");
        status = atn_text_status(&path);
        if (!status) status = atn_cloud_moved(a->clouds[k], a->result.scan[k]->transform, &moved);
        if (!status) status = atn_cli_register_write(a->r->call, moved, atn_text_str(&path));
        atn_cloud_free(moved);
        atn_text_free(&path);
    }
    return status;
}

/* All of them in one file. */
static atn_status write_merged(const atn_cli_align *a, const char *path) {
    const atn_ctx *ctx = a->r->call->ctx;
    atn_cloud **moved = atn_zalloc(ctx, (a->count + 1) * sizeof *moved), *merged = NULL;
    size_t n = 0;
    atn_status status = moved ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < a->count && !status; ++k)
        if (a->result.scan[k]->placed)
            status = atn_cloud_moved(a->clouds[k], a->result.scan[k]->transform, &moved[n++]);
    if (!status && n) status = atn_cloud_merged((const atn_cloud *const *)moved, n, &merged);
    if (!status && n) status = atn_cli_register_write(a->r->call, merged, path);
    atn_cloud_free(merged);
    for (size_t k = 0; k < n; ++k) atn_cloud_free(moved[k]);
    atn_free(ctx, moved);
    return status;
}

atn_status atn_cli_align_write(const atn_cli_align *a) {
    const atn_cli_call *call = a->r->call;
    const char *output = atn_cli_value(call, "output"), *matrix = atn_cli_value(call, "matrix");
    const char *report = atn_cli_value(call, "report");
    atn_status status = ATN_OK;
    if (output && a->result.placed) status = is_folder(output) ? write_each(a, output) : write_merged(a, output);
    if (!status && matrix) status = write_matrices(a, matrix);
    if (!status && report) status = atn_cli_align_report(a, report);
    return status;
}
