/* A pose graph: nodes are scans, edges are relative poses with their information matrices. */
#ifndef ATN_APPS_ALIGN_GRAPH_H
#define ATN_APPS_ALIGN_GRAPH_H

#include "base/context.h"
#include "geom/pose.h"

typedef struct graph_link {
    size_t source, target;  /* nodes */
    geom_pose measured;     /* target = T source */
    double information[36]; /* inverse covariance of a perturbation from the left: rotation vector, then translation */
    /* What came out: */
    double residual[6]; /* between the nodes' poses and the measured one, as such a perturbation */
    double chi2, weight;
} graph_link;

typedef struct graph {
    const atn_ctx *ctx;
    size_t nodes, links;
    geom_pose *pose;  /* common = T node; the start, then the result; not owned */
    graph_link *link; /* not owned */
    size_t anchor;    /* does not move */
    int32_t iterations;
    double spread2; /* chi2 of usual links over what it should be, at least 1 */
} graph;

/* The poses that agree best with all links, far ones counting less and less. All nodes hang together by links. */
atn_status graph_optimise(graph *g);

/* Covariance of a node's pose relative to the anchor, at the poses found, with the spread in it. */
atn_status graph_covariance(graph *g, size_t node, double out[36]);

#endif
