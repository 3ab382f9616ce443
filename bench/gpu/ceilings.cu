// Three ceilings of a GPU, as one line of JSON: bytes per second of a copy on the device, read and written; operations per second
// of mma.sync with f16 inputs and f32 sums; ms between two empty kernels of a graph. nvcc -O3 -arch=sm_90 ceilings.cu -o ceilings
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t error = (call);                                                            \
    if (error != cudaSuccess) {                                                                  \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                        \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

constexpr int kSteps = 4096;
constexpr int kKernels = 1000;
constexpr int kRounds = 5;

__global__ void empty() {}

// Each warp keeps four products in flight; the sums are written so that nothing is left out.
__global__ void multiply(float* out) {
  float sums[4][4] = {};
  const unsigned a[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
  const unsigned b[2] = {threadIdx.x, threadIdx.x + 1};
  for (int step = 0; step < kSteps; step++) {
#pragma unroll
    for (auto& c : sums)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  float sum = 0;
  for (auto& c : sums) sum += c[0] + c[1] + c[2] + c[3];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The shortest of some rounds, in ms.
template <typename Work>
float shortest(cudaStream_t stream, Work work) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float best = 1e30f;
  for (int round = 0; round < kRounds; round++) {
    CHECK(cudaEventRecord(begin, stream));
    work();
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    best = ms < best ? ms : best;
  }
  return best;
}

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  const size_t bytes = size_t{4} << 30;
  void *from, *to;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMemset(from, 1, bytes));
  const float copyMs =
      shortest(stream, [&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)); });

  const int blocks = device.multiProcessorCount * 4, threads = 256;
  const float productMs =
      shortest(stream, [&] { multiply<<<blocks, threads, 0, stream>>>(static_cast<float*>(to)); });
  CHECK(cudaGetLastError());
  const double operations = 2.0 * 16 * 8 * 16 * 4 * kSteps * blocks * (threads / 32);

  cudaGraph_t graph;
  cudaGraphExec_t launched;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int kernel = 0; kernel < kKernels; kernel++) empty<<<1, 1, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&launched, graph, 0));
  const float graphMs = shortest(stream, [&] { CHECK(cudaGraphLaunch(launched, stream)); });

  std::printf("{\"device\":\"%s\",\"bytesPerSecond\":%.4g,\"operationsPerSecond\":%.4g,\"launchMs\":%.4g}\n", device.name,
              2.0 * bytes / copyMs * 1000, operations / productMs * 1000, graphMs / kKernels);
  return 0;
}
