/* The parts of attune register: options, output, the report, many pairs from a list. */
#ifndef ATN_CLI_REGISTER_H
#define ATN_CLI_REGISTER_H

#include "cli/cli.h"
#include "cli/matrix.h"
#include "cli/serve.h"

#include <attune/register.h>

/* What was reached after each iteration, in order. */
typedef struct atn_cli_steps {
    atn_register_step *list; /* owned */
    size_t n, capacity;
    bool failed; /* for want of memory */
} atn_cli_steps;

/* Are points distributed over ranks? Where it pays, unless somebody says so. */
typedef enum atn_cli_distribute {
    ATN_CLI_DISTRIBUTE_AUTO,
    ATN_CLI_DISTRIBUTE_NEVER,
    ATN_CLI_DISTRIBUTE_ALWAYS
} atn_cli_distribute;

/* What a call of the verb works on. */
typedef struct atn_cli_register {
    atn_cli_call *call;
    atn_register_settings settings; /* its watch records steps and shows progress */
    const char *method;             /* the words of the options, for people */
    const char *transform, *start;
    atn_cloud_settings reading;
    double voxel; /* edge, in the target's unit; 0: not given, or from the data */
    atn_cli_distribute distribute;
    size_t sample;        /* points of each cloud that are registered first; 0: not given */
    bool profile;         /* show where the time goes */
    bool keeps_steps;     /* for the report */
    size_t pair, n_pairs; /* the one at work, from 1; 0: there is but one */
    atn_cli_steps steps;
    atn_serve *serve;   /* NULL: no live view */
    int32_t iterations; /* that were shown there */
} atn_cli_register;

/* One pair with its result, to be reported. */
typedef struct atn_cli_registered {
    const char *source_name, *target_name;
    const atn_cloud *source, *target;
    double voxel;   /* edge of the cubes that left the points below; 0: all points are used */
    size_t used[2]; /* of source and target */
    const atn_register_result *result;
    size_t estimated_bytes;     /* what was expected to be allocated */
    const atn_cli_apart *truth; /* NULL: it is not known */
    /* Of points that are distributed over ranks: the clouds above are samples of these; NULL: they are all. */
    const struct cloud_part *part[2];
    const struct reg_distribution *distribution;
} atn_cli_registered;

/* ---- register_tell.c ---- */
/* Prints a result and writes what was asked for, but for -o; doubtful is a warning, refused a failure. */
atn_status atn_cli_register_tell(atn_cli_register *r, atn_cli_registered *done, const atn_register_result *result,
                                 const double *truth);

/* ---- register_distribute.c ---- */
atn_status atn_cli_distribute_read(atn_cli_register *r); /* the option; after the settings */
bool atn_cli_may_distribute(const atn_cli_register *r);  /* by the option, the settings and the sizes of the files */
/* By all ranks. *done: it was done; false: the clouds are too small for it. */
atn_status atn_cli_register_distribute(atn_cli_register *r, atn_device *device, const double *truth, bool *done);

/* ---- register_options.c ---- */
extern const atn_cli_option ATN_CLI_REGISTER_OPTIONS[];
atn_status atn_cli_register_read(atn_cli_register *r);
/* The ending of a file that points are to be written to. Where none is written so: wrong usage, or, in a line of
 * a list, a wrong input. */
atn_status atn_cli_register_check_output(atn_cli_call *call, const char *list, int line, const char *path);
/* All files that one pair is to be written to, before the work begins: each can be made, and none is another. */
atn_status atn_cli_register_check_files(atn_cli_call *call);

/* ---- voxel.c ---- */
atn_status atn_cli_voxel_read(atn_cli_call *call, double *edge); /* 0: not given, or auto */
/* One point for each cube, all weights 1 where the cloud has none; edge 0 becomes that of the data. */
atn_status atn_cli_voxel(const atn_cloud *cloud, double *edge, atn_cloud **out);
/* The same for registration: without voxels of hardly any points where others have many. */
atn_status atn_cli_voxel_solid(const atn_cloud *cloud, double *edge, atn_cloud **out);

/* Writes points, and names on standard error what the format does not hold of them. */
atn_status atn_cli_register_write(atn_cli_call *call, const atn_cloud *cloud, const char *path);

/* ---- register_print.c ---- */
atn_status atn_cli_register_print(const atn_cli_register *r, const atn_cli_registered *done);
/* Adds the fields of a result; false: no memory. */
bool atn_cli_register_json(const atn_cli_register *r, const atn_cli_registered *done, json_t *root);
/* "kernel TAB calls TAB seconds TAB share" with a head, for a table. */
void atn_cli_register_profile(atn_text *rows, const atn_register_result *result);

/* ---- register_report.c ---- */
atn_status atn_cli_register_report(const atn_cli_register *r, const atn_cli_registered *done, const char *path);

/* ---- register_batch.c ---- */
/* The rows of a file, on devices. */
atn_status atn_cli_register_batch(atn_cli_register *r, atn_device *const *devices, int32_t n_devices, const char *list);

#endif
