/* Lists of pairs. Fields are apart by commas, blanks around them do not count, quotes keep commas, # begins a comment.
 */
#include "cli/register_list.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/register.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LONGEST = 1 << 28, FIELDS = 5 };
#define ROW "source,target[,init[,aligned[,matrix]]]"

/* ---- a line ---- */

/* Takes a field at *at, in place; leaves *at behind it and its comma. False: a quote is not closed. */
static bool take_field(char **at, char **field, bool *last) {
    char *from = *at + strspn(*at, " \t"), *to = from, *read = from;
    *field = from;
    if (*from == '"') {
        for (++read; *read && !(*read == '"' && read[1] != '"'); ++read) {
            if (*read == '"') ++read; /* two stand for one */
            *to++ = *read;
        }
        if (*read != '"') return false;
        ++read;
        read += strspn(read, " \t");
        if (*read && *read != ',') return false;
    } else {
        read += strcspn(read, ",");
        for (to = read; to > from && strchr(" \t", to[-1]);) --to;
    }
    *last = !*read;
    *at = read + !*last;
    *to = '\0';
    return true;
}

/* Relative to the folder of the list. */
static char *join(const atn_ctx *ctx, const char *list, const char *name) {
    const char *slash = strrchr(list, '/');
    atn_text path = {.ctx = ctx};
    if (*name != '/' && slash) atn_text_add_bytes(&path, list, (size_t)(slash - list) + 1);
    atn_text_add(&path, name);
    if (!path.failed) return path.data;
    atn_text_free(&path);
    return NULL;
}

static atn_status read_start(atn_cli_call *call, const char *list, const char *init, atn_cli_list_row *row) {
    static const double IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    row->searched = strcmp(init, "auto") == 0;
    row->has_start = !row->searched;
    if (row->searched) return ATN_OK;
    if (strcmp(init, "identity") == 0) {
        memcpy(row->start, IDENTITY, sizeof IDENTITY);
        return ATN_OK;
    }
    char *path = join(call->ctx, list, init);
    if (!path) return ATN_ERR_MEMORY;
    atn_status status = atn_cli_matrix_read(call->ctx, path, row->start);
    atn_free(call->ctx, path);
    if (status == ATN_ERR_MEMORY) return status;
    if (status) snprintf(row->message, sizeof row->message, "%s", atn_ctx_message(call->ctx));
    return ATN_OK;
}

/* The file among those that are known, or one more. */
static atn_status find_cloud(atn_cli_list *list, const char *from, const char *name, size_t *index) {
    char *path = join(list->ctx, from, name);
    struct stat info;
    if (!path) return ATN_ERR_MEMORY;
    bool known = stat(path, &info) == 0;
    for (*index = 0; *index < list->n_clouds; ++*index) {
        const atn_cli_list_cloud *c = &list->clouds[*index];
        if (known ? c->known && c->device == info.st_dev && c->inode == info.st_ino : strcmp(c->path, path) == 0) {
            atn_free(list->ctx, path);
            return ATN_OK;
        }
    }
    if (atn_grow(list->ctx, (void **)&list->clouds, &list->cloud_capacity, list->n_clouds, sizeof *list->clouds)) {
        atn_free(list->ctx, path);
        return ATN_ERR_MEMORY;
    }
    list->clouds[list->n_clouds] = (atn_cli_list_cloud){.path = path, .known = known};
    if (known) {
        list->clouds[list->n_clouds].device = info.st_dev;
        list->clouds[list->n_clouds].inode = info.st_ino;
    }
    ++list->n_clouds;
    return ATN_OK;
}

static atn_status add_row(atn_cli_call *call, const char *from, atn_cli_list *list, char *const field[FIELDS]) {
    if (atn_grow(list->ctx, (void **)&list->rows, &list->row_capacity, list->n_rows, sizeof *list->rows))
        return ATN_ERR_MEMORY;
    atn_cli_list_row *row = &list->rows[list->n_rows++];
    *row = (atn_cli_list_row){0};
    row->source = atn_strdup(list->ctx, field[0]);
    row->target = atn_strdup(list->ctx, field[1]);
    if (!row->source || !row->target) return ATN_ERR_MEMORY;
    if (*field[3] && !(row->aligned = join(list->ctx, from, field[3]))) return ATN_ERR_MEMORY;
    if (*field[4] && !(row->matrix = join(list->ctx, from, field[4]))) return ATN_ERR_MEMORY;
    for (int k = 0; k < 2; ++k) {
        atn_status status = find_cloud(list, from, field[k], &row->clouds[k]);
        if (status) return status;
    }
    list->clouds[row->clouds[0]].aligned |= row->aligned != NULL;
    return *field[2] ? read_start(call, from, field[2], row) : ATN_OK;
}

/* ---- the list ---- */

static atn_status read_line(atn_cli_call *call, const char *path, int number, char *line, atn_cli_list *list) {
    char *field[FIELDS] = {(char *)"", (char *)"", (char *)"", (char *)"", (char *)""}, *at = line, *extra;
    bool last = false;
    int n = 0;
    line[strcspn(line, "\r")] = '\0';
    at += strspn(at, " \t");
    if (!*at || *at == '#') return ATN_OK;
    for (; !last; ++n)
        if (!take_field(&at, n < FIELDS ? &field[n] : &extra, &last))
            return atn_fail(call->ctx, ATN_ERR_INPUT, "%s:%d: a quote is not closed, or more stands behind it", path,
                            number);
    if (list->n_rows == 0 && strcasecmp(field[0], "source") == 0 && strcasecmp(field[1], "target") == 0) return ATN_OK;
    if (n < 2 || n > FIELDS || !*field[0] || !*field[1])
        return atn_fail(call->ctx, ATN_ERR_INPUT, "%s:%d: a row is " ROW, path, number);
    return add_row(call, path, list, field);
}

static atn_status read_clouds(atn_cli_call *call, const atn_cloud_settings *reading, atn_cli_list *list) {
    for (size_t k = 0; k < list->n_clouds; ++k) {
        atn_cli_list_cloud *c = &list->clouds[k];
        atn_cli_progress(call, "reading %zu of %zu ...", k + 1, list->n_clouds);
        atn_status status = atn_check_cancel(call->ctx);
        if (status) return status;
        atn_cloud_settings own = *reading;
        own.no_properties = !c->aligned;
        status = atn_cloud_read(call->ctx, c->path, &own, &c->cloud);
        if (status == ATN_ERR_CANCELLED) return status;
        if (status) snprintf(c->message, sizeof c->message, "%s", atn_ctx_message(call->ctx));
    }
    return ATN_OK;
}

atn_status atn_cli_list_read(atn_cli_call *call, const char *path, const atn_cloud_settings *reading,
                             atn_cli_list *out) {
    char *text;
    size_t length;
    *out = (atn_cli_list){.ctx = call->ctx};
    atn_status status = atn_file_read(call->ctx, path, LONGEST, &text, &length);
    if (status) return status;
    int number = 1;
    bool more = true;
    char *start = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    for (char *line = start; more && !status; ++number) {
        char *end = line + strcspn(line, "\n");
        more = *end == '\n';
        *end = '\0';
        status = read_line(call, path, number, line, out);
        line = end + more;
    }
    atn_free(call->ctx, text);
    if (!status && out->n_rows == 0)
        status = atn_fail(call->ctx, ATN_ERR_INPUT, "%s: there are no pairs; a row is " ROW, path);
    return status ? status : read_clouds(call, reading, out);
}

atn_status atn_cli_list_thin(atn_cli_call *call, double *edge, atn_cli_list *list) {
    for (size_t k = 0; k < list->n_clouds; ++k) {
        atn_cli_list_cloud *c = &list->clouds[k];
        atn_cli_progress(call, "thinning %zu of %zu ...", k + 1, list->n_clouds);
        atn_status status = c->cloud ? atn_cli_voxel(c->cloud, edge, &c->thin) : ATN_OK;
        if (status == ATN_ERR_MEMORY || status == ATN_ERR_CANCELLED) return status;
        if (!status) continue;
        snprintf(c->message, sizeof c->message, "%s", atn_ctx_message(call->ctx));
        atn_cloud_free(c->cloud);
        c->cloud = NULL;
    }
    return ATN_OK;
}

void atn_cli_list_free(atn_cli_list *list) {
    for (size_t k = 0; k < list->n_rows; ++k) {
        atn_free(list->ctx, list->rows[k].source);
        atn_free(list->ctx, list->rows[k].target);
        atn_free(list->ctx, list->rows[k].aligned);
        atn_free(list->ctx, list->rows[k].matrix);
    }
    for (size_t k = 0; k < list->n_clouds; ++k) {
        atn_free(list->ctx, list->clouds[k].path);
        atn_cloud_free(list->clouds[k].cloud);
        atn_cloud_free(list->clouds[k].thin);
    }
    atn_free(list->ctx, list->rows);
    atn_free(list->ctx, list->clouds);
}

const char *atn_cli_list_objection(const atn_cli_list *list, const atn_cli_list_row *row) {
    if (*row->message) return row->message;
    for (int k = 0; k < 2; ++k) {
        const atn_cli_list_cloud *c = &list->clouds[row->clouds[k]];
        if (!c->cloud) return *c->message ? c->message : "it could not be read";
    }
    return "";
}
