/* The members of exported wisdom that are not fields of a table; docs/wisdom.md describes the whole. */
#ifndef ATN_WISDOM_EXCHANGE_H
#define ATN_WISDOM_EXCHANGE_H

#define ATN_JSON_FORMAT       "format"
#define ATN_JSON_FORMAT_NAME  "attune wisdom"
#define ATN_JSON_VERSION      "version"
#define ATN_JSON_PROGRAM      "attune"
#define ATN_JSON_ENTRIES      "entries"
#define ATN_JSON_DEVICE       "device"
#define ATN_JSON_SHAPE        "shape"
#define ATN_JSON_WINNER       "winner"
#define ATN_JSON_MEASUREMENTS "measurements"

enum { ATN_JSON_VERSION_NOW = 1 }; /* raised when a member is added or changes its meaning */

#endif
