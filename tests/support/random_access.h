/* Random objects and accesses to them, between the files that draw random kernels. */
#ifndef ATN_SUPPORT_RANDOM_ACCESS_H
#define ATN_SUPPORT_RANDOM_ACCESS_H

#include "support/random_draw.h"

/* An object of a type, rank and size; with a pitch and an offset. Its number. */
int32_t draw_object(draw *d, atn_type type, int32_t rank, const int64_t size[ATN_MAX_RANK]);
/* What was connected, since then, to an access that is not made after all. */
void forget_links(draw *d, size_t before);
/* "v0, v1" and so on. */
const char *draw_plain_select(draw *d, int32_t rank);
atn_type draw_type(draw *d, bool input); /* of elements */
int64_t draw_extent(draw *d, int64_t most);

/* A source of type INDEX or INT32 that is `n`: a parameter, a size, a constant. */
const char *draw_range(draw *d, int32_t block, int64_t n);

void draw_read(draw *d, int32_t block);    /* affine, of a new or an old object */
void draw_stencil(draw *d, int32_t block); /* several neighbours of one object */
void draw_gather(draw *d, int32_t block);  /* through an index array */

/* Where each point has its own element: of a new object of `type`, whose number is returned; the write is in `block`.
 */
void draw_write(draw *d, int32_t block, const source *value);
void draw_in_place(draw *d);                          /* reads and writes one object at the same place, or by colour */
void draw_scatter(draw *d);                           /* combine */
void draw_write_result(draw *d, const source *value); /* what is known after the whole space */

/* A whole kernel of integers, and what its elements are. */
void draw_integers(draw *d);
int64_t draw_end(draw *d);
double draw_huge(draw *d);

#endif
