/* Seeds of searches, from the kernels' files. */
#include "tune/seeds.h"

#include "device/facts.h"

#include <stddef.h>
#include <string.h>

const atn_seed *atn_seed_next(const char *kernel, const char *type, const char *backend, const atn_seed *after) {
    for (const atn_seed *s = after ? after + 1 : ATN_SEEDS; s->kernel; ++s) {
        bool typed = !s->type || strcmp(s->type, type) == 0 || (strcmp(s->type, "SP") == 0 && strcmp(type, "HP") == 0);
        if (!typed || strcmp(s->kernel, kernel) != 0) continue;
        if (atn_backend_is(s->backend, backend)) return s;
    }
    return NULL;
}
