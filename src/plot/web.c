#include "plot/web.h"

#include <string.h>

const char *atn_web(const char *name) {
    const atn_web_file *file = ATN_WEB_FILES;
    while (file->name && strcmp(file->name, name) != 0) ++file;
    return file->name ? file->text : "";
}
