/* Time that goes into building kernels, which first runs on a device have and later ones do not. */
#ifndef ATN_DEVICE_BUILDING_H
#define ATN_DEVICE_BUILDING_H

double atn_building_seconds(void);     /* that the calling thread has spent in atn_module_build, ever */
double atn_building_seconds_any(void); /* in which at least one thread was there, ever: of calls with threads */

#endif
