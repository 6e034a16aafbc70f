/* Loading a shared object from memory: what was checked is what is loaded, whatever happens to files meanwhile. */
#ifndef ATN_DEVICE_CODE_H
#define ATN_DEVICE_CODE_H

#include "device/cache.h"

/* *library is dlopen's handle, for dlsym and atn_code_unload; `name` is for messages. Where memory cannot be loaded
 * from, a private directory in the cache is used for the moment. ATN_ERR_IO: that is full or forbids it, another
 * directory may do; ATN_ERR_BUILD: it is no code for this process. */
atn_status atn_code_load(const atn_cache *cache, const char *name, const void *data, size_t length, void **library);
void atn_code_unload(void *library); /* NULL: nothing */

#endif
