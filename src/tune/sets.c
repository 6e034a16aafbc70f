/* Shapes per kernel and kind of device. What a row does not size takes what is reached. */
#include "tune/sets.h"

#include <string.h>

#define PLANE(name, object)                                                                                            \
    {name, NULL, {object "=2048x2048"}, 0}, { name, NULL, {object "=8192x8192"}, 0 }
#define LINE(name)                                                                                                     \
    {name, NULL, {"x=4194304"}, 0}, { name, NULL, {"x=67108864"}, 0 }

static const atn_set SETS[] = {
    PLANE("add", "A"),
    PLANE("scale", "A"),
    PLANE("transpose", "A"),
    PLANE("laplace2d", "A"),
    PLANE("redblack", "u"),
    PLANE("gemv", "A"),
    LINE("l2norm"),
    LINE("max"),
    LINE("dot"),
    {"gemm", "cpu", {"A=1024x1024", "B=1024x1024"}, 0},
    {"gemm", "gpu", {"A=1024x1024", "B=1024x1024"}, 0},
    {"gemm", "gpu", {"A=2048x2048", "B=2048x2048"}, 0},
    {"gemm", "gpu", {"A=4096x4096", "B=4096x4096"}, 0},
    {"spmv", NULL, {"start=524289", "column=16777216", "element=16777216", "x=32768"}, 32},
    {"estep", "cpu", {"yx=10000", "xx=10000"}, 0},
    {"estep", "gpu", {"yx=40000", "xx=40000"}, 0},
    {"estep_compat", "cpu", {"yx=10000", "xx=10000"}, 0},
    {"estep_compat", "gpu", {"yx=40000", "xx=40000"}, 0},
    {"estep_near", "cpu", {"yx=1024x64", "xx=1024x64", "near=32768"}, 32},
    {"estep_near", "gpu", {"yx=8192x64", "xx=8192x64", "near=524288"}, 64},
    {"nearest", "cpu", {"yx=2048x32", "xx=2048x32", "near=32768"}, 16},
    {"nearest", "gpu", {"yx=8192x32", "xx=8192x32", "near=262144"}, 32},
    {"around", "cpu", {"yx=2048x32", "xx=2048x32", "near=32768"}, 16},
    {"around", "gpu", {"yx=8192x64", "xx=8192x64", "near=524288"}, 64},
    {"spread", "cpu", {"yx=100000"}, 0},
    {"spread", "gpu", {"yx=1000000"}, 0},
    {"mstep", "cpu", {"yx=100000"}, 0},
    {"mstep", "gpu", {"yx=1000000"}, 0},
    {"move", NULL, {"px=4194304"}, 0},
    {"agree", NULL, {"px=1000"}, 0},
    {"above", NULL, {"pixels=16384x512"}, 0}, /* sixteen scans of 1024 rows */
    {"above16", NULL, {"pixels=8192x512"}, 0},
    {"median_bits", NULL, {"bits=512x512"}, 0},
    {"shift_brute", NULL, {"pose=12x441", "px=2304", "mx=1225"}, 0},
    {"shift_model", NULL, {"pose=12x441", "px=2304", "mx=1225"}, 0},
    {"shift_brute", NULL, {"pose=12x121", "px=2304", "mx=1225"}, 0},
    {"shift_lookup", NULL, {"pose=12x121", "px=2304", "list=400000", "start=7001", "mx=18000"}, 1},
    {"shift_lookup", NULL, {"pose=12x441", "px=2304", "list=400000", "start=7001", "mx=18000"}, 1},
    {"shift_mark", NULL, {"pose=12x441", "px=2304", "list=64000", "start=20001", "mx=160000", "found=441x1225"}, 1},
    {"shift_sum", NULL, {"found=441x1225"}, 0},
    {"phase_steps", NULL, {"frames=4x1048576"}, 0},
    {"unwrap_load", NULL, {"psi=1024x1024"}, 0},
    {"unwrap_gather", NULL, {"f=1028x1028", "g=516x516"}, 0},
    {"unwrap_first", NULL, {"f=1028x1028", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_sweep", NULL, {"f=1028x1028", "u=1028x1028", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_pair", NULL, {"f=1028x1028", "u=1028x1028", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_redblack", NULL, {"f=1028x1028", "u=1028x1028", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_norm", NULL, {"f=1028x1028", "u=1028x1028", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_restrict", NULL, {"f=1028x1028", "u=1028x1028", "g=516x516", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_raise", NULL, {"f=1028x1028", "u=1028x1028", "e=516x516", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_lift", NULL, {"f=1028x1028", "e=516x516", "X=3x1032", "Y=1032x3"}, 0},
    {"unwrap_residual_w", NULL, {"psi=1024x1024", "u=1024x1024", "e=1024x1024", "wx=1024x1024", "wy=1024x1024"}, 0},
    {"unwrap_first_w", NULL, {"f=1024x1024", "inv=1024x1024", "wx=1024x1024", "wy=1024x1024"}, 0},
    {"unwrap_sweep_w", NULL, {"f=1024x1024", "u=1024x1024", "inv=1024x1024", "wx=1024x1024", "wy=1024x1024"}, 0},
    {"unwrap_restrict_w", NULL, {"f=1024x1024", "u=1024x1024", "wx=1024x1024", "wy=1024x1024", "g=512x512"}, 0},
    {"unwrap_raise_w",
     NULL,
     {"f=1024x1024", "u=1024x1024", "e=512x512", "v=1024x1024", "inv=1024x1024", "wx=1024x1024", "wy=1024x1024"},
     0},
    {"unwrap_coarsen", NULL, {"wx=1024x1024", "wy=1024x1024", "inv=512x512"}, 0},
    {"unwrap_grade", NULL, {"psi=1024x1024", "mask=1024x1024", "quality=1024x1024"}, 0},
    {"unwrap_edges", NULL, {"grade=1024x1024", "psi=1024x1024", "u=1024x1024"}, 0},
    {"unwrap_apply", NULL, {"p=1024x1024", "wx=1024x1024", "wy=1024x1024"}, 0},
    {"unwrap_step", NULL, {"p=1048576", "q=1048576", "rz=1", "pq=1", "x=1048576", "r=1048576"}, 0},
    {"unwrap_turn", NULL, {"z=1048576", "rz=1", "before=1", "p=1048576"}, 0},
    {"unwrap_squares", NULL, {"e=1024x1024"}, 0},
    {"unwrap_survey", NULL, {"psi=1024x1024", "mask=1024x1024"}, 0},
    {"unwrap_phasor", NULL, {"psi=1024x1024", "u=1024x1024", "mask=1024x1024"}, 0},
    {"unwrap_report", NULL, {"psi=1024x1024", "v=1024x1024", "mask=1024x1024"}, 0},
    {"unwrap_finish", NULL, {"psi=1024x1024", "u=1024x1024", "mask=1024x1024"}, 0},
    {"lattice_score", "cpu", {"turn=9x416", "px=14336", "start=1024", "last=1024", "table=65536"}, 14},
    {"lattice_score", "gpu", {"turn=9x416", "px=917504", "start=65536", "last=65536", "table=65536"}, 14},
    {"lattice_pick", "cpu", {"score=8192x52", "grid=4x416"}, 0},
    {"lattice_pick", "gpu", {"score=524288x52", "grid=4x416"}, 0},
    {"lattice_refine", "cpu", {"qw=1024x8", "px=43008", "start=1024", "end=1024", "pull=128000"}, 42},
    {"lattice_refine", "gpu", {"qw=65536x8", "px=2752512", "start=65536", "end=65536", "pull=128000"}, 42},
};

const atn_set *atn_set_next(const char *kernel, const atn_device_info *info, const atn_set *after) {
    for (const atn_set *set = after ? after + 1 : SETS; set < SETS + sizeof SETS / sizeof *SETS; ++set)
        if (strcmp(set->kernel, kernel) == 0 && (!set->where || strcmp(set->where, info->cpu ? "cpu" : "gpu") == 0))
            return set;
    return NULL;
}
