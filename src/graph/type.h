/* Internal properties of element types: kinds, conversions, rounding. */
#ifndef ATN_GRAPH_TYPE_H
#define ATN_GRAPH_TYPE_H

#include <attune/type.h>

typedef enum atn_kind { ATN_KIND_NONE, ATN_KIND_BOOL, ATN_KIND_INTEGER, ATN_KIND_REAL, ATN_KIND_COMPLEX } atn_kind;

typedef struct atn_type_info {
    const char *name;   /* "SP" */
    const char *c_name; /* "float": also accepted in casts and declarations; NULL: none */
    size_t bytes;       /* of one element in memory */
    atn_kind kind;
    atn_type part;           /* of a complex: its real and imaginary part; else the type itself */
    int64_t lowest, highest; /* of integers and B */
    uint32_t widens_to;      /* bit t: converts to type t without a cast */
} atn_type_info;

const atn_type_info *atn_type_get_info(atn_type type);
atn_type atn_type_from_any_name(const char *name); /* element type names and C names */

static inline bool atn_type_is_integer(atn_type type) {
    return atn_type_get_info(type)->kind == ATN_KIND_INTEGER || atn_type_get_info(type)->kind == ATN_KIND_BOOL;
}
static inline bool atn_type_is_real(atn_type type) { return atn_type_get_info(type)->kind == ATN_KIND_REAL; }
static inline bool atn_type_is_complex(atn_type type) { return atn_type_get_info(type)->kind == ATN_KIND_COMPLEX; }

bool atn_type_widens(atn_type from, atn_type to); /* true for equal types too */
atn_type atn_type_common(atn_type a,
                         atn_type b); /* what arithmetic on the two is done in; B, U8, U16 compute in INT32 */
double atn_type_round(atn_type type,
                      double number); /* to the nearest of a floating type (of a complex: of its parts) */
int64_t atn_type_wrap(atn_type type, int64_t number);    /* integers wrap; B: 0 or 1 */
int64_t atn_type_saturate(atn_type type, double number); /* floating to integer: truncates, saturates, NaN gives 0 */

#endif
