/* Point clouds: positions, and what files say beside them, read from and written to the formats people have.
 * Positions are double: scans in map coordinates and files of doubles lose nothing, and whatever runs in single
 * precision subtracts a centre first. docs/formats.md has the formats. */
#ifndef ATTUNE_CLOUD_H
#define ATTUNE_CLOUD_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of points with a coordinate that is NaN or infinite. */
typedef enum atn_cloud_invalid { ATN_INVALID_REFUSE, ATN_INVALID_DROP } atn_cloud_invalid;

/* How a file is read; a field left zero takes its default. */
typedef struct atn_cloud_settings {
    atn_cloud_invalid invalid; /* default: the file is refused; dropped points are counted */
    bool no_properties;        /* leave out colours, labels, faces, all that only travels; default: they are kept */
} atn_cloud_settings;

typedef struct atn_cloud atn_cloud;

/* What a cloud is. A plain value; its texts belong to the cloud. */
typedef struct atn_cloud_info {
    const char *format;     /* where it came from: "PLY, binary, little-endian"; "" when made in memory */
    size_t points;          /* those that are kept */
    size_t nan, inf;        /* points dropped for a NaN, and for an infinity without one */
    size_t frames;          /* configurations one after the other; 1 unless the file has several */
    double low[3], high[3]; /* bounds; zero without points */
    bool normals;           /* each of the following: is it there? */
    bool weights;
    bool masses;            /* mass-to-charge ratio of an ion */
    bool species;           /* atomic number, or the file's own number of a kind; 0: not known */
    size_t faces;           /* of a mesh; they travel with their points */
    const char *properties; /* names of what else travels, as colours and labels; "" for nothing */
    const char *left_out;   /* names of what the file has and a cloud does not; "" for nothing */
} atn_cloud_info;

/* A file; the format is known by how it begins, else by its ending. Owned by the caller. NULL settings: defaults. */
ATN_API atn_status atn_cloud_read(atn_ctx *ctx, const char *path, const atn_cloud_settings *settings, atn_cloud **out);

/* Copies `points` positions, x y z after x y z, and as many normals or NULL. All must be finite. */
ATN_API atn_status atn_cloud_create(atn_ctx *ctx, size_t points, const double *positions, const float *normals,
                                    atn_cloud **out);
ATN_API void atn_cloud_free(atn_cloud *cloud); /* NULL is fine */

ATN_API atn_cloud_info atn_cloud_get_info(const atn_cloud *cloud);

/* Arrays of the cloud, one element for each point; NULL where it has none. axis: 0 x, 1 y, 2 z. A normal of zeros is
 * one that is not known. */
ATN_API const double *atn_cloud_positions(const atn_cloud *cloud, int axis);
ATN_API const float *atn_cloud_normals(const atn_cloud *cloud, int axis);
ATN_API const float *atn_cloud_weights(const atn_cloud *cloud);
ATN_API const float *atn_cloud_masses(const atn_cloud *cloud);
ATN_API const int32_t *atn_cloud_species(const atn_cloud *cloud);
ATN_API size_t atn_cloud_frame(const atn_cloud *cloud, size_t frame); /* its first point; points at the end */

/* What the format of that ending cannot hold of the cloud, with what the file it came from had and a cloud does not:
 * names, "" for nothing. Fills at most `size` bytes of `names`, with the zero. */
ATN_API void atn_cloud_not_written(const atn_cloud *cloud, const char *path, char *names, size_t size);

/* The format is that of the ending: ply, pcd, xyz, npy, las or pos. Written aside and renamed. Coordinates are written
 * in single precision where that loses nothing, else in double; POS is always single. */
ATN_API atn_status atn_cloud_write(const atn_cloud *cloud, const char *path);

/* ---- clouds from clouds; owned by the caller ---- */
/* One point for each cube of side `edge` that has any: the mean of its points, their weights (1 each without) added up,
 * normals averaged; species are kept apart. */
ATN_API atn_status atn_cloud_voxels(const atn_cloud *cloud, double edge, atn_cloud **out);
/* An edge that thins a cloud moderately: twice the median distance to the nearest neighbour. */
ATN_API atn_status atn_cloud_voxel_edge(const atn_cloud *cloud, double *edge);
/* What lies in a box, its faces included. Faces of a mesh stay where all of their corners do; so below. */
ATN_API atn_status atn_cloud_cropped(const atn_cloud *cloud, const double low[3], const double high[3],
                                     atn_cloud **out);
/* Without points whose mean distance to their `neighbours` nearest (0: 20, at most 1000) is more than `deviations`
 * (0: 2) standard deviations above the mean of all. */
ATN_API atn_status atn_cloud_without_outliers(const atn_cloud *cloud, int32_t neighbours, double deviations,
                                              atn_cloud **out);
/* All points of `count` > 0 clouds, one cloud after the other. Roles that some lack are filled: normals and masses 0,
 * weights 1, species 0; other properties are kept where all have them under one name and type. */
ATN_API atn_status atn_cloud_merged(const atn_cloud *const *clouds, size_t count, atn_cloud **out);
/* The same cloud with a normal for each point, from the plane through its `neighbours` nearest points (0: 20). They
 * point towards `viewpoint` where it is given, else outwards from the centroid. Points without a plane get zeros. */
ATN_API atn_status atn_cloud_with_normals(const atn_cloud *cloud, int32_t neighbours, const double *viewpoint,
                                          atn_cloud **out);
/* `points` points spread evenly over the triangles of a mesh (PLY, OBJ, STL), with the triangles' normals. */
ATN_API atn_status atn_cloud_sample_mesh(atn_ctx *ctx, const char *path, size_t points, uint64_t seed, atn_cloud **out);
/* Moved by T (4 x 4, row-major); normals are turned as normals are. */
ATN_API atn_status atn_cloud_moved(const atn_cloud *cloud, const double transform[16], atn_cloud **out);

#ifdef __cplusplus
}
#endif
#endif
