/* The position of each field in the point formats of LAS files, and the lengths of their records. */
#include "cloud/las.h"

const unsigned char LAS_BYTES[LAS_FORMATS] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

/* Of formats 0 to 5 the classes share a byte with flags, and returns one with bits of the scan: each has a name of its
 * own where the newer formats keep something else. */
const las_field LAS_FIELDS[] = {
    {"intensity", NUMBER_U16, {12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12}},
    {"classification", NUMBER_U8, {15, 15, 15, 15, 15, 15, 16, 16, 16, 16, 16}},
    {"red", NUMBER_U16, {-1, -1, 20, 28, -1, 28, -1, 30, 30, -1, 30}},
    {"green", NUMBER_U16, {-1, -1, 22, 30, -1, 30, -1, 32, 32, -1, 32}},
    {"blue", NUMBER_U16, {-1, -1, 24, 32, -1, 32, -1, 34, 34, -1, 34}},
    {"nir", NUMBER_U16, {-1, -1, -1, -1, -1, -1, -1, -1, 36, -1, 36}},
    {"gps_time", NUMBER_F64, {-1, 20, -1, 20, 20, 20, 22, 22, 22, 22, 22}},
    {"return_bits", NUMBER_U8, {14, 14, 14, 14, 14, 14, -1, -1, -1, -1, -1}},
    {"returns", NUMBER_U8, {-1, -1, -1, -1, -1, -1, 14, 14, 14, 14, 14}},
    {"class_flags", NUMBER_U8, {-1, -1, -1, -1, -1, -1, 15, 15, 15, 15, 15}},
    {"scan_angle_rank", NUMBER_I8, {16, 16, 16, 16, 16, 16, -1, -1, -1, -1, -1}},
    {"scan_angle", NUMBER_I16, {-1, -1, -1, -1, -1, -1, 18, 18, 18, 18, 18}},
    {"user_data", NUMBER_U8, {17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17}},
    {"point_source_id", NUMBER_U16, {18, 18, 18, 18, 18, 18, 20, 20, 20, 20, 20}},
    {0},
};
