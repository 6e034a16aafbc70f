/* The connected parts of a phase: four numbers come to the host, the rest stays on the device. */
#include "apps/unwrap/labels.h"

enum { COUNTS = 4 };

static atn_status open_labels(unwrap_labels *l, const unwrap_image *image) {
    int64_t w = image->width, h = image->height;
    atn_status status = ATN_OK;
    if (!l->label) status = atn_array_create_matrix(image->device, ATN_INT32, w, h, 0, &l->label);
    if (status == ATN_OK && !l->runs) status = atn_array_create_vector(image->device, ATN_INT32, h, &l->runs);
    if (status == ATN_OK && !l->counts) status = atn_array_create_vector(image->device, ATN_INT32, COUNTS, &l->counts);
    return status;
}

atn_status unwrap_labels_find(unwrap_labels *l, const unwrap_image *image, atn_array *surface) {
    int32_t count[COUNTS] = {0};
    atn_status status = open_labels(l, image);
    if (status == ATN_OK)
        status = UNWRAP_BIND(&l->program, image, "unwrap_labels", "psi", image->psi, "mask", image->mask, "label",
                             l->label, "u", surface, "runs", l->runs, "count", l->counts);
    if (status == ATN_OK) status = atn_program_param(l->program.program, "least", image->least, 0);
    if (status == ATN_OK) status = atn_program_run(l->program.program);
    if (status == ATN_OK) status = atn_array_get(l->counts, count, 0);
    l->valid = count[0];
    l->residues = count[1];
    l->islands = count[2];
    l->adds_up = count[3] == 0;
    return status;
}

void unwrap_labels_free(unwrap_labels *l) {
    unwrap_program_free(&l->program);
    atn_array *all[] = {l->label, l->runs, l->counts};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *l = (unwrap_labels){0};
}
