/* Groups are the values of a knob as they are written; a variant that does not name it is of the group "". */
#include "tune/importance.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64, TEXT = 32 };

/* The value of a knob in a variant: its length, and where it begins; 0: it is not named. */
static size_t value_of(const char *variant, const char *knob, const char **at) {
    size_t length = strlen(knob);
    for (*at = variant; **at;) {
        size_t piece = strcspn(*at, ",");
        if (piece > length && (*at)[length] == '=' && memcmp(*at, knob, length) == 0) {
            *at += length + 1;
            return piece - length - 1;
        }
        *at += piece + ((*at)[piece] == ',');
    }
    return 0;
}

typedef struct group {
    const char *text;
    size_t length;
    double sum;
    int32_t count;
} group;

/* Share of the variance between groups, corrected; negative: it has but one value, or too many. */
static double share_of(const char *knob, const char *const *variants, const double *logs, int32_t n, double total,
                       int32_t used, int32_t *values) {
    group groups[MOST_VALUES];
    double between = 0, mean = 0;
    *values = 0;
    for (int32_t k = 0; k < n; ++k) {
        const char *at;
        int32_t g = 0;
        if (!isfinite(logs[k])) continue;
        size_t length = value_of(variants[k], knob, &at);
        while (g < *values && (groups[g].length != length || memcmp(groups[g].text, at, length) != 0)) ++g;
        if (g == MOST_VALUES) return -1;
        if (g == *values) groups[(*values)++] = (group){.text = at, .length = length};
        groups[g].sum += logs[k];
        ++groups[g].count;
        mean += logs[k] / used;
    }
    if (*values < 2 || *values >= used) return -1;
    for (int32_t g = 0; g < *values; ++g) {
        double d = groups[g].sum / groups[g].count - mean;
        between += groups[g].count * d * d;
    }
    double within = fmax(0, total - between) / (used - *values);
    return fmax(0, 1 - within / (total / (used - 1)));
}

static int by_share(const void *a, const void *b) {
    const atn_importance *x = a, *y = b;
    return x->share < y->share ? 1 : x->share > y->share ? -1 : strcmp(x->knob, y->knob);
}

int32_t atn_importance_of(const atn_ctx *ctx, const char *const *variants, const double *ratios, int32_t n,
                          atn_importance out[ATN_IMPORTANCE_MOST]) {
    double *logs = atn_alloc(ctx, ((size_t)n + 1) * sizeof *logs), mean = 0, total = 0;
    int32_t used = 0, count = 0;
    if (!logs) return 0;
    for (int32_t k = 0; k < n; ++k) {
        logs[k] = ratios[k] > 0 ? log(ratios[k]) : INFINITY;
        if (!isfinite(logs[k])) continue;
        mean += logs[k];
        ++used;
    }
    mean = used ? mean / used : 0;
    for (int32_t k = 0; k < n; ++k)
        if (isfinite(logs[k])) total += (logs[k] - mean) * (logs[k] - mean);
    for (int32_t k = 0; k < n && total > 0 && used > 2; ++k)
        for (const char *at = variants[k]; *at;) {
            size_t piece = strcspn(at, ","), length = strcspn(at, "=,");
            bool known = length == 0 || length >= TEXT || length == piece || count == ATN_IMPORTANCE_MOST;
            for (int32_t c = 0; c < count && !known; ++c)
                known = strlen(out[c].knob) == length && memcmp(out[c].knob, at, length) == 0;
            if (!known) {
                atn_importance *one = &out[count];
                *one = (atn_importance){0};
                memcpy(one->knob, at, length);
                one->share = share_of(one->knob, variants, logs, n, total, used, &one->values);
                ++count;
            }
            at += piece + (at[piece] == ',');
        }
    int32_t kept = 0;
    for (int32_t c = 0; c < count; ++c)
        if (out[c].share >= 0) out[kept++] = out[c];
    qsort(out, (size_t)kept, sizeof *out, by_share);
    atn_free(ctx, logs);
    return kept;
}
