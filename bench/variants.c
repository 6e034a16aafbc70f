/* What is measured. */
#include "bench.h"

const bench_job BENCH_JOBS[] = {
    {"gemm", "SP", 1024, 1024, 1024, BENCH_BLAS, "host"},   {"gemm", "DP", 1024, 1024, 1024, BENCH_BLAS, "host"},
    {"gemm", "SP", 4096, 4096, 4096, BENCH_BLAS, "cuda"},   {"gemm", "DP", 4096, 4096, 4096, BENCH_BLAS, "cuda"},
    {"gemm", "SP", 1024, 1024, 1024, BENCH_BLAS, "opencl"}, {"gemm", "SP", 4096, 4096, 4096, BENCH_BLAS, "opencl"},
    {"gemv", "SP", 2048, 2048, 1, BENCH_COPY, NULL},        {"gemv", "SP", 8192, 8192, 1, BENCH_COPY, NULL},
    {"add", "SP", 2048, 2048, 1, BENCH_COPY, NULL},         {"add", "SP", 8192, 8192, 1, BENCH_COPY, NULL},
    {"scale", "SP", 8192, 8192, 1, BENCH_COPY, NULL},       {"laplace2d", "SP", 2048, 2048, 1, BENCH_COPY, NULL},
    {"laplace2d", "SP", 8192, 8192, 1, BENCH_COPY, NULL},   {"transpose", "SP", 4096, 4096, 1, BENCH_COPY, NULL},
    {"l2norm", "SP", 1, 4 << 20, 1, BENCH_COPY, NULL},      {"l2norm", "SP", 1, 64 << 20, 1, BENCH_COPY, NULL},
    {"max", "SP", 1, 4 << 20, 1, BENCH_COPY, NULL},         {"max", "SP", 1, 64 << 20, 1, BENCH_COPY, NULL},
    {"dot", "SP", 1, 64 << 20, 1, BENCH_COPY, NULL},        {"spmv", "SP", 524288, 32768, 32, BENCH_CSR, NULL},
    {"estep", "SP", 10000, 10000, 1, BENCH_PAIRS, "host"},  {"estep", "SP", 40000, 40000, 1, BENCH_PAIRS, "cuda"},
};
const int32_t BENCH_JOB_COUNT = sizeof BENCH_JOBS / sizeof *BENCH_JOBS;
