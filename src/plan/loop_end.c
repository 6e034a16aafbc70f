/* How the loops of a plan ended: read back when the host waits anyway, or on request. */
#include "plan/planned.h"

#include <stdio.h>

void atn_planned_note_end(atn_planned *p, const atn_plan_node *loop, bool open, int64_t rounds, int32_t condition) {
    if (loop->most == 0) return;
    if (open && rounds >= loop->most)
        snprintf(p->note, sizeof p->note, "the loop was left after %lld rounds, as many as it may take",
                 (long long)loop->most);
    else if (open && condition == 2)
        snprintf(p->note, sizeof p->note, "the loop ended after %lld rounds at a value that is not a number",
                 (long long)rounds);
}

atn_status atn_planned_settle(atn_planned *p) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < p->n_loops && status == ATN_OK; ++k) {
        atn_plan_loop *loop = &p->loops[k];
        int32_t state[2];
        if (!loop->unread) continue;
        loop->unread = false;
        if (loop->until < 0) continue;
        status = atn_buffer_get(NULL, p->state, (size_t)k * sizeof state, state, sizeof state);
        if (status == ATN_OK) atn_planned_note_end(p, &p->plan->nodes[loop->begin], true, state[1], state[0]);
    }
    return status;
}

const char *atn_planned_note(atn_planned *p) { return atn_planned_settle(p) == ATN_OK && *p->note ? p->note : NULL; }
