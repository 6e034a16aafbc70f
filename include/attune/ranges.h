/* Range files of atom probes, RRNG and RNG: which mass-to-charge ratios are which ion. An ion is what a range names: an
 * element, or several of them as in TiO. */
#ifndef ATTUNE_RANGES_H
#define ATTUNE_RANGES_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_mass_ranges atn_mass_ranges;

/* A kind of ion. A plain value; the name belongs to the ranges. */
typedef struct atn_ion {
    const char *name; /* "Al", "TiO", "C2" */
    int32_t element;  /* atomic number where it is one element, once; else 0 */
    int32_t atoms;    /* >= 1, of all elements together */
    uint32_t colour;  /* 0xRRGGBB */
} atn_ion;

/* Masses from low to high, both included, are the ion `ion`. */
typedef struct atn_mass_range {
    double low, high; /* mass over charge, in dalton; 0 <= low <= high */
    double volume;    /* nm^3; 0: the file does not say */
    int32_t ion;      /* 0 ... ions - 1 */
} atn_mass_range;

/* What a range file is. A plain value; its text belongs to the ranges. */
typedef struct atn_mass_ranges_info {
    const char *format; /* "RRNG" or "RNG" */
    size_t ranges;      /* in the order of the file, each once */
    size_t ions;
    size_t duplicates; /* ranges that were there already, left out */
    size_t overlaps;   /* pairs of ranges of different ions that share masses: the narrower one has them, of two
                          alike the first */
    double low, high;  /* of all ranges */
} atn_mass_ranges_info;

/* A file; RRNG and RNG are told by how they begin. Refused without ranges. Owned by the caller. */
ATN_API atn_status atn_mass_ranges_read(atn_ctx *ctx, const char *path, atn_mass_ranges **out);
ATN_API void atn_mass_ranges_free(atn_mass_ranges *ranges); /* NULL is fine */

ATN_API atn_mass_ranges_info atn_mass_ranges_get_info(const atn_mass_ranges *ranges);
ATN_API atn_mass_range atn_mass_ranges_get(const atn_mass_ranges *ranges, size_t range); /* below info.ranges */
ATN_API atn_ion atn_mass_ranges_ion(const atn_mass_ranges *ranges, size_t ion);          /* below info.ions */

/* The range that a mass belongs to; -1: none, as of NaN. */
ATN_API int32_t atn_mass_ranges_find(const atn_mass_ranges *ranges, double mass);

/* The ion of each mass, -1 where there is none; ion may be NULL. counts has an element for each range and is added to,
 * so that pieces of a frame add up; NULL: not counted. Returns how many of these masses are in a range: 0 of a whole
 * frame says that the file belongs to another one. */
ATN_API size_t atn_mass_ranges_apply(const atn_mass_ranges *ranges, const float *masses, size_t count, int32_t *ion,
                                     uint64_t *counts);

#ifdef __cplusplus
}
#endif
#endif
