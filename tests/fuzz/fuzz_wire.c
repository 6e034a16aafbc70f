/* Any bytes as what a worker says, line by line: understood or refused, and what is understood is within its bounds. */
#include "tune/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_text(const char *text) {
    for (; *text; ++text)
        if (*text < ' ' || *text > '~') abort();
}

static void check_done(const json_t *done) {
    static atn_final final;
    atn_trial trial;
    double seconds;
    if (atn_wire_read_trial(done, &trial)) {
        if (trial.outcome >= ATN_OUTCOME_STARTED || !(trial.seconds >= 0) || !(trial.error >= 0)) abort();
        if (trial.samples < 0 || trial.samples > ATN_MOST_SAMPLES) abort();
        check_text(trial.detail);
    }
    for (int32_t n = 0; n <= ATN_MOST_RACERS + 1; ++n) {
        if (!atn_wire_read_final(done, n, &final)) continue;
        if (final.n != n || final.winner < 0 || final.winner >= n || final.runner_up < -1 || final.runner_up >= n)
            abort();
        for (int32_t k = 0; k < n; ++k)
            if (final.count[k] < 1 || final.count[k] > ATN_MOST_SAMPLES || !isfinite(final.seconds[k].median)) abort();
    }
    if (atn_wire_read_seconds(done, &seconds) && !(seconds >= 0 && isfinite(seconds))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *rest = text, *line;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    while ((line = strsep(&rest, "\n"))) {
        atn_said said;
        if (!atn_wire_hear(line, &said)) continue;
        if (said.kind == ATN_SAID_STAGE && !(said.limit_s >= 0 && said.limit_s <= ATN_WIRE_STAGE_S)) abort();
        if (said.kind == ATN_SAID_FAILED && said.status == ATN_OK) abort();
        if ((said.kind == ATN_SAID_DONE) != (said.done != NULL)) abort();
        check_text(said.message);
        check_text(said.stage);
        if (said.done) check_done(said.done);
        json_decref(said.done);
    }
    free(text);
    return 0;
}
