/* The connected components of a phase: seven numbers are returned to the host, the rest stays on the device. */
#include "apps/unwrap/labels.h"

enum { COUNTS = 6, PIECES = 16 /* of a row of lists: enough to fill a GPU; a CPU takes rows as they are */ };

static atn_status open_labels(unwrap_labels *l, const unwrap_image *image) {
    int64_t w = image->width, h = image->height;
    l->stride = w / 32 * 32 + 48;
    atn_status status = ATN_OK;
    if (!l->of) status = atn_array_create_matrix(image->device, ATN_INT32, h, w, 0, &l->of);
    if (status == ATN_OK && !l->root)
        status = atn_array_create_vector(image->device, ATN_INT32, l->stride * h, &l->root);
    if (status == ATN_OK && !l->runs) status = atn_array_create_vector(image->device, ATN_INT32, h, &l->runs);
    if (status == ATN_OK && !l->counts) status = atn_array_create_vector(image->device, ATN_INT32, COUNTS, &l->counts);
    if (status == ATN_OK && !l->misfit) status = atn_array_create_vector(image->device, image->type, 1, &l->misfit);
    return status;
}

atn_status unwrap_labels_find(unwrap_labels *l, const unwrap_image *image, atn_array *surface) {
    int32_t count[COUNTS] = {0}, pieces = atn_device_get_info(image->device)->cpu ? 1 : PIECES;
    union {
        float narrow;
        double wide;
    } misfit = {0};
    atn_status status = open_labels(l, image);
    if (status == ATN_OK)
        status = UNWRAP_BIND(&l->program, image, "unwrap_labels", {"psi", image->psi}, {"mask", image->mask},
                             {"of", l->of}, {"u", surface}, {"root", l->root}, {"runs", l->runs}, {"count", l->counts},
                             {"misfit", l->misfit});
    if (status == ATN_OK)
        status =
            atn_program_give(l->program.program, ATN_NOTHING,
                             ATN_NUMBERS({"least", image->least}, {"stride", (double)l->stride}, {"pieces", pieces}));
    if (status == ATN_OK) status = atn_program_run(l->program.program);
    if (status == ATN_OK) status = atn_array_get(l->counts, count, 0);
    if (status == ATN_OK) status = atn_array_get(l->misfit, &misfit, 0);
    l->valid = count[0];
    l->residues = count[1];
    l->islands = count[2];
    l->adds_up = count[3] == 0;
    l->pairs = count[4];
    l->cuts = count[5];
    l->squares = image->type == ATN_DP ? misfit.wide : (double)misfit.narrow;
    return status;
}

void unwrap_labels_free(unwrap_labels *l) {
    unwrap_program_free(&l->program);
    atn_array *all[] = {l->of, l->root, l->runs, l->counts, l->misfit};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *l = (unwrap_labels){0};
}
