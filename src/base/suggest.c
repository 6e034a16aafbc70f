/* "Did you mean": the word closest to what was typed, by the optimal string alignment distance. */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t atn_edit_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > ATN_EDIT_LONGEST || m > ATN_EDIT_LONGEST) return SIZE_MAX;
    size_t rows[3][ATN_EDIT_LONGEST + 1]; /* rows k-2, k-1 and k of the table of distances, in turn */
    for (size_t j = 0; j <= m; ++j) rows[0][j] = j;
    for (size_t i = 1; i <= n; ++i) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; ++j) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, least(above[j], row[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = swapped ? least(best, second[j - 2] + 1) : best;
        }
    }
    return rows[n % 3][m];
}

void atn_suggest_try(atn_suggest *suggest, const char *candidate) {
    size_t n = strlen(suggest->typed);
    if (n == 0) return;
    bool begun = n >= 2 && strncmp(candidate, suggest->typed, n) == 0; /* the first letters of it */
    size_t distance = begun ? 1 : atn_edit_distance(suggest->typed, candidate);
    if (distance > (n < 3 ? 1 : 1 + n / 4)) return;
    if (suggest->best && suggest->distance <= distance) return;
    suggest->best = candidate;
    suggest->distance = distance;
}
