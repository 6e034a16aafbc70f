/* Loops whose parts may fail. A message belongs to the thread that failed, so it is carried over. */
#include "base/attempt.h"

#include "base/context_own.h"
#include "base/parallel.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct attempt {
    const atn_ctx *ctx;
    atn_attempt_part *part;
    void *user;
    atomic_flag failed;
    atn_status status;                /* of the first that failed */
    char sentence[ATN_MESSAGE_BYTES]; /* "": it has none */
} attempt;

static void run(void *argument, int64_t from, int64_t to) {
    attempt *a = argument;
    uint64_t before = atn_fail_count();
    atn_status status = a->part(a->user, from, to);
    if (status == ATN_OK || atomic_flag_test_and_set(&a->failed)) return;
    a->status = status;
    if (atn_fail_count() != before) snprintf(a->sentence, sizeof a->sentence, "%s", atn_ctx_message(a->ctx));
}

atn_status atn_attempt(const atn_ctx *ctx, int64_t count, int64_t least, atn_attempt_part *part, void *user) {
    attempt a = {.ctx = ctx, .part = part, .user = user, .failed = ATOMIC_FLAG_INIT, .status = ATN_OK};
    if (least > 0)
        atn_parallel(count, least, run, &a);
    else
        atn_parallel_pieces(count, run, &a);
    return *a.sentence ? atn_fail(ctx, a.status, "%s", a.sentence) : a.status;
}
