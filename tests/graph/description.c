/* The right description and its changes. */
#include "graph/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const right_description =
    "<ParallelAlgorithm name=\"MV\" dimensions=\"1\">\n"
    "  <DataObjects>\n"
    "    <DataObject name=\"A\" structure=\"matrix\" elementDataType=\"SP\"/>\n"
    "    <DataObject name=\"b\" structure=\"vector\" elementDataType=\"SP\"/>\n"
    "    <DataObject name=\"c\" structure=\"vector\" elementDataType=\"SP\"/>\n"
    "    <Parameter name=\"s\" dataType=\"SP\"/>\n"
    "  </DataObjects>\n"
    "  <Children>\n"
    "    <IteratorBlock name=\"iter\" dimensions=\"1\" ICF=\"#acc(0) + #in(0)\" ICFType=\"SP\">\n"
    "      <DataAccessRead name=\"a\" source=\"A\" selFunction=\"v0, v1\"/>\n"
    "      <DataAccessRead name=\"x\" source=\"b\" selFunction=\"v0\"/>\n"
    "      <FunctionBlock name=\"mul\" numInVars=\"2\" numOutVars=\"1\" dataType=\"SP\" function=\"#in(0) * "
    "#in(1)\"/>\n"
    "    </IteratorBlock>\n"
    "    <FunctionBlock name=\"scale\" dataType=\"SP\" function=\"#in(0) * #in(1)\"/>\n"
    "    <DataAccessWrite name=\"w\" destination=\"c\" selFunction=\"v0\"/>\n"
    "  </Children>\n"
    "  <Connections>\n"
    "    <Connection source=\"A.Size(1)\" destination=\"MV.Range(0)\"/>\n"
    "    <Connection source=\"A.Size(0)\" destination=\"iter.Range(0)\"/>\n"
    "    <Connection source=\"iter.i(0)\" destination=\"a.v(0)\"/>\n"
    "    <Connection source=\"MV.i(0)\" destination=\"a.v(1)\"/>\n"
    "    <Connection source=\"iter.i(0)\" destination=\"x.v(0)\"/>\n"
    "    <Connection source=\"a.out\" destination=\"mul.in(0)\"/>\n"
    "    <Connection source=\"x.out\" destination=\"mul.in(1)\"/>\n"
    "    <Connection source=\"mul.out(0)\" destination=\"iter.func(0)\"/>\n"
    "    <Connection source=\"iter.out\" destination=\"scale.in(0)\"/>\n"
    "    <Connection source=\"s.out\" destination=\"scale.in(1)\"/>\n"
    "    <Connection source=\"scale.out\" destination=\"w.in\"/>\n"
    "    <Connection source=\"MV.i(0)\" destination=\"w.v(0)\"/>\n"
    "  </Connections>\n"
    "</ParallelAlgorithm>\n";

char *description_changed(const change *changes, size_t count) {
    char *text = strdup(right_description);
    assert_non_null(text);
    for (size_t k = 0; k < count && changes[k].replace; ++k) {
        const char *at = changes[k].find ? strstr(text, changes[k].find) : text;
        if (!at) fail_msg("the description has no '%s'", changes[k].find);
        if (!at) break;
        size_t before = (size_t)(at - text), cut = changes[k].find ? strlen(changes[k].find) : strlen(text);
        size_t room = strlen(text) - cut + strlen(changes[k].replace) + 1;
        char *next = malloc(room);
        assert_non_null(next);
        snprintf(next, room, "%.*s%s%s", (int)before, text, changes[k].replace, at + cut);
        free(text);
        text = next;
    }
    return text;
}

atn_status description_parse(atn_ctx *ctx, const char *text, const atn_parse_options *options, atn_text *lines,
                             atn_sequence **out) {
    atn_diagnostics diagnostics = {.lines = lines};
    atn_status status = atn_sequence_parse(ctx, "mv.xml", text, strlen(text), options, &diagnostics, out);
    assert_int_equal(status == ATN_OK, diagnostics.count == 0);
    assert_int_equal(status == ATN_OK, *out != NULL);
    return status;
}

void description_expect(const char *what, const char *text, const atn_parse_options *options, const char *expected) {
    atn_ctx *ctx = kit_ctx();
    atn_text lines = {.ctx = ctx}, wanted = {.ctx = ctx};
    atn_sequence *sequence;
    atn_status status = description_parse(ctx, text, options, &lines, &sequence);
    int count = 0;
    for (const char *line = expected; *line; ++count) {
        size_t length = strcspn(line, "\n");
        atn_text_printf(&wanted, "mv.xml:%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (strcmp(atn_text_str(&lines), atn_text_str(&wanted)) != 0)
        fail_msg("%s: got\n%swanted\n%s", what, atn_text_str(&lines), atn_text_str(&wanted));
    if (count) {
        assert_int_equal(status, ATN_ERR_INPUT);
        char message[ATN_MESSAGE_BYTES]; /* the context has the first line and how many more there are */
        int length = (int)strcspn(atn_text_str(&wanted), "\n");
        if (count == 1)
            snprintf(message, sizeof message, "%.*s", length, atn_text_str(&wanted));
        else
            snprintf(message, sizeof message, "%.*s (and %d more)", length, atn_text_str(&wanted), count - 1);
        assert_string_equal(atn_ctx_message(ctx), message);
    }
    atn_sequence_free(sequence);
    atn_text_free(&lines);
    atn_text_free(&wanted);
    kit_free(ctx);
}

void description_check(const wrong *rows, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        char *text = description_changed(rows[k].changes, 4);
        description_expect(rows[k].what, text, NULL, rows[k].expected);
        free(text);
    }
}
