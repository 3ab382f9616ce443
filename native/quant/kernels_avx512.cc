#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#define LOREKEEP_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include "quant/avx512_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : Avx512Lanes {
  static constexpr int kRows = 5;  // 10 sums of a block and 10 of all blocks, 2 panels and values, of 32 registers
  static constexpr int kPanels = 2;
  static constexpr int kFloatRows = 10;
  static constexpr int kStreamRows = 4;
  static constexpr int kStreamPanels = 1;
  static constexpr std::size_t kPrefetch = 4096;
  static constexpr int kTogether = 2;
  static constexpr bool kCentresBytes = true;
  static constexpr int tile_quant(int most) { return most < 63 ? 63 : most; }

  // As in kernels_avx2.cc.
  template <int kMostQuant>
  LOREKEEP_INLINE static Ints dot(Ints sum, const Bytes (&weights)[2], const std::int8_t* values) {
    const __m512i first = four(values);
    const __m512i second = four(values + kStep);
    const __m512i ones = _mm512_set1_epi16(1);
    if constexpr (kMostQuant <= 63) {
      const __m512i products =
          _mm512_add_epi16(_mm512_maddubs_epi16(weights[0], first), _mm512_maddubs_epi16(weights[1], second));
      return _mm512_add_epi32(sum, _mm512_madd_epi16(products, ones));
    } else {
      const __m512i a = _mm512_madd_epi16(bytes(weights[0], first), ones);
      const __m512i b = _mm512_madd_epi16(bytes(weights[1], second), ones);
      return _mm512_add_epi32(sum, _mm512_add_epi32(a, b));
    }
  }

 private:
  LOREKEEP_INLINE static __m512i four(const std::int8_t* values) {
    std::int32_t bits;
    std::memcpy(&bits, values, sizeof bits);
    return _mm512_set1_epi32(bits);
  }
  LOREKEEP_INLINE static __m512i bytes(__m512i quants, __m512i values) {
    const __m512i centred = _mm512_xor_si512(quants, _mm512_set1_epi8(static_cast<char>(0x80)));
    const __m512i signs = _mm512_mask_sub_epi8(values, _mm512_movepi8_mask(centred), _mm512_setzero_si512(), values);
    return _mm512_maddubs_epi16(_mm512_abs_epi8(centred), signs);
  }
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {

const QuantKernels kAvx512Kernels{"avx512", quantize_avx512, kMultiply};

}  // namespace lorekeep::quant
#endif
