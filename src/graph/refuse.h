/* For functions that look whether something is possible: why it is not goes to *why_not, and the answer is false. */
#ifndef ATN_GRAPH_REFUSE_H
#define ATN_GRAPH_REFUSE_H

#define REFUSE(condition, reason)                                                                                      \
    do                                                                                                                 \
        if (condition) {                                                                                               \
            *why_not = reason;                                                                                         \
            return false;                                                                                              \
        }                                                                                                              \
    while (0)

#endif
