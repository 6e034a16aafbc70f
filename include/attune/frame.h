/* Frames of atoms that may be larger than memory: read piece by piece, in file order or in slabs along an axis with a
 * halo; results are collected per atom in a column; output is written row by row.
 *
 * Memory: POS, ePOS and APT files are never held in memory completely. A frame takes 3 MiB. Slabs take settings.memory
 * for atoms (20 bytes each in POS, ePOS and APT files, 40 in others; beyond that a temporary file in $TMPDIR, removed
 * on close), 15 MiB for buffers and 40 bytes per atom of the largest slab with its halo, known in advance as info.most.
 * Text files (XYZ, CSV) of more than 64 MiB are read once into such a temporary file, 32 bytes per atom. Other formats
 * are read completely, 40 bytes per atom. */
#ifndef ATTUNE_FRAME_H
#define ATTUNE_FRAME_H

#include <attune/cloud.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Atoms in memory: a piece, or a slab. The arrays belong to the frame or slabs and are valid until the next call with
 * it. */
typedef struct atn_atoms {
    size_t size;               /* of this struct: ATN_INIT */
    size_t count, own;         /* the first `own` belong to the slab, the rest is its halo. In a piece all are own */
    const double *position[3]; /* x, y, z in the unit of the file */
    const float *mass;         /* mass-to-charge ratio; NULL: the file has none */
    const int32_t *species;    /* as in a cloud; NULL: the file has none */
    const uint64_t *index;     /* record number in the frame, from 0 */
} atn_atoms;

/* ---- a frame, in the order of its file ---- */
typedef struct atn_frame atn_frame;

/* Properties of a frame; strings belong to the frame. */
typedef struct atn_frame_info {
    size_t size; /* of this struct: ATN_INIT */
    const char *format;
    size_t atoms;    /* kept */
    size_t records;  /* upper bound of indices: if streamed, all records of the file, with the dropped ones; otherwise
                        the kept ones */
    size_t nan, inf; /* dropped */
    double low[3], high[3]; /* bounds; zero without atoms */
    bool masses, species;
    bool streamed;        /* never completely in memory */
    double angstrom;      /* length of the unit of positions in Angstrom: 10 for POS, ePOS and APT (nm), otherwise 1 */
    const char *left_out; /* names of data in the file that a frame does not hold; "" if none */
} atn_frame_info;

/* Opens a file and reads it once for the info. Files with several frames are refused. NULL settings: defaults.
 * Owned by the caller. */
ATN_API atn_status atn_frame_open(atn_ctx *ctx, const char *path, const atn_cloud_settings *settings, atn_frame **out);
ATN_API void atn_frame_close(atn_frame *frame); /* NULL is allowed */
ATN_API atn_status atn_frame_get_info(const atn_frame *frame, atn_frame_info *out);
static inline atn_frame_info atn_frame_info_of(const atn_frame *frame) {
    atn_frame_info info = ATN_INIT(atn_frame_info);
    atn_frame_get_info(frame, &info);
    return info;
}

/* The next atoms, at most ATN_FRAME_PIECE; count 0 at the end. */
enum { ATN_FRAME_PIECE = 1 << 15 };
ATN_API atn_status atn_frame_next(atn_frame *frame, atn_atoms *out);
ATN_API atn_status atn_frame_rewind(atn_frame *frame); /* the next piece is the first again */

/* ---- a frame, in slabs ---- */
typedef struct atn_slabs atn_slabs;

/* Fields left at zero take their defaults. */
typedef struct atn_slabs_settings {
    size_t size;   /* of this struct: ATN_INIT */
    double halo;   /* width of the halo along the axis, >= 0, in the unit of the file */
    size_t atoms;  /* target and upper bound per slab, unless more coincide at one position; default: 2^20 */
    size_t most;   /* limit per slab with its halo: more is refused; default: 2^26 */
    size_t memory; /* memory for the atoms of the frame, in bytes; larger frames go to a temporary file;
                      default: 2^28 */
    int32_t axis;  /* 1 x, 2 y, 3 z; default: the longest */
} atn_slabs_settings;

typedef struct atn_slabs_info {
    size_t size; /* of this struct: ATN_INIT */
    size_t slabs;
    size_t most;    /* upper bound of atoms in a slab with its halo */
    int32_t axis;   /* 1 x, 2 y, 3 z */
    bool temporary; /* a temporary file is used */
} atn_slabs_info;

/* Reads the frame twice more and sorts it into slabs; the frame must outlive them and can still be read. Each atom is
 * own in exactly one slab; slabs are ordered along the axis. The order is deterministic. Owned by the caller. */
ATN_API atn_status atn_slabs_open(atn_frame *frame, const atn_slabs_settings *settings, atn_slabs **out);
ATN_API void atn_slabs_close(atn_slabs *slabs); /* NULL is allowed */
ATN_API atn_status atn_slabs_get_info(const atn_slabs *slabs, atn_slabs_info *out);
static inline atn_slabs_info atn_slabs_info_of(const atn_slabs *slabs) {
    atn_slabs_info info = ATN_INIT(atn_slabs_info);
    atn_slabs_get_info(slabs, &info);
    return info;
}
/* count 0: no more slabs. All atoms within `halo` of the slab along the axis are included. */
ATN_API atn_status atn_slabs_next(atn_slabs *slabs, atn_atoms *out);
ATN_API void atn_slabs_rewind(atn_slabs *slabs);

/* ---- results by atom ---- */
/* Records of fixed size for the indices 0 ... records - 1, written in any order, each once, and read back in index
 * order. Held in `memory` bytes (0: 2^28; a record takes 8 more), otherwise in a temporary file, with buffers of 11 MiB
 * plus a thousandth of its size. */
typedef struct atn_atom_column atn_atom_column;
ATN_API atn_status atn_atom_column_create(atn_ctx *ctx, size_t records, size_t bytes, size_t memory,
                                          atn_atom_column **out);
ATN_API void atn_atom_column_free(atn_atom_column *column); /* NULL is allowed */
/* values: `count` records; index: their indices. Not after the first get. */
ATN_API atn_status atn_atom_column_put(atn_atom_column *column, const uint64_t *index, size_t count,
                                       const void *values);
/* The next records in order, at most `count`; *got is 0 at the end. Missing records are zeros. */
ATN_API atn_status atn_atom_column_get(atn_atom_column *column, size_t count, void *values, size_t *got);

/* ---- rows ---- */
/* Rows are written to a temporary file, which atn_atom_rows_finish renames; atn_atom_rows_free without it removes the
 * file. */
typedef struct atn_atom_rows atn_atom_rows;

/* A column of extended XYZ: integers, or numbers with `digits` decimals. This struct will not change. */
typedef struct atn_atom_rows_column {
    const char *name; /* "pos", "structure_type"; letters, digits and _ */
    int32_t width;    /* number of values: 3 for pos */
    int32_t digits;   /* decimals, 0 to 9; negative: integers */
} atn_atom_rows_column;

/* Extended XYZ as read by OVITO. rows: number of rows to come. species: rows begin with a name. comment: further
 * key=value pairs for the second line, e.g. Lattice="..."; NULL: none. `columns` ends with one without name. */
ATN_API atn_status atn_atom_rows_open_xyz(atn_ctx *ctx, const char *path, size_t rows, bool species,
                                          const char *comment, const atn_atom_rows_column *columns,
                                          atn_atom_rows **out);
/* POS: rows of x y z and one number in place of the mass. */
ATN_API atn_status atn_atom_rows_open_pos(atn_ctx *ctx, const char *path, size_t rows, atn_atom_rows **out);
/* species: without blanks; NULL: X. values: of all columns, in order. */
ATN_API atn_status atn_atom_rows_add(atn_atom_rows *rows, const char *species, const double *values);
ATN_API atn_status atn_atom_rows_finish(atn_atom_rows *rows); /* fails unless all announced rows were added */
ATN_API void atn_atom_rows_free(atn_atom_rows *rows);         /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
