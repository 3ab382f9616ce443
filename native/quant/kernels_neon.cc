#include "quant/kernel_sets.h"
#if LOREKEEP_NEON_QUANT
#if defined(__clang__)
#define LOREKEEP_TARGET target("dotprod")
#else
#define LOREKEEP_TARGET target("arch=armv8.2-a+dotprod")
#endif
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include "quant/neon_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : NeonLanes {
  static constexpr int kRows = 2;  // 8 sums of a block and 8 of all blocks, a panel and values, of 32 registers
  static constexpr int kPanels = 1;
  static constexpr int kFloatRows = 4;
  static constexpr int kStreamRows = 2;
  static constexpr int kStreamPanels = 1;
  static constexpr std::size_t unpack_from(bool) { return 3; }
  static constexpr std::size_t kPrefetch = 2048;
  static constexpr bool kSplitsSigns = false;
  static constexpr bool kCentresBytes = true;
  static constexpr int tile_quant(int most) { return most < 127 ? 127 : most; }

  static constexpr int together(int) { return 1; }

  LOREKEEP_INLINE static int8x16_t four(const std::int8_t* values) {
    std::int32_t bits;
    std::memcpy(&bits, values, sizeof bits);
    return vreinterpretq_s8_s32(vdupq_n_s32(bits));
  }

  // SDOT multiplies signed bytes, so larger quants are made signed.
  template <int kMaxQuant>
  struct Operand {
    Bytes quants;
    LOREKEEP_INLINE Ints add_products(Ints sum, int8x16_t values) const {
      for (int i = 0; i < 4; ++i) {
        uint8x16_t bytes = quants.v[i];
        if constexpr (kMaxQuant == 255) bytes = veorq_u8(bytes, vdupq_n_u8(0x80));
        sum.v[i] = vdotq_s32(sum.v[i], vreinterpretq_s8_u8(bytes), values);
      }
      return sum;
    }
  };
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {
namespace {

LOREKEEP_INLINE std::int32_t sum_of(int8x16_t quants) {
  return vaddlvq_s8(quants);
}

// 16 quants, rounded to nearest, ties to even.
LOREKEEP_INLINE int8x16_t quants(const float* from, float inverse) {
  int16x4_t words[4];
  for (int i = 0; i < 4; ++i) words[i] = vqmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(from + 4 * i), inverse)));
  return vcombine_s8(vqmovn_s16(vcombine_s16(words[0], words[1])), vqmovn_s16(vcombine_s16(words[2], words[3])));
}

LOREKEEP_KERNEL void quantize_neon(const float* from, ActivationBlock* to, std::size_t blocks) noexcept {
  for (std::size_t block = 0; block < blocks; ++block, from += kBlock, ++to) {
    float32x4_t most = vdupq_n_f32(0);
    for (std::size_t i = 0; i < kBlock; i += 4) most = vmaxq_f32(most, vabsq_f32(vld1q_f32(from + i)));
    const float largest = vmaxvq_f32(most);
    const float inverse = largest == 0 ? 0 : kMaxActivation / largest;
    const int8x16_t first = quants(from, inverse);
    const int8x16_t second = quants(from + kLanes, inverse);
    vst1q_s8(to->quants, first);
    vst1q_s8(to->quants + kLanes, second);
    const std::int32_t half = sum_of(first);
    to->set_sums(largest, half, half + sum_of(second));
  }
}

}  // namespace

const QuantKernels kNeonKernels{
    .name = "neon",
    .quantize = quantize_neon,
    .multiply = kMultiply,
};

}  // namespace lorekeep::quant
#endif
