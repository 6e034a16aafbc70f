/* The environment variables that attune reads: all of them, with their purpose. Help and manual page show the table,
 * and nothing else calls getenv. */
#ifndef ATN_BASE_ENVIRONMENT_H
#define ATN_BASE_ENVIRONMENT_H

typedef enum atn_variable {
    ATN_ENV_CC,
    ATN_ENV_WISDOM,
    ATN_ENV_PROGRAM,
    ATN_ENV_CACHE_MIB,
    ATN_ENV_HOST_FLAGS,
    ATN_ENV_OPENCL_FLAGS,
    ATN_ENV_CUDA_FLAGS,
    ATN_ENV_OPENCL_LIB,
    ATN_ENV_CUDA_LIB,
    ATN_ENV_NVRTC_LIB,
    ATN_ENV_XDG_CACHE_HOME,
    ATN_ENV_HOME,
    ATN_ENV_TMPDIR,
    ATN_ENV_PATH,
    ATN_ENV_CUDA_HOME,
    ATN_ENV_CUDA_PATH,
    ATN_ENV_OMP_NUM_THREADS,
    ATN_ENV_OMP_STACKSIZE,
    ATN_ENV_OCL_ICD_FILENAMES,
    ATN_ENV_RANKS,
    ATN_ENV_OMPI_SIZE,
    ATN_ENV_PMI_SIZE,
    ATN_ENV_PMIX_RANK,
    ATN_ENV_OMPI_LOCAL_RANK,
    ATN_ENV_MPI_LOCAL_RANK,
    ATN_ENV_SLURM_LOCALID,
    ATN_ENV_VARIABLES
} atn_variable;

typedef struct atn_environment_row {
    const char *name, *meaning;
} atn_environment_row;

extern const atn_environment_row ATN_ENVIRONMENT[ATN_ENV_VARIABLES + 1]; /* a row of zeros ends it */

/* Its value in the environment; NULL: it is not set, or empty. */
char *atn_environment(atn_variable variable);

#endif
