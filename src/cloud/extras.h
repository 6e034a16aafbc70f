/* Point attributes that no method uses but that are passed through from file to file: colours, intensities, labels.
 * Each point has one record, packed and little-endian, whatever the machine. */
#ifndef ATN_CLOUD_EXTRAS_H
#define ATN_CLOUD_EXTRAS_H

#include "base/text.h"
#include "cloud/binary.h"

enum { EXTRA_NAME = 64, EXTRAS_MOST = 512 };

typedef struct cloud_extra {
    char name[EXTRA_NAME]; /* cut short if it is longer */
    number_type type;
    size_t values; /* of one point; > 0 */
    size_t at;     /* bytes before it in a record */
    bool gone;     /* a value was no number: left out once all are read */
} cloud_extra;

/* A plain value, zeroed at first; ended with cloud_extras_free. */
typedef struct cloud_extras {
    cloud_extra *field; /* owned */
    size_t count, capacity;
    size_t bytes;    /* of a record */
    char *next;      /* owned; the record of the point to come, which readers fill */
    char *data;      /* owned; a record for each point */
    char names[160]; /* of all of them, for people */
} cloud_extras;

void cloud_extras_free(const atn_ctx *ctx, cloud_extras *extras);

/* One more, before the first point. *index: which one it is; SIZE_MAX: there are too many, and it is not kept. */
atn_status cloud_extras_add(const atn_ctx *ctx, cloud_extras *extras, const char *name, number_type type, size_t values,
                            size_t *index);

/* The same properties, without records. */
atn_status cloud_extras_like(const atn_ctx *ctx, const cloud_extras *from, cloud_extras *to);

/* Room for so many records. */
atn_status cloud_extras_room(const atn_ctx *ctx, cloud_extras *extras, size_t points);

/* A value of the record to come. */
void cloud_extras_put(cloud_extras *extras, size_t index, size_t value, double number);

double cloud_extras_get(const cloud_extras *extras, size_t index, size_t value, size_t point);

/* Of text: properties that are gone go, whole numbers become as short as they can be. */
atn_status cloud_extras_settle(const atn_ctx *ctx, cloud_extras *extras, size_t points);

/* The property of that name, type and number of values; SIZE_MAX: none. */
size_t cloud_extras_find(const cloud_extras *extras, const cloud_extra *like);

/* "name", or "name_k" where there are several values; blanks and what is not ASCII become '_'. */
void cloud_extra_name(const cloud_extra *extra, size_t value, char name[EXTRA_NAME + 8]);

/* Adds a name to a list for people, "a, b, ..."; cut short where there is no room. */
void cloud_list_name(char *list, size_t size, const char *name);

#endif
