/* Kernels that an application will need, built in advance: in parallel, on all cores. The results are in the cache,
 * where planning finds them. */
#ifndef ATN_KERNEL_AHEAD_H
#define ATN_KERNEL_AHEAD_H

#include <attune/kernel.h>

/* Was this not done yet for the device and this cache? `set` names the kernels and all that decides what they become.
 */
bool atn_ahead_is_due(atn_device *device, const char *set);

/* How long they have been used without, in seconds, by all processes that share the cache; and some seconds more.
 * Kernels that came with the library serve until building others would have paid. */
double atn_ahead_spent(atn_device *device, const char *set);
void atn_ahead_spend(atn_device *device, const char *set, double seconds);

/* Builds those of any size (atn_kernel_any_size); others wait for their sizes. What does not build is left to the plan,
 * which says so. ATN_ERR_MEMORY alone is a failure. */
atn_status atn_ahead_build(atn_device *device, const char *set, atn_kernel *const *kernels, int32_t count);

#endif
