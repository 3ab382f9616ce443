#include "encoder/kernel_sets.h"
#if LOREKEEP_X86_ENCODER
#include <immintrin.h>

#include <cmath>

#include "core/cpu/tile_loop.h"

#define LOREKEEP_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace lorekeep::encoder {
namespace {

template <int kRows, int kPanels>
struct F32Tile {
  LOREKEEP_AVX512 static void run(const Gemm<float>& g, std::size_t row, std::size_t panel) {
    __m512 sums[kRows][kPanels];
#pragma GCC unroll 12
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) sums[m][p] = _mm512_setzero_ps();
    }
    const float* a = g.a + row * g.a_stride;
    const float* b = g.b + panel * g.panel_stride;
    for (std::size_t k = 0; k < g.depth; ++k, b += g.step_stride) {
      __m512 weights[kPanels];
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) weights[p] = _mm512_loadu_ps(b + p * g.panel_stride);
#pragma GCC unroll 12
      for (int m = 0; m < kRows; ++m) {
        const __m512 value = _mm512_set1_ps(a[m * g.a_stride + k]);
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p) sums[m][p] = _mm512_fmadd_ps(value, weights[p], sums[m][p]);
      }
    }
#pragma GCC unroll 12
    for (int m = 0; m < kRows; ++m) {
      float* c = g.c + (row + m) * g.c_stride + panel * kLanes;
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) {
        __m512 sum = sums[m][p];
        if (g.bias != nullptr) sum = _mm512_add_ps(sum, _mm512_loadu_ps(g.bias + (panel + p) * kLanes));
        if (g.accumulate) sum = _mm512_add_ps(sum, _mm512_loadu_ps(c + p * kLanes));
        _mm512_storeu_ps(c + p * kLanes, sum);
      }
    }
  }
};

// exp by 2^(x log2 e) with the polynomial of Cephes' expf (Moshier), accurate to 2 units in the last place.
LOREKEEP_AVX512 inline __m512 exponential(__m512 x) {
  x = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-87.0f)), _mm512_set1_ps(88.0f));
  const __m512 power = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 8);
  __m512 r = _mm512_fnmadd_ps(power, _mm512_set1_ps(0.693359375f), x);  // ln 2 in two parts
  r = _mm512_fnmadd_ps(power, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(1.9875691500e-4f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.3981999507e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.3334519073e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.1665795894e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.6666665459e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.0000001201e-1f));
  p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), _mm512_add_ps(r, _mm512_set1_ps(1.0f)));
  return _mm512_scalef_ps(p, power);
}

LOREKEEP_AVX512 void gelu(float* values, std::size_t count) {
  const __m512 one = _mm512_set1_ps(1.0f);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512 x = _mm512_loadu_ps(values + i);
    // -2 sqrt(2 / pi) x (1 + 0.044715 x^2)
    const __m512 inner = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.044715f), one);
    const __m512 power = _mm512_mul_ps(_mm512_mul_ps(x, _mm512_set1_ps(-1.5957691216f)), inner);
    _mm512_storeu_ps(values + i, _mm512_div_ps(x, _mm512_add_ps(one, exponential(power))));
  }
}

LOREKEEP_AVX512 void layer_norm(float* row, const float* weight, const float* bias, std::size_t count, float epsilon) {
  __m512 sum = _mm512_setzero_ps();
  for (std::size_t i = 0; i < count; i += kLanes) sum = _mm512_add_ps(sum, _mm512_loadu_ps(row + i));
  const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / static_cast<float>(count));
  __m512 squares = _mm512_setzero_ps();
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512 distance = _mm512_sub_ps(_mm512_loadu_ps(row + i), mean);
    squares = _mm512_fmadd_ps(distance, distance, squares);
  }
  const float variance = _mm512_reduce_add_ps(squares) / static_cast<float>(count);
  const __m512 scale = _mm512_set1_ps(1.0f / std::sqrt(variance + epsilon));
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512 unit = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(row + i), mean), scale);
    _mm512_storeu_ps(row + i, _mm512_fmadd_ps(unit, _mm512_loadu_ps(weight + i), _mm512_loadu_ps(bias + i)));
  }
}

LOREKEEP_AVX512 inline __mmask16 lanes(std::size_t left) {
  return static_cast<__mmask16>(left >= kLanes ? 0xffffu : (1u << left) - 1);
}

LOREKEEP_AVX512 void softmax(float* row, std::size_t count, float scale) {
  const __m512 lowest = _mm512_set1_ps(-INFINITY);
  __m512 largest = lowest;
  for (std::size_t i = 0; i < count; i += kLanes)
    largest = _mm512_max_ps(largest, _mm512_mask_loadu_ps(lowest, lanes(count - i), row + i));
  const __m512 top = _mm512_set1_ps(_mm512_reduce_max_ps(largest));
  const __m512 factor = _mm512_set1_ps(scale);
  __m512 sum = _mm512_setzero_ps();
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __mmask16 mask = lanes(count - i);
    const __m512 value = exponential(_mm512_mul_ps(factor, _mm512_sub_ps(_mm512_maskz_loadu_ps(mask, row + i), top)));
    sum = _mm512_mask_add_ps(sum, mask, sum, value);
    _mm512_mask_storeu_ps(row + i, mask, value);
  }
  const __m512 share = _mm512_set1_ps(1.0f / _mm512_reduce_add_ps(sum));
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __mmask16 mask = lanes(count - i);
    _mm512_mask_storeu_ps(row + i, mask, _mm512_mul_ps(share, _mm512_maskz_loadu_ps(mask, row + i)));
  }
}

LOREKEEP_AVX512 void round_bf16(const float* from, std::uint16_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512i bits = _mm512_castps_si512(_mm512_loadu_ps(from + i));
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }
}

constexpr auto kGemmF32 = TileLoop<Gemm<float>, F32Tile, kTileRows, kTilePanels>::run;

constexpr EncoderKernels kPlain{
    .name = "avx512",
    .precision = Precision::kF32,
    .gemm_f32 = kGemmF32,
    .round_bf16 = round_bf16,
    .gelu = gelu,
    .layer_norm = layer_norm,
    .softmax = softmax,
};

constexpr EncoderKernels with_bf16(const char* name, decltype(EncoderKernels::gemm_bf16) gemm) {
  EncoderKernels kernels = kPlain;
  kernels.name = name;
  kernels.precision = Precision::kBf16;
  kernels.gemm_bf16 = gemm;
  return kernels;
}

constexpr EncoderKernels with_q8(const char* name) {
  EncoderKernels kernels = kPlain;
  kernels.name = name;
  kernels.precision = Precision::kQ8;
  kernels.gemm_q8 = gemm_q8_vnni;
  kernels.quantize_q8 = quantize_q8_avx512;
  return kernels;
}

}  // namespace

const EncoderKernels kAvx512Kernels = kPlain;
const EncoderKernels kAvx512Bf16Kernels = with_bf16("avx512-bf16", gemm_bf16_avx512);
#if LOREKEEP_AMX
const EncoderKernels kAmxBf16Kernels = with_bf16("amx-bf16", gemm_bf16_amx);
#endif
const EncoderKernels kAvx512VnniKernels = with_q8("avx512-vnni");

}  // namespace lorekeep::encoder
#endif
