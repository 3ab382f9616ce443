#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#define LOREKEEP_TARGET target("avx2,fma,f16c")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include "quant/avx2_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : Avx2Lanes {
  static constexpr int kRows = 3;  // 6 sums of a block and 6 of all blocks, of 16 registers
  static constexpr int kPanels = 1;
  static constexpr int kFloatRows = 5;
  static constexpr int kStreamRows = 3;
  static constexpr int kStreamPanels = 1;
  static constexpr std::size_t kPrefetch = 4096;
  static constexpr int kTogether = 2;
  static constexpr bool kCentresBytes = true;
  static constexpr int tile_quant(int most) { return most < 63 ? 63 : most; }

  // VPMADDUBSW adds two products of an unsigned and a signed byte in 16 bits: of two steps with quants of 6 bits at
  // most, up to 4 * 63 * 127. Bytes are made signed, and their signs moved to the inputs: up to 2 * 128 * 127.
  template <int kMostQuant>
  LOREKEEP_INLINE static Ints dot(Ints sum, const Bytes (&weights)[2], const std::int8_t* values) {
    const __m256i first = four(values);
    const __m256i second = four(values + kStep);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const __m256i a = weights[0].v[half];
      const __m256i b = weights[1].v[half];
      if constexpr (kMostQuant <= 63) {
        const __m256i products = _mm256_add_epi16(_mm256_maddubs_epi16(a, first), _mm256_maddubs_epi16(b, second));
        sum.v[half] = _mm256_add_epi32(sum.v[half], _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
      } else {
        sum.v[half] = _mm256_add_epi32(sum.v[half], _mm256_add_epi32(bytes(a, first), bytes(b, second)));
      }
    }
    return sum;
  }

 private:
  LOREKEEP_INLINE static __m256i four(const std::int8_t* values) {
    std::int32_t bits;
    std::memcpy(&bits, values, sizeof bits);
    return _mm256_set1_epi32(bits);
  }
  LOREKEEP_INLINE static __m256i bytes(__m256i quants, __m256i values) {
    const __m256i centred = _mm256_xor_si256(quants, _mm256_set1_epi8(static_cast<char>(0x80)));
    const __m256i products = _mm256_maddubs_epi16(_mm256_abs_epi8(centred), _mm256_sign_epi8(values, centred));
    return _mm256_madd_epi16(products, _mm256_set1_epi16(1));
  }
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {

const QuantKernels kAvx2Kernels{"avx2", quantize_avx2, kMultiply};

}  // namespace lorekeep::quant
#endif
