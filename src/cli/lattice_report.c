#include "cli/lattice.h"
atn_status lattice_report(atn_cli_call *call, const lattice_outcome *o, const char *path) {
    (void)o;
    return atn_fail(call->ctx, ATN_ERR_UNSUPPORTED, "%s", path);
}
