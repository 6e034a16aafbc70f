/* Every rule of functions and ICFs, broken; with the exact lines. */
#include "graph/description.h"

static const wrong functions[] = {
    {"expression ends", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) *\"/>\n    <DataAccessWrite"}},
     "14:65: 'scale': the text ends where a value should stand"},
    {"wrong sign", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) * * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:66: 'scale': '*' stands where a value should"},
    {"unclosed", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"(#in(0) + #in(1)\"/>\n    <DataAccessWrite"}},
     "14:73: 'scale': the text ends where ')' should stand"},
    {"closed twice", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) + #in(1))\"/>\n    <DataAccessWrite"}},
     "14:72: 'scale': ')' stands where ';' should"},
    {"strange character", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) @ #in(1)\"/>\n    <DataAccessWrite"}},
     "14:64: 'scale': '@' is not understood here"},
    {"bad number", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) * 1.5.2\"/>\n    <DataAccessWrite"}},
     "14:66: 'scale': '1.5.2' is not understood here"},
    {"empty", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': the text is empty"},
    {"idle value", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0); #out(0) = #in(1);\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': this value goes nowhere; assign it to #out(k), #acc(k) or a variable"},
    {"unknown variable", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"float tmp = #in(0); #out(0) = tnp * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:87: 'scale': no variable 'tnp'; did you mean 'tmp'?"},
    {"unknown function", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"sqr(#in(0)) * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': no function 'sqr'; did you mean 'sqrt'?"},
    {"arguments", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"atan2(#in(0)) * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': 'atan2' takes 2 arguments, not 1"},
    {"undeclared", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"t = #in(0); #out(0) = t * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': no variable 't'; declare it with its type"},
    {"unassigned", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"float t; #out(0) = t * #in(1) + #in(0);\"/>\n    <DataAccessWrite"}},
     "14:76: 'scale': the variable 't' has no value here on every path"},
    {"unassigned output", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"if (#in(0) > 0) #out(0) = #in(1);\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': #out(0) is not assigned on every path"},
    {"output beyond the last", {{"numOutVars=\"1\" dataType=\"SP\" function=\"#in(0) * #in(1)\"", "numOutVars=\"1\" dataType=\"SP\" function=\"#out(1) = #in(0) * #in(1);\""}},
     "12:86: 'mul': there is no #out(1); the last is #out(0)"},
    {"input beyond the last", {{"numInVars=\"2\" numOutVars=\"1\" dataType=\"SP\" function=\"#in(0) * #in(1)\"", "numInVars=\"2\" numOutVars=\"1\" dataType=\"SP\" function=\"#in(0) * #in(2)\""}},
     "12:95: 'mul': there is no #in(2); the last is #in(1)"},
    {"no such port", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#inn(0) * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': there is no #inn here"},
    {"accumulator in a function", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#acc(0) * #in(1) * #in(0)\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': there is no #acc here"},
    {"assigning an input", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) = #in(1); #out(0) = 1;\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': #in(k) cannot be assigned to here"},
    {"assigning a value", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) + 1 = #in(1);\"/>\n    <DataAccessWrite"}},
     "14:64: 'scale': only variables, #out(k) and #acc(k) can be assigned to"},
    {"narrowing", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"int k = #in(0); #out(0) = k * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:65: 'scale': SP does not become INT32 by itself; write INT32(...)"},
    {"narrowing to the output", {{"name=\"scale\" dataType=\"SP\"", "name=\"scale\" dataType=\"HP\""}},
     "14:64: 'scale': SP does not become HP by itself; write HP(...)"},
    {"literal too large", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"U8 k = 300; #out(0) = k * #in(1) * #in(0);\"/>\n    <DataAccessWrite"}},
     "14:64: 'scale': 300 does not fit U8"},
    {"literal no integer", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"int k = 0.5; #out(0) = k * #in(1) * #in(0);\"/>\n    <DataAccessWrite"}},
     "14:65: 'scale': 0.5 is no INT32; write INT32(0.5)"},
    {"remainder of floats", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(0) % #in(1)\"/>\n    <DataAccessWrite"}},
     "14:64: 'scale': '%' is for integers, not for SP; use fmod"},
    {"bits of floats", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"~#in(0) * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': '~' is for integers, not for SP"},
    {"complex order", {{"name=\"scale\" dataType=\"SP\" function=\"#in(0) * #in(1)\"", "name=\"scale\" dataType=\"SP2\" function=\"max(complex(#in(0), 1), #in(1))\""}},
     "14:58: 'scale': complex numbers have no order for 'max'; compare abs(...)"},
    {"complex function", {{"name=\"scale\" dataType=\"SP\" function=\"#in(0) * #in(1)\"", "name=\"scale\" dataType=\"SP2\" function=\"exp(complex(#in(0), 1)) * #in(1)\""}},
     "14:58: 'scale': 'exp' is not defined for complex numbers"},
    {"while", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"while (1) { #out(0) = #in(0) * #in(1); }\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': there is no 'while'; use for, with a bound known when the kernel is built"},
    {"return", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"return #in(0) * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': there is no 'return'; assign to #out(k)"},
    {"unbounded loop", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"float t = 0; for (int k = 0; ; ++k) t += #in(0); #out(0) = t * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:70: 'scale': the loop has no bound; a loop's length must be known when the kernel is built"},
    {"bound from data", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"float t = 0; for (int k = 0; k &lt; #in(0); ++k) t += 1; #out(0) = t * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:70: 'scale': the loop's bound is not known when the kernel is built; use an IteratorBlock"},
    {"endless loop", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"float t = 0; for (int k = 0; k &lt; 5; k += 0) t += #in(0); #out(0) = t * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:70: 'scale': the loop has more than 4096 steps; use an IteratorBlock"},
    {"computed port", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"#in(int(#in(0))) * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:57: 'scale': the k of #in(k) must be known when the kernel is built"},
    {"auto", {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", "function=\"auto t; #out(0) = #in(0) * #in(1);\"/>\n    <DataAccessWrite"}},
     "14:62: 'scale': auto takes its type from a value; write auto t = ..."},
};

static void check_functions(void **state) {
    (void)state;
    description_check(functions, sizeof functions / sizeof *functions);
}

static const wrong icfs[] = {
    {"ICF stray", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICFType=\"SP\""}},
     "9:5: 'iter': there is no ICF for 'ICFType'"},
    {"ICF without assignment", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"float t = #in(0);\""}},
     "9:52: 'iter': the ICF assigns no #acc(k)"},
    {"ICF's accumulator", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(1) + #in(0)\""}},
     "9:52: 'iter': there is no #acc(1); the last is #acc(0)"},
    {"ICF's input", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) + #in(1)\""}},
     "9:5: 'iter.func(1)': is not connected; the ICF uses it"},
    {"ICFType unknown", {{"ICFType=\"SP\"", "ICFType=\"float\""}},
     "9:79: 'iter': ICFType: no type 'float'"},
    {"ICFType count", {{"ICFType=\"SP\"", "ICFType=\"SP, DP\""}},
     "9:79: 'iter': ICFType names 2 types for 1 accumulator"},
    {"ICFType separators", {{"ICFType=\"SP\"", "ICFType=\"SP DP\""}},
     "9:82: 'iter': ICFType: types are separated by commas"},
    {"ICF narrowing", {{"ICFType=\"SP\"", "ICFType=\"INT32\""}},
     "9:60: 'iter': SP does not become INT32 by itself; write INT32(...)"},
    {"ICFInit needed", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) * #in(0) + #in(0)\""}},
     "9:5: 'iter': ICFInit is needed: this ICF has no neutral element"},
    {"ICFInit count", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\" ICFInit=\"1, 2\""}},
     "9:92: 'iter': ICFInit gives 2 values for 1 accumulator"},
    {"ICFInit type", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) + INT32(#in(0))\" ICFType=\"INT32\" ICFInit=\"0.5\""}},
     "9:102: 'iter': 0.5 is no INT32; write INT32(0.5)"},
    {"follower needs ICFInit", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) = fmax(#acc(0), #in(0)); if (#in(0) > #acc(0)) #acc(1) = #in(0);\" ICFType=\"SP\""}},
     "9:5: 'iter': ICFInit is needed: a follower has no neutral element"},
    {"ICFCombine needs ICFInit", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\" ICFCombine=\"#a(0) + #b(0)\""}},
     "9:5: 'iter': ICFInit is needed: this ICF has no neutral element"},
    {"ICFCombine's ports", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\" ICFInit=\"0\" ICFCombine=\"#a(0) + #in(0)\""}},
     "9:115: 'iter': there is no #in here"},
    {"ICF without input type", {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", "ICF=\"#acc(0) + 1\""}},
     "9:5: 'iter': the ICF has no input to take its type from; give ICFType\n"
     "25:5: 'iter.func(0)': 'iter' has no func"},
};

static void check_icfs(void **state) {
    (void)state;
    description_check(icfs, sizeof icfs / sizeof *icfs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_functions),
        cmocka_unit_test(check_icfs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
