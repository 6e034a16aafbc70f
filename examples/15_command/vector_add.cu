// The first kernel of every tuner, in CUDA C of one's own: c = a + b, with `block` threads in a block and `tile` elements
// for each of them. Times itself with events, checks its result.
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

int main(int argc, char **argv) {
    int block = argc > 1 ? atoi(argv[1]) : 256, tile = argc > 2 ? atoi(argv[2]) : 1, n = 1 << 26;
    float *a, *b, *c;
    cudaMallocManaged(&a, n * sizeof *a);
    cudaMallocManaged(&b, n * sizeof *b);
    cudaMallocManaged(&c, n * sizeof *c);
    for (int k = 0; k < n; ++k) a[k] = (float)(k % 1000), b[k] = 1, c[k] = 0;
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    int groups = (n + block * tile - 1) / (block * tile);
    for (int k = 0; k < 3; ++k) add<<<groups, block>>>(a, b, c, n, tile); // pages move to the device
    cudaEventRecord(start);
    for (int k = 0; k < 10; ++k) add<<<groups, block>>>(a, b, c, n, tile);
    cudaEventRecord(end);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1; // a block that is too large, say
    float ms;
    cudaEventElapsedTime(&ms, start, end);
    std::printf("added in %.3f us\n", 100 * ms);
    return c[12345] != a[12345] + 1 || c[n - 1] != a[n - 1] + 1;
}
