/* Parts of attune register with many scans: the files, what is printed, the report. */
#ifndef ATN_CLI_ALIGN_H
#define ATN_CLI_ALIGN_H

#include "cli/register.h"

#include <attune/align.h>

/* What a call works on. */
typedef struct atn_cli_align {
    atn_cli_register *r;
    size_t count;
    char **paths;         /* owned, as all that follows */
    atn_cloud **clouds;   /* as read */
    atn_cloud **thin;     /* with --voxel: what is registered; else NULL */
    double voxel;         /* edge; 0: all points */
    atn_cli_apart *apart; /* from the truth, of those placed; NULL: it is not known */
    bool *has_truth;      /* of each scan */
    atn_align_result result;
} atn_cli_align;

/* Is it a call for many: more than two files, or a folder? */
bool atn_cli_align_wanted(const atn_cli_call *call);
atn_status atn_cli_align_run(atn_cli_register *r, atn_device *device);

/* ---- align_files.c ---- */
/* The operands' files, those of folders in the order of their names, numbers counting as numbers. */
atn_status atn_cli_align_list(atn_cli_call *call, char ***paths, size_t *count);
/* poses: [{file, transform}] of a file, by the names of the scans. */
atn_status atn_cli_align_truth(atn_cli_align *a, const char *path);
/* Files of -o and --matrix. */
atn_status atn_cli_align_write(const atn_cli_align *a);

/* ---- align_print.c ---- */
const char *atn_cli_align_name(const char *path); /* without its folders */
atn_status atn_cli_align_print(const atn_cli_align *a);
/* Rows of cells with a head, as for tables of people and pages. */
void atn_cli_align_scans(const atn_cli_align *a, atn_text *rows);
void atn_cli_align_edges(const atn_cli_align *a, atn_text *rows);
extern const char ATN_CLI_ALIGN_SCANS[], ATN_CLI_ALIGN_EDGES[]; /* how their columns are aligned */
/* How sure a scan's pose is: degrees, and in place where its points are. */
void atn_cli_align_sure(const atn_cli_align *a, size_t scan, double *degrees, double *place);

/* ---- align_report.c ---- */
atn_status atn_cli_align_report(const atn_cli_align *a, const char *path);

#endif
