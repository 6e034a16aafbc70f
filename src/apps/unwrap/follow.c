/* Checks a phase and follows it along paths; six numbers are returned to the host. */
#include "apps/unwrap/follow.h"

enum { COUNTS = 4, MISFITS = 2 };

static atn_status open_follow(unwrap_follow *f, const unwrap_image *image) {
    atn_status status = ATN_OK;
    if (!f->counts) status = atn_array_create_vector(image->device, ATN_INT32, COUNTS, &f->counts);
    if (status == ATN_OK && !f->misfits)
        status = atn_array_create_vector(image->device, image->type, MISFITS, &f->misfits);
    return status;
}

atn_status unwrap_follow_turns(unwrap_follow *f, const unwrap_image *image, const double plane[3]) {
    int32_t count[COUNTS] = {0};
    union {
        float narrow[MISFITS];
        double wide[MISFITS];
    } misfit = {{0}};
    atn_status status = open_follow(f, image);
    if (status == ATN_OK)
        status = UNWRAP_BIND(&f->program, image, "unwrap_follow", {"psi", image->psi}, {"mask", image->mask},
                             {"v", image->out}, {"count", f->counts}, {"misfit", f->misfits});
    if (status == ATN_OK)
        status = atn_program_give(f->program.program, ATN_NOTHING,
                                  ATN_NUMBERS({"piston", plane[0]}, {"tilt_x", plane[1]}, {"tilt_y", plane[2]}));
    if (status == ATN_OK) status = atn_program_run(f->program.program);
    if (status == ATN_OK) status = atn_array_get(f->counts, count, 0);
    if (status == ATN_OK) status = atn_array_get(f->misfits, &misfit, 0);
    bool wide = image->type == ATN_DP;
    f->valid = count[0];
    f->residues = count[1];
    f->pairs = count[2];
    f->cuts = count[3];
    f->squares = wide ? misfit.wide[0] : (double)misfit.narrow[0];
    f->farthest = wide ? misfit.wide[1] : (double)misfit.narrow[1];
    return status;
}

void unwrap_follow_free(unwrap_follow *f) {
    unwrap_program_free(&f->program);
    atn_array_free(f->counts);
    atn_array_free(f->misfits);
    *f = (unwrap_follow){0};
}
