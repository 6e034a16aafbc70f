/* Counting a component: interpreted for a few milliseconds, then in native code where that helps. */
#include "space/plan.h"

static const int64_t FIRST_STEPS = 2000000; /* of the interpreter, before native code is thought of */

atn_status atn_component_count_soon(atn_component *c, atn_walk *walk, atn_wide *out, bool *known) {
    atn_status status = ATN_OK;
    if (!c->counted) {
        c->budget = c->steps + FIRST_STEPS;
        status = atn_component_count_from(c, walk, 0, &c->count);
        c->budget = INT64_MAX;
        c->counted = status == ATN_OK;
    }
    *out = c->count;
    *known = c->counted;
    return status == ATN_ERR_TIMEOUT || status == ATN_ERR_UNSUPPORTED ? ATN_OK : status;
}

atn_status atn_component_count(atn_component *c, atn_walk *walk, atn_wide *out) {
    atn_space_engine engine = c->plan->space->engine;
    atn_status status = ATN_ERR_TIMEOUT;
    if (!c->counted && engine != ATN_SPACE_NATIVE) {
        c->budget = engine == ATN_SPACE_AUTO ? c->steps + FIRST_STEPS : INT64_MAX;
        status = atn_component_count_from(c, walk, 0, &c->count);
        c->budget = INT64_MAX;
    }
    if (!c->counted && status == ATN_ERR_TIMEOUT) {
        bool done = false;
        status = atn_component_go_native(c, walk, engine == ATN_SPACE_NATIVE, &done);
        c->native = done && !status;
        if (!status) status = atn_component_count_from(c, walk, 0, &c->count);
    } else if (c->counted) {
        status = ATN_OK;
    }
    c->counted = status == ATN_OK;
    *out = c->count;
    return status;
}
