/* Seeds of searches: for each kind of device and kernel. */
#include "tune/seeds.h"

#include <stddef.h>
#include <string.h>

enum { MOST = 16 };

typedef struct seed {
    const char *kernel, *type; /* type NULL: any */
    const char *backend;
    const char *variant[MOST]; /* the last is NULL */
} seed;

static const seed SEEDS[] = {
    /* ---- CPUs with vectors of 512 bits ---- */
    {"gemm",
     "SP",
     "host",
     {"vec_p0=16,regs_p0=2,seq_p0=16,regs_p1=12,seq_p1=22,tile_q0=128,stage=1,stage_swap=2",
      "vec_p0=16,regs_p0=2,seq_p0=8,regs_p1=12,seq_p1=22,tile_q0=256,stage=1,stage_swap=2",
      "vec_p0=16,regs_p0=2,seq_p0=16,regs_p1=8,seq_p1=16,tile_q0=256,stage=1,stage_swap=2"}},
    {"gemm",
     "DP",
     "host",
     {"vec_p0=8,regs_p0=2,seq_p0=16,regs_p1=12,seq_p1=11,tile_q0=192,stage=1,stage_swap=2",
      "vec_p0=8,regs_p0=2,seq_p0=16,regs_p1=12,seq_p1=15,tile_q0=128,stage=1,stage_swap=2",
      "vec_p0=8,regs_p0=2,seq_p0=8,regs_p1=12,seq_p1=22,tile_q0=192,stage=1,stage_swap=2"}},
    {"gemv",
     NULL,
     "host",
     {"vec_q0=16,regs_p0=4,seq_p0=8", "vec_q0=16,regs_p0=4,seq_p0=16", "vec_q0=16,regs_q0=4,seq_p0=32"}},
    {"add",
     NULL,
     "host",
     {"vec_p0=16,regs_p0=4,seq_p0=16,stream=1", "vec_p0=16,regs_p0=4,seq_p0=32,seq_p1=4,stream=1",
      "vec_p0=16,regs_p0=4,seq_p0=16"}},
    {"scale", NULL, "host", {"vec_p0=16,regs_p0=4,seq_p0=16,stream=1", "vec_p0=16,regs_p0=4,seq_p0=16"}},
    {"laplace2d",
     NULL,
     "host",
     {"vec_p0=16,seq_p0=64,regs_p1=4,stream=1", "vec_p0=16,regs_p0=4,seq_p0=16,stream=1",
      "vec_p0=16,seq_p0=64,regs_p1=4"}},
    {"transpose",
     NULL,
     "host",
     {"regs_p0=16,vec_p1=16,seq_p1=32,stream=1", "regs_p0=16,vec_p1=16,seq_p0=4,seq_p1=4,stream=1",
      "regs_p0=8,vec_p1=8,seq_p1=16"}},
    {"l2norm", NULL, "host", {"vec_q0=16,regs_q0=4,split_q0=64", "vec_q0=16,regs_q0=8,split_q0=16"}},
    {"dot", NULL, "host", {"vec_q0=16,regs_q0=4,split_q0=64", "vec_q0=16,regs_q0=8,split_q0=16"}},
    {"max", NULL, "host", {"vec_q0=16,regs_q0=4,split_q0=64", "vec_q0=16,regs_q0=8,split_q0=16"}},
    {"spmv",
     NULL,
     "host",
     {"vec_q0=4,seq_p0=64,guard=0", "vec_q0=8,seq_p0=64,guard=0", "vec_q0=4,regs_q0=2,seq_p0=64,guard=0"}},
    {"estep",
     NULL,
     "host",
     {"vec_p0=16,regs_p0=3,exp=polynomial,degree=5", "vec_p0=16,regs_p0=2,exp=polynomial,degree=5",
      "vec_p0=16,regs_p0=4,exp=polynomial,degree=5", "vec_p0=16,regs_p0=2,exp=polynomial,degree=5,unroll_q0=2",
      "vec_p0=16,regs_p0=2,exp=polynomial,degree=6"}},
    {"estep_compat",
     NULL,
     "host",
     {"vec_p0=16,regs_p0=2,exp=polynomial,degree=5", "vec_p0=16,regs_p0=3,exp=polynomial,degree=5",
      "vec_p0=16,regs_p0=4,exp=polynomial,degree=5"}},
    {"estep_near",
     NULL,
     "host",
     {"vec_p0=16,regs_p0=2,exp=polynomial,degree=5,schedule=dynamic,chunk=4,guard=0",
      "vec_p0=16,regs_p0=4,exp=polynomial,degree=5,schedule=dynamic,guard=0",
      "vec_p0=16,regs_p0=2,exp=polynomial,degree=5,seq_p1=4,guard=0"}},
    {"nearest",
     NULL,
     "host",
     {"vec_p0=16,regs_p0=2,schedule=dynamic,chunk=4,guard=0", "vec_p0=16,regs_p0=2,seq_p1=4,guard=0",
      "vec_p0=16,schedule=dynamic,chunk=4,guard=0"}},
    {"mstep", NULL, "host", {"vec_q0=8,split_q0=16", "vec_q0=8,split_q0=64", "vec_q0=8,regs_q0=2,split_q0=16"}},
    {"move", NULL, "host", {"vec_p0=16,regs_p0=4,seq_p0=16,stream=1", "vec_p0=16,regs_p0=4,seq_p0=16"}},
/* ---- CUDA: thought out for 132 multiprocessors with 64K registers and 48 KB of static local memory ---- */
#define TILE "lanes_p0=16,lanes_p1=16,regs_p0=8,regs_p1=8,pack_p0=4,pack_p1=4,stage_swap=2,index=32,"
    {"gemm",
     "SP",
     "cuda",
     {TILE "tile_q0=8,unroll_q0=8,stage=2,wide=4,pad=4,resident=2",
      TILE "tile_q0=16,unroll_q0=16,stage=2,wide=4,pad=4,resident=2", TILE "tile_q0=8,unroll_q0=8,stage=2,wide=4,pad=4",
      TILE "tile_q0=16,unroll_q0=8,stage=2,wide=4,pad=4", TILE "tile_q0=32,unroll_q0=8,stage=1,wide=4,pad=4,resident=2",
      TILE "tile_q0=8,unroll_q0=8,stage=2,pad=1",
      "lanes_p0=32,regs_p0=2,lanes_p1=4,regs_p1=8,pack_p1=4,tile_q0=16,stage=2,stage_swap=2,pad=4,index=32",
      "lanes_p0=16,lanes_p1=16,regs_p0=16,regs_p1=8,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=8,unroll_q0=8,"
      "stage=2,wide=4,pad=4",
      "lanes_p0=32,lanes_p1=8,regs_p0=8,regs_p1=16,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=8,unroll_q0=8,"
      "stage=2,wide=4,pad=4",
      "lanes_p0=16,lanes_p1=8,regs_p0=8,regs_p1=16,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=8,unroll_q0=8,"
      "stage=2,wide=4,pad=4",
      "lanes_p0=8,lanes_p1=16,regs_p0=8,regs_p1=8,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=16,unroll_q0=8,"
      "stage=2,wide=4,pad=4,resident=4"}},
#undef TILE
#define TILE "lanes_p0=16,lanes_p1=16,pack_p0=2,pack_p1=2,stage_swap=2,index=32,wide=2,"
    {"gemm",
     "DP",
     "cuda",
     {TILE "regs_p0=4,regs_p1=4,tile_q0=8,unroll_q0=8,stage=2,pad=2",
      TILE "regs_p0=8,regs_p1=4,tile_q0=8,unroll_q0=8,stage=2,pad=2",
      TILE "regs_p0=4,regs_p1=8,tile_q0=8,unroll_q0=8,stage=2,pad=2",
      TILE "regs_p0=8,regs_p1=8,tile_q0=8,unroll_q0=8,stage=2,pad=2",
      TILE "regs_p0=4,regs_p1=4,tile_q0=16,unroll_q0=8,stage=1,pad=2,resident=2"}},
#undef TILE
    {"gemv",
     NULL,
     "cuda",
     {"lanes_q0=32,lanes_p0=8,regs_p0=4,regs_q0=2,reduce=shuffle,index=32",
      "lanes_q0=128,lanes_p0=2,regs_q0=4,reduce=shuffle,index=32",
      "lanes_q0=32,lanes_p0=8,regs_q0=4,reduce=shuffle,index=32", "lanes_q0=256,regs_q0=8,reduce=shuffle,index=32",
      "lanes_q0=64,lanes_p0=4,regs_p0=2,regs_q0=4,reduce=shuffle,index=32",
      "lanes_q0=128,lanes_p0=2,regs_p0=4,regs_q0=4,reduce=shuffle,index=32",
      "lanes_q0=32,lanes_p0=8,regs_p0=2,regs_q0=8,reduce=shuffle,index=32",
      "lanes_q0=256,regs_p0=2,regs_q0=8,reduce=shuffle,index=32", "lanes_q0=512,regs_q0=4,reduce=shuffle,index=32",
      "lanes_q0=32,lanes_p0=4,regs_q0=16,reduce=shuffle,index=32"}},
#define PLAIN(name)                                                                                                    \
    {                                                                                                                  \
        name, NULL, "cuda", {                                                                                          \
            "lanes_p0=256,regs_p0=4,index=32", "lanes_p0=256,regs_p0=2,index=32", "lanes_p0=256,regs_p0=8,index=32",   \
                "lanes_p0=128,regs_p0=4,index=32", "lanes_p0=64,lanes_p1=4,regs_p1=4,index=32",                        \
                "lanes_p0=512,regs_p0=4,index=32", "lanes_p0=256,regs_p1=4,index=32",                                  \
                "lanes_p0=256,regs_p0=4,pack_p0=4,index=32", "lanes_p0=256,regs_p0=4,seq_p1=4,index=32",               \
                "lanes_p0=1024,regs_p0=2,index=32", "lanes_p0=256,regs_p0=4,groups=1056,index=32",                     \
                "lanes_p0=256,regs_p0=4"                                                                               \
        }                                                                                                              \
    }
    PLAIN("add"),
    PLAIN("scale"),
    {"laplace2d",
     NULL,
     "cuda",
     {"lanes_p0=128,lanes_p1=2,regs_p1=4,index=32", "lanes_p0=256,regs_p1=4,index=32",
      "lanes_p0=256,regs_p1=8,index=32", "lanes_p0=64,lanes_p1=4,regs_p1=8,index=32",
      "lanes_p0=32,lanes_p1=8,regs_p1=4,index=32", "lanes_p0=256,regs_p1=16,index=32",
      "lanes_p0=128,regs_p0=2,regs_p1=4,index=32", "lanes_p0=256,regs_p0=4,index=32",
      "lanes_p0=64,lanes_p1=4,regs_p1=4,stage=1,index=32", "lanes_p0=128,lanes_p1=4,regs_p1=8,stage=1,index=32",
      "lanes_p0=128,regs_p0=4,pack_p0=4,regs_p1=4,index=32", "lanes_p0=256,regs_p1=2,index=32"}},
    {"transpose",
     NULL,
     "cuda",
     {"lanes_p0=32,lanes_p1=8,regs_p1=4,stage=1,pad=1,index=32", "lanes_p0=32,lanes_p1=32,stage=1,pad=1,index=32",
      "lanes_p0=32,lanes_p1=8,regs_p0=2,regs_p1=8,stage=1,pad=1,index=32",
      "lanes_p0=64,lanes_p1=4,regs_p1=16,stage=1,pad=1,index=32",
      "lanes_p0=32,lanes_p1=16,regs_p0=2,regs_p1=4,stage=1,pad=1,index=32",
      "lanes_p0=32,lanes_p1=4,regs_p1=8,stage=1,pad=1,index=32", "lanes_p0=32,lanes_p1=8,regs_p1=4,index=32",
      "lanes_p0=8,lanes_p1=32,regs_p0=4,index=32"}},
#define SUM(name)                                                                                                      \
    {                                                                                                                  \
        name, NULL, "cuda", {                                                                                          \
            "lanes_q0=512,regs_q0=16,split_q0=264,reduce=shuffle,finish=last,index=32",                                \
                "lanes_q0=512,regs_q0=4,unroll_q0=8,split_q0=132,reduce=shuffle,finish=last",                          \
                "lanes_q0=128,regs_q0=4,split_q0=1056,reduce=shuffle,finish=last,index=32",                            \
                "lanes_q0=512,regs_q0=8,unroll_q0=16,split_q0=1056,reduce=shuffle,finish=last,index=32",               \
                "lanes_q0=512,unroll_q0=16,split_q0=264,reduce=shuffle,finish=last,index=32",                          \
                "lanes_q0=1024,split_q0=264,reduce=shuffle,finish=last,index=32",                                      \
                "lanes_q0=256,regs_q0=8,split_q0=264,reduce=shuffle,finish=last,index=32",                             \
                "lanes_q0=128,regs_q0=8,split_q0=1056,finish=last,index=32",                                           \
                "lanes_q0=256,regs_q0=16,split_q0=528,reduce=shuffle,finish=last,index=32"                             \
        }                                                                                                              \
    }
    {"scan",
     NULL,
     "cuda",
     {"lanes_q0=256,regs_q0=8,split_q0=1056,reduce=shuffle,index=32",
      "lanes_q0=128,regs_q0=16,split_q0=1056,reduce=shuffle,index=32",
      "lanes_q0=512,regs_q0=4,split_q0=1056,reduce=shuffle,index=32",
      "lanes_q0=128,regs_q0=8,split_q0=1056,reduce=shuffle,index=32",
      "lanes_q0=512,regs_q0=8,split_q0=528,reduce=shuffle,index=32",
      "lanes_q0=256,regs_q0=16,split_q0=1056,reduce=shuffle,index=32"}},
    SUM("l2norm"),
    SUM("dot"),
    SUM("max"),
#define PAIRS "exp=native,index=32,"
    {"estep",
     NULL,
     "cuda",
     {PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26,fast=1",
      PAIRS "lanes_p0=128,regs_p0=8,tile_q0=128,unroll_q0=4,stage=1,split_q0=52",
      PAIRS "lanes_p0=128,regs_p0=8,tile_q0=128,unroll_q0=8,stage=1,split_q0=52",
      PAIRS "lanes_p0=256,regs_p0=4,tile_q0=512,unroll_q0=8,stage=1,split_q0=39",
      PAIRS "lanes_p0=256,regs_p0=4,tile_q0=256,unroll_q0=8,stage=1,split_q0=26",
      PAIRS "lanes_p0=256,regs_p0=4,tile_q0=256,unroll_q0=4,stage=1,split_q0=52",
      PAIRS "lanes_p0=256,regs_p0=8,tile_q0=256,unroll_q0=4,stage=1,split_q0=52",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=512,unroll_q0=8,stage=1,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=2,tile_q0=128,unroll_q0=8,stage=1,split_q0=13",
      PAIRS "lanes_p0=128,regs_p0=4,unroll_q0=8,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=2,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=256,unroll_q0=4,stage=1,split_q0=39",
      PAIRS "lanes_p0=128,regs_p0=8,tile_q0=256,unroll_q0=8,stage=1,split_q0=52,fast=1"}},
    {"estep_compat",
     NULL,
     "cuda",
     {PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26,fast=1",
      PAIRS "lanes_p0=128,regs_p0=2,tile_q0=128,unroll_q0=8,stage=1,split_q0=13",
      PAIRS "lanes_p0=256,regs_p0=4,tile_q0=256,unroll_q0=8,stage=1,split_q0=52"}},
#define LISTS "exp=native,guard=0,index=32,"
    {"estep_near",
     NULL,
     "cuda",
     {LISTS "lanes_p0=32,regs_p0=2,lanes_p1=4", LISTS "lanes_p0=32,regs_p0=2,lanes_p1=2",
      LISTS "lanes_p0=32,regs_p0=2,lanes_p1=8", LISTS "lanes_p0=16,regs_p0=4,lanes_p1=4",
      LISTS "lanes_p0=16,regs_p0=4,lanes_p1=8", LISTS "lanes_p0=64,lanes_p1=2", LISTS "lanes_p0=64,lanes_p1=1",
      LISTS "lanes_p0=8,regs_p0=8,lanes_p1=16", LISTS "lanes_p0=32,regs_p0=2,lanes_p1=4,fast=1"}},
#undef LISTS
#define LISTS "guard=0,index=32,"
    {"nearest",
     NULL,
     "cuda",
     {LISTS "lanes_p0=32,lanes_p1=4", LISTS "lanes_p0=32,lanes_p1=2", LISTS "lanes_p0=32,lanes_p1=8",
      LISTS "lanes_p0=16,regs_p0=2,lanes_p1=8", LISTS "lanes_p0=8,regs_p0=4,lanes_p1=16",
      LISTS "lanes_p0=32,regs_p0=2,lanes_p1=4", LISTS "lanes_p0=64,lanes_p1=2"}},
#undef LISTS
    {"mstep",
     NULL,
     "cuda",
     {"lanes_q0=256,split_q0=264,reduce=shuffle,finish=last,index=32",
      "lanes_q0=128,split_q0=528,reduce=shuffle,finish=last,index=32",
      "lanes_q0=256,split_q0=132,reduce=shuffle,finish=last,index=32",
      "lanes_q0=128,split_q0=264,reduce=shuffle,finish=last,index=32"}},
    {"move",
     NULL,
     "cuda",
     {"lanes_p0=256,regs_p0=4,index=32", "lanes_p0=256,regs_p0=2,index=32", "lanes_p0=256,regs_p0=4,pack_p0=4,index=32",
      "lanes_p0=128,regs_p0=4,index=32"}},
    {"redblack", NULL, "cuda", {"lanes_p0=32,regs_p0=4,pack_p0=2,seq_p0=2,lanes_p1=4,stage=1,index=32"}},
    {"spmv",
     NULL,
     "cuda",
     {"lanes_q0=8,lanes_p0=32,regs_q0=4,reduce=shuffle,guard=0,index=32",
      "lanes_q0=16,lanes_p0=16,regs_q0=2,reduce=shuffle,guard=0,index=32",
      "lanes_q0=4,lanes_p0=64,regs_q0=8,reduce=shuffle,guard=0,index=32",
      "lanes_q0=32,lanes_p0=8,reduce=shuffle,guard=0,index=32",
      "lanes_q0=8,lanes_p0=16,regs_q0=4,reduce=shuffle,guard=0,index=32",
      "lanes_q0=8,lanes_p0=64,regs_q0=4,reduce=shuffle,guard=0,index=32",
      "lanes_q0=8,lanes_p0=128,regs_q0=4,reduce=shuffle,guard=0,index=32",
      "lanes_q0=16,lanes_p0=32,regs_q0=2,seq_p0=2,reduce=shuffle,guard=0,index=32",
      "lanes_q0=8,lanes_p0=32,unroll_q0=4,reduce=shuffle,guard=0,index=32",
      "lanes_q0=16,lanes_p0=16,unroll_q0=2,reduce=shuffle,guard=0,index=32"}},
    /* ---- OpenCL on large GPUs; CPUs begin with the estimate ---- */
    {"gemm",
     "SP",
     "opencl",
     {"lanes_p0=16,lanes_p1=16,regs_p0=8,regs_p1=8,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=8,unroll_q0=8,"
      "stage=2,pad=4",
      "lanes_p0=16,lanes_p1=16,regs_p0=8,regs_p1=8,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=16,unroll_q0=8,"
      "stage=2,wide=4,pad=4",
      "lanes_p0=16,lanes_p1=16,regs_p0=8,regs_p1=8,pack_p0=4,pack_p1=4,stage_swap=2,index=32,tile_q0=8,unroll_q0=8,"
      "stage=2,wide=4,pad=4",
      "lanes_p0=32,regs_p0=2,lanes_p1=4,regs_p1=8,pack_p1=4,tile_q0=16,stage=2,stage_swap=2,pad=4,index=32"}},
    {"gemv",
     NULL,
     "opencl",
     {"lanes_q0=32,regs_q0=8,unroll_q0=4,index=32", "lanes_p0=4,lanes_q0=64,regs_q0=2",
      "lanes_p0=8,lanes_q0=32,regs_q0=4,index=32"}},
    {"laplace2d",
     NULL,
     "opencl",
     {"lanes_p0=128,regs_p1=4,index=32", "lanes_p0=256,regs_p1=4,index=32",
      "lanes_p0=128,regs_p0=2,regs_p1=4,index=32"}},
    {"transpose",
     NULL,
     "opencl",
     {"lanes_p0=8,seq_p0=2,lanes_p1=16,regs_p1=4", "lanes_p0=32,lanes_p1=8,regs_p1=4,stage=1,pad=1,index=32"}},
    {"redblack", NULL, "opencl", {"lanes_p0=32,regs_p0=4,pack_p0=2,seq_p0=2,lanes_p1=4,stage=1,index=32"}},
    {"scale", NULL, "opencl", {"lanes_p0=64,lanes_p1=4,regs_p1=16"}},
    {"l2norm",
     NULL,
     "opencl",
     {"lanes_q0=128,regs_q0=4,split_q0=1024,finish=last", "lanes_q0=256,regs_q0=8,split_q0=256,finish=last,index=32",
      "lanes_q0=256,regs_q0=8,split_q0=512,finish=last,index=32",
      "lanes_q0=128,regs_q0=8,split_q0=512,finish=last,index=32"}},
    {"dot",
     NULL,
     "opencl",
     {"lanes_q0=128,regs_q0=4,split_q0=1024,finish=last", "lanes_q0=256,regs_q0=8,split_q0=256,finish=last,index=32",
      "lanes_q0=256,regs_q0=8,split_q0=512,finish=last,index=32",
      "lanes_q0=128,regs_q0=8,split_q0=512,finish=last,index=32"}},
    {"max",
     NULL,
     "opencl",
     {"lanes_q0=128,regs_q0=4,split_q0=1024,finish=last", "lanes_q0=256,regs_q0=8,split_q0=256,finish=last,index=32",
      "lanes_q0=256,regs_q0=8,split_q0=512,finish=last,index=32",
      "lanes_q0=128,regs_q0=8,split_q0=512,finish=last,index=32"}},
    {"estep",
     NULL,
     "opencl",
     {PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26,fast=1",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=8,tile_q0=128,unroll_q0=4,stage=1,split_q0=52,fast=1",
      PAIRS "lanes_p0=128,regs_p0=8,tile_q0=128,unroll_q0=4,stage=1,split_q0=52",
      PAIRS "lanes_p0=256,regs_p0=4,tile_q0=256,unroll_q0=8,stage=1,split_q0=26,fast=1",
      PAIRS "lanes_p0=256,regs_p0=4,tile_q0=256,unroll_q0=8,stage=1,split_q0=52",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=256,unroll_q0=4,stage=1,split_q0=26",
      PAIRS "lanes_p0=128,regs_p0=2,tile_q0=128,unroll_q0=8,stage=1,split_q0=13"}},
    {"estep_compat",
     NULL,
     "opencl",
     {PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26,fast=1",
      PAIRS "lanes_p0=128,regs_p0=4,tile_q0=128,unroll_q0=8,stage=1,split_q0=26"}},
    {"estep_near",
     NULL,
     "opencl",
     {PAIRS "lanes_p0=32,regs_p0=2,lanes_p1=4,guard=0", PAIRS "lanes_p0=16,regs_p0=4,lanes_p1=4,guard=0",
      PAIRS "lanes_p0=64,lanes_p1=2,guard=0", PAIRS "lanes_p0=32,regs_p0=2,lanes_p1=4,guard=0,fast=1"}},
    {"nearest",
     NULL,
     "opencl",
     {"lanes_p0=32,lanes_p1=4,guard=0,index=32", "lanes_p0=16,regs_p0=2,lanes_p1=8,guard=0,index=32",
      "lanes_p0=32,regs_p0=2,lanes_p1=4,guard=0,index=32"}},
    {"shift_lookup", NULL, "host", {"vec_p0=16,guard=0", "vec_p0=8,guard=0", "vec_p0=16,schedule=dynamic,guard=0"}},
    {"mstep",
     NULL,
     "opencl",
     {"lanes_q0=256,split_q0=256,finish=last,index=32", "lanes_q0=128,split_q0=512,finish=last,index=32"}},
    {"spmv",
     NULL,
     "opencl",
     {"lanes_p0=16,lanes_q0=8,guard=0,index=32", "lanes_p0=32,lanes_q0=8,guard=0,index=32",
      "lanes_p0=16,lanes_q0=8,regs_q0=4,guard=0,index=32"}},
};

const char *const *atn_seeds_find(const char *kernel, const char *type, const char *backend) {
    for (size_t k = 0; k < sizeof SEEDS / sizeof *SEEDS; ++k) {
        const seed *s = &SEEDS[k];
        if (strcmp(s->kernel, kernel) != 0 || strcmp(s->backend, backend) != 0) continue;
        if (!s->type || strcmp(s->type, type) == 0) return s->variant;
    }
    return NULL;
}
