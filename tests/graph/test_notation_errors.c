/* Every rule of the notation, broken: with the exact place and line, all errors of a file at once. */
#include "graph/description.h"

#include <string.h>

typedef struct row {
    const char *what, *text, *expected;
} row;

#define A "kernel a(x: vector T) -> y: vector T\n"

static const row lines[] = {
    {"three kernels, three errors",
     "sequence s\n" A "    y[i] = xx[i]\nkernel b(x: vector T) -> z: vector T\n    z[i] = x[i] +* 2\n"
     "kernel c(x: vector SPP) -> w: vector T\n    w[i] = x[i]\n",
     "3:12: 'xx': no array 'xx'; did you mean 'x'?\n"
     "5:18: 'b': unexpected '*'; expected a value\n"
     "6:20: 'x': no type 'SPP'; did you mean 'SP'?"},
    {"no kernel", "\n# nothing\n", "1:1: the description holds no kernel"},
    {"misspelled keyword", "kernl a(x: vector T) -> y: vector T\n    y[i] = x[i]\n",
     "1:1: expected a kernel, a function or a program here; did you mean 'kernel'?"},
    {"an open bracket takes no other kernel with it",
     "sequence s\n" A "    y[i] = (x[i]\nkernel b(x: vector T) -> y: vector T\n    y[i] = q\n",
     "3:17: 'a': the text ends; expected ')'\n5:12: 'q': no name 'q'"},
    {"several kernels without a name", A "    y[i] = x[i]\nkernel b(x: vector T) -> y: vector T\n    y[i] = x[i]\n",
     "3:8: 'b': several kernels in a file are a sequence; write 'sequence NAME' in front"},
    {"tabs and blanks", A "\ta = x[i]\n    y[i] = a\n",
     "3:1: the line is indented by blanks, line 2 by tabs; use one of them\n"
     "3:5: 'a': the line is indented by 4, those before it by 8"},
    {"tabs and blanks in one line", A "    a = x[i]\n  \ty[i] = a\n",
     "3:1: the line is indented by tabs and by blanks; use one of them\n"
     "3:4: 'a': the line is indented, but is in no loop"},
    {"indented under a definition", A "    a = x[i]\n      y[i] = a\n",
     "3:7: 'a': the line is indented, but is in no loop"},
    {"a zero byte is not text", "", "1:1: not well-formed XML: no element found"},
    {"something behind the head", A "    y[i] = x[i] 2\n", "2:17: 'a': unexpected '2'"},
    {"no type", "kernel a(x: vector, z: T) -> y: vector T\n    y[i] = x[i]\n", "1:19: 'a': expected a type here"},
    {"not an element type", "kernel a(x: vector INDEX) -> y: vector T\n    y[i] = x[i]\n",
     "1:20: 'x': INDEX is the type of indices, not of elements; use INT32"},
    {"a scalar that goes out", "kernel a(x: vector T) -> y: T\n    y[i] = x[i]\n",
     "1:26: 'a': 'y' is a scalar; a result is a vector, a matrix or a volume"},
    {"a table without brackets", "kernel a(x: vector T = 1, 2) -> y: vector T\n    y[i] = x[i]\n",
     "1:24: 'a': write a table's elements in brackets: = [1, 2, 3]"},
    {"a table that is not closed", "kernel a(x: vector T = [1, 2) -> y: vector T\n    y[i] = x[i]\n",
     "1:25: 'a': the table is not closed by ]"},
    {"a wrong number in a table", "kernel a(x: vector T = [1, z]) -> y: vector T\n    y[i] = x[i]\n",
     "1:27: 'x': element 1 of the table is not of type SP"},
    {"planes in the table of a matrix", "kernel a(x: matrix T = [1, 2 | 3, 4]) -> y: matrix T\n    y[j, i] = x[j, i]\n",
     "1:25: 'x': '|' separates the planes of a volume; this is a matrix"},
    {"planes of different rows", "kernel a(x: volume T = [1; 2 | 3]) -> y: volume T\n    y[k, j, i] = x[k, j, i]\n",
     "1:25: 'x': the planes of the table have different numbers of rows"},
    {"a plane that is missing", "kernel a(x: volume T = [1, 2 | ]) -> y: volume T\n    y[k, j, i] = x[k, j, i]\n",
     "1:31: 'x': element 2 of the table is not of type SP"},
    {"two subscripts of a volume", "kernel a(x: volume T) -> y: volume T\n    y[k, j, i] = x[j, i]\n",
     "2:18: 'x': 2 subscripts for the volume 'x'; it takes 3"},
    {"planes of a matrix", "kernel a(x: matrix T) -> y: matrix T\n    y[j, i] = x[j, i] + planes(x)\n",
     "2:25: 'x': is a matrix; its sizes are rows(...) and columns(...)"},
    {"the length of a volume", "kernel a(x: volume T) -> y: volume T\n    y[k, j, i] = x[k, j, i] + length(x)\n",
     "2:31: 'x': is a volume; its sizes are planes(...), rows(...) and columns(...)"},
    {"four indices",
     "kernel a(x: volume T) -> y: volume T\n    for l, k, j, i in 2, 2, 2, 2\n        y[k, j, i] = x[k, j, i]\n",
     "2:9: 'l': a loop has at most 3 indices, not 4"},
    {"one index over a volume",
     "kernel a(x: volume T) -> y: volume T\n    for i in x\n        y[i, i, i] = x[i, i, i]\n",
     "2:14: 'x': is a volume; one index runs over planes, rows(x) or columns(x)"},
    {"a plane written twice",
     "kernel a(x: volume T) -> y: volume T\n    for k, j, i in x\n        y[k, k, i] = x[k, j, i]\n",
     "3:9: 'y[k, k, i]': all points along an index of the kernel write the same element of 'y'; use the index in a "
     "subscript, or put add, min, max or or before 'y' in the head"},
    {"a wrong default", "kernel a(x: vector T, s: INT32 = two) -> y: vector T\n    y[i] = s * x[i]\n",
     "1:34: 's': the default 'two' is not of type INT32"},
    {"a long name",
     "kernel aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggggggg(x: vector T)\n    x[i] = 1\n",
     "1:8: a name has at most 64 characters"},
    {"tolerance", A "    tolerance 2\n    y[i] = x[i]\n",
     "2:15: 'a': tolerance is a relative error from 0 to below 1, not '2'"},
};

static const row facts[] = {
    {"all of them",
     A "    tuned at x=100\n    tuned on cpu as DP at x=7, y=8, ranges of 32\n    measured against blas\n    real\n    "
       "finite\n    y[i] = x[i]\n",
     ""},
    {"names like them", A "    real = x[i]\n    tuned = 2 * real\n    y[i] = tuned\n", ""},
    {"no array", A "    tuned at z=3\n    y[i] = x[i]\n",
     "2:14: 'a': expected an array of the kernel here: NAME=ROWSxCOLUMNS"},
    {"a vector's size", A "    tuned at x=3x4\n    y[i] = x[i]\n", "2:19: 'a': a vector has a LENGTH"},
    {"no size", A "    tuned at x\n    y[i] = x[i]\n",
     "2:15: 'a': expected a size here: NAME=ROWSxCOLUMNS, or NAME=LENGTH"},
    {"another device", A "    tuned on tpu at x=3\n    y[i] = x[i]\n", "2:14: 'a': expected cpu or gpu here"},
    {"another rival", A "    measured against me\n    y[i] = x[i]\n",
     "2:22: 'a': expected blas, csr or pairs here: measured against blas"},
    {"where searches begin, and what tests try",
     "kernel a(x: vector T, s: T = 1) -> y: vector T\n    begin on host with vec_p0=16,stream=1\n    begin on cuda as "
     "SP with "
     "exp=native\n    try with s=-2.5e3\n    y[i] = s * x[i]\n",
     ""},
    {"names like those", A "    begin = x[i]\n    try = 2 * begin\n    y[i] = try\n", ""},
    {"no backend", A "    begin on gpu with vec_p0=2\n    y[i] = x[i]\n",
     "2:14: 'a': expected host, cuda or opencl here: begin on host with vec_p0=16"},
    {"no variant", A "    begin on host with vec_p0\n    y[i] = x[i]\n",
     "2:24: 'a': expected a knob with its value here: vec_p0=16"},
    {"no parameter", A "    try with x=2\n    y[i] = x[i]\n",
     "2:14: 'a': expected a parameter of the kernel here: NAME=NUMBER"},
    {"too many", A "    tuned at x=3 y=4\n    y[i] = x[i]\n", "2:18: 'a': this is one too many"},
};

static const row names[] = {
    {"one name, two arrays", "kernel a(x: vector T, x: matrix T) -> y: vector T\n    y[i] = x[i]\n",
     "1:23: 'x': the name is taken by the vector in line 1"},
    {"an index that is a parameter",
     "kernel a(x: vector T, i: T) -> y: vector T\n    for i in x\n        y[i] = x[i]\n",
     "2:9: 'i': the name is taken by the parameter in line 1\n"
     "3:11: 'y[i]': takes INDEX; 'i' is SP, which is not converted to INDEX without a cast\n"
     "3:18: 'x[i]': takes INDEX; 'i' is SP, which is not converted to INDEX without a cast"},
    {"a value that is an index", A "    for i in x\n        i = 3 * x[i]\n        y[i] = i\n",
     "3:9: 'i': the name is taken by the index in line 2"},
    {"a value of two lines", A "    a = x[i]\n    a = 2 * x[i]\n    y[i] = a\n",
     "3:5: 'a': the name is taken by the value in line 2"},
    {"a local that is a parameter",
     "kernel a(x: vector T, s: T) -> y: vector T\n    t: T = { auto s = x[i]; t = s; }\n    y[i] = t\n",
     "2:19: 's': the name is taken in line 1"},
    {"a name of a later line", A "    y[i] = later\n    later = x[i]\n", "2:12: 'later': no name 'later'"},
    {"nearly a name", A "    value = x[i]\n    y[i] = valu\n", "3:12: 'valu': no name 'valu'; did you mean 'value'?"},
    {"an array without subscripts", A "    y[i] = x + x[i]\n", "2:12: 'x': is a vector; an element of it is x[i]"},
    {"an element of no array", "kernel a(x: vector T, s: T) -> y: vector T\n    y[i] = s[i] + x[i]\n",
     "2:12: 's': is not an array; it has no elements"},
    {"too many subscripts", A "    y[i] = x[i, 1]\n", "2:12: 'x': 2 subscripts for the vector 'x'; it takes 1"},
    {"no subscripts", A "    y[i] = x[]\n", "2:12: 'a': an element of 'x' needs subscripts"},
    {"an input written", A "    x[i] = 1\n    y[i] = x[i]\n",
     "2:5: 'x': is an input and cannot be written; put it after ->, or declare it inout x"},
    {"a table written", "kernel a(inout x: vector T = [1, 2])\n    x[i] = 1\n",
     "2:5: 'x': is a constant table and cannot be written"},
    {"nothing written", A "    a = x[i]\n", "1:8: 'a': the kernel writes nothing: A[...] = ..."},
    {"a running value as its own term", A "    over j in x\n        s += x[j]\n        r += s\n    y[i] = r\n",
     "4:14: 's': what is accumulated cannot use its own running value; let the ICF use it"},
    {"a running value in a loop inside",
     "kernel a(x: vector T) -> y: matrix T\n    for i in x\n        s += x[i]\n        over j in x\n"
     "            y[i, j] = s\n",
     "5:23: 's': is a running value of 'a'; functions, reads and writes directly inside it see it"},
    {"numbered inputs", A "    y[i] = { y = #in(0); }\n", "3:1: 'a': the text ends; expected a value"},
    {"a function that is a type", "function half(a: T) -> T = a / 2\n" A "    y[i] = x[i]\n",
     "1:10: 'half': is a type; a function needs another name"},
    {"a function without arguments", "function f(a: T) -> T = 2 * a\n" A "    y[i] = f\n",
     "3:12: 'f': is a function; its arguments are missing"},
    {"a function with others", "function f(a: T) -> T = a * g\n" A "    y[i] = f(x[i], 2)\n    y[i] = f(x[i])\n",
     "1:29: 'g': no name 'g'\n3:12: 'f': takes 1 argument, not 2"},
    {"a function that calls itself", "function f(a: T) -> T = f(a)\n" A "    y[i] = f(x[i])\n",
     "1:25: 'f': functions call one another more than 16 deep"},
    {"names and values", A "    a, b = x[i]\n    y[i] = a\n", "2:5: 'a': 2 names, but 1 value"},
};

static const row meaning[] = {
    {"a narrower element", "kernel a(x: vector DP) -> y: vector SP\n    y[i] = x[i]\n",
     "2:12: 'y[i]': takes SP; 'x[i]' is DP, which is not converted to SP without a cast"},
    {"a narrower value", "kernel a(x: vector DP) -> y: vector SP\n    y[i] = x[i] + 1\n",
     "2:17: 'y': DP is not converted to SP implicitly; write SP(...)"},
    {"a subscript that is not an integer", A "    y[i] = x[x[i]]\n",
     "2:14: 'x[x[i]]': takes INDEX; 'x[i]' is SP, which is not converted to INDEX without a cast"},
    {"a range that does not follow", A "    y[i] = sum(k) x[i + k]\n",
     "2:16: 'k': no subscript is this index alone, so that its range is not known; write 'in'"},
    {"two ranges, one index", A "    over j in x, x\n        s += x[j]\n    y[i] = s\n",
     "2:15: 'a': 2 ranges for 1 index"},
    {"rows of a vector", A "    for i in rows(x)\n        y[i] = x[i]\n",
     "2:14: 'x': is a vector; its size is length(...)"},
    {"one index over a matrix", "kernel a(x: matrix T) -> y: vector T\n    y[i] = sum(j in x) x[i, j]\n",
     "2:21: 'x': is a matrix; one index runs over rows(x) or columns(x)"},
    {"a space that begins elsewhere", A "    for i in 1 .. length(x)\n        y[i] = x[i]\n",
     "2:14: 'a': the kernel's own space begins at 0; add what it begins at to the index"},
    {"a range from data", A "    for i in INT32(x[0])\n        y[i] = x[i]\n",
     "2:14: 'a': the kernel's own space depends on elements of an array; its ranges must be "
     "known before it starts"},
    {"boundary", A "    y[i] = x[i-1]  with x clampd\n",
     "2:27: 'a': 'clampd' is not a boundary; there are clamped, zero, wrapped and mirrored; did you mean 'clamped'?"},
    {"a boundary of nothing",
     "kernel a(x, z: vector T) -> y: vector T\n    y[i] = x[i] + z[i]\n    y[i] = x[i]  with z clamped\n",
     "3:23: 'z': nothing is read from 'z' in this line"},
    {"where without a write", A "    a = x[i]  where x[i] > 0\n    y[i] = a\n",
     "2:26: 'a': 'where' follows what is written; use ?: here"},
    {"from without a sum", A "    a = x[i] from 3\n    y[i] = a\n",
     "2:5: 'a': 'from' gives what += begins with; there is none here"},
    {"loops in loops in loops",
     A "    over i in x\n        over j in x\n            over k in x\n                s += x[k]\n",
     "4:18: 'k': loops may be nested one level deep, not two"},
    {"for inside", A "    y[i] = x[i]\n    for j in x\n        y[j] = x[j]\n",
     "3:5: 'a': 'for' is written once, at the front; inner loops are 'over'"},
    {"an element that all points write",
     "kernel a(x: matrix T) -> y: vector T\n    for i, j in x\n        y[i] = x[i, j]\n",
     "3:9: 'y[i]': all points along an index of the kernel write the same element of 'y'; use the index in a "
     "subscript, or put add, min, max or or before 'y' in the head"},
    {"an element that has no value yet", A "    y[i] += x[i]\n",
     "2:5: 'y': has no value yet; say inout y, or add y where points meet in one element"},
    {"an element where points meet", "kernel a(x: vector INT32) -> add y: vector INT32\n    y[x[i]] = 1\n",
     "2:5: 'y': many points meet in it: write +=, min=, max= or or="},
    {"a key where points meet",
     "kernel a(x: vector T, k: vector INT32) -> min y: vector T, min z: vector INT32\n"
     "    y[k[i]], z[k[i]] min= x[i], INT32(i)\n",
     "2:5: 'y': several elements with min= or max= keep a key and what belongs to it, which needs elements that stay "
     "the "
     "same throughout the loop; for a minimum of each, write a line for each\n"
     "2:14: 'z': several elements with min= or max= keep a key and what belongs to it, which needs elements that stay "
     "the "
     "same throughout the loop; for a minimum of each, write a line for each"},
    {"too few first values",
     "kernel a(A: matrix T) -> x, y: vector T\n    over j in columns(A)\n        x[i], y[i] min= A[i, j], 1 from 2\n",
     "3:9: 'a': 2 elements, but 1 value after 'from'"},
    {"a key in place", "kernel a(inout x, y: vector T, z: vector T)\n    x[i], y[i] max= z[i], 1\n",
     "2:5: 'x': several elements with min= or max= keep a key and what belongs to it, which needs elements that stay "
     "the "
     "same throughout the loop; for a minimum of each, write a line for each\n"
     "2:11: 'y': several elements with min= or max= keep a key and what belongs to it, which needs elements that stay "
     "the "
     "same throughout the loop; for a minimum of each, write a line for each"},
    {"in place, where points read what others write",
     "kernel a(inout x: vector T)\n    x[i] = x[i + 1]  with x clamped\n",
     "2:12: 'x[i + 1]': a point may read what another point writes to 'x' (by 'x[i]'); write to another array"},
    {"a first value", A "    for i in x\n        carry s: T { s = s * 2 + x[i]; }\n    y[0] = s\n",
     "1:8: 's': a first value is needed: what is carried has no neutral element"},
    {"behind the loop", A "    for i in x\n        s += x[i]\n    y[0] = s\n    y[1] = x[0]\n",
     "5:5: 'y[1]': comes after the loop and uses none of its results; put it inside"},
    {"a power", A "    y[i] = x[i]^x[i]\n",
     "2:17: 'a': after ^ comes a whole number from 1 to 16; use pow, or xor for bits"},
    {"several elements, one value", "kernel a(x: vector T) -> y, z: vector T\n    y[i], z[i] = x[i]\n",
     "2:5: 'a': 2 elements, but 1 value"},
    {"too many indices, and whatever else is wrong",
     "kernel a(x: matrix T) -> y: matrix T\n    y[i, j] = x[i, k] + x[l, j] + q[j]\n    y[i, j] = p * x[i, j]\n",
     "2:7: 'i': a loop has at most 3 indices, not 4\n2:35: 'q': no array 'q'\n3:15: 'p': no name 'p'"},
    {"all wrong names of a line", A "    y[i] = fmin(p, x[i]) where r > 0\n",
     "2:17: 'p': no name 'p'\n2:32: 'r': no name 'r'"},
    {"an unknown result and an unknown value", A "    z[i] = p + x[i]\n",
     "2:5: 'z': no array 'z'\n2:12: 'p': no name 'p'"},
    {"a loop that writes one element", A "    over j in x\n        y[0] = x[j]\n",
     "3:9: 'y[0]': every step of the loop over 'j' writes the same element of 'y'; use the index in a subscript, or "
     "put "
     "add, min, max or or before 'y' in the head"},
    {"braces that do not assign", A "    a: T = { if (x[i] > 0) a = 1; }\n    y[i] = a\n",
     "2:14: 'a': 'a' is not assigned on every path"},
    {"braces that use what they assign", A "    a: T = { a = a + x[i]; }\n    y[i] = a\n",
     "2:18: 'a': 'a' has no value here"},
    {"return", A "    a: T = { return x[i]; }\n    y[i] = a\n",
     "2:14: 'a': there is no 'return'; assign to what the line defines"},
    {"beyond the end", A "    for i in x\n        y[i] = x[i + 2]\n",
     "3:16: 'x[i + 2]': goes on to 2 elements beyond the end of 'x'; give it a boundary, or another range"},
    {"before the beginning", "kernel a(x: matrix T) -> y: matrix T\n    y[i, j] = x[i, j - 1] + x[i - 1, j]\n",
     "2:15: 'x[i, j - 1]': begins at column -1 of 'x'; give it a boundary, or another range\n"
     "2:29: 'x[i - 1, j]': begins at row -1 of 'x'; give it a boundary, or another range"},
    {"a window without a boundary",
     "kernel a(x: vector T, w: vector T = [1, 2, 1]) -> y: vector T\n    for i in x\n        y[i] = sum(j) x[i + j] * "
     "w[j]\n",
     "3:23: 'x[i + j]': goes on to 2 elements beyond the end of 'x'; give it a boundary, or another range"},
    {"beyond a table", "kernel a(w: vector T = [1, 2, 1]) -> y: vector T\n    for i in 5\n        y[i] = w[i]\n",
     "3:16: 'w[i]': goes on to element 4; 'w' has 3"},
    {"beyond a given size", "kernel a(x: vector T) -> y: vector T[4]\n    for i in 6\n        y[i] = x[i]\n",
     "3:9: 'y[i]': goes on to element 5; 'y' has 4"},
    {"sizes",
     "kernel a(x: vector T[0], z: matrix T[3], w: vector T[2] = [1, 2]) -> y: vector T[2.5]\n    y[i] = x[i]\n",
     "1:22: 'x': the size of a vector is a whole number above 0\n"
     "1:38: 'z': the size of a matrix is two whole numbers above 0: rows, columns\n"
     "1:54: 'w': a table has the size of its elements\n"
     "1:82: 'y': the size of a vector is a whole number above 0"},
    {"a size that is not closed", "kernel a(x: vector T[3) -> y: vector T\n    y[i] = x[i]\n",
     "1:22: 'a': the size is not closed by ]"},
    {"a loop in a function", "function f(a) = sum(j in 3) a * j\n" A "    y[i] = f(x[i])\n",
     "1:17: 'sum': a function has no loops"},
};

static const atn_define sp = {"USED_FLOAT", "SP"};
static const atn_parse_options options = {.defines = &sp, .n_defines = 1};

static void check(const row *rows, size_t count) {
    for (size_t k = 0; k < count; ++k) description_expect(rows[k].what, rows[k].text, &options, rows[k].expected);
}

KIT_TEST(of_lines) { check(lines, sizeof lines / sizeof *lines); }

KIT_TEST(of_facts) { check(facts, sizeof facts / sizeof *facts); }

KIT_TEST(of_names) { check(names, sizeof names / sizeof *names); }

KIT_TEST(of_meaning) { check(meaning, sizeof meaning / sizeof *meaning); }

KIT_TEST(strict) {
    atn_parse_options seed = {.defines = &sp, .n_defines = 1, .strict = true};
    description_expect(
        "strict",
        "kernel a(x: matrix T) -> y: vector T\n    y[i] = sum(k) (sum(j in columns(x)) x[k, j])\n    y[i] = x[i, 0]\n",
        &seed, "2:24: 'j': a loop inside another is not allowed (strict)");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_lines), cmocka_unit_test(of_names),
                                       cmocka_unit_test(of_facts), cmocka_unit_test(of_meaning),
                                       cmocka_unit_test(strict)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
