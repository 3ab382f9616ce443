#include "encoder/kernel_sets.h"
#if LOREKEEP_X86_ENCODER
#include <immintrin.h>

#include <cstring>

#include "core/cpu/tile_loop.h"

#define LOREKEEP_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace lorekeep::encoder {
namespace {

constexpr int kMaxRows = 6;  // 12 sums of a block and 12 of all blocks, with 2 panels and a value, of 32 registers
constexpr int kMaxPanels = 2;
constexpr int kSteps = kQ8Block / kQ8Group;

// A step covers four k: the instruction multiplies 64 weights by four inputs, twice the work of a bf16 step. Each block
// adds an integer-to-float conversion, a product of scales and a multiply-add.
template <int kRows, int kPanels>
struct Q8Tile {
  LOREKEEP_VNNI static void run(const GemmQ8& g, std::size_t row, std::size_t panel) {
    __m512 sums[kRows][kPanels];
#pragma GCC unroll 6
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) sums[m][p] = _mm512_setzero_ps();
    }
    const Q8Input* a = g.a + row * g.blocks;
    const Q8Panel* b = g.b + panel * g.blocks;
    for (std::size_t block = 0; block < g.blocks; ++block, ++a, ++b) {
      __m512i products[kRows][kPanels];
#pragma GCC unroll 6
      for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p)
          products[m][p] = _mm512_load_si512(b[static_cast<std::size_t>(p) * g.blocks].offset);
      }
#pragma GCC unroll 8
      for (int step = 0; step < kSteps; ++step) {
        __m512i weights[kPanels];
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p)
          weights[p] = _mm512_load_si512(b[static_cast<std::size_t>(p) * g.blocks].quants[step]);
#pragma GCC unroll 6
        for (int m = 0; m < kRows; ++m) {
          std::int32_t four;
          std::memcpy(&four, a[static_cast<std::size_t>(m) * g.blocks].quants + step * kQ8Group, sizeof four);
          const __m512i values = _mm512_set1_epi32(four);
#pragma GCC unroll 2
          for (int p = 0; p < kPanels; ++p) products[m][p] = _mm512_dpbusd_epi32(products[m][p], values, weights[p]);
        }
      }
#pragma GCC unroll 6
      for (int m = 0; m < kRows; ++m) {
        const __m512 scale = _mm512_set1_ps(a[static_cast<std::size_t>(m) * g.blocks].scale);
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p) {
          const __m512 both = _mm512_mul_ps(scale, _mm512_load_ps(b[static_cast<std::size_t>(p) * g.blocks].scale));
          sums[m][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[m][p]), both, sums[m][p]);
        }
      }
    }
    const std::size_t width = g.panels * kLanes;
#pragma GCC unroll 6
    for (int m = 0; m < kRows; ++m) {
      float* c = g.c + (row + static_cast<std::size_t>(m)) * width + panel * kLanes;
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) {
        __m512 sum = _mm512_add_ps(sums[m][p], _mm512_loadu_ps(g.bias + (panel + p) * kLanes));
        if (g.accumulate) sum = _mm512_add_ps(sum, _mm512_loadu_ps(c + p * kLanes));
        _mm512_storeu_ps(c + p * kLanes, sum);
      }
    }
  }
};

LOREKEEP_VNNI inline __m128i quants(__m512 values, __m512 inverse) {
  const __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(values, inverse));
  return _mm512_cvtepi32_epi8(_mm512_add_epi32(rounded, _mm512_set1_epi32(kQ8Zero)));
}

}  // namespace

void gemm_q8_vnni(const GemmQ8& gemm) {
  TileLoop<GemmQ8, Q8Tile, kMaxRows, kMaxPanels>::run(gemm);
}

LOREKEEP_VNNI void quantize_q8_avx512(const float* from, Q8Input* to, std::size_t blocks) {
  for (std::size_t block = 0; block < blocks; ++block, from += kQ8Block, ++to) {
    const __m512 low = _mm512_loadu_ps(from);
    const __m512 high = _mm512_loadu_ps(from + kLanes);
    const float largest = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(low), _mm512_abs_ps(high)));
    const __m512 inverse = _mm512_set1_ps(largest == 0 ? 0 : kMaxQuant / largest);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to->quants), quants(low, inverse));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to->quants + kLanes), quants(high, inverse));
    to->scale = largest / kMaxQuant;
  }
}

}  // namespace lorekeep::encoder
#endif
