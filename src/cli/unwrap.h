/* attune unwrap in parts: options (unwrap.c), from files to phase (unwrap_input.c, unwrap_stack.c, unwrap_phase.c),
 * from answers to files and words (unwrap_output.c), its form (unwrap_form.c), a report (unwrap_report.c), frames as
 * they come (unwrap_stream.c). */
#ifndef ATN_CLI_UNWRAP_H
#define ATN_CLI_UNWRAP_H

#include "cli/cli.h"
#include "image/form.h"

#include <attune/image.h>
#include <attune/phase.h>
#include <attune/unwrap.h>

enum { UNWRAP_NOTE = 256 };

/* What was asked for. */
typedef struct unwrap_job {
    atn_cli_call *call;
    atn_device *device;                    /* the first, */
    atn_device *devices[ATN_MOST_DEVICES]; /* that many: frames of a stream go to all */
    int32_t n_devices;
    const char *input, *output, *preview, *report; /* all but the input may be NULL */
    int64_t shape[2];                              /* rows, columns of raw input; zeros: it is not raw */
    double scale;                                  /* radians for 1; 0: not given */
    double wavelength;                             /* metres; 0: not given */
    bool transmission, radians;
    bool rewrap;   /* a phase that spans more than 2 pi is wrapped nevertheless */
    int32_t steps; /* frames of a stack; 0: as many as there are */
    double *angle; /* of each, radians; owned; NULL: equal steps */
    double least;  /* modulation; negative: not given */
    double most;   /* saturation; 0: not given */
    bool by_modulation;
    int64_t repeat;         /* > 0 */
    double pixel_m;         /* between pixels; 0: as the file says */
    int32_t remove_terms;   /* Zernike terms to take off; 0: none */
    int32_t zernike_terms;  /* to fit; 0: none */
    form_aperture aperture; /* radius 0: found */
    atn_unwrap_settings options;
    atn_unwrap_solve_settings settings; /* its mask and quality are these, owned: */
    uint8_t *mask;
    float *quality;
} unwrap_job;

/* A phase that was read. Start it zeroed, end it with unwrap_phase_free. */
typedef struct unwrap_phase {
    int64_t width, height;
    void *value;         /* owned; floats, or doubles with --precision 64; radians */
    float *modulation;   /* owned; of a stack of frames; else NULL */
    float *intensity;    /* owned; of a frame of a stack in a stream, which has no value; else NULL */
    double low, high;    /* of what is finite, radians; low > high: nothing is */
    double full;         /* its largest number; 0: not known */
    double wavelength;   /* that the file says; 0: it does not */
    bool heights;        /* the file has heights in metres: a surface, however flat */
    double spacing_m[2]; /* between columns and rows; 0: not known */
    form_aperture aperture;
    int32_t terms;   /* that were fitted */
    double *zernike; /* owned; their coefficients, radians; NULL: none were */
    bool half_turns; /* the values were, as it seems, and no scale was given */
    char note[UNWRAP_NOTE];
} unwrap_phase;

/* ---- unwrap_phase.c ---- */
/* Does it span more than 2 pi, so that it is not a wrapped phase? */
bool unwrap_is_surface(const unwrap_job *job, const unwrap_phase *phase);
void unwrap_phase_put(const unwrap_job *job, unwrap_phase *phase, size_t k, double value); /* also into low and high */
void unwrap_phase_free(const unwrap_job *job, unwrap_phase *phase);
size_t unwrap_value_bytes(const unwrap_job *job);
double unwrap_full_scale(const atn_image_info *info); /* the largest of whole numbers; 0: they are not whole */

/* ---- unwrap_input.c ---- */
/* A file or a folder of frames; on failure nothing is left in *out. */
atn_status unwrap_read(const unwrap_job *job, const char *path, unwrap_phase *out);
/* A file only, and on any thread. */
atn_status unwrap_read_file(const unwrap_job *job, const char *path, unwrap_phase *out);
/* --mask and --quality, which must have the phase's size. */
atn_status unwrap_read_weights(unwrap_job *job, const unwrap_phase *phase);

/* ---- unwrap_stack.c ---- */
atn_status unwrap_read_stack(const unwrap_job *job, const char *path, unwrap_phase *out);
/* One frame of a stack, on any thread. */
atn_status unwrap_read_intensity(const unwrap_job *job, const char *path, unwrap_phase *out);

/* Frames of one size that come one by one. Start it zeroed. */
typedef struct unwrap_stack {
    atn_phase *phase;
    float **frame; /* owned, `have` of them */
    int32_t have;
} unwrap_stack;
/* Takes the frame's intensity over; the last one of a stack gets the stack's phase as its value. */
atn_status unwrap_stack_add(const unwrap_job *job, unwrap_stack *stack, unwrap_phase *frame, bool *whole);
void unwrap_stack_clear(const unwrap_job *job, unwrap_stack *stack); /* a stack that misses a frame is given up */
void unwrap_stack_free(const unwrap_job *job, unwrap_stack *stack);

/* ---- unwrap_form.c ---- */
atn_status unwrap_form_read(atn_cli_call *call, unwrap_job *job); /* --remove, --zernike, --aperture, --pixel */
form_surface unwrap_surface_of(const unwrap_job *job, const unwrap_phase *phase);
/* Cuts the aperture out of the answer, fits Zernike terms and takes off what was asked for. */
atn_status unwrap_form(const unwrap_job *job, unwrap_phase *phase);

/* ---- unwrap_report.c ---- */
atn_status unwrap_write_report(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *result,
                               const char *path);

/* ---- unwrap_output.c ---- */
form_figures unwrap_figures(const unwrap_job *job, const unwrap_phase *phase); /* in metres or radians */
/* Is the ending one that can be written? Else wrong usage. */
atn_status unwrap_check_output(const unwrap_job *job, const char *path, const char *option);
/* Metres for a radian; 0: heights are not known or not wanted. */
double unwrap_height_of(const unwrap_job *job, const unwrap_phase *phase);
/* The answer, which lies in phase->value, as a file; any thread. */
atn_status unwrap_write(const unwrap_job *job, const unwrap_phase *phase, const char *path);
atn_status unwrap_print(const unwrap_job *job, const unwrap_phase *phase, const atn_unwrap_result *result);

/* ---- unwrap_stream.c ---- */
atn_status unwrap_stream(unwrap_job *job);

#endif
