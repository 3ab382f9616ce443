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
  static constexpr std::size_t unpack_from(bool) { return 5; }
  static constexpr std::size_t kPrefetch = 4096;
  static constexpr bool kSplitsSigns = true;
  static constexpr bool kCentresBytes = true;
  static constexpr int tile_quant(int most) { return most; }

  // As in kernels_avx2.cc.
  using Pairs = __m512i;
  static constexpr int together(int most) { return most <= 15 ? 8 : most <= 31 ? 4 : most <= 63 ? 2 : 1; }

  template <int kMaxQuant>
  struct Operand {
    Bytes quants;
    LOREKEEP_INLINE Pairs pairs(__m512i values) const { return _mm512_maddubs_epi16(quants, values); }
  };
  LOREKEEP_INLINE static Pairs add_pairs(Pairs a, Pairs b) {
    a = _mm512_add_epi16(a, b);
    asm("" : "+v"(a));
    return a;
  }
  LOREKEEP_INLINE static Ints add_widened(Ints sum, Pairs pairs) {
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
    asm("" : "+v"(sum));
    return sum;
  }

  struct Split {
    Bytes magnitudes;
    Bytes signs;
  };
  LOREKEEP_INLINE static Split split_signs(Bytes quants) {
    const __m512i centred = _mm512_xor_si512(quants, _mm512_set1_epi8(static_cast<char>(0x80)));
    return {_mm512_abs_epi8(centred), _mm512_movm_epi8(_mm512_movepi8_mask(centred))};
  }
  LOREKEEP_INLINE static Ints add_negatives(Ints sum, Split split) {
    const __m512i negative = _mm512_and_si512(split.magnitudes, split.signs);
    return add_widened(sum, _mm512_maddubs_epi16(negative, _mm512_set1_epi8(1)));
  }
};

template <>
struct Isa::Operand<kSigned> {
  Bytes magnitudes;
  Bytes signs;
  LOREKEEP_INLINE Ints add_products(Ints sum, __m512i values) const {
    return add_widened(sum, _mm512_maddubs_epi16(magnitudes, _mm512_xor_si512(values, signs)));
  }
};

template <>
struct Isa::Operand<255> {
  Bytes quants;
  LOREKEEP_INLINE Ints add_products(Ints sum, __m512i values) const {
    const __m512i centred = _mm512_xor_si512(quants, _mm512_set1_epi8(static_cast<char>(0x80)));
    const __m512i turned = _mm512_mask_sub_epi8(values, _mm512_movepi8_mask(centred), _mm512_setzero_si512(), values);
    return add_widened(sum, _mm512_maddubs_epi16(_mm512_abs_epi8(centred), turned));
  }
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {

const QuantKernels kAvx512Kernels{
    .name = "avx512",
    .quantize = quantize_avx512,
    .multiply = kMultiply,
};

}  // namespace lorekeep::quant
#endif
