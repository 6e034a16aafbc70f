/* Tuning that is killed again and again, at any moment, goes on where it was: nothing that was measured is lost,
 * nothing is measured twice, and the database is sound throughout. */
#include "tunekit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 50, MOST_ROWS = 64, EVALUATIONS = 10 };

static const char SPACE[] = "vec_p0 = (1, 2, 4)\nregs_p0 = (1, 2, 4)\nstream = (0, 1)\n";

typedef struct row {
    char variant[128], outcome[16];
    int64_t starts;
    int64_t samples;
} row;

typedef struct rows {
    atn_ctx *ctx;
    atn_wisdom *wisdom;
    row all[MOST_ROWS];
    int n;
} rows;

static bool take_row(void *user, const atn_wisdom_row *from) {
    rows *r = user;
    assert_true(r->n < MOST_ROWS);
    row *to = &r->all[r->n++];
    snprintf(to->variant, sizeof to->variant, "%s", from->variant);
    snprintf(to->outcome, sizeof to->outcome, "%s", from->outcome);
    to->starts = from->starts;
    to->samples = from->samples;
    return true;
}

static bool take_entry(void *user, const atn_wisdom_entry *entry) {
    rows *r = user;
    kit_ok(r->ctx, atn_wisdom_entry_rows(r->wisdom, entry->number, take_row, r));
    return true;
}

static void complain(void *user, const char *line) {
    (void)user;
    fail_msg("the database is not sound: %s", line);
}

static void read_rows(atn_ctx *ctx, const char *path, rows *out) {
    *out = (rows){.ctx = ctx};
    kit_ok(ctx, atn_wisdom_open(ctx, path, true, &out->wisdom));
    if (!out->wisdom) return; /* killed before there was one */
    kit_ok(ctx, atn_wisdom_verify(out->wisdom, &(atn_wisdom_now){0}, complain, NULL));
    kit_ok(ctx, atn_wisdom_entries(out->wisdom, &(atn_wisdom_filter){0}, take_entry, out));
    atn_wisdom_close(out->wisdom);
}

static const row *find(const rows *r, const char *variant) {
    for (int k = 0; k < r->n; ++k)
        if (strcmp(r->all[k].variant, variant) == 0) return &r->all[k];
    return NULL;
}

/* All that had ended is still there, and was not begun again. */
static void nothing_lost_nothing_repeated(const rows *before, const rows *now) {
    for (int k = 0; k < before->n; ++k) {
        const row *then = &before->all[k], *found = find(now, then->variant);
        if (!found) fail_msg("'%s' is lost", then->variant);
        if (!found || strcmp(then->outcome, "started") == 0) continue;
        if (strcmp(then->outcome, found->outcome) != 0 || then->starts != found->starts)
            fail_msg("'%s' was %s after %lld starts, and is now %s after %lld", then->variant, then->outcome,
                     (long long)then->starts, found->outcome, (long long)found->starts);
    }
}

static pid_t start(const char *space) {
    static char evaluations[16];
    snprintf(evaluations, sizeof evaluations, "%d", EVALUATIONS);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0);
        dup2(nothing, 1);
        dup2(nothing, 2);
        execl(ATN_BINARY_DIR "/attune", "attune", "tune", "add", "--device", "host", "--size", "A=67x65", "--space",
              space, "--evals", evaluations, "--resume", (char *)NULL);
        _exit(127);
    }
    return child;
}

static void sleep_for(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

KIT_TEST(killed_again_and_again) {
    char *dir = kit_tempdir(), path[512], space[512], cache[512];
    char *old_wisdom = kit_getenv("ATTUNE_WISDOM"), *old_cache = kit_getenv("XDG_CACHE_HOME");
    snprintf(path, sizeof path, "%s/wisdom.sqlite", dir);
    snprintf(space, sizeof space, "%s/space.lanai", dir);
    snprintf(cache, sizeof cache, "%s/cache", dir);
    setenv("ATTUNE_WISDOM", path, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    FILE *file = fopen(space, "w");
    assert_non_null(file);
    fputs(SPACE, file);
    fclose(file);
    atn_ctx *ctx = kit_ctx();
    rows before = {0}, now;
    pid_t alone = start(space); /* nobody kills it: each is begun once, by whomever it was proposed */
    int status_alone;
    assert_int_equal(waitpid(alone, &status_alone, 0), alone);
    assert_true(WIFEXITED(status_alone) && WEXITSTATUS(status_alone) == 0);
    read_rows(ctx, path, &now);
    assert_true(now.n > 0);
    for (int k = 0; k < now.n; ++k) assert_true(now.all[k].starts <= 1);
    snprintf(path, sizeof path, "%s/killed.sqlite", dir);
    setenv("ATTUNE_WISDOM", path, 1);
    uint64_t seed = 20260101;
    double longest = 0.6; /* grows where machines are slow, so that there is something to interrupt */
    int kills = getenv("ATTUNE_TEST_ALL") ? KILLS : KILLS / 4;
    for (int k = 0; k < kills; ++k) {
        pid_t child = start(space);
        int status;
        sleep_for(longest * kit_uniform(&seed));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        read_rows(ctx, path, &now);
        nothing_lost_nothing_repeated(&before, &now);
        longest *= now.n > before.n ? 0.9 : longest < 1.5 ? 1.06 : 1;
        before = now;
    }
    int ended = before.n, status;
    pid_t child = start(space); /* left alone, it comes to its end */
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    read_rows(ctx, path, &now);
    nothing_lost_nothing_repeated(&before, &now);
    int right = 0, begun = 0;
    for (int k = 0; k < now.n; ++k) {
        assert_string_not_equal(now.all[k].outcome, "started");
        assert_true(now.all[k].starts <= 2); /* once, and once more where it was cut short */
        right += strcmp(now.all[k].outcome, "right") == 0;
        begun += now.all[k].starts > 0;
    }
    print_message("%d rows after %d kills, %d in the end: %d begun, %d right\n", ended, kills, now.n, begun, right);
    assert_true(now.n >= EVALUATIONS && right >= 1);
    kit_free(ctx);
    kit_setenv("ATTUNE_WISDOM", old_wisdom);
    kit_setenv("XDG_CACHE_HOME", old_cache);
    kit_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_again_and_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
