// Vectors of 16 lanes in four NEON registers. Included by the files that define LOREKEEP_INLINE. Internal to
// native/quant.

#include <arm_neon.h>

#include <cstring>

#include "quant/groups.h"

namespace lorekeep::quant {
namespace {

struct NeonLanes {
  struct Bytes {
    uint8x16_t v[4];
  };
  struct Ints {
    int32x4_t v[4];
  };
  struct Floats {
    float32x4_t v[4];
  };

  LOREKEEP_INLINE static Bytes load(const Step& step) {
    const std::uint8_t* from = step[0];
    return {{vld1q_u8(from), vld1q_u8(from + 16), vld1q_u8(from + 32), vld1q_u8(from + 48)}};
  }
  LOREKEEP_INLINE static void store(Step& step, Bytes bytes) {
    for (int i = 0; i < 4; ++i) vst1q_u8(step[0] + 16 * i, bytes.v[i]);
  }
  LOREKEEP_INLINE static Bytes low_halves(Bytes bytes) {
    for (int i = 0; i < 4; ++i) bytes.v[i] = vandq_u8(bytes.v[i], vdupq_n_u8(15));
    return bytes;
  }
  LOREKEEP_INLINE static Bytes high_halves(Bytes bytes) {
    for (int i = 0; i < 4; ++i) bytes.v[i] = vshrq_n_u8(bytes.v[i], 4);
    return bytes;
  }
  /// low | (bits << 4 >> from) & mask
  LOREKEEP_INLINE static Bytes with_high(Bytes low, Bytes bits, int from, int mask) {
    const int8x16_t places = vdupq_n_s8(static_cast<std::int8_t>(4 - from));
    const uint8x16_t kept = vdupq_n_u8(static_cast<std::uint8_t>(mask));
    for (int i = 0; i < 4; ++i) low.v[i] = vorrq_u8(low.v[i], vandq_u8(vshlq_u8(bits.v[i], places), kept));
    return low;
  }
  LOREKEEP_INLINE static Bytes iq4_values(Bytes places) {
    const uint8x16_t added = veorq_u8(vreinterpretq_u8_s8(vld1q_s8(kIq4Values)), vdupq_n_u8(0x80));
    for (int i = 0; i < 4; ++i) places.v[i] = vqtbl1q_u8(added, places.v[i]);
    return places;
  }

  LOREKEEP_INLINE static Ints no_ints() { return all(vdupq_n_s32(0)); }
  template <int kShift>
  LOREKEEP_INLINE static Ints shifted(std::int32_t value) {
    return all(vshlq_n_s32(vdupq_n_s32(value), kShift));
  }
  LOREKEEP_INLINE static Ints shifted_by(std::int32_t value, int shift) {
    return all(vshlq_s32(vdupq_n_s32(value), vdupq_n_s32(shift)));
  }

  LOREKEEP_INLINE static Floats zeros() { return same(0); }
  LOREKEEP_INLINE static Floats same(float value) {
    const float32x4_t v = vdupq_n_f32(value);
    return {{v, v, v, v}};
  }
  LOREKEEP_INLINE static Floats from_ints(Ints ints) {
    Floats floats;
    for (int i = 0; i < 4; ++i) floats.v[i] = vcvtq_f32_s32(ints.v[i]);
    return floats;
  }
  LOREKEEP_INLINE static Floats from_halves(const std::uint16_t* from) {
    Floats floats;
    for (int i = 0; i < 4; ++i) floats.v[i] = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from + 4 * i)));
    return floats;
  }
  LOREKEEP_INLINE static Floats from_bf16(const std::uint16_t* from) {
    Floats floats;
    for (int i = 0; i < 4; ++i) floats.v[i] = vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(from + 4 * i), 16));
    return floats;
  }
  LOREKEEP_INLINE static Floats from_unsigned(const std::uint8_t* from) {
    const uint8x16_t bytes = vld1q_u8(from);
    const uint16x8_t low = vmovl_u8(vget_low_u8(bytes));
    const uint16x8_t high = vmovl_u8(vget_high_u8(bytes));
    return {{vcvtq_f32_u32(vmovl_u16(vget_low_u16(low))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(low))),
             vcvtq_f32_u32(vmovl_u16(vget_low_u16(high))), vcvtq_f32_u32(vmovl_u16(vget_high_u16(high)))}};
  }
  LOREKEEP_INLINE static Floats from_signed(const std::int8_t* from) {
    const int8x16_t bytes = vld1q_s8(from);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes));
    const int16x8_t high = vmovl_s8(vget_high_s8(bytes));
    return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))),
             vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(high)))}};
  }
  LOREKEEP_INLINE static Floats mul(Floats a, Floats b) {
    for (int i = 0; i < 4; ++i) a.v[i] = vmulq_f32(a.v[i], b.v[i]);
    return a;
  }
  LOREKEEP_INLINE static Floats negate(Floats a) {
    for (int i = 0; i < 4; ++i) a.v[i] = vnegq_f32(a.v[i]);
    return a;
  }
  LOREKEEP_INLINE static Floats add_product(Floats a, Floats b, Floats sum) {
    for (int i = 0; i < 4; ++i) sum.v[i] = vfmaq_f32(sum.v[i], a.v[i], b.v[i]);
    return sum;
  }
  LOREKEEP_INLINE static Floats load_floats(const float* from) {
    return {{vld1q_f32(from), vld1q_f32(from + 4), vld1q_f32(from + 8), vld1q_f32(from + 12)}};
  }
  LOREKEEP_INLINE static Floats load_floats(const float* from, std::size_t lanes) {
    if (lanes == kLanes) return load_floats(from);
    float some[kLanes] = {};
    std::memcpy(some, from, lanes * sizeof(float));
    return load_floats(some);
  }
  LOREKEEP_INLINE static void store_floats(float* to, Floats floats, std::size_t lanes) {
    float some[kLanes];
    float* whole = lanes == kLanes ? to : some;
    for (int i = 0; i < 4; ++i) vst1q_f32(whole + 4 * i, floats.v[i]);
    if (lanes != kLanes) std::memcpy(to, some, lanes * sizeof(float));
  }

 private:
  LOREKEEP_INLINE static Ints all(int32x4_t v) { return {{v, v, v, v}}; }
};

}  // namespace
}  // namespace lorekeep::quant
