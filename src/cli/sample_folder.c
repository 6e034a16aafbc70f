/* The output folder of attune sample: created together with its parents, and the paths within. */
#include "cli/sample.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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
    return error ? atn_fail(ctx, ATN_ERR_IO, "%s: the folder cannot be created: %s", folder, strerror(error)) : ATN_OK;
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
