// The first kernel of every tuner, in CUDA C of one's own: c = a + b, with `block` threads in a block and `tile` elements
// for each of them. Times itself with events, checks its result. All is made on the device, so that a run is short.
//   nvcc -O3 -o vector_add vector_add.cu
//   attune tune --command "./vector_add {block} {tile}" --space vector_add.lanai --time "added in {} us" --evals 60
#include <cstdio>
#include <cstdlib>

__global__ void add(const float *a, const float *b, float *c, int n, int tile) {
    int first = blockIdx.x * blockDim.x * tile + threadIdx.x;
    for (int k = 0; k < tile; ++k) {
        int i = first + k * blockDim.x;
        if (i < n) c[i] = a[i] + b[i];
    }
}

__global__ void fill(float *a, float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = i % 1000, b[i] = 1, c[i] = 0;
}

__global__ void count_wrong(const float *c, int n, int *wrong) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && c[i] != i % 1000 + 1) atomicAdd(wrong, 1);
}

int main(int argc, char **argv) {
    int block = argc > 1 ? atoi(argv[1]) : 256, tile = argc > 2 ? atoi(argv[2]) : 1, n = 1 << 25, wrong = 0, *counted;
    float *a, *b, *c, ms = 0;
    cudaMalloc(&a, n * sizeof *a);
    cudaMalloc(&b, n * sizeof *b);
    cudaMalloc(&c, n * sizeof *c);
    cudaMalloc(&counted, sizeof *counted);
    cudaMemset(counted, 0, sizeof *counted);
    fill<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    int groups = (n + block * tile - 1) / (block * tile);
    for (int k = 0; k < 3; ++k) add<<<groups, block>>>(a, b, c, n, tile);
    cudaEventRecord(start);
    for (int k = 0; k < 20; ++k) add<<<groups, block>>>(a, b, c, n, tile);
    cudaEventRecord(end);
    count_wrong<<<(n + 255) / 256, 256>>>(c, n, counted);
    cudaMemcpy(&wrong, counted, sizeof wrong, cudaMemcpyDeviceToHost);
    cudaEventElapsedTime(&ms, start, end);
    if (cudaGetLastError() != cudaSuccess) return 1; // a block that is too large, say
    std::printf("added in %.3f us\n", 50 * ms);
    return wrong != 0;
}
