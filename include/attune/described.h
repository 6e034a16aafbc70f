/* A kernel of one's own, described in XML (docs/language.md), from C: parsed once for a device, arrays and parameters bound
 * by name, run as often as wanted. A Sequence runs step by step. */
#ifndef ATTUNE_DESCRIBED_H
#define ATTUNE_DESCRIBED_H

#include <attune/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_described atn_described;

/* `name` stands in messages, as a file's would. `defines`: "USED_FLOAT=SP" and the like, ended by NULL; or NULL. Owned by the
 * caller, freed before the device is closed. A description that is wrong is refused with its first error. */
ATN_API atn_status atn_described_parse(atn_device *device, const char *name, const char *xml, const char *const defines[],
                                       atn_described **out);
ATN_API atn_status atn_described_load(atn_device *device, const char *path, const char *const defines[], atn_described **out);
ATN_API void atn_described_free(atn_described *described); /* NULL is fine */

/* Binds an object to an array of the same device, which must live until the last run (or another is bound). What is not
 * bound and only passes between steps, or is only written, takes the size that is reached. */
ATN_API atn_status atn_described_bind(atn_described *described, const char *object, atn_array *array);
ATN_API atn_status atn_described_param(atn_described *described, const char *parameter, double value);

/* Checks types and shapes, builds what is not built yet, and runs. Repeated runs on the same arrays neither check nor build. */
ATN_API atn_status atn_described_run(atn_described *described);

#ifdef __cplusplus
}
#endif
#endif
