/* Bytes in a page. */
#ifndef ATN_PLOT_BASE64_H
#define ATN_PLOT_BASE64_H

#include "base/text.h"

void atn_base64_add(atn_text *page, const unsigned char *bytes, size_t length);

#endif
