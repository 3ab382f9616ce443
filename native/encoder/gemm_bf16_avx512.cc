#include "encoder/kernel_sets.h"
#if LOREKEEP_X86_ENCODER
#include <immintrin.h>

#include <cstring>

#include "core/cpu/tile_loop.h"

#define LOREKEEP_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace lorekeep::encoder {
namespace {

// A step covers a pair of k: the instruction multiplies 16 pairs by one pair of a, twice the work of an f32 step.
template <int kRows, int kPanels>
struct Bf16Tile {
  LOREKEEP_AVX512_BF16 static void run(const Gemm<std::uint16_t>& g, std::size_t row, std::size_t panel) {
    __m512 sums[kRows][kPanels];
#pragma GCC unroll 12
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) sums[m][p] = _mm512_setzero_ps();
    }
    const std::uint16_t* a = g.a + row * g.a_stride;
    const std::uint16_t* b = g.b + panel * g.panel_stride;
    for (std::size_t k = 0; k < g.depth; k += 2, b += 2 * kLanes) {
      __m512bh weights[kPanels];
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) weights[p] = (__m512bh)_mm512_loadu_si512(b + p * g.panel_stride);
#pragma GCC unroll 12
      for (int m = 0; m < kRows; ++m) {
        std::int32_t pair;
        std::memcpy(&pair, a + m * g.a_stride + k, sizeof pair);
        const auto values = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p) sums[m][p] = _mm512_dpbf16_ps(sums[m][p], values, weights[p]);
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

}  // namespace

void gemm_bf16_avx512(const Gemm<std::uint16_t>& gemm) {
  TileLoop<Gemm<std::uint16_t>, Bf16Tile, kTileRows, kTilePanels>::run(gemm);
}

}  // namespace lorekeep::encoder
#endif
