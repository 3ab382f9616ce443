#include "decoder/kernel_sets.h"
#if LOREKEEP_NEON_DECODER
#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#define LOREKEEP_TARGET

namespace lorekeep::decoder {
namespace {

struct Reg {
  using Value = float32x4_t;
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kQueries = 12;  // 24 sums, 2 registers of keys and a value in 32 registers

  static Value load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Value a) { vst1q_f32(to, a); }
  static Value set(float value) { return vdupq_n_f32(value); }
  static Value load_half(const std::uint16_t* from) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from))); }
  static Value load_bytes(const std::int8_t* from) {
    std::uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    const int16x8_t wide = vmovl_s8(vcreate_s8(bits));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide)));
  }
  static Value add(Value a, Value b) { return vaddq_f32(a, b); }
  static Value sub(Value a, Value b) { return vsubq_f32(a, b); }
  static Value mul(Value a, Value b) { return vmulq_f32(a, b); }
  static Value div(Value a, Value b) { return vdivq_f32(a, b); }
  static Value fma(Value a, Value b, Value c) { return vfmaq_f32(c, a, b); }
  // Like the instructions of x86, these return their second argument for a NaN.
  static Value min(Value a, Value b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
  static Value max(Value a, Value b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
  static Value round(Value a) { return vrndnq_f32(a); }
  // Builds 2^b from its bits: b is between -126 and 127.
  static Value times_two_to(Value a, Value b) {
    constexpr int kBias = 127;
    constexpr int kMantissa = 23;
    const int32x4_t bits = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(b), vdupq_n_s32(kBias)), kMantissa);
    return vmulq_f32(a, vreinterpretq_f32_s32(bits));
  }
  static Value less(Value a, Value b, Value x, Value y) { return vbslq_f32(vcltq_f32(a, b), x, y); }
  static Value ordinals() {
    constexpr float kOrdinals[kLanes] = {0, 1, 2, 3};
    return vld1q_f32(kOrdinals);
  }
  using Pairs = int16x4x2_t;  // the first numbers of pairs, and the second ones
  using Sums = int32x4_t;
  static Pairs load_pairs(const std::uint16_t* from) { return vld2_s16(reinterpret_cast<const std::int16_t*>(from)); }
  static Pairs same_pair(const std::uint16_t* from) {
    return vld2_dup_s16(reinterpret_cast<const std::int16_t*>(from));
  }
  static void store_pairs(std::uint16_t* to, Value even, Value odd) {
    const Pairs pairs{{vmovn_s32(vcvtnq_s32_f32(even)), vmovn_s32(vcvtnq_s32_f32(odd))}};
    vst2_s16(reinterpret_cast<std::int16_t*>(to), pairs);
  }
  static void store_integers(std::uint16_t* to, Value a) {
    vst1_s16(reinterpret_cast<std::int16_t*>(to), vmovn_s32(vcvtnq_s32_f32(a)));
  }
  template <std::size_t kRegs>
  static void interleave(const std::uint16_t* first, const std::uint16_t* second, Pairs (&to)[kRegs]) {
    for (std::size_t r = 0; r < kRegs; ++r) {
      to[r].val[0] = vreinterpret_s16_u16(vld1_u16(first + r * kLanes));
      to[r].val[1] = vreinterpret_s16_u16(vld1_u16(second + r * kLanes));
    }
  }
  template <std::size_t kRegs>
  static void in_order(Value (&)[kRegs]) {}
  static Sums no_sums() { return vdupq_n_s32(0); }
  static Sums add_products(Sums sums, Pairs a, Pairs b) {
    return vmlal_s16(vmlal_s16(sums, a.val[0], b.val[0]), a.val[1], b.val[1]);
  }
  static Value from_sums(Sums sums) { return vcvtq_f32_s32(sums); }
  static float sum(Value a) { return vaddvq_f32(a); }
  static float largest(Value a) { return vmaxvq_f32(a); }
};

}  // namespace
}  // namespace lorekeep::decoder

#include "decoder/kernel_bodies.h"

namespace lorekeep::decoder {

const DecoderKernels kNeonKernels = kernel_set("neon");

}  // namespace lorekeep::decoder
#endif
