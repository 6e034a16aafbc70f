/* A report: one HTML file that holds all it needs, text, tables and pictures as inline SVG, no network; a script only
 * where clouds are to be turned (view.h). Pages are built in a text and written at the end. Light and dark follow the
 * reader. */
#ifndef ATN_PLOT_PAGE_H
#define ATN_PLOT_PAGE_H

#include "base/text.h"

/* Where a report comes from; not owned. Date and version are added. */
typedef struct atn_page_origin {
    const char *command; /* as it was typed */
    const char *machine;
} atn_page_origin;

void atn_page_begin(atn_text *page, const char *title, const char *subtitle);
void atn_page_end(atn_text *page, const atn_page_origin *origin); /* NULL: it does not matter */
void atn_page_heading(atn_text *page, const char *heading);
void atn_page_paragraph(atn_text *page, const char *paragraph);

/* Rows of cells, each followed by a tab, each row by a newline, the first row the head; align has 'l' or 'r' per
 * column. The same rows that the program prints as a table for people. */
void atn_page_table(atn_text *page, const char *rows, const char *align);

typedef enum atn_page_mood { ATN_PAGE_GOOD, ATN_PAGE_DOUBT, ATN_PAGE_BAD } atn_page_mood;
/* What matters most, in a box at the top. */
void atn_page_verdict(atn_text *page, atn_page_mood mood, const char *word, const char *sentence);

/* Text as it is, with a button that copies it. At most one in a page. */
void atn_page_copyable(atn_text *page, const char *text, const char *button);

/* What lies between is folded away until the reader asks for it. */
void atn_page_fold(atn_text *page, const char *summary);
void atn_page_unfold(atn_text *page);

/* Text of any origin, so that it stands in HTML as it is. */
void atn_page_escape(atn_text *page, const char *text);
/* Text of any origin as a string of JavaScript, with its quotes; it ends no script and no CDATA. */
void atn_page_script_text(atn_text *page, const char *text);

#endif
