/* The frame of a report: head, style, headings and tables. */
#include "plot/page.h"

#include <string.h>

static const char STYLE[] =
    ":root{--ink:#1d2330;--soft:#667085;--line:#d8dde6;--ground:#fff;--many:#9aa4b5;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#a3588a;--c4:#b07d00;--c5:#3b8fc4}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#9aa4b5;--line:#343b49;--ground:#14181f;--many:#"
    "5d6778;"
    "--c0:#56b4e9;--c1:#ff9248;--c2:#35c79d;--c3:#d999c3;--c4:#e6b422;--c5:#8ecdf0}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;margin:2rem "
    "auto;"
    "padding:0 1rem}\n"
    "h1{font-size:1.6rem;margin-bottom:0}h2{font-size:1.2rem;margin-top:2.2rem}.sub{color:var(--soft);margin-top:.2rem}"
    "\n"
    "div.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;margin:1rem 0}\n"
    "th,td{padding:.25rem .7rem .25rem 0;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600}.r{text-align:right;font-variant-numeric:tabular-nums}\n"
    "svg{width:100%;height:auto;margin:.5rem 0;font:130px system-ui,sans-serif;fill:var(--ink)}\n"
    "svg .grid{stroke:var(--line);stroke-width:8}svg .axis{fill:var(--soft)}svg .mark{stroke:var(--c1);stroke-width:16;"
    "stroke-dasharray:60 40}\n"
    "svg .title{font-weight:600;font-size:150px}svg .line{fill:none;stroke-width:24}\n";

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
    atn_text_printf(page, "</title>\n<style>\n%s</style></head><body>\n<h1>", STYLE);
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
