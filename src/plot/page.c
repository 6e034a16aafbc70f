/* The skeleton of a report: head, style, headings and tables. */
#include "plot/page.h"

#include "plot/web.h"

#include <attune/context.h>

#include <string.h>
#include <time.h>

void atn_page_escape(atn_text *page, const char *text) {
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "&<>\"'");
        atn_text_add_bytes(page, at, plain);
        at += plain;
        if (*at) atn_text_printf(page, "&#%d;", *at++);
    }
}

void atn_page_script_text(atn_text *page, const char *text) {
    atn_text_add(page, "'");
    for (const char *at = text; *at; ++at) {
        unsigned char c = (unsigned char)*at;
        if (c < ' ' || strchr("\\'\"<>&]", c))
            atn_text_printf(page, "\\x%02x", c);
        else
            atn_text_add_bytes(page, at, 1);
    }
    atn_text_add(page, "'");
}

void atn_page_begin(atn_text *page, const char *title, const char *subtitle) {
    atn_text_add(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    atn_page_escape(page, title);
    atn_text_printf(page, "</title>\n<style>\n%s</style></head><body>\n<h1>", atn_web("page"));
    atn_page_escape(page, title);
    atn_text_add(page, "</h1>\n<p class=\"sub\">");
    atn_page_escape(page, subtitle);
    atn_text_add(page, "</p>\n");
}

static void add_origin(atn_text *page, const atn_page_origin *origin) {
    char date[64] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local)) strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &local);
    atn_text_printf(page, "<footer><p>%s &#183; attune %s &#183; ", date, atn_version());
    atn_page_escape(page, origin->machine);
    atn_text_add(page, "<br/><code>");
    atn_page_escape(page, origin->command);
    atn_text_add(page, "</code></p></footer>\n");
}

void atn_page_end(atn_text *page, const atn_page_origin *origin) {
    if (origin) add_origin(page, origin);
    atn_text_add(page, "</body></html>\n");
}

void atn_page_verdict(atn_text *page, atn_page_mood mood, const char *word, const char *sentence) {
    static const char *const CLASSES[] = {"good", "doubt", "bad"};
    atn_text_printf(page, "<div class=\"verdict %s\"><strong>", CLASSES[mood]);
    atn_page_escape(page, word);
    atn_text_add(page, "</strong>");
    atn_page_escape(page, sentence);
    atn_text_add(page, "</div>\n");
}

void atn_page_copyable(atn_text *page, const char *text, const char *button) {
    atn_text_add(page, "<div><pre>");
    atn_page_escape(page, text);
    atn_text_add(page, "</pre><button type=\"button\">");
    atn_page_escape(page, button);
    atn_text_printf(page,
                    "</button>\n<script>/*<![CDATA[*/\n(function() {\n%s"
                    "copyButton(document.currentScript.parentElement.querySelector('button'));\n"
                    "})();\n/*]]>*/</script></div>\n",
                    atn_web("copy"));
}

void atn_page_fold(atn_text *page, const char *summary) {
    atn_text_add(page, "<details><summary>");
    atn_page_escape(page, summary);
    atn_text_add(page, "</summary>\n");
}

void atn_page_unfold(atn_text *page) { atn_text_add(page, "</details>\n"); }

void atn_page_heading(atn_text *page, const char *heading) {
    atn_text_add(page, "<h2>");
    atn_page_escape(page, heading);
    atn_text_add(page, "</h2>\n");
}

void atn_page_paragraph(atn_text *page, const char *paragraph) {
    atn_text_add(page, "<p>");
    atn_page_escape(page, paragraph);
    atn_text_add(page, "</p>\n");
}

void atn_page_table(atn_text *page, const char *rows, const char *align) {
    atn_text cell = {.ctx = page->ctx};
    bool head = true;
    atn_text_add(page, "<div class=\"wide\"><table>\n");
    while (*rows) {
        atn_text_add(page, "<tr>");
        for (size_t column = 0; *rows && *rows != '\n'; ++column) {
            size_t length = strcspn(rows, "\t\n");
            const char *tag = head ? "th" : "td";
            bool right = column < strlen(align) && align[column] == 'r';
            atn_text_clear(&cell);
            atn_text_add_bytes(&cell, rows, length);
            if (cell.failed) page->failed = true; /* clearing forgets it */
            atn_text_printf(page, "<%s%s>", tag, right ? " class=\"r\"" : "");
            atn_page_escape(page, atn_text_str(&cell));
            atn_text_printf(page, "</%s>", tag);
            rows += length + (rows[length] == '\t');
        }
        rows += *rows == '\n';
        head = false;
        atn_text_add(page, "</tr>\n");
    }
    atn_text_add(page, "</table></div>\n");
    atn_text_free(&cell);
}
