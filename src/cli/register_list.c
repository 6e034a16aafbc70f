/* Lists of pairs. Fields are separated by commas, blanks around them are ignored, quotes protect commas, # begins a
 * comment. */
#include "cli/register_list.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cli/register.h"

#include <stdlib.h>
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
            if (*read == '"') ++read; /* two represent one */
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

/* ---- which file a name is ---- */

static uint64_t hash_of(const atn_cli_list_cloud *c) {
    atn_hash hash = {0};
    if (c->known) {
        hash = atn_hash_add(hash, &c->device, sizeof c->device);
        return atn_hash_add(hash, &c->inode, sizeof c->inode).low;
    }
    return atn_hash_add_text(hash, c->path).low;
}

static bool is_same(const atn_cli_list_cloud *a, const atn_cli_list_cloud *b) {
    if (a->known || b->known) return a->known && b->known && a->device == b->device && a->inode == b->inode;
    return strcmp(a->path, b->path) == 0;
}

/* Where a cloud is in the table, or the free place where it belongs. */
static size_t place_of(const atn_cli_list *list, const atn_cli_list_cloud *c) {
    size_t at = (size_t)hash_of(c) & (list->places - 1);
    while (list->place[at] && !is_same(&list->clouds[list->place[at] - 1], c)) at = (at + 1) & (list->places - 1);
    return at;
}

/* Twice as many places as clouds, or more. */
static atn_status make_places(atn_cli_list *list) {
    if (2 * list->n_clouds < list->places) return ATN_OK;
    atn_free(list->ctx, list->place);
    list->places = list->places ? 2 * list->places : 1024;
    list->place = atn_zalloc(list->ctx, list->places * sizeof *list->place);
    if (!list->place) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < list->n_clouds; ++k) list->place[place_of(list, &list->clouds[k])] = k + 1;
    return ATN_OK;
}

/* The file among those that are known, or one more. */
static atn_status find_cloud(atn_cli_list *list, const char *from, const char *name, size_t *index) {
    atn_cli_list_cloud cloud = {.path = join(list->ctx, from, name)};
    struct stat info;
    if (!cloud.path) return ATN_ERR_MEMORY;
    cloud.known = stat(cloud.path, &info) == 0;
    if (cloud.known) {
        cloud.device = info.st_dev;
        cloud.inode = info.st_ino;
        cloud.bytes = info.st_size;
        cloud.changed[0] = info.st_mtim.tv_sec;
        cloud.changed[1] = info.st_mtim.tv_nsec;
    }
    atn_status status = make_places(list);
    if (!status)
        status =
            atn_grow(list->ctx, (void **)&list->clouds, &list->cloud_capacity, list->n_clouds, sizeof *list->clouds);
    size_t at = status ? 0 : place_of(list, &cloud);
    bool fresh = !status && !list->place[at];
    if (fresh) {
        list->clouds[list->n_clouds++] = cloud;
        list->place[at] = list->n_clouds;
    } else
        atn_free(list->ctx, cloud.path);
    if (!status) *index = list->place[at] - 1;
    return status;
}

static atn_status add_row(atn_cli_call *call, const char *from, int line, atn_cli_list *list,
                          char *const field[FIELDS]) {
    if (atn_grow(list->ctx, (void **)&list->rows, &list->row_capacity, list->n_rows, sizeof *list->rows))
        return ATN_ERR_MEMORY;
    atn_cli_list_row *row = &list->rows[list->n_rows++];
    *row = (atn_cli_list_row){.line = line};
    row->source = atn_strdup(list->ctx, field[0]);
    row->target = atn_strdup(list->ctx, field[1]);
    if (!row->source || !row->target) return ATN_ERR_MEMORY;
    if (*field[3] && !(row->aligned = join(list->ctx, from, field[3]))) return ATN_ERR_MEMORY;
    if (*field[4] && !(row->matrix = join(list->ctx, from, field[4]))) return ATN_ERR_MEMORY;
    for (int k = 0; k < 2; ++k) {
        atn_status status = find_cloud(list, from, field[k], &row->clouds[k]);
        if (status) return status;
        list->clouds[row->clouds[k]].last = list->n_rows - 1;
    }
    list->clouds[row->clouds[0]].aligned |= row->aligned != NULL;
    return *field[2] ? read_start(call, from, field[2], row) : ATN_OK;
}

atn_hash atn_cli_list_hash(const atn_cli_list *list, atn_hash hash) {
    for (const atn_cli_list_cloud *c = list->clouds; c < list->clouds + list->n_clouds; ++c) {
        const int64_t is[] = {c->bytes, c->changed[0], c->changed[1]};
        hash = atn_hash_add(hash, is, sizeof is);
    }
    for (const atn_cli_list_row *row = list->rows; row < list->rows + list->n_rows; ++row)
        if (row->has_start) hash = atn_hash_add(hash, row->start, sizeof row->start);
    return hash;
}

/* ---- what rows write ---- */

typedef struct written {
    atn_hash file; /* which one */
    const atn_cli_list_row *row;
    const char *path;
} written;

static int by_file(const void *a, const void *b) {
    const written *p = a, *q = b;
    int order = memcmp(&p->file, &q->file, sizeof p->file);
    return order ? order : (p->row->line > q->row->line) - (p->row->line < q->row->line);
}

/* A file is told by its folder and its name there. A folder that does not exist is said in the row. */
static atn_status identify(const atn_ctx *ctx, const char *path, atn_cli_list_row *row, written *out) {
    struct stat info;
    const char *slash = strrchr(path, '/');
    char *folder = atn_cli_folder_of(ctx, path);
    if (!folder) return ATN_ERR_MEMORY;
    *out = (written){.row = row, .path = path};
    if (stat(folder, &info) == 0) {
        out->file = atn_hash_add(out->file, &info.st_dev, sizeof info.st_dev);
        out->file = atn_hash_add(out->file, &info.st_ino, sizeof info.st_ino);
    } else if (!*row->message)
        snprintf(row->message, sizeof row->message, "%s: cannot be written: there is no folder %s", path, folder);
    out->file = atn_hash_add_text(out->file, slash ? slash + 1 : path);
    atn_free(ctx, folder);
    return ATN_OK;
}

static bool is_read(const atn_cli_list *list, const char *path) {
    struct stat info;
    atn_cli_list_cloud file = {.path = (char *)(uintptr_t)path, .known = stat(path, &info) == 0};
    if (file.known) file.device = info.st_dev, file.inode = info.st_ino;
    return list->place[place_of(list, &file)] != 0;
}

static atn_status check_written(const atn_ctx *ctx, const char *from, const atn_cli_list *list) {
    written *all = atn_alloc(ctx, (2 * list->n_rows + 1) * sizeof *all);
    size_t count = 0;
    atn_status status = all ? ATN_OK : ATN_ERR_MEMORY;
    for (atn_cli_list_row *row = list->rows; row < list->rows + list->n_rows && status == ATN_OK; ++row) {
        const char *const path[2] = {row->aligned, row->matrix};
        for (int k = 0; k < 2 && status == ATN_OK; ++k) {
            if (!path[k] || strncmp(path[k], "/dev/", 5) == 0) continue;
            status = identify(ctx, path[k], row, &all[count++]);
            if (status == ATN_OK && is_read(list, path[k]))
                status = atn_fail(ctx, ATN_ERR_INPUT, "%s:%d: '%s' would be written, and rows of the list read it",
                                  from, row->line, path[k]);
        }
    }
    if (status == ATN_OK) qsort(all, count, sizeof *all, by_file);
    for (size_t k = 1; k < count && status == ATN_OK; ++k)
        if (memcmp(&all[k - 1].file, &all[k].file, sizeof all->file) == 0)
            status = atn_fail(ctx, ATN_ERR_INPUT, "%s:%d: '%s' would be written twice, the first time in line %d", from,
                              all[k].row->line, all[k].path, all[k - 1].row->line);
    atn_free(ctx, all);
    return status;
}

/* ---- the list ---- */

static atn_status read_line(atn_cli_call *call, const char *path, int number, char *line, atn_cli_list *list) {
    char *field[FIELDS] = {(char *)"", (char *)"", (char *)"", (char *)"", (char *)""}, *at = line, *extra;
    bool last = false;
    int n = 0;
    size_t end = strcspn(line, "\r");
    if (line[end + strspn(line + end, "\r")])
        return atn_fail(call->ctx, ATN_ERR_INPUT, "%s:%d: a carriage return within the row; lines end with LF or CRLF",
                        path, number);
    line[end] = '\0';
    at += strspn(at, " \t");
    if (!*at || *at == '#') return ATN_OK;
    for (; !last; ++n)
        if (!take_field(&at, n < FIELDS ? &field[n] : &extra, &last))
            return atn_fail(call->ctx, ATN_ERR_INPUT, "%s:%d: a quote is not closed, or is followed by more text", path,
                            number);
    if (list->n_rows == 0 && strcasecmp(field[0], "source") == 0 && strcasecmp(field[1], "target") == 0) return ATN_OK;
    if (n < 2 || n > FIELDS || !*field[0] || !*field[1])
        return atn_fail(call->ctx, ATN_ERR_INPUT, "%s:%d: a row is " ROW, path, number);
    atn_status status = atn_cli_register_check_output(call, path, number, *field[3] ? field[3] : NULL);
    return status ? status : add_row(call, path, number, list, field);
}

atn_status atn_cli_list_read(atn_cli_call *call, const char *path, atn_cli_list *out) {
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
    return status ? status : check_written(call->ctx, path, out);
}

/* ---- clouds ---- */

static atn_status read_cloud(atn_cli_call *call, const atn_cloud_settings *reading, atn_cli_list_cloud *c) {
    atn_cloud_settings own = *reading;
    own.no_properties = !c->aligned;
    c->tried = true;
    atn_status status = atn_cloud_read(call->ctx, c->path, &own, &c->cloud);
    if (status == ATN_ERR_CANCELLED) return status;
    if (status) snprintf(c->message, sizeof c->message, "%s", atn_ctx_message(call->ctx));
    return ATN_OK;
}

static atn_status thin_cloud(atn_cli_call *call, double *edge, atn_cli_list_cloud *c) {
    atn_status status = c->cloud ? atn_cli_voxel_solid(c->cloud, edge, &c->thin) : ATN_OK;
    if (!status || status == ATN_ERR_MEMORY || status == ATN_ERR_CANCELLED) return status;
    snprintf(c->message, sizeof c->message, "%s", atn_ctx_message(call->ctx));
    atn_cloud_free(c->cloud);
    c->cloud = NULL;
    return ATN_OK;
}

/* Clouds that are read at the same time, each by one core; large ones one after the other, by all of them. */
enum { MOST_AT_ONCE = 64 };
typedef struct reading_some {
    atn_cli_call *call;
    const atn_cloud_settings *reading;
    atn_cli_list_cloud *cloud[MOST_AT_ONCE];
    atn_status status[MOST_AT_ONCE];
    size_t count;
} reading_some;

static void read_some(void *user, int64_t from, int64_t to) {
    reading_some *t = user;
    for (int64_t k = from; k < to; ++k) t->status[k] = read_cloud(t->call, t->reading, t->cloud[k]);
}

/* From row *end on, clouds that were not read; *end: behind the last row that has all of its clouds then. */
static void choose_some(atn_cli_list *list, size_t limit, size_t most, size_t *end, reading_some *t) {
    for (t->count = 0; *end < limit && t->count + 2 <= most; ++*end)
        for (int k = 0; k < 2; ++k) {
            atn_cli_list_cloud *c = &list->clouds[list->rows[*end].clouds[k]];
            if (c->tried) continue;
            c->tried = true;
            t->cloud[t->count++] = c;
        }
}

atn_status atn_cli_list_take(atn_cli_call *call, const atn_cloud_settings *reading, double *edge, atn_cli_list *list,
                             size_t first, size_t *end) {
    enum { MOST_ROWS = 8192, MOST_POINTS = 16000000, SMALL = MOST_POINTS / MOST_AT_ONCE };
    size_t points = 0, largest = 0, limit = *end < list->n_rows ? *end : list->n_rows;
    reading_some t = {.call = call, .reading = reading};
    if (limit > first + MOST_ROWS) limit = first + MOST_ROWS;
    for (*end = first; *end < limit && points < MOST_POINTS;) {
        bool small = largest && largest < SMALL && points + MOST_AT_ONCE * largest < MOST_POINTS;
        atn_cli_progress(call, "reading for pair %zu of %zu ...", *end + 1, list->n_rows);
        choose_some(list, limit, small ? MOST_AT_ONCE : 2, end, &t);
        atn_status status = atn_check_cancel(call->ctx);
        if (!status && small) atn_parallel_pieces((int64_t)t.count, read_some, &t);
        if (!status && !small) read_some(&t, 0, (int64_t)t.count);
        for (size_t k = 0; k < t.count && !status; ++k) {
            status = t.status[k] ? atn_check_cancel(call->ctx) : ATN_OK; /* the thread that read it knows why */
            if (!status && edge) status = thin_cloud(call, edge, t.cloud[k]);
            size_t own = !status && t.cloud[k]->cloud ? atn_cloud_info_of(t.cloud[k]->cloud).points : 0;
            points += own;
            largest = own > largest ? own : largest;
        }
        if (status) return status;
    }
    return ATN_OK;
}

static void drop_cloud(atn_cli_list_cloud *c) {
    if (c->cloud) c->tried = false;
    atn_cloud_free(c->cloud);
    atn_cloud_free(c->thin);
    c->cloud = c->thin = NULL;
}

void atn_cli_list_drop_all(atn_cli_list *list) {
    for (size_t k = 0; k < list->n_clouds; ++k) drop_cloud(&list->clouds[k]);
}

void atn_cli_list_drop(atn_cli_list *list, size_t first, size_t end) {
    for (size_t row = first; row < end; ++row)
        for (int k = 0; k < 2; ++k) {
            atn_cli_list_cloud *c = &list->clouds[list->rows[row].clouds[k]];
            if (c->last < end) drop_cloud(c);
        }
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
        drop_cloud(&list->clouds[k]);
    }
    atn_free(list->ctx, list->place);
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
