/* Looking up embedded texts by name. */
#include "base/embedded.h"

#include <string.h>

const char *atn_embedded_find(const atn_embedded *table, const char *name) {
    while (table->name && strcmp(table->name, name) != 0) ++table;
    return table->text;
}
