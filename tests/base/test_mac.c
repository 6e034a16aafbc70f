/* BLAKE2b against values of another implementation (Python's hashlib), at lengths around its blocks. */
#include "testkit.h"

#include "base/mac.h"

#include <stdio.h>
#include <string.h>

/* Of the bytes 0, 1, ... modulo 251; the key is 0, 1, ... 31. */
static const struct {
    size_t length;
    const char *plain, *keyed;
} ROWS[] = {
    {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
     "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d"},
    {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314",
     "41ff93a4eaeebd3b78a93438a6f62a92ab5959c859e682b72c7def406197ca4d"},
    {3, "3d8c3d594928271f44aad7a04b177154806867bcf918e1549c0bc16f9da2b09b",
     "e14fc9161564dd081204f2dd6146a9ffbef66f95d5dc80e0a225e213c09dad7b"},
    {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72",
     "12879e69734944f25f9ed95cbfdbb3659a307e485ed8ec118ce7c60f107357f1"},
    {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1",
     "138893f1631ef3165629515d6ed800da3771b7926dced294205c7507351deebc"},
    {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9",
     "ca60f75cbb714330c046d8f28b4ed351a3ee81776bb02a96abb646fe573e3d5c"},
    {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24",
     "da3bcd809850732f09afb9c749da4fc019f47d0ea35a28282f482ef5ffd91378"},
    {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331",
     "bf9c0d3a2590251349ad634ad07f03958d0be63d5f9533daf62752de734b2c76"},
};

static void expect(const char *text, atn_mac *mac) {
    unsigned char out[ATN_MAC_BYTES];
    char got[2 * ATN_MAC_BYTES + 1];
    atn_mac_end(mac, out);
    for (size_t k = 0; k < sizeof out; ++k) sprintf(got + 2 * k, "%02x", out[k]);
    assert_string_equal(got, text);
}

KIT_TEST(it_is_blake2b) {
    unsigned char data[1000], key[ATN_MAC_KEY];
    atn_mac mac;
    for (size_t k = 0; k < sizeof data; ++k) data[k] = (unsigned char)(k % 251);
    for (size_t k = 0; k < sizeof key; ++k) key[k] = (unsigned char)k;
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; ++k)
        for (size_t piece = 1; piece <= sizeof data; piece = piece < 200 ? piece + 63 : piece * 5) {
            for (int keyed = 0; keyed < 2; ++keyed) {
                atn_mac_begin(&mac, keyed ? key : NULL);
                for (size_t at = 0; at < ROWS[k].length; at += piece)
                    atn_mac_add(&mac, data + at, ROWS[k].length - at < piece ? ROWS[k].length - at : piece);
                expect(keyed ? ROWS[k].keyed : ROWS[k].plain, &mac);
            }
        }
}

KIT_TEST(equal_is_all_of_it) {
    unsigned char a[ATN_MAC_BYTES] = {1}, b[ATN_MAC_BYTES] = {1};
    assert_true(atn_mac_equal(a, b));
    for (size_t k = 0; k < sizeof a; ++k) {
        b[k] ^= 0x80;
        assert_false(atn_mac_equal(a, b));
        b[k] ^= 0x80;
    }
}

KIT_TEST(digests_chain) {
    atn_hash none = {0}, a = atn_digest_add_text(none, "ab"), b = atn_digest_add_text(none, "a");
    assert_memory_not_equal(&a, &b, sizeof a);
    a = atn_digest_add_text(a, "c");
    b = atn_digest_add_text(b, "bc");
    assert_memory_not_equal(&a, &b, sizeof a);
    a = atn_digest_add_text(none, NULL);
    b = atn_digest_add_text(none, "");
    assert_memory_equal(&a, &b, sizeof a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_blake2b),
        cmocka_unit_test(equal_is_all_of_it),
        cmocka_unit_test(digests_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
