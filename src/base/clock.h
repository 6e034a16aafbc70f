/* The monotonic clock. */
#ifndef ATN_BASE_CLOCK_H
#define ATN_BASE_CLOCK_H

double atn_clock_seconds(void); /* since some fixed moment; never decreases */

#endif
