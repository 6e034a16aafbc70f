/* Files that a verb writes at its end: whether they can be is known before the work is done. */
#include "base/memory.h"
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atn_status cannot(const atn_cli_call *call, const char *path, const char *why) {
    return atn_fail(call->ctx, ATN_ERR_IO, "%s: cannot be written: %s", path, why);
}

char *atn_cli_folder_of(const atn_ctx *ctx, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = atn_strdup(ctx, slash ? path : ".");
    if (slash && folder) folder[slash - path + (slash == path)] = '\0';
    return folder;
}

/* A file can be made there: its folder is one that may be changed, and it is none itself. */
static atn_status check_place(const atn_cli_call *call, const char *path) {
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (!there && errno != ENOENT && errno != ENOTDIR) return cannot(call, path, strerror(errno));
    if (there && S_ISDIR(info.st_mode)) return cannot(call, path, "it is a folder");
    if (there && !S_ISREG(info.st_mode)) /* written directly */
        return access(path, W_OK) == 0 ? ATN_OK : cannot(call, path, strerror(errno));
    char *folder = atn_cli_folder_of(call->ctx, path);
    if (!folder) return ATN_ERR_MEMORY;
    bool is_folder = stat(folder, &info) == 0 && S_ISDIR(info.st_mode);
    atn_status status = ATN_OK;
    if (!is_folder)
        status = atn_fail(call->ctx, ATN_ERR_IO, "%s: cannot be written: there is no folder %s", path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        status = cannot(call, path, strerror(errno));
    atn_free(call->ctx, folder);
    return status;
}

atn_status atn_cli_check_files(atn_cli_call *call, const char *const *names, size_t count) {
    atn_status status = ATN_OK;
    for (size_t k = 0; k < count && !status; ++k) {
        const char *path = atn_cli_value(call, names[k]), *other;
        if (!path) continue;
        if (!*path) return atn_cli_misuse(call, "--%s needs the name of a file", names[k]);
        for (size_t j = 0; j < k && !status; ++j)
            if ((other = atn_cli_value(call, names[j])) && strcmp(path, other) == 0 && strncmp(path, "/dev/", 5) != 0)
                status = atn_cli_misuse(call, "--%s and --%s both write '%s'", names[j], names[k], path);
        if (!status) status = check_place(call, path);
    }
    return status;
}

atn_status atn_cli_check_report(atn_cli_call *call) { return atn_cli_check_files(call, (const char *[]){"report"}, 1); }
