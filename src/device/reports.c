/* The ring of reports: pinned memory for their words, and an event after each copy. */
#include "device/reports.h"

#include "base/memory.h"
#include "device/backend.h"

enum { SENTENCE = 256 };

typedef struct slot {
    atn_event *copied;
    atn_reporter from;   /* owner NULL: it has ended, and `text` is all there is to say */
    char text[SENTENCE]; /* "": nothing was wrong */
} slot;

struct atn_reports {
    atn_left left;
    atn_device *device;
    atn_host_memory words;  /* those of each slot */
    uint64_t looked, count; /* numbers of the last one looked at, and of the last one sent */
    slot slots[ATN_REPORT_SLOTS];
};

static slot *slot_of(atn_reports *r, uint64_t number) { return &r->slots[number % ATN_REPORT_SLOTS]; }

static int32_t *words_of(const atn_reports *r, uint64_t number) {
    return (int32_t *)r->words.data + number % ATN_REPORT_SLOTS * ATN_REPORT_WORDS;
}

/* With the device; waits for copies that are under way. */
static void drop(atn_left *left) {
    atn_reports *r = (atn_reports *)left;
    atn_device *device = r->device;
    for (uint64_t n = r->looked + 1; n <= r->count && !device->lost; ++n) (void)atn_event_wait(slot_of(r, n)->copied);
    for (int k = 0; k < ATN_REPORT_SLOTS; ++k) atn_event_free(r->slots[k].copied);
    atn_host_free(device, &r->words);
    device->reports = NULL;
    atn_free(device->ctx, r);
}

atn_status atn_reports_create(atn_device *device) {
    if (device->reports) return ATN_OK;
    atn_reports *r = atn_zalloc(device->ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->left = (atn_left){.owner = r, .drop = drop};
    r->device = device;
    atn_status status =
        atn_host_alloc(device, (size_t)ATN_REPORT_SLOTS * ATN_REPORT_WORDS * sizeof(int32_t), &r->words);
    for (int k = 0; k < ATN_REPORT_SLOTS && status == ATN_OK; ++k)
        status = atn_event_create(device, &r->slots[k].copied);
    if (status != ATN_OK) {
        drop(&r->left);
        return status;
    }
    device->reports = r;
    atn_device_leave(device, &r->left);
    return ATN_OK;
}

uint64_t atn_reports_sent(const atn_device *device) { return device->reports ? device->reports->count : 0; }

/* Waits for the copy and makes the sentence, where there is one to make. */
static atn_status settle(atn_reports *r, uint64_t number) {
    slot *s = slot_of(r, number);
    if (!s->from.owner) return ATN_OK;
    atn_status status = atn_event_wait(s->copied);
    const int32_t *words = words_of(r, number);
    if (status == ATN_OK && words[0]) s->from.describe(&s->from, words, s->text, sizeof s->text);
    s->from.owner = NULL;
    return status;
}

atn_status atn_reports_look(atn_device *device, uint64_t number) {
    atn_reports *r = device->reports;
    while (r && r->looked < number && r->looked < r->count) {
        atn_status status = settle(r, ++r->looked);
        const char *text = slot_of(r, r->looked)->text;
        if (status == ATN_OK && *text) status = atn_fail(device->ctx, ATN_ERR_INPUT, "%s", text);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

void atn_reports_leave(atn_device *device, const void *owner) {
    atn_reports *r = device->reports;
    for (uint64_t n = r ? r->looked + 1 : 1; r && n <= r->count; ++n)
        if (slot_of(r, n)->from.owner == owner) (void)settle(r, n);
}

atn_status atn_reports_make_room(atn_device *device) {
    const atn_reports *r = device->reports;
    if (!r) return atn_device_check(device); /* lost: there is nothing to send */
    bool full = r->count - r->looked == ATN_REPORT_SLOTS;
    return full ? atn_reports_look(device, r->looked + 1) : ATN_OK;
}

atn_status atn_reports_send(atn_queue *queue, const atn_buffer *from, const atn_reporter *reporter) {
    atn_reports *r = queue->device->reports;
    uint64_t number = r->count + 1;
    slot *s = slot_of(r, number);
    int32_t *words = words_of(r, number);
    atn_status status = atn_buffer_get_async(queue, from, 0, words, ATN_REPORT_WORDS * sizeof *words);
    if (status == ATN_OK) status = atn_event_mark(queue, s->copied);
    if (status != ATN_OK) return status;
    s->from = *reporter;
    s->text[0] = '\0';
    r->count = number;
    return ATN_OK;
}
