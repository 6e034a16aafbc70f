/* Ions of an atom probe file, one after the other, without the file ever being in memory: POS, ePOS and APT. */
#ifndef ATN_CLOUD_IONS_H
#define ATN_CLOUD_IONS_H

#include "cloud/cloud.h"

/* Where the ions of a file lie. */
typedef struct ion_layout {
    size_t ions;
    size_t at, bytes;  /* of the first record with a position; of each */
    size_t mass_at;    /* of the first record with a mass, where that is another; 0: behind the position */
    bool masses;       /* are there any? */
    bool big;          /* the first byte of a number counts most */
    size_t mass_bytes; /* of each of these */
} ion_layout;

/* A plain value; made by ions_open, ended with ions_close. */
typedef struct ion_stream {
    source *s;   /* not owned */
    source mass; /* the same file at its masses, where they lie elsewhere */
    ion_layout layout;
    size_t next;
    size_t alone; /* those before it come one by one: some of them are invalid */
} ion_stream;

/* How a format's layout is found; the source is at its start. */
typedef atn_status ion_layout_find(source *s, atn_cloud *cloud, ion_layout *out);
ion_layout_find ion_pos_layout, ion_epos_layout, ion_apt_layout;

bool ion_apt_begins(const char *head, size_t length);

atn_status ions_open(source *s, const ion_layout *layout, ion_stream *out);
void ions_close(ion_stream *i);            /* zeroed ones are fine */
void ions_seek(ion_stream *i, size_t ion); /* the next one is that; 0: the first */
unsigned ions_roles(const ion_stream *i);

/* The next one goes to the cloud, or is dropped or refused there. Not past the last. */
atn_status ions_next(ion_stream *i, atn_cloud *cloud);
/* The same for the next ones, `most` at most and at least one; several only where none of them is invalid, so that
 * those of the cloud follow each other in the file. The cloud has room for them. */
atn_status ions_some(ion_stream *i, size_t most, atn_cloud *cloud);

#endif
