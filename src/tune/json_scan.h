/* A reader of JSON that may end anywhere: files that others append to lack their last braces, or are cut. It goes over
 * the bytes once and builds nothing; what is not wanted is passed over. Python's NaN and Infinity count as numbers. */
#ifndef ATN_TUNE_JSON_SCAN_H
#define ATN_TUNE_JSON_SCAN_H

#include "base/text.h"

typedef enum atn_scan_end {
    ATN_SCAN_GOES_ON,
    ATN_SCAN_CUT,   /* the bytes end before the value does */
    ATN_SCAN_WRONG, /* no JSON; `at` is the position of the error */
    ATN_SCAN_LOST   /* no memory for a text */
} atn_scan_end;

/* A plain value over bytes that it does not own. Once `end` is set nothing moves any more. */
typedef struct atn_scan {
    const char *start, *at, *stop;
    atn_scan_end end;
} atn_scan;

/* A value without parts. */
typedef enum atn_scalar_kind {
    ATN_SCALAR_NONE, /* null, or an object or array, which was passed over */
    ATN_SCALAR_BOOL,
    ATN_SCALAR_NUMBER,
    ATN_SCALAR_TEXT
} atn_scalar_kind;

typedef struct atn_scalar {
    atn_scalar_kind kind;
    double number; /* of numbers, and 0 or 1 of a bool */
    bool whole;    /* written without point and exponent */
} atn_scalar;

/* The first byte of the value that comes next, blanks passed over; 0: the bytes end. */
char atn_scan_peek(atn_scan *scan);
/* Is the next byte `c`, blanks aside? Then it is taken. */
bool atn_scan_take(atn_scan *scan, char c);

/* The parts of an object or array: begin reads the bracket; next moves to the next part, where `first` marks the start,
 * and at the end reads the bracket and returns false. In an object, the key is stored in `key`. */
bool atn_scan_begin(atn_scan *scan, char bracket);
bool atn_scan_next_member(atn_scan *scan, bool *first, atn_text *key);
bool atn_scan_next_element(atn_scan *scan, bool *first);

void atn_scan_skip(atn_scan *scan); /* any value */
/* A value; texts go to `text`, which is cleared first. */
atn_scalar atn_scan_scalar(atn_scan *scan, atn_text *text);

#endif
