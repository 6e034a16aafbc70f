/* A journal: a line "attune rows KEY", then answers, each with its length and a hash before it. */
#include "cli/rows_journal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 30 };
static const char BEGINS[] = "attune rows ";

struct rows_journal {
    const atn_ctx *ctx;
    char *path; /* owned */
    int fd;
};

typedef struct front { /* of an answer */
    uint64_t from, to, failed, length[3];
} front;

typedef struct mark { /* before it in the journal */
    uint64_t bytes;
    atn_hash hash;
} mark;

atn_status rows_answer_pack(const atn_cli_rows_answer *a, atn_text *out) {
    const atn_text *const texts[3] = {&a->first_failed, &a->printed, &a->report};
    front f = {.from = a->from, .to = a->to, .failed = a->failed};
    for (int k = 0; k < 3; ++k) f.length[k] = texts[k]->length;
    atn_text_add_bytes(out, (const char *)&f, sizeof f);
    for (int k = 0; k < 3; ++k) atn_text_add_bytes(out, atn_text_str(texts[k]), texts[k]->length);
    return out->failed || texts[0]->failed || texts[1]->failed || texts[2]->failed ? ATN_ERR_MEMORY : ATN_OK;
}

atn_status rows_answer_unpack(const atn_ctx *ctx, const char *data, size_t bytes, size_t rows,
                              atn_cli_rows_answer *out) {
    front f = {0};
    size_t left = bytes >= sizeof f ? bytes - sizeof f : 0;
    if (bytes >= sizeof f) memcpy(&f, data, sizeof f);
    bool good = f.from < f.to && f.to <= rows;
    for (int k = 0; k < 3 && good; ++k) {
        good = f.length[k] <= left;
        left -= good ? f.length[k] : 0;
    }
    if (!good || left) return atn_fail(ctx, ATN_ERR_INPUT, "invalid results were received for some rows");
    atn_text *const texts[3] = {&out->first_failed, &out->printed, &out->report};
    out->from = f.from, out->to = f.to, out->failed = f.failed;
    const char *at = data + sizeof f;
    for (int k = 0; k < 3; ++k, at += f.length[k - 1]) {
        atn_text_add_bytes(texts[k], at, f.length[k]);
        if (texts[k]->failed) return ATN_ERR_MEMORY;
    }
    return ATN_OK;
}

static atn_status cannot(const rows_journal *j) {
    return atn_fail(j->ctx, ATN_ERR_IO, "%s: %s", j->path, strerror(errno));
}

static atn_status put(const rows_journal *j, const char *data, size_t bytes) {
    while (bytes) {
        ssize_t done = write(j->fd, data, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return cannot(j);
        data += done;
        bytes -= (size_t)done;
    }
    return ATN_OK;
}

/* What is whole, from the front on: its answers, and where it ends. */
static atn_status read_back(const rows_journal *j, const char *head, const char *data, size_t length,
                            rows_journal_known *known, void *user, size_t *whole) {
    size_t at = strlen(head);
    atn_status status = ATN_OK;
    if (memcmp(data, head, length < at ? length : at) != 0)
        return atn_fail(
            j->ctx, ATN_ERR_INPUT,
            "%s: is not a journal of this list, with these options and these files as they are now; name another file",
            j->path);
    if (length < at) return ATN_OK; /* not even that is whole */
    while (!status && length - at >= sizeof(mark)) {
        mark m;
        memcpy(&m, data + at, sizeof m);
        if (m.bytes > length - at - sizeof m) break;
        atn_hash hash = atn_hash_add((atn_hash){0}, data + at + sizeof m, m.bytes);
        if (hash.high != m.hash.high || hash.low != m.hash.low) break;
        status = known(user, data + at + sizeof m, m.bytes);
        at += sizeof m + m.bytes;
    }
    *whole = at;
    return status;
}

static atn_status go_on(rows_journal *j, const char *key, rows_journal_known *known, void *user) {
    char head[96], *data = NULL;
    size_t length = 0, whole = 0;
    snprintf(head, sizeof head, "%s%s\n", BEGINS, key);
    j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->fd < 0) return cannot(j);
    atn_status status = atn_file_read_from(j->ctx, j->fd, j->path, MOST, &data, &length);
    if (!status) status = read_back(j, head, data, length, known, user, &whole);
    atn_free(j->ctx, data);
    if (status) return status;
    if (ftruncate(j->fd, (off_t)whole) != 0 || lseek(j->fd, (off_t)whole, SEEK_SET) < 0) return cannot(j);
    return whole ? ATN_OK : put(j, head, strlen(head));
}

atn_status rows_journal_open(const atn_ctx *ctx, const char *path, const char *key, rows_journal_known *known,
                             void *user, rows_journal **out) {
    rows_journal *j = atn_zalloc(ctx, sizeof *j);
    *out = NULL;
    if (!j) return ATN_ERR_MEMORY;
    *j = (rows_journal){.ctx = ctx, .fd = -1, .path = atn_strdup(ctx, path)};
    atn_status status = j->path ? go_on(j, key, known, user) : ATN_ERR_MEMORY;
    if (status)
        rows_journal_close(j);
    else
        *out = j;
    return status;
}

atn_status rows_journal_add(rows_journal *j, const atn_cli_rows_answer *answer) {
    atn_text bytes = {.ctx = j->ctx}, all = {.ctx = j->ctx};
    atn_status status = rows_answer_pack(answer, &bytes);
    if (!status) {
        mark m = {.bytes = bytes.length, .hash = atn_hash_add((atn_hash){0}, bytes.data, bytes.length)};
        atn_text_add_bytes(&all, (const char *)&m, sizeof m);
        atn_text_add_bytes(&all, bytes.data, bytes.length);
        status = all.failed ? ATN_ERR_MEMORY : put(j, all.data, all.length);
    }
    atn_text_free(&bytes);
    atn_text_free(&all);
    return status;
}

void rows_journal_close(rows_journal *j) {
    if (!j) return;
    if (j->fd >= 0) close(j->fd);
    atn_free(j->ctx, j->path);
    atn_free(j->ctx, j);
}
