/* Frames of atoms that may be larger than memory: read a piece at a time, in the order of the file or in slabs along an
 * axis with what lies around them; results kept by atom in a column; rows written one after the other.
 *
 * Memory: POS, ePOS and APT files are never in memory as a whole. A frame holds 3 MiB. Slabs hold settings.memory for
 * the atoms (beyond that they go to a temporary file in $TMPDIR, 40 bytes each, gone when it is closed), 15 MiB for
 * buffers and 40 bytes for each atom of the largest slab with its halo, which info.most tells before the first is read.
 * Text (XYZ, CSV) of more than 64 MiB is read once and kept in such a file, too, 32 bytes an atom. Other formats are
 * read whole first, 40 bytes for an atom. */
#ifndef ATTUNE_FRAME_H
#define ATTUNE_FRAME_H

#include <attune/cloud.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Atoms that are in memory now: those of a piece, or of a slab. Arrays belong to whom they came from and hold until its
 * next call. */
typedef struct atn_atoms {
    size_t count, own;         /* the first `own` are the slab's; those behind are its halo. Of a piece all are own */
    const double *position[3]; /* x, y, z in the unit of the file */
    const float *mass;         /* mass over charge; NULL: the file has none */
    const int32_t *species;    /* as in a cloud; NULL: the file has none */
    const uint64_t *index;     /* which record of the frame, from 0 */
} atn_atoms;

/* ---- a frame, in the order of its file ---- */
typedef struct atn_frame atn_frame;

/* What a frame is. A plain value; its text belongs to the frame. */
typedef struct atn_frame_info {
    const char *format;
    size_t atoms;           /* those that are kept */
    size_t records;         /* indices are below it: where it is streamed those of the file, with the dropped ones,
                               else those that are kept */
    size_t nan, inf;        /* dropped */
    double low[3], high[3]; /* bounds; zero without atoms */
    bool masses, species;
    bool streamed;        /* never in memory as a whole */
    double angstrom;      /* in one unit of the positions: 10 for POS, ePOS and APT, whose unit is nm; else 1 */
    const char *left_out; /* names of what the file has and a frame does not; "" for nothing */
} atn_frame_info;

/* Opens a file and reads it through once, for the info. A file of several frames is refused. NULL settings: defaults.
 * Owned by the caller. */
ATN_API atn_status atn_frame_open(atn_ctx *ctx, const char *path, const atn_cloud_settings *settings, atn_frame **out);
ATN_API void atn_frame_close(atn_frame *frame); /* NULL is fine */
ATN_API atn_frame_info atn_frame_get_info(const atn_frame *frame);

/* The next atoms, at most ATN_FRAME_PIECE; none at the end. */
enum { ATN_FRAME_PIECE = 1 << 15 };
ATN_API atn_status atn_frame_next(atn_frame *frame, atn_atoms *out);
ATN_API atn_status atn_frame_rewind(atn_frame *frame); /* the next piece is the first again */

/* ---- a frame, in slabs ---- */
typedef struct atn_slabs atn_slabs;

/* A field left zero takes its default. */
typedef struct atn_slabs_settings {
    double halo;   /* >= 0, in the unit of the file: how far around a slab atoms are wanted, along the axis */
    size_t atoms;  /* of a slab, about and at most unless one place has more; default: 2^20 */
    size_t most;   /* of a slab with its halo: more is refused; default: 2^26 */
    size_t memory; /* bytes that may hold the atoms of the frame; a frame that needs more goes to a temporary file;
                      default: 2^28 */
    int32_t axis;  /* 1 x, 2 y, 3 z; default: the longest */
} atn_slabs_settings;

typedef struct atn_slabs_info {
    size_t slabs;
    size_t most;    /* atoms of the largest with its halo, at most */
    int32_t axis;   /* 1 x, 2 y, 3 z */
    bool temporary; /* is there a temporary file? */
} atn_slabs_info;

/* Reads the frame twice more, from its start, and sorts it into slabs; the frame must outlive them and can be read on
 * its own. Each atom is own in one slab; slabs come along the axis. The same file and settings give the same order.
 * Owned by the caller. */
ATN_API atn_status atn_slabs_open(atn_frame *frame, const atn_slabs_settings *settings, atn_slabs **out);
ATN_API void atn_slabs_close(atn_slabs *slabs); /* NULL is fine */
ATN_API atn_slabs_info atn_slabs_get_info(const atn_slabs *slabs);
/* count 0: there is none left. Around own atoms every atom within halo along the axis is there. */
ATN_API atn_status atn_slabs_next(atn_slabs *slabs, atn_atoms *out);
ATN_API void atn_slabs_rewind(atn_slabs *slabs);

/* ---- results by atom ---- */
/* Records of one size for the indices 0 ... records - 1, put in any order, each once, and got back in theirs. Held in
 * `memory` bytes (0: 2^28; a record takes 8 more), else in a temporary file, with buffers of 11 MiB and a thousandth of
 * it. */
typedef struct atn_atom_column atn_atom_column;
ATN_API atn_status atn_atom_column_create(atn_ctx *ctx, size_t records, size_t bytes, size_t memory,
                                          atn_atom_column **out);
ATN_API void atn_atom_column_free(atn_atom_column *column); /* NULL is fine */
/* values: count records one after the other; index: where they belong. Not after the first get. */
ATN_API atn_status atn_atom_column_put(atn_atom_column *column, const uint64_t *index, size_t count,
                                       const void *values);
/* The next records in order, at most `count`; *got is 0 at the end. What was never put is zeros. */
ATN_API atn_status atn_atom_column_get(atn_atom_column *column, size_t count, void *values, size_t *got);

/* ---- rows ---- */
/* Rows written one after the other, aside; renamed into place by atn_atom_rows_finish, removed by atn_atom_rows_free
 * without. */
typedef struct atn_atom_rows atn_atom_rows;

/* A column of extended XYZ: numbers as whole ones or with `digits` behind the point. */
typedef struct atn_atom_rows_column {
    const char *name; /* "pos", "structure_type"; letters, digits and _ */
    int32_t width;    /* numbers of it: 3 for pos */
    int32_t digits;   /* 0 to 9 behind the point; negative: whole numbers */
} atn_atom_rows_column;

/* Extended XYZ as OVITO opens it. rows: how many will come. species: does each row begin with a name? comment: further
 * key=value pairs of the second line, as Lattice="..."; NULL: none. The table ends with a row without name. */
ATN_API atn_status atn_atom_rows_open_xyz(atn_ctx *ctx, const char *path, size_t rows, bool species,
                                          const char *comment, const atn_atom_rows_column *columns,
                                          atn_atom_rows **out);
/* POS: rows of x y z and one more number, in place of mass. */
ATN_API atn_status atn_atom_rows_open_pos(atn_ctx *ctx, const char *path, size_t rows, atn_atom_rows **out);
/* species: without blanks; NULL is X. values: those of all columns, in order. */
ATN_API atn_status atn_atom_rows_add(atn_atom_rows *rows, const char *species, const double *values);
ATN_API atn_status atn_atom_rows_finish(atn_atom_rows *rows); /* refused unless as many rows came as were said */
ATN_API void atn_atom_rows_free(atn_atom_rows *rows);         /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
