/* Short reports that work leaves of itself (what a kernel with computed accesses found out of range), copied to the
 * host behind it and looked at later: when results are read, or when all slots of the ring are taken. Numbered per
 * device, in the order in which they were sent. */
#ifndef ATN_DEVICE_REPORTS_H
#define ATN_DEVICE_REPORTS_H

#include "device/device.h"

enum {
    ATN_REPORT_WORDS = 2, /* INT32; the first one is 0 where all is well */
    ATN_REPORT_SLOTS = 16 /* reports of a device that may be under way */
};

typedef struct atn_reports atn_reports; /* of a device */

/* Who sends a report, and how its sentence is made where the first word is not 0: at most `room` bytes. */
typedef struct atn_reporter {
    const void *owner;
    int64_t run; /* which one of the owner's runs it is of */
    void (*describe)(const struct atn_reporter *from, const int32_t words[ATN_REPORT_WORDS], char *text, size_t room);
} atn_reporter;

atn_status atn_reports_create(atn_device *device); /* the ring, once; owned by the device. Only this allocates */

/* A free slot for the report of the next run. If there is none, the oldest report is waited for; if it is a failure,
 * that is returned, and the next run must not begin. */
atn_status atn_reports_make_room(atn_device *device);
/* Queues the copy of a report from the beginning of a buffer, after atn_reports_make_room. */
atn_status atn_reports_send(atn_queue *queue, const atn_buffer *from, const atn_reporter *reporter);
uint64_t atn_reports_sent(const atn_device *device); /* the number of the last one; 0: none yet */
/* Waits for all reports up to a number and returns the first failure, ATN_ERR_INPUT. Each is returned once. */
atn_status atn_reports_look(atn_device *device, uint64_t number);
/* The owner ends: waits for its reports; failures among them stay, as sentences. */
void atn_reports_leave(atn_device *device, const void *owner);

#endif
