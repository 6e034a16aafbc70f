#include "space/plan.h"
atn_status atn_component_go_native(atn_component *component, atn_walk *walk, bool always, bool *done) {
    (void)component, (void)walk, (void)always;
    *done = false;
    return ATN_OK;
}
