/* Point clouds: positions and per-point attributes, read from and written to common formats (docs/formats.md).
 * Positions are double, so that map coordinates lose nothing; whatever runs in single precision subtracts a centre
 * first. */
#ifndef ATTUNE_CLOUD_H
#define ATTUNE_CLOUD_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to do with points that have a NaN or infinite coordinate. */
typedef enum atn_cloud_invalid { ATN_INVALID_REFUSE, ATN_INVALID_DROP } atn_cloud_invalid;

/* How a file is read. Fields left at zero take their defaults. */
typedef struct atn_cloud_settings {
    size_t size;               /* of this struct: ATN_INIT */
    atn_cloud_invalid invalid; /* default: the file is refused; dropped points are counted in the info */
    bool no_properties; /* skip colours, labels, faces and other data that is only passed through; default: kept */
} atn_cloud_settings;

typedef struct atn_cloud atn_cloud;

/* Properties of a cloud; strings belong to the cloud. */
typedef struct atn_cloud_info {
    size_t size;            /* of this struct: ATN_INIT */
    const char *format;     /* of the file: "PLY, binary, little-endian"; "" if created in memory */
    size_t points;          /* kept */
    size_t nan, inf;        /* points dropped for a NaN, or for an infinity without a NaN */
    size_t frames;          /* number of frames; 1 unless the file has several */
    double low[3], high[3]; /* bounding box; zeros without points */
    bool normals;           /* has it normals? likewise: */
    bool weights;
    bool masses;            /* mass-to-charge ratio of an ion */
    bool species;           /* atomic number, or the type number of the file; 0: unknown */
    size_t faces;           /* of a mesh; passed through */
    const char *properties; /* names of other data that is passed through (colours, labels); "" if none */
    const char *left_out;   /* names of data in the file that a cloud cannot hold; "" if none */
} atn_cloud_info;

/* Reads a file; the format is recognised by its first bytes, otherwise by its extension. Owned by the caller. NULL
 * settings: defaults. */
ATN_API atn_status atn_cloud_read(atn_ctx *ctx, const char *path, const atn_cloud_settings *settings, atn_cloud **out);

/* Copies `points` positions (x y z x y z ...) and as many normals, or NULL. All must be finite. */
ATN_API atn_status atn_cloud_create(atn_ctx *ctx, size_t points, const double *positions, const float *normals,
                                    atn_cloud **out);
ATN_API void atn_cloud_free(atn_cloud *cloud); /* NULL is allowed */

ATN_API atn_status atn_cloud_get_info(const atn_cloud *cloud, atn_cloud_info *out);
static inline atn_cloud_info atn_cloud_info_of(const atn_cloud *cloud) {
    atn_cloud_info info = ATN_INIT(atn_cloud_info);
    atn_cloud_get_info(cloud, &info);
    return info;
}

/* Arrays owned by the cloud, one element per point; NULL if absent. axis: 0 x, 1 y, 2 z. A zero normal is unknown. */
ATN_API const double *atn_cloud_positions(const atn_cloud *cloud, int axis);
ATN_API const float *atn_cloud_normals(const atn_cloud *cloud, int axis);
ATN_API const float *atn_cloud_weights(const atn_cloud *cloud);
ATN_API const float *atn_cloud_masses(const atn_cloud *cloud);
ATN_API const int32_t *atn_cloud_species(const atn_cloud *cloud);
/* The first point of a frame; for the frame after the last: the number of points. */
ATN_API size_t atn_cloud_frame(const atn_cloud *cloud, size_t frame);

/* Names of the data that would be lost by writing the cloud to a file with this extension, including what was already
 * left out on reading; "" if none. Fills at most `size` bytes of `names`, with the terminating zero. */
ATN_API void atn_cloud_not_written(const atn_cloud *cloud, const char *path, char *names, size_t size);

/* The extension decides the format (docs/formats.md). Written to a temporary file, then renamed.
 * Coordinates are written in single precision if that loses nothing, otherwise in double; POS is always single. */
ATN_API atn_status atn_cloud_write(const atn_cloud *cloud, const char *path);

/* ---- clouds from clouds; owned by the caller ---- */
/* Voxel filter: one point per occupied cube of side `edge`: the mean position, the sum of weights (1 each by default),
 * the mean normal; species are kept apart. */
ATN_API atn_status atn_cloud_voxels(const atn_cloud *cloud, double edge, atn_cloud **out);
/* A moderate voxel size: twice the median distance to the nearest neighbour. */
ATN_API atn_status atn_cloud_voxel_edge(const atn_cloud *cloud, double *edge);
/* The points inside a box, boundary included. Faces of a mesh are kept if all of their corners are; likewise below. */
ATN_API atn_status atn_cloud_cropped(const atn_cloud *cloud, const double low[3], const double high[3],
                                     atn_cloud **out);
/* Statistical outlier removal: drops points whose mean distance to their `neighbours` nearest points (0: 20, at most
 * 1000) is more than `deviations` (0: 2) standard deviations above the mean. */
ATN_API atn_status atn_cloud_without_outliers(const atn_cloud *cloud, int32_t neighbours, double deviations,
                                              atn_cloud **out);
/* Concatenates `count` > 0 clouds. Missing attributes are filled in: normals and masses 0, weights 1, species 0; other
 * properties are kept if all clouds have them with the same name and type. */
ATN_API atn_status atn_cloud_merged(const atn_cloud *const *clouds, size_t count, atn_cloud **out);
/* Estimates normals from the plane through the `neighbours` nearest points (0: 20), oriented towards `viewpoint`, or
 * away from the centroid if that is NULL. Points without a plane get zeros. */
ATN_API atn_status atn_cloud_with_normals(const atn_cloud *cloud, int32_t neighbours, const double *viewpoint,
                                          atn_cloud **out);
/* Samples `points` points evenly from the triangles of a mesh (PLY with faces, STL and others), with their normals. */
ATN_API atn_status atn_cloud_sample_mesh(atn_ctx *ctx, const char *path, size_t points, uint64_t seed, atn_cloud **out);
/* Transformed by T (4 x 4, row-major); normals by the inverse transpose. */
ATN_API atn_status atn_cloud_moved(const atn_cloud *cloud, const double transform[16], atn_cloud **out);

#ifdef __cplusplus
}
#endif
#endif
