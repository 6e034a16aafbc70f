/* Range files of atom probe tomography (RRNG, RNG): which mass-to-charge ratios belong to which ion. An ion is an
 * element or a molecule such as TiO. */
#ifndef ATTUNE_RANGES_H
#define ATTUNE_RANGES_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_mass_ranges atn_mass_ranges;

/* A kind of ion. Owned by the ranges, may grow at its end. */
typedef struct atn_ion {
    const char *name; /* "Al", "TiO", "C2" */
    int32_t element;  /* atomic number of a single atom; otherwise 0 */
    int32_t atoms;    /* number of atoms, >= 1 */
    uint32_t colour;  /* 0xRRGGBB */
} atn_ion;

/* Masses from low to high, both included, belong to `ion`. Owned by the ranges, may grow at its end. */
typedef struct atn_mass_range {
    double low, high; /* mass-to-charge ratio, in dalton; 0 <= low <= high */
    double volume;    /* nm^3; 0: unknown */
    int32_t ion;      /* 0 ... ions - 1 */
} atn_mass_range;

/* Properties of a range file; the string belongs to the ranges. */
typedef struct atn_mass_ranges_info {
    size_t size;        /* of this struct: ATN_INIT */
    const char *format; /* "RRNG" or "RNG" */
    size_t ranges;      /* number of distinct ranges, in file order */
    size_t ions;
    size_t duplicates; /* repeated ranges, dropped */
    size_t overlaps;   /* pairs of overlapping ranges of different ions: the narrower one wins, the first of two equal
                          ones */
    double low, high;  /* of all ranges */
} atn_mass_ranges_info;

/* Reads a file; RRNG and RNG are recognised by their first bytes. Fails if there are no ranges. Owned by the caller. */
ATN_API atn_status atn_mass_ranges_read(atn_ctx *ctx, const char *path, atn_mass_ranges **out);
ATN_API void atn_mass_ranges_free(atn_mass_ranges *ranges); /* NULL is allowed */

ATN_API atn_status atn_mass_ranges_get_info(const atn_mass_ranges *ranges, atn_mass_ranges_info *out);
static inline atn_mass_ranges_info atn_mass_ranges_info_of(const atn_mass_ranges *ranges) {
    atn_mass_ranges_info info = ATN_INIT(atn_mass_ranges_info);
    atn_mass_ranges_get_info(ranges, &info);
    return info;
}
ATN_API const atn_mass_range *atn_mass_ranges_get(const atn_mass_ranges *ranges, size_t range); /* below info.ranges */
ATN_API const atn_ion *atn_mass_ranges_ion(const atn_mass_ranges *ranges, size_t ion);          /* below info.ions */

/* The range of a mass; -1: none, also for NaN. */
ATN_API int32_t atn_mass_ranges_find(const atn_mass_ranges *ranges, double mass);

/* Finds the ion of each mass, -1 if none; `ion` may be NULL. counts (or NULL) has an element per range and is
 * incremented, so that counts of pieces add up. Returns the number of masses in a range: 0 for a whole frame suggests a
 * wrong file. */
ATN_API size_t atn_mass_ranges_apply(const atn_mass_ranges *ranges, const float *masses, size_t count, int32_t *ion,
                                     uint64_t *counts);

#ifdef __cplusplus
}
#endif
#endif
