/* The frame of a report: head, style, headings and tables. */
#include "plot/page.h"

#include "plot/web.h"

#include <string.h>

void atn_page_escape(atn_text *page, const char *text) {
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "&<>\"'");
        atn_text_add_bytes(page, at, plain);
        at += plain;
        if (*at) atn_text_printf(page, "&#%d;", *at++);
    }
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

void atn_page_end(atn_text *page) { atn_text_add(page, "</body></html>\n"); }

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
