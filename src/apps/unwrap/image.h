/* A frame on the device, as seen by the parts that check or finish it; and programs over its arrays. */
#ifndef ATN_APPS_UNWRAP_IMAGE_H
#define ATN_APPS_UNWRAP_IMAGE_H

#include "plan/give.h"

typedef struct unwrap_image {
    atn_device *device;
    int64_t width, height;
    atn_type type;   /* of the phase and the answer */
    atn_array *psi;  /* the phase */
    atn_array *mask; /* ATN_U8; 0: not valid */
    atn_array *out;  /* the answer */
    int32_t least;   /* of the mask: pixels that hang together with neighbours that have it, too */
} unwrap_image;

/* A program that is made when it is first needed, and what is bound to it. */
enum { UNWRAP_BOUND = 8 };
typedef struct unwrap_program {
    atn_program *program;
    const char *name[UNWRAP_BOUND];
    atn_array *bound[UNWRAP_BOUND];
} unwrap_program;

/* Binds arrays that are not bound yet. Its indices are attune's own. */
atn_status unwrap_program_bind(unwrap_program *p, const unwrap_image *image, const char *name,
                               const atn_named_array *arrays, size_t n);
#define UNWRAP_BIND(p, image, name, ...) unwrap_program_bind(p, image, name, ATN_ARRAYS(__VA_ARGS__))
/* Another array wherever one is bound, which may then go. */
void unwrap_program_replace(unwrap_program *p, const atn_array *from, atn_array *to);
void unwrap_program_free(unwrap_program *p);

#endif
