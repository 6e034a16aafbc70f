/* NVRTC, NVIDIA's compiler as a library: CUDA C in, a cubin for one architecture out. Needs neither a driver nor a
 * GPU. Loaded at run time: the newest libnvrtc.so of the system's search path, $CUDA_HOME, $CUDA_PATH and
 * /usr/local/cuda, or the file that the environment's ATTUNE_NVRTC_LIB names instead. */
#ifndef ATN_DEVICE_NVRTC_H
#define ATN_DEVICE_NVRTC_H

#include "base/text.h"
#include "device/device.h"

typedef struct atn_nvrtc_program atn_nvrtc_program; /* NVRTC's own, seen by pointer only */

/* X(field, symbol, parameters): every function of NVRTC that is called; all return a result, 0 for success. */
/* clang-format off */
#define ATN_NVRTC_FUNCTIONS(X) \
    X(version, nvrtcVersion, (int *major, int *minor)) \
    X(arch_count, nvrtcGetNumSupportedArchs, (int *count)) \
    X(arch_list, nvrtcGetSupportedArchs, (int *archs)) \
    X(create, nvrtcCreateProgram, \
      (atn_nvrtc_program **program, const char *source, const char *name, int n_headers, const char *const *headers, \
       const char *const *header_names)) \
    X(destroy, nvrtcDestroyProgram, (atn_nvrtc_program **program)) \
    X(compile, nvrtcCompileProgram, (atn_nvrtc_program *program, int n_options, const char *const *options)) \
    X(cubin_size, nvrtcGetCUBINSize, (atn_nvrtc_program *program, size_t *bytes)) \
    X(cubin, nvrtcGetCUBIN, (atn_nvrtc_program *program, char *cubin)) \
    X(log_size, nvrtcGetProgramLogSize, (atn_nvrtc_program *program, size_t *bytes)) \
    X(log, nvrtcGetProgramLog, (atn_nvrtc_program *program, char *log))

/* What older ones lack (NULL then): stopping a compilation came with NVRTC 12.8. */
#define ATN_NVRTC_OPTIONAL_FUNCTIONS(X) \
    X(set_callback, nvrtcSetFlowCallback, \
      (atn_nvrtc_program *program, int (*callback)(void *payload, void *reserved), void *payload))
/* clang-format on */

enum { ATN_NVRTC_MAX_ARCHS = 64, ATN_NVRTC_ARCH_BYTES = 16 };

/* A loaded NVRTC: a plain value, may be copied; the library stays loaded until the process ends. */
typedef struct atn_nvrtc {
#define ATN_NVRTC_FIELD(field, symbol, parameters) int(*field) parameters; /* NOLINT(bugprone-macro-parentheses) */
    ATN_NVRTC_FUNCTIONS(ATN_NVRTC_FIELD)
    ATN_NVRTC_OPTIONAL_FUNCTIONS(ATN_NVRTC_FIELD)
#undef ATN_NVRTC_FIELD
    int major, minor;               /* its version */
    int archs[ATN_NVRTC_MAX_ARCHS]; /* what it builds for: 80, 90, ..., ascending */
    int n_archs;                    /* how many of them */
    char include[512];              /* the directory of cuda_fp16.h and its like; "": not found */
} atn_nvrtc;

/* Loads the newest NVRTC whose major version is at most `max_major` (0: any). False: `why` (of `bytes` bytes)
 * says what is missing and what would be right. */
bool atn_nvrtc_load(atn_nvrtc *nvrtc, int max_major, char *why, size_t bytes);

/* The architecture to build for on a device of the given compute capability: its own, with all of its features
 * ("sm_90a") where NVRTC has that form, else the nearest older one that it runs. False: there is none. */
bool atn_nvrtc_arch(const atn_nvrtc *nvrtc, int major, int minor, char arch[ATN_NVRTC_ARCH_BYTES]);

/* The options that a build is compiled with, separated by blanks: what identifies it in addition to source and version.
 * */
void atn_nvrtc_options(const atn_build *build, const char *arch, atn_text *out);

/* The result of a compilation. Owned by the caller, freed with atn_nvrtc_output_free; zero after a failure, except for
 * the log and its counts. */
typedef struct atn_nvrtc_output {
    char *cubin;      /* the built code */
    size_t length;    /* its bytes */
    char *log;        /* all that NVRTC said; "" when nothing */
    int32_t warnings; /* in the log */
} atn_nvrtc_output;
void atn_nvrtc_output_free(const atn_ctx *ctx, atn_nvrtc_output *output);

/* Compiles for `arch` ("sm_90a"). Source that does not compile: ATN_ERR_BUILD with the first error; the whole log
 * goes line by line to the context's log. The build's time limit holds from NVRTC 12.8 on. */
atn_status atn_nvrtc_run(const atn_ctx *ctx, const atn_nvrtc *nvrtc, const atn_build *build, const char *arch,
                         atn_nvrtc_output *out);

/* The same in one step each, for checking generated code where there is no GPU: is there an NVRTC of any version,
 * and what does it make of a build? *cubin is owned by the caller. */
bool atn_nvrtc_present(const atn_ctx *ctx, int *major, int *minor, char why[ATN_MESSAGE_BYTES]);
atn_status atn_nvrtc_compile(const atn_ctx *ctx, const atn_build *build, const char *arch, char **cubin,
                             size_t *length);

#endif
