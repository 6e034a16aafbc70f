/* Every rule of a description, broken: elements, connections, order, writes; with the exact lines. */
#include "graph/description.h"

static const wrong xml_and_elements[] = {
    {"not XML", {{"<DataObjects>", "<DataObjects"}}, "3:5: not well-formed XML: not well-formed (invalid token)"},
    {"an end tag is missing", {{"</ParallelAlgorithm>", ""}}, "32:1: not well-formed XML: no element found"},
    {"invalid UTF-8", {{"name=\"A\"", "name=\"\xff\""}}, "3:23: not well-formed XML: not well-formed (invalid token)"},
    {"entity bomb",
     {{"<ParallelAlgorithm name=\"MV\"",
       "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><ParallelAlgorithm name=\"MV\""}},
     "1:13: 'DOCTYPE': descriptions have no document type and no entities of their own"},
    {"unknown entity", {{"name=\"A\"", "name=\"&A;\""}}, "3:5: not well-formed XML: undefined entity"},
    {"text",
     {{"<Children>", "<Children>loose"}},
     "8:13: 'Children': text stands here; descriptions have elements and attributes only"},
    {"another root",
     {{NULL, "<ParalelAlgorithm name=\"MV\"/>"}},
     "1:1: 'ParalelAlgorithm': a description is a ParallelAlgorithm or a Sequence; did you mean 'ParallelAlgorithm'?"},
    {"empty file", {{NULL, ""}}, "1:1: not well-formed XML: no element found"},
    {"empty sequence", {{NULL, "<Sequence name=\"none\"/>"}}, "1:1: 'Sequence': the Sequence is empty"},
    {"stranger in a sequence",
     {{NULL, "<Sequence name=\"none\"><Children/></Sequence>"}},
     "1:23: 'Children': a Sequence is made of ParallelAlgorithms"},
    {"nothing in it",
     {{NULL, "<ParallelAlgorithm name=\"MV\" dimensions=\"0\"/>"}},
     "1:1: 'MV': the algorithm writes nothing; a DataAccessWrite is missing"},
    {"unknown part",
     {{"<Connections>", "<Conections/><Connections>"}},
     "17:3: 'Conections': this element does not belong in ParallelAlgorithm; did you mean 'Connections'?"},
    {"unknown child",
     {{"<FunctionBlock name=\"scale\"", "<FunctionBlok name=\"scale\""}},
     "14:5: 'FunctionBlok': this element does not belong in Children; did you mean 'FunctionBlock'?\n"
     "26:5: 'scale.in(0)': no object 'scale'\n"
     "27:5: 'scale.in(1)': no object 'scale'\n"
     "28:5: 'scale.out': no object 'scale'"},
    {"unknown object element",
     {{"<Parameter name=\"s\"", "<Paramater name=\"s\""}},
     "6:5: 'Paramater': this element does not belong in DataObjects; did you mean 'Parameter'?\n"
     "27:5: 's.out': no object 's'"},
    {"unknown attribute",
     {{"selFunction=\"v0\"/>\n      <FunctionBlock", "selFunction=\"v0\" bondary=\"clamp\"/>\n      <FunctionBlock"}},
     "11:7: 'x': DataAccessRead has no attribute 'bondary'; did you mean 'boundary'?"},
    {"missing attribute",
     {{" dataType=\"SP\" function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite",
       " function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite"}},
     "14:5: 'scale': FunctionBlock needs the attribute 'dataType'"},
    {"both spellings",
     {{"name=\"MV\" dimensions=\"1\"", "name=\"MV\" dimensions=\"1\" dimension=\"1\""}},
     "1:1: 'MV': 'dimensions' and 'dimension' mean the same; give one of them"},
    {"a child too many",
     {{"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Order first=\"a\" second=\"x\"/>"}},
     "28:56: 'Order': this element does not belong in Connections; did you mean 'Connection'?"},
    {"an element inside an access",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"><Children/></DataAccessWrite>"}},
     "15:64: 'Children': a DataAccessWrite holds no elements"},
    {"no name",
     {{"name=\"scale\" ", ""}},
     "14:5: FunctionBlock needs the attribute 'name'\n"
     "26:5: 'scale.in(0)': no object 'scale'\n"
     "27:5: 'scale.in(1)': no object 'scale'\n"
     "28:5: 'scale.out': no object 'scale'"},
    {"bad name",
     {{"name=\"scale\"", "name=\"2scale\""}},
     "14:5: '2scale': a name is made of letters, digits and _, begins with no digit and has at most 64 characters\n"
     "26:5: 'scale.in(0)': no object 'scale'; did you mean '2scale'?\n"
     "27:5: 'scale.in(1)': no object 'scale'; did you mean '2scale'?\n"
     "28:5: 'scale.out': no object 'scale'; did you mean '2scale'?"},
    {"name taken",
     {{"name=\"scale\"", "name=\"b\""}},
     "14:5: 'b': the name is taken by the DataObject in line 4\n"
     "26:5: 'scale.in(0)': no object 'scale'\n"
     "27:5: 'scale.in(1)': no object 'scale'\n"
     "28:5: 'scale.out': no object 'scale'"},
    {"bad structure",
     {{"name=\"b\" structure=\"vector\"", "name=\"b\" structure=\"tensor\""}},
     "4:37: 'b': structure is vector, matrix or volume, not 'tensor'"},
    {"bad type",
     {{"elementDataType=\"SP\"/>\n    <DataObject name=\"c\"",
       "elementDataType=\"SP3\"/>\n    <DataObject name=\"c\""}},
     "4:62: 'b': no type 'SP3'; did you mean 'SP'?"},
    {"undefined type",
     {{"elementDataType=\"SP\"/>\n    <DataObject name=\"c\"",
       "elementDataType=\"REAL_TYPE\"/>\n    <DataObject name=\"c\""}},
     "4:62: 'b': no type 'REAL_TYPE'; types are B, U8, U16, INT32, HP, SP, DP, SP2 and DP2; a name of your own is "
     "given with a define"},
    {"index elements",
     {{"elementDataType=\"SP\"/>\n    <DataObject name=\"c\"",
       "elementDataType=\"INDEX\"/>\n    <DataObject name=\"c\""}},
     "4:62: 'b': INDEX is the type of indices, not of elements; use INT32"},
    {"dimensions",
     {{"name=\"MV\" dimensions=\"1\"", "name=\"MV\" dimensions=\"4\""}},
     "1:42: 'MV': dimensions is a number from 0 to 3, not '4'"},
    {"iterator of no dimension",
     {{"name=\"iter\" dimensions=\"1\"", "name=\"iter\" dimensions=\"0\""}},
     "9:44: 'iter': dimensions is a number from 1 to 3, not '0'"},
    {"bad boundary",
     {{"selFunction=\"v0\"/>\n      <FunctionBlock", "selFunction=\"v0\" boundary=\"clmap\"/>\n      <FunctionBlock"}},
     "11:70: 'x': boundary is none, clamp, zero, wrap or mirror, not 'clmap'; did you mean 'clamp'?"},
    {"bad combine",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\" combine=\"sum\"/>"}},
     "15:73: 'w': combine is once, add, min, max, or or distinct, not 'sum'"},
    {"combine and type",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\" combine=\"or\"/>"}},
     "15:5: 'w': combine='or' is not defined for SP"},
    {"bad tolerance",
     {{"name=\"MV\"", "name=\"MV\" tolerance=\"-1\""}},
     "1:41: 'MV': tolerance is a relative error from 0 to below 1, not '-1'"},
    {"bad finite", {{"name=\"MV\"", "name=\"MV\" finite=\"yes\""}}, "1:38: 'MV': finite is false or true, not 'yes'"},
    {"bad default",
     {{"<Parameter name=\"s\" dataType=\"SP\"/>", "<Parameter name=\"s\" dataType=\"SP\" default=\"(1, 2)\"/>"}},
     "6:48: 's': the default '(1, 2)' is no SP"},
    {"numInVars",
     {{"numInVars=\"2\"", "numInVars=\"many\""}},
     "12:44: 'mul': numInVars is a number from 0 to 64, not 'many'"},
    {"table element",
     {{"name=\"b\" structure=\"vector\" elementDataType=\"SP\"",
       "name=\"b\" structure=\"vector\" elementDataType=\"U8\" values=\"1, 300\""}},
     "4:76: 'b': element 1 of the table is no U8"},
    {"table rows",
     {{"name=\"A\" structure=\"matrix\" elementDataType=\"SP\"",
       "name=\"A\" structure=\"matrix\" elementDataType=\"SP\" values=\"1, 2; 3\""}},
     "3:74: 'A': the rows of the table have 2 and 1 elements"},
    {"table of a vector",
     {{"name=\"b\" structure=\"vector\" elementDataType=\"SP\"",
       "name=\"b\" structure=\"vector\" elementDataType=\"SP\" values=\"1; 2\""}},
     "4:74: 'b': the table of a vector is one row; ';' separates the rows of a matrix"},
    {"writing a table",
     {{"name=\"c\" structure=\"vector\" elementDataType=\"SP\"",
       "name=\"c\" structure=\"vector\" elementDataType=\"SP\" values=\"1, 2\""}},
     "15:5: 'w': 'c' is a constant table and cannot be written"},
};

static void check_xml_and_elements(void **state) {
    (void)state;
    description_check(xml_and_elements, sizeof xml_and_elements / sizeof *xml_and_elements);
}

static const wrong accesses_and_connections[] = {
    {"no such object", {{"source=\"b\"", "source=\"B2\""}}, "11:40: 'x': no DataObject 'B2'"},
    {"access of a parameter", {{"source=\"b\"", "source=\"s\""}}, "11:40: 'x': no DataObject 's'"},
    {"too few selectors",
     {{"selFunction=\"v0, v1\"", "selFunction=\"v0\""}},
     "10:56: 'a': 1 selector for the matrix 'A'; it takes 2, separated by a comma"},
    {"too many selectors",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0, 0\"/>"}},
     "15:60: 'w': 2 selectors for the vector 'c'; it takes 1, separated by a comma"},
    {"selector's name",
     {{"selFunction=\"v0, v1\"", "selFunction=\"v0, x\""}},
     "10:60: 'a': no variable 'x'; a selector is made of v0, v1, ...\n"
     "21:5: 'a.v(1)': the selector of 'a' does not use v1"},
    {"selector's type",
     {{"selFunction=\"v0, v1\"", "selFunction=\"v0, v1 * 0.5\""}},
     "10:63: 'a': DP does not become INDEX by itself; write INDEX(...)"},
    {"selector ends",
     {{"selFunction=\"v0, v1\"", "selFunction=\"v0, v1 +\""}},
     "10:64: 'a': the text ends where a value should stand"},
    {"misspelled destination",
     {{"destination=\"a.v(1)\"", "destination=\"aa.v(1)\""}},
     "21:5: 'aa.v(1)': no object 'aa'; did you mean 'a'?"},
    {"misspelled source",
     {{"source=\"scale.out\"", "source=\"scales.out\""}},
     "28:5: 'scales.out': no object 'scales'; did you mean 'scale'?"},
    {"malformed end",
     {{"source=\"scale.out\"", "source=\"scale\""}},
     "28:5: 'scale': a connection's end is written object.port or object.port(k)"},
    {"no such acceptor",
     {{"destination=\"w.in\"", "destination=\"w.input\""}},
     "28:5: 'w.input': a DataAccessWrite has no acceptor 'input'; it has in, v, enable"},
    {"no such emitter",
     {{"source=\"A.Size(1)\"", "source=\"A.Length(1)\""}},
     "18:5: 'A.Length(1)': a DataObject has no emitter 'Length'; it has Size"},
    {"emitter as destination",
     {{"destination=\"w.in\"", "destination=\"scale.out\""}},
     "15:5: 'w.in': is not connected; it is what is written\n"
     "28:5: 'scale.out': 'out' of a FunctionBlock gives a value; it cannot be a destination"},
    {"acceptor as source",
     {{"source=\"scale.out\"", "source=\"w.in\""}},
     "28:5: 'w.in': 'in' of a DataAccessWrite takes a value; it cannot be a source"},
    {"index beyond",
     {{"source=\"A.Size(1)\"", "source=\"A.Size(2)\""}},
     "18:5: 'A.Size(2)': 'A' has Size(0) to Size(1)"},
    {"output beyond",
     {{"source=\"scale.out\"", "source=\"scale.out(1)\""}},
     "28:5: 'scale.out(1)': 'scale' has out(0) only"},
    {"input beyond",
     {{"destination=\"scale.in(1)\"", "destination=\"scale.in(2)\""}},
     "14:5: 'scale.in(1)': is not connected\n"
     "27:5: 'scale.in(2)': 'scale' has in(0) to in(1)"},
    {"variable unused",
     {{"destination=\"x.v(0)\"", "destination=\"x.v(1)\""}},
     "11:7: 'x.v(0)': is not connected; the selector uses it\n"
     "22:5: 'x.v(1)': the selector of 'x' does not use v1"},
    {"variable far beyond",
     {{"destination=\"x.v(0)\"", "destination=\"x.v(64)\""}},
     "11:7: 'x.v(0)': is not connected; the selector uses it\n"
     "22:5: 'x.v(64)': the selector of 'x' does not use v64"},
    {"no ICF for out",
     {{"ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\"", ""}},
     "25:5: 'iter.func(0)': 'iter' has no ICF\n"
     "26:5: 'iter.out': 'iter' has no ICF"},
    {"two sources",
     {{"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"s.out\" destination=\"w.in\"/>"}},
     "28:56: 'w.in': is connected in line 28 already; an acceptor has exactly one source"},
    {"half a connection",
     {{"<Connection source=\"s.out\" destination=\"scale.in(1)\"/>", "<Connection source=\"s.out\"/>"}},
     "14:5: 'scale.in(1)': is not connected\n"
     "27:5: 'Connection': a Connection needs the attribute 'destination'"},
    {"unconnected input",
     {{"<Connection source=\"s.out\" destination=\"scale.in(1)\"/>", ""}},
     "14:5: 'scale.in(1)': is not connected"},
    {"unconnected variable",
     {{"<Connection source=\"iter.i(0)\" destination=\"x.v(0)\"/>", ""}},
     "11:7: 'x.v(0)': is not connected; the selector uses it"},
    {"unconnected write",
     {{"<Connection source=\"scale.out\" destination=\"w.in\"/>", ""}},
     "15:5: 'w.in': is not connected; it is what is written"},
    {"unconnected ICF",
     {{"<Connection source=\"mul.out(0)\" destination=\"iter.func(0)\"/>", ""}},
     "9:5: 'iter.func(0)': is not connected; the ICF uses it"},
    {"missing range",
     {{"<Connection source=\"A.Size(1)\" destination=\"MV.Range(0)\"/>", ""}},
     "1:1: 'MV.Range(0)': is not connected; it says how many steps the dimension has"},
    {"missing range of an iterator",
     {{"<Connection source=\"A.Size(0)\" destination=\"iter.Range(0)\"/>", ""}},
     "9:5: 'iter.Range(0)': is not connected; it says how many steps the dimension has"},
    {"Begin without End",
     {{"destination=\"iter.Range(0)\"", "destination=\"iter.Begin(0)\""}},
     "9:5: 'iter.End(0)': is not connected; Begin and End go together"},
    {"Range beside End",
     {{"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"A.Size(0)\" "
       "destination=\"iter.End(0)\"/>"}},
     "19:5: 'iter.Range(0)': Range stands beside Begin or End; use Range, or Begin and End"},
    {"iterator's variable outside",
     {{"source=\"MV.i(0)\" destination=\"w.v(0)\"", "source=\"iter.i(0)\" destination=\"w.v(0)\""}},
     "29:5: 'iter.i(0)': is known inside 'iter' only; 'w' is outside"},
    {"inner value outside",
     {{"source=\"scale.out\" destination=\"w.in\"", "source=\"mul.out(0)\" destination=\"w.in\""}},
     "28:5: 'mul.out(0)': is inside 'iter'; only the result of its ICF, iter.out, leaves it"},
    {"range type",
     {{"source=\"A.Size(0)\" destination=\"iter.Range(0)\"", "source=\"s.out\" destination=\"iter.Range(0)\""}},
     "19:5: 'iter.Range(0)': takes INDEX; 's.out' is SP, which does not become INDEX without a cast"},
    {"range in a circle",
     {{"source=\"A.Size(1)\" destination=\"MV.Range(0)\"", "source=\"scale.out\" destination=\"MV.Range(0)\""}},
     "1:1: 'MV': these objects wait for each other: MV -> a -> mul -> iter -> scale -> MV"},
    {"range from data",
     {{"source=\"A.Size(1)\" destination=\"MV.Range(0)\"", "source=\"n.out\" destination=\"MV.Range(0)\""},
      {"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/><DataAccessRead name=\"n\" source=\"k\" "
       "selFunction=\"0\"/>"},
      {"<Parameter", "<DataObject name=\"k\" structure=\"vector\" elementDataType=\"INT32\"/><Parameter"}},
     "18:5: 'MV.Range(0)': depends on elements of an object; the algorithm's range must be known before it starts"},
    {"enable type",
     {{"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"s.out\" "
       "destination=\"w.enable\"/>"}},
     "28:56: 'w.enable': takes B; 's.out' is SP, which does not become B without a cast"},
    {"enable cannot be read's",
     {{"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"s.out\" "
       "destination=\"x.enable\"/>"}},
     "28:56: 'x.enable': a DataAccessRead has no acceptor 'enable'; it has v"},
    {"written type",
     {{"name=\"c\" structure=\"vector\" elementDataType=\"SP\"",
       "name=\"c\" structure=\"vector\" elementDataType=\"INT32\""}},
     "28:5: 'w.in': takes INT32; 'scale.out' is SP, which does not become INT32 without a cast"},
};

static void check_accesses_and_connections(void **state) {
    (void)state;
    description_check(accesses_and_connections, sizeof accesses_and_connections / sizeof *accesses_and_connections);
}

static const wrong order_and_iterators[] = {
    {"cycle",
     {{"source=\"s.out\" destination=\"scale.in(1)\"", "source=\"scale.out\" destination=\"scale.in(1)\""}},
     "14:5: 'scale': these objects wait for each other: scale -> scale"},
    {"cycle through an iterator",
     {{"source=\"x.out\" destination=\"mul.in(1)\"", "source=\"iter.out\" destination=\"mul.in(1)\""}},
     "9:5: 'iter': these objects wait for each other: iter -> mul -> iter"},
    {"cycle by a rule",
     {{"</Connections>", "</Connections><OrderingRules><Order first=\"w\" second=\"scale\"/></OrderingRules>"}},
     "14:5: 'scale': these objects wait for each other: scale -> w -> scale"},
    {"rule without object",
     {{"</Connections>", "</Connections><OrderingRules><Order first=\"w\" second=\"skale\"/></OrderingRules>"}},
     "30:32: 'skale': no object 'skale'; did you mean 'scale'?"},
    {"rule on an object",
     {{"</Connections>", "</Connections><OrderingRules><Order first=\"w\" second=\"A\"/></OrderingRules>"}},
     "30:32: 'A': a DataObject has no place in the order"},
    {"rule incomplete",
     {{"</Connections>", "</Connections><OrderingRules><Order first=\"w\"/></OrderingRules>"}},
     "30:32: 'Order': an Order needs the attribute 'second'"},
    {"nested too deep",
     {{"<DataAccessRead name=\"x\"", "<IteratorBlock name=\"i2\" dimensions=\"1\"><IteratorBlock name=\"i3\" "
                                     "dimensions=\"1\"/></IteratorBlock><DataAccessRead name=\"x\""},
      {"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"A.Size(0)\" "
       "destination=\"i2.Range(0)\"/><Connection source=\"A.Size(0)\" destination=\"i3.Range(0)\"/>"}},
     "11:47: 'i3': IteratorBlocks may be nested one level deep, not two"},
    {"algorithm inside",
     {{"<DataAccessRead name=\"x\"", "<ParallelAlgorithm name=\"i2\" dimensions=\"1\"/><DataAccessRead name=\"x\""}},
     "11:7: 'ParallelAlgorithm': this element does not belong in IteratorBlock"},
};

static void check_order_and_iterators(void **state) {
    (void)state;
    description_check(order_and_iterators, sizeof order_and_iterators / sizeof *order_and_iterators);
}

static const wrong writes[] = {
    {"write not one-to-one",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0 / 2\"/>"}},
     "15:5: 'w': two points write the same element of 'c'; make the selector one-to-one, or name a combine"},
    {"write of all points",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"0\"/>"}},
     "15:5: 'w': every step of MV.i(0) writes the same element of 'c'; select with it, or name a combine\n"
     "29:5: 'w.v(0)': the selector of 'w' does not use v0"},
    {"write by data",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessRead name=\"at\" source=\"k\" selFunction=\"v0\"/><DataAccessWrite name=\"w\" destination=\"c\" "
       "selFunction=\"v0\"/>"},
      {"source=\"MV.i(0)\" destination=\"w.v(0)\"", "source=\"at.out\" destination=\"w.v(0)\""},
      {"<Parameter", "<DataObject name=\"k\" structure=\"vector\" elementDataType=\"INT32\"/><Parameter"},
      {"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"MV.i(0)\" "
       "destination=\"at.v(0)\"/>"}},
     "15:60: 'w': the selector cannot be shown to be one-to-one; name a combine: add, min, max or or"},
    {"read of another's write",
     {{"destination=\"c\"", "destination=\"b\""}},
     "11:7: 'x': a point may read what another point writes to 'b' (by 'w'); write to another object"},
    {"two writes",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/><DataAccessWrite name=\"w2\" "
       "destination=\"c\" selFunction=\"v0 + 1\"/>"},
      {"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"scale.out\" "
       "destination=\"w2.in\"/><Connection source=\"MV.i(0)\" destination=\"w2.v(0)\"/>"}},
     "15:65: 'w2': may write the same element of 'c' as 'w' does at another point"},
    {"result inside the space",
     {{"name=\"MV\" dimensions=\"1\"", "name=\"MV\" dimensions=\"1\" ICF=\"#acc(0) + #in(0)\""},
      {"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"MV.func(0)\"/><Connection source=\"MV.out\" "
       "destination=\"w.in\"/>"}},
     "15:5: 'w': depends on 'MV.out', known once after the whole space, and on a point of that space"},
    {"result into an iterator",
     {{"name=\"MV\" dimensions=\"1\"", "name=\"MV\" dimensions=\"1\" ICF=\"#acc(0) + #in(0)\""},
      {"source=\"x.out\" destination=\"mul.in(1)\"", "source=\"MV.out\" destination=\"mul.in(1)\""},
      {"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"scale.out\" "
       "destination=\"MV.func(0)\"/>"}},
     "24:5: 'MV.out': is known after the whole iteration space; it can feed functions and writes outside of iterators "
     "only"},
    {"read after the space",
     {{"name=\"MV\" dimensions=\"1\"", "name=\"MV\" dimensions=\"1\" ICF=\"#acc(0) + #in(0)\" ICFType=\"INT32\""},
      {"<Connection source=\"scale.out\" destination=\"w.in\"/>",
       "<Connection source=\"scale.out\" destination=\"w.in\"/><Connection source=\"one.out\" "
       "destination=\"MV.func(0)\"/><Connection source=\"MV.out\" destination=\"late.v(0)\"/><Connection "
       "source=\"late.out\" destination=\"w2.in\"/>"},
      {"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>",
       "<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/><FunctionBlock name=\"one\" "
       "dataType=\"INT32\" function=\"1\"/><DataAccessRead name=\"late\" source=\"c\" "
       "selFunction=\"v0\"/><DataAccessWrite name=\"w2\" destination=\"d\" selFunction=\"0\"/>"},
      {"<Parameter", "<DataObject name=\"d\" structure=\"vector\" elementDataType=\"SP\"/><Parameter"}},
     "15:122: 'late': reads 'c' after 'w' wrote it; use another algorithm of a Sequence"},
    {"nothing written",
     {{"<DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>", ""}},
     "1:1: 'MV': the algorithm writes nothing; a DataAccessWrite is missing\n"
     "28:5: 'w.in': no object 'w'\n"
     "29:5: 'w.v(0)': no object 'w'"},
};

static void check_writes(void **state) {
    (void)state;
    description_check(writes, sizeof writes / sizeof *writes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_xml_and_elements),
        cmocka_unit_test(check_accesses_and_connections),
        cmocka_unit_test(check_order_and_iterators),
        cmocka_unit_test(check_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
