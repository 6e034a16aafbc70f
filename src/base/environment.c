/* The table of environment variables. */
#include "base/environment.h"

#include <stdlib.h>

const atn_environment_row ATN_ENVIRONMENT[ATN_ENV_VARIABLES + 1] = {
    [ATN_ENV_CC] = {"ATTUNE_CC", "C compiler for code on the CPU; default: gcc, clang or cc"},
    [ATN_ENV_WISDOM] = {"ATTUNE_WISDOM", "database of measurements; default: wisdom.sqlite in the cache"},
    [ATN_ENV_PROGRAM] = {"ATTUNE_PROGRAM",
                         "attune executable whose processes test candidates; default: this one, or the one installed "
                         "with the library"},
    [ATN_ENV_CACHE_MIB] = {"ATTUNE_CACHE_MIB", "size limit of the cache of built code, in MiB; default: 512"},
    [ATN_ENV_HOST_FLAGS] = {"ATTUNE_HOST_FLAGS", "flags added to every build for the CPU"},
    [ATN_ENV_OPENCL_FLAGS] = {"ATTUNE_OPENCL_FLAGS", "flags added to every build for OpenCL"},
    [ATN_ENV_CUDA_FLAGS] = {"ATTUNE_CUDA_FLAGS", "flags added to every build for CUDA"},
    [ATN_ENV_OPENCL_LIB] = {"ATTUNE_OPENCL_LIB", "OpenCL library to load; default: libOpenCL.so.1"},
    [ATN_ENV_CUDA_LIB] = {"ATTUNE_CUDA_LIB", "CUDA driver to load; default: libcuda.so.1"},
    [ATN_ENV_NVRTC_LIB] = {"ATTUNE_NVRTC_LIB", "CUDA compiler to load; default: the newest libnvrtc that fits"},
    [ATN_ENV_XDG_CACHE_HOME] = {"XDG_CACHE_HOME", "built code and measurements are kept in attune/ there"},
    [ATN_ENV_HOME] = {"HOME", "without XDG_CACHE_HOME: in .cache/attune there"},
    [ATN_ENV_TMPDIR] = {"TMPDIR", "folder for temporary files; default: /tmp"},
    [ATN_ENV_PATH] = {"PATH", "where compilers are searched for"},
    [ATN_ENV_CUDA_HOME] = {"CUDA_HOME", "the CUDA toolkit; default: CUDA_PATH, then /usr/local/cuda"},
    [ATN_ENV_CUDA_PATH] = {"CUDA_PATH", "see CUDA_HOME"},
    [ATN_ENV_OMP_NUM_THREADS] = {"OMP_NUM_THREADS", "maximum number of cores to use; default: all available"},
    [ATN_ENV_OMP_STACKSIZE] = {"OMP_STACKSIZE", "stack size of threads, as in OpenMP"},
    [ATN_ENV_OCL_ICD_FILENAMES] = {"OCL_ICD_FILENAMES", "OpenCL drivers, read by the ICD loader"},
    [ATN_ENV_RANKS] = {"ATTUNE_RANKS", "alone: without MPI; mpi: with MPI; default: MPI if started by mpirun or srun"},
    [ATN_ENV_OMPI_SIZE] = {"OMPI_COMM_WORLD_SIZE", "number of ranks, set by Open MPI"},
    [ATN_ENV_PMI_SIZE] = {"PMI_SIZE", "number of ranks, set by MPICH and Slurm"},
    [ATN_ENV_PMIX_RANK] = {"PMIX_RANK", "set by PMIx: started with ranks"},
    [ATN_ENV_OMPI_LOCAL_RANK] = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                 "rank within its machine, set by Open MPI: each rank takes another GPU"},
    [ATN_ENV_MPI_LOCAL_RANK] = {"MPI_LOCALRANKID", "the same, set by MPICH"},
    [ATN_ENV_SLURM_LOCALID] = {"SLURM_LOCALID", "the same, set by Slurm"},
};

char *atn_environment(atn_variable variable) {
    char *value = getenv(ATN_ENVIRONMENT[variable].name);
    return value && *value ? value : NULL;
}
