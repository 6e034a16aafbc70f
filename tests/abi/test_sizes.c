/* What programs were compiled against: the size of every public struct, as tests/abi/sizes.txt has it. A struct that
 * begins with `size` may grow at its end, any other stays as it is for as long as the minor version does. Where the
 * sizes of an architecture differ, sizes.ARCH.txt stands for it. */
#include "testkit.h"

#include <attune/attune.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const struct known {
    const char *name;
    size_t bytes;
} KNOWN[] = {
#define STRUCT(type) {#type, sizeof(type)},
#include "abi/structs.h"
};
enum { COUNT = sizeof KNOWN / sizeof *KNOWN };

static char *golden(void) {
    struct utsname machine;
    char path[512], *text;
    uname(&machine);
    snprintf(path, sizeof path, ATN_SOURCE_DIR "/tests/abi/sizes.%s.txt", machine.machine);
    FILE *file = fopen(path, "r");
    if (!file) file = fopen(ATN_SOURCE_DIR "/tests/abi/sizes.txt", "r");
    assert_non_null(file);
    assert_non_null(text = calloc(1, 1 << 16));
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

KIT_TEST(sizes_are_as_they_were) {
    char *text = golden(), now[1 << 14] = "";
    size_t at = 0, wrong = 0;
    for (size_t k = 0; k < COUNT; ++k) {
        char line[128];
        snprintf(line, sizeof line, "%s %zu\n", KNOWN[k].name, KNOWN[k].bytes);
        at += (size_t)snprintf(now + at, sizeof now - at, "%s", line);
        const char *found = strstr(text, line);
        if (found && (found == text || found[-1] == '\n')) continue;
        print_message("another size: %s", line);
        ++wrong;
    }
    if (wrong || strlen(now) != strlen(text))
        fail_msg("%zu structs changed. A field was added to one that begins with `size`, at its end: update sizes.txt. "
                 "Anything else breaks programs: raise the minor version. The list now:\n%s",
                 wrong, now);
    free(text);
}

/* Every struct with fields in include/attune is in the list. */
KIT_TEST(no_struct_is_missing) {
    char line[512];
    FILE *headers = popen("cat " ATN_SOURCE_DIR "/include/attune/*.h", "r");
    size_t seen = 0;
    assert_non_null(headers);
    while (fgets(line, sizeof line, headers)) {
        char name[128];
        bool is_struct = sscanf(line, "typedef struct %127[a-z0-9_] {", name) == 1 && strchr(line, '{');
        if (!is_struct && !(sscanf(line, "struct %127[a-z0-9_] {", name) == 1 && strchr(line, '{'))) continue;
        size_t k = 0;
        while (k < COUNT && strcmp(KNOWN[k].name, name) != 0) ++k;
        if (k == COUNT) fail_msg("%s is missing in tests/abi/structs.h", name);
        ++seen;
    }
    pclose(headers);
    assert_int_equal(seen, COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_as_they_were),
                                       cmocka_unit_test(no_struct_is_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
