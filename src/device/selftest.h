/* A self-test of a device: does code built for it compute correctly? */
#ifndef ATN_DEVICE_SELFTEST_H
#define ATN_DEVICE_SELFTEST_H

#include "device/device.h"

/* Builds a small saxpy in the device's dialect, runs it on numbers of its own and compares all of them. */
atn_status atn_device_selftest(atn_device *device);

#endif
