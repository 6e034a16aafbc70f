/* Random scans as random variants agree with the oracle, on every backend. */
#include "random_cases.h"
#include "testkit.h"

#include <stdlib.h>

KIT_TEST(host) {
    if (!kit_wants("host")) skip();
    random_scans("host", getenv("ATTUNE_TEST_ALL") ? 600 : 60);
}

KIT_TEST(opencl) {
    if (!kit_wants("opencl")) skip();
    random_scans("opencl", getenv("ATTUNE_TEST_ALL") ? 200 : 20);
}

KIT_TEST(cuda) {
    if (!kit_wants("cuda")) skip();
    random_scans("cuda", 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(host), cmocka_unit_test(opencl), cmocka_unit_test(cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
