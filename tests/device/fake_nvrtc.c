/* The fake NVRTC: its "cubin" is a mark and the source. Source with #error fails, with #warning warns, and with
 * FOREVER compiles until it is told to stop. See fake_cuda.h. */
#include "fake_cuda.h"

#include "device/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DECLARE(field, symbol, parameters) int symbol parameters;
ATN_NVRTC_FUNCTIONS(DECLARE)
ATN_NVRTC_OPTIONAL_FUNCTIONS(DECLARE)
#undef DECLARE

extern fake_cuda fake_state_;

struct atn_nvrtc_program {
    char *source, *cubin;
    char name[64], log[512];
    int (*callback)(void *, void *);
    void *payload;
};

static const int ARCHS[] = {90, 80, 100, 86}; /* not sorted: nobody promised that */
static const char *const OPTIONS[] = {"--std=c++17",     "-default-device", "--fmad=true",
                                      "--use_fast_math", "--include-path=", "-D"};

int nvrtcVersion(int *major, int *minor) {
    *major = fake_state_.nvrtc_major;
    *minor = fake_state_.nvrtc_minor;
    return 0;
}
int nvrtcGetNumSupportedArchs(int *count) { return *count = sizeof ARCHS / sizeof *ARCHS, 0; }
int nvrtcGetSupportedArchs(int *archs) { return memcpy(archs, ARCHS, sizeof ARCHS), 0; }

int nvrtcCreateProgram(atn_nvrtc_program **program, const char *source, const char *name, int n_headers,
                       const char *const *headers, const char *const *header_names) {
    if (n_headers || headers || header_names) return 3;
    *program = calloc(1, sizeof **program);
    (*program)->source = strdup(source);
    snprintf((*program)->name, sizeof(*program)->name, "%s", name);
    ++fake_state_.programs;
    return 0;
}
int nvrtcDestroyProgram(atn_nvrtc_program **program) {
    free((*program)->source);
    free((*program)->cubin);
    free(*program);
    *program = NULL;
    --fake_state_.programs;
    return 0;
}
int nvrtcSetFlowCallback(atn_nvrtc_program *program, int (*callback)(void *, void *), void *payload) {
    program->callback = callback;
    program->payload = payload;
    return 0;
}

static bool knows(const char *option) {
    static const char ARCH[] = "--gpu-architecture=sm_";
    if (strncmp(option, ARCH, sizeof ARCH - 1) == 0) {
        int arch = atoi(option + sizeof ARCH - 1);
        for (size_t k = 0; k < sizeof ARCHS / sizeof *ARCHS; ++k)
            if (ARCHS[k] == arch) return true;
        return false;
    }
    for (size_t k = 0; k < sizeof OPTIONS / sizeof *OPTIONS; ++k)
        if (strncmp(option, OPTIONS[k], strlen(OPTIONS[k])) == 0) return true;
    return false;
}

int nvrtcCompileProgram(atn_nvrtc_program *program, int n_options, const char *const *options) {
    ++fake_state_.compiles;
    fake_state_.options[0] = 0;
    size_t length = 0, room = sizeof fake_state_.options;
    for (int k = 0; k < n_options; ++k) {
        length += (size_t)snprintf(fake_state_.options + length, room - length, "%s%s", k ? " " : "", options[k]);
        if (length >= room) return 5;
        if (knows(options[k])) continue;
        snprintf(program->log, sizeof program->log, "nvrtc: error: unrecognized option %s found\n", options[k]);
        return 5;
    }
    if (strstr(program->source, "FOREVER")) {
        if (!program->callback) return 11;
        while (!program->callback(program->payload, NULL)) usleep(1000);
        return 16;
    }
    if (strstr(program->source, "#error")) {
        snprintf(program->log, sizeof program->log,
                 "%s(1): warning #1: odd\n  quoted error: not this\n\n%s(7): error: wrong\n\n1 error detected\n",
                 program->name, program->name);
        return 6;
    }
    if (strstr(program->source, "#warning"))
        snprintf(program->log, sizeof program->log, "%s(1): warning #1105-D: #warning directive: warning: hm\n",
                 program->name);
    size_t bytes = strlen(program->source) + 32;
    program->cubin = malloc(bytes);
    snprintf(program->cubin, bytes, "FAKECUBIN\n%s", program->source);
    return 0;
}
int nvrtcGetCUBINSize(atn_nvrtc_program *program, size_t *bytes) {
    *bytes = program->cubin ? strlen(program->cubin) + 1 : 0;
    return program->cubin ? 0 : 4;
}
int nvrtcGetCUBIN(atn_nvrtc_program *program, char *cubin) {
    return memcpy(cubin, program->cubin, strlen(program->cubin) + 1), 0;
}
int nvrtcGetProgramLogSize(atn_nvrtc_program *program, size_t *bytes) { return *bytes = strlen(program->log) + 1, 0; }
int nvrtcGetProgramLog(atn_nvrtc_program *program, char *log) {
    return memcpy(log, program->log, strlen(program->log) + 1), 0;
}
