#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#define LOREKEEP_TARGET target("avx2,fma,f16c")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include "quant/avx2_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : Avx2Lanes {
  // 8 of 16 registers hold the sums of a block, 4 weights, and 1 a value. The sums of all blocks are in memory.
  static constexpr int kRows = 4;
  static constexpr int kPanels = 1;
  static constexpr int kFloatRows = 5;
  static constexpr int kStreamRows = 4;
  static constexpr int kStreamPanels = 1;
  // Three tiles read packed weights as fast as they are unpacked, two where quants have bits apart.
  static constexpr std::size_t unpack_from(bool high_bits) { return high_bits ? 9 : 13; }
  static constexpr std::size_t kPrefetch = 4096;
  static constexpr bool kSplitsSigns = true;
  static constexpr bool kCentresBytes = true;
  static constexpr int tile_quant(int most) { return most; }

  /// Sums of pairs of products, in 16 bits: VPMADDUBSW adds two products of an unsigned byte and a signed one.
  using Pairs = Bytes;
  /// Steps whose pairs may be added in 16 bits. Inputs are at least -127.
  static constexpr int together(int most) { return most <= 15 ? 8 : most <= 31 ? 4 : most <= 63 ? 2 : 1; }
  static_assert(8 * 2 * 15 * 127 <= 32767 && 4 * 2 * 31 * 127 <= 32767 && 2 * 2 * 63 * 127 <= 32767);

  template <int kMaxQuant>
  struct Operand {
    Bytes quants;
    LOREKEEP_INLINE Pairs pairs(__m256i values) const {
      return {{_mm256_maddubs_epi16(quants.v[0], values), _mm256_maddubs_epi16(quants.v[1], values)}};
    }
  };
  LOREKEEP_INLINE static Pairs add_pairs(Pairs a, Pairs b) {
    for (int half = 0; half < 2; ++half) {
      a.v[half] = _mm256_add_epi16(a.v[half], b.v[half]);
      in_order(a.v[half]);
    }
    return a;
  }
  LOREKEEP_INLINE static __m256i add_widened(__m256i sum, __m256i pairs) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    in_order(sum);
    return sum;
  }
  LOREKEEP_INLINE static Ints add_widened(Ints sum, Pairs pairs) {
    return {{add_widened(sum.v[0], pairs.v[0]), add_widened(sum.v[1], pairs.v[1])}};
  }
  /// GCC would keep the summands of a sum in memory to add them in another order.
  LOREKEEP_INLINE static void in_order(__m256i& sum) { asm("" : "+x"(sum)); }

  struct Split {
    Bytes magnitudes;
    Bytes signs;
  };
  LOREKEEP_INLINE static Split split_signs(Bytes quants) {
    Split split;
    for (int half = 0; half < 2; ++half) {
      const __m256i centred = _mm256_xor_si256(quants.v[half], _mm256_set1_epi8(static_cast<char>(0x80)));
      split.magnitudes.v[half] = _mm256_abs_epi8(centred);
      split.signs.v[half] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), centred);
    }
    return split;
  }
  LOREKEEP_INLINE static Ints add_negatives(Ints sum, Split split) {
    Pairs pairs;
    for (int half = 0; half < 2; ++half) {
      const __m256i negative = _mm256_and_si256(split.magnitudes.v[half], split.signs.v[half]);
      pairs.v[half] = _mm256_maddubs_epi16(negative, _mm256_set1_epi8(1));
    }
    return add_widened(sum, pairs);
  }
};

/// Magnitudes are at most 128 and inputs with a changed sign at least -128: pairs are at least -32768.
template <>
struct Isa::Operand<kSigned> {
  Bytes magnitudes;
  Bytes signs;
  LOREKEEP_INLINE Ints add_products(Ints sum, __m256i values) const {
    for (int half = 0; half < 2; ++half) {
      const __m256i turned = _mm256_xor_si256(values, signs.v[half]);
      sum.v[half] = add_widened(sum.v[half], _mm256_maddubs_epi16(magnitudes.v[half], turned));
    }
    return sum;
  }
};

/// Bytes with 128 added, of the few rows that stream through packed weights.
template <>
struct Isa::Operand<255> {
  Bytes quants;
  LOREKEEP_INLINE Ints add_products(Ints sum, __m256i values) const {
    for (int half = 0; half < 2; ++half) {
      const __m256i centred = _mm256_xor_si256(quants.v[half], _mm256_set1_epi8(static_cast<char>(0x80)));
      const __m256i turned = _mm256_sign_epi8(values, centred);
      sum.v[half] = add_widened(sum.v[half], _mm256_maddubs_epi16(_mm256_abs_epi8(centred), turned));
    }
    return sum;
  }
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {

const QuantKernels kAvx2Kernels{
    .name = "avx2",
    .quantize = quantize_avx2,
    .multiply = kMultiply,
};

}  // namespace lorekeep::quant
#endif
