/* A report: one HTML file that holds all it needs, text, tables and pictures as inline SVG, no network; a script only
 * where clouds are to be turned (view.h). Pages are built in a text and written at the end. Light and dark follow the
 * reader. */
#ifndef ATN_PLOT_PAGE_H
#define ATN_PLOT_PAGE_H

#include "base/text.h"

void atn_page_begin(atn_text *page, const char *title, const char *subtitle);
void atn_page_end(atn_text *page);
void atn_page_heading(atn_text *page, const char *heading);
void atn_page_paragraph(atn_text *page, const char *paragraph);

/* Rows of cells, each followed by a tab, each row by a newline, the first row the head; align has 'l' or 'r' per
 * column. The same rows that the program prints as a table for people. */
void atn_page_table(atn_text *page, const char *rows, const char *align);

/* Text of any origin, so that it stands in HTML as it is. */
void atn_page_escape(atn_text *page, const char *text);

#endif
