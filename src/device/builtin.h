/* Variants that were compiled into the library when it was built: one for each kernel that is shipped and each element
 * type, for any CPU of this architecture. They are what the host runs where there is no compiler. */
#ifndef ATN_DEVICE_BUILTIN_H
#define ATN_DEVICE_BUILTIN_H

#include "base/hash.h"
#include "device/host_abi.h"

enum { ATN_BUILTIN_STAGES = 4 };

typedef void atn_builtin_entry(const struct atn_call *call);

typedef struct atn_builtin {
    const char *kernel;  /* "gemm"; NULL ends the table */
    const char *type;    /* what USED_FLOAT was; "as_described" where the description does not ask */
    atn_hash graph;      /* of the kernel's graph */
    const char *variant; /* "k=v,k=v", for people and for lowering it again */
    atn_hash source;     /* of the text that was compiled: equal text means equal arguments, stages and scratch */
    const char *name[ATN_BUILTIN_STAGES];
    atn_builtin_entry *const *entry; /* by stage */
} atn_builtin;

extern const atn_builtin ATN_BUILTINS[]; /* made by the build; empty where that could not run what it made */

/* NULL: there is none. */
const atn_builtin *atn_builtin_of_graph(atn_hash graph);
const atn_builtin *atn_builtin_of_source(const char *source);

atn_hash atn_builtin_hash(const char *source); /* what `source` of the table is */

#endif
