#include "encoder/kernel_sets.h"
#if LOREKEEP_X86_ENCODER
#include <immintrin.h>

#include <algorithm>
#include <cmath>

#include "core/cpu/tile_loop.h"

#define LOREKEEP_AVX2 __attribute__((target("avx2,fma")))

namespace lorekeep::encoder {
namespace {

constexpr std::size_t kWidth = 8;  // values of a register: half a panel
constexpr int kRowsOfTile = 6;     // 12 sums, 2 halves of a panel and a value fill the 16 registers

template <int kRows, int kPanels>
struct F32Tile {
  static_assert(kPanels == 1);
  LOREKEEP_AVX2 static void run(const Gemm<float>& g, std::size_t row, std::size_t panel) {
    __m256 low[kRows];
    __m256 high[kRows];
#pragma GCC unroll 6
    for (int m = 0; m < kRows; ++m) low[m] = high[m] = _mm256_setzero_ps();
    const float* a = g.a + row * g.a_stride;
    const float* b = g.b + panel * g.panel_stride;
    for (std::size_t k = 0; k < g.depth; ++k, b += g.step_stride) {
      const __m256 first = _mm256_loadu_ps(b);
      const __m256 second = _mm256_loadu_ps(b + kWidth);
#pragma GCC unroll 6
      for (int m = 0; m < kRows; ++m) {
        const __m256 value = _mm256_broadcast_ss(a + m * g.a_stride + k);
        low[m] = _mm256_fmadd_ps(value, first, low[m]);
        high[m] = _mm256_fmadd_ps(value, second, high[m]);
      }
    }
#pragma GCC unroll 6
    for (int m = 0; m < kRows; ++m) {
      float* c = g.c + (row + m) * g.c_stride + panel * kLanes;
      store(c, low[m], g, panel * kLanes);
      store(c + kWidth, high[m], g, panel * kLanes + kWidth);
    }
  }
  LOREKEEP_AVX2 static void store(float* c, __m256 sum, const Gemm<float>& g, std::size_t output) {
    if (g.bias != nullptr) sum = _mm256_add_ps(sum, _mm256_loadu_ps(g.bias + output));
    if (g.accumulate) sum = _mm256_add_ps(sum, _mm256_loadu_ps(c));
    _mm256_storeu_ps(c, sum);
  }
};

LOREKEEP_AVX2 inline float sum_of(__m256 values) {
  alignas(32) float each[kWidth];
  _mm256_store_ps(each, values);
  return ((each[0] + each[4]) + (each[1] + each[5])) + ((each[2] + each[6]) + (each[3] + each[7]));
}

// As in kernels_avx512.cc; 2^power is built from its bits.
LOREKEEP_AVX2 inline __m256 exponential(__m256 x) {
  x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-87.0f)), _mm256_set1_ps(88.0f));
  const __m256 power = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), 8);
  __m256 r = _mm256_fnmadd_ps(power, _mm256_set1_ps(0.693359375f), x);
  r = _mm256_fnmadd_ps(power, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256 p = _mm256_set1_ps(1.9875691500e-4f);
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
  p = _mm256_fmadd_ps(p, _mm256_mul_ps(r, r), _mm256_add_ps(r, _mm256_set1_ps(1.0f)));
  constexpr int kBias = 127;
  constexpr int kMantissa = 23;
  const __m256i bits =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(power), _mm256_set1_epi32(kBias)), kMantissa);
  return _mm256_mul_ps(p, _mm256_castsi256_ps(bits));
}

LOREKEEP_AVX2 void gelu(float* values, std::size_t count) {
  const __m256 one = _mm256_set1_ps(1.0f);
  for (std::size_t i = 0; i < count; i += kWidth) {
    const __m256 x = _mm256_loadu_ps(values + i);
    const __m256 inner = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), one);
    const __m256 power = _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(-1.5957691216f)), inner);
    _mm256_storeu_ps(values + i, _mm256_div_ps(x, _mm256_add_ps(one, exponential(power))));
  }
}

LOREKEEP_AVX2 void layer_norm(float* row, const float* weight, const float* bias, std::size_t count, float epsilon) {
  __m256 sum = _mm256_setzero_ps();
  for (std::size_t i = 0; i < count; i += kWidth) sum = _mm256_add_ps(sum, _mm256_loadu_ps(row + i));
  const __m256 mean = _mm256_set1_ps(sum_of(sum) / static_cast<float>(count));
  __m256 squares = _mm256_setzero_ps();
  for (std::size_t i = 0; i < count; i += kWidth) {
    const __m256 distance = _mm256_sub_ps(_mm256_loadu_ps(row + i), mean);
    squares = _mm256_fmadd_ps(distance, distance, squares);
  }
  const __m256 scale = _mm256_set1_ps(1.0f / std::sqrt(sum_of(squares) / static_cast<float>(count) + epsilon));
  for (std::size_t i = 0; i < count; i += kWidth) {
    const __m256 unit = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(row + i), mean), scale);
    _mm256_storeu_ps(row + i, _mm256_fmadd_ps(unit, _mm256_loadu_ps(weight + i), _mm256_loadu_ps(bias + i)));
  }
}

// The last values go through a buffer, so that nothing beyond the row is read or written.
LOREKEEP_AVX2 void softmax(float* row, std::size_t count, float scale) {
  const __m256 top = _mm256_set1_ps(*std::max_element(row, row + count));
  const __m256 factor = _mm256_set1_ps(scale);
  __m256 sum = _mm256_setzero_ps();
  std::size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const __m256 value = exponential(_mm256_mul_ps(factor, _mm256_sub_ps(_mm256_loadu_ps(row + i), top)));
    sum = _mm256_add_ps(sum, value);
    _mm256_storeu_ps(row + i, value);
  }
  float total = sum_of(sum);
  if (i < count) {
    alignas(32) float last[kWidth] = {};
    std::copy(row + i, row + count, last);
    _mm256_store_ps(last, exponential(_mm256_mul_ps(factor, _mm256_sub_ps(_mm256_load_ps(last), top))));
    for (std::size_t j = 0; i + j < count; ++j) total += row[i + j] = last[j];
  }
  const float share = 1.0f / total;
  for (std::size_t j = 0; j < count; ++j) row[j] *= share;
}

LOREKEEP_AVX2 inline __m256i rounded(const float* from) {
  const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(from));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
}

LOREKEEP_AVX2 void round_bf16(const float* from, std::uint16_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m256i packed = _mm256_packus_epi32(rounded(from + i), rounded(from + i + kWidth));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_permute4x64_epi64(packed, 0xd8));
  }
}

}  // namespace

const EncoderKernels kAvx2Kernels{
    .name = "avx2",
    .precision = Precision::kF32,
    .gemm_f32 = TileLoop<Gemm<float>, F32Tile, kRowsOfTile, 1>::run,
    .round_bf16 = round_bf16,
    .gelu = gelu,
    .layer_norm = layer_norm,
    .softmax = softmax,
};

}  // namespace lorekeep::encoder
#endif
