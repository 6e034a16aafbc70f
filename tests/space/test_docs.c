/* Every example of docs/spaces.md parses and has as many points as it says. */
#include "spacekit.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

KIT_TEST(examples) {
    static const atn_given GIVEN[] = {{"device", "cores", {.kind = ATN_SETTING_WHOLE, .whole = 4, .number = 4}},
                                      {"kernel", "points", {.kind = ATN_SETTING_WHOLE, .whole = 2, .number = 2}}};
    static const char OPEN[] = "```lanai\n", CLOSE[] = "```", WORD[] = " points";
    atn_ctx *ctx = kit_ctx();
    char *text;
    size_t length;
    int count = 0;
    kit_ok(ctx, atn_file_read(ctx, ATN_SOURCE_DIR "/docs/spaces.md", 1 << 20, &text, &length));
    for (const char *at = text; (at = strstr(at, OPEN)); ++count) {
        at += strlen(OPEN);
        const char *end = strstr(at, CLOSE);
        assert_non_null(end);
        atn_space *space;
        kit_ok(ctx, atn_space_parse(ctx, "docs/spaces.md", at, (size_t)(end - at), GIVEN, 2, &space));
        const char *says = end;
        while (says > at && *says != '#') --says;
        char *word;
        uint64_t wanted = strtoull(says + 1, &word, 10);
        assert_memory_equal(word, WORD, strlen(WORD));
        if (space_count(ctx, space) != wanted)
            fail_msg("%llu points, not %llu:\n%.*s", (unsigned long long)space_count(ctx, space),
                     (unsigned long long)wanted, (int)(end - at), at);
        assert_true(space_brute(ctx, space) == (int64_t)wanted);
        atn_space_free(space);
        at = end;
    }
    assert_true(count >= 7);
    atn_free(ctx, text);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
