#include "vector/distance_sets.h"
#if LOREKEEP_NEON_KERNELS
#include <arm_neon.h>

#include "core/cpu/half.h"
#include "vector/ten_bit.h"

namespace lorekeep::vector {
namespace {

inline float32x4_t load4(const float* from) {
  return vld1q_f32(from);
}
inline float32x4_t load4(const std::uint16_t* from) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}
inline float value(float from) {
  return from;
}
inline float value(std::uint16_t from) {
  return float_from_half(from);
}

template <int kRows, class T>
inline void dot_rows(const float* query, const T* const* rows, std::size_t length, float* out) {
  float32x4_t even[kRows];
  float32x4_t odd[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) even[r] = odd[r] = vdupq_n_f32(0);
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    const float32x4_t q0 = load4(query + i);
    const float32x4_t q1 = load4(query + i + 4);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      even[r] = vfmaq_f32(even[r], q0, load4(rows[r] + i));
      odd[r] = vfmaq_f32(odd[r], q1, load4(rows[r] + i + 4));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    float sum = vaddvq_f32(vaddq_f32(even[r], odd[r]));
    for (std::size_t j = i; j < length; ++j) sum += query[j] * value(rows[r][j]);
    out[r] = sum;
  }
}

template <int kRows>
inline void dot_rows_i8(const std::int8_t* query, const std::int8_t* const* rows, std::size_t length,
                        std::int32_t* out) {
  int32x4_t sums[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sums[r] = vdupq_n_s32(0);
  std::size_t i = 0;
  for (; i + 16 <= length; i += 16) {
    const int8x16_t q = vld1q_s8(query + i);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const int8x16_t row = vld1q_s8(rows[r] + i);
      int16x8_t pairs = vmull_s8(vget_low_s8(q), vget_low_s8(row));
      pairs = vmlal_s8(pairs, vget_high_s8(q), vget_high_s8(row));  // at most 2 * 127 * 127: fits
      sums[r] = vpadalq_s16(sums[r], pairs);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    std::int32_t sum = vaddvq_s32(sums[r]);
    for (std::size_t j = i; j < length; ++j) sum += std::int32_t{query[j]} * rows[r][j];
    out[r] = sum;
  }
}

template <class T>
float dot(const float* query, const T* row, std::size_t length) {
  float out;
  dot_rows<1>(query, &row, length, &out);
  return out;
}
std::int32_t dot_i8(const std::int8_t* query, const std::int8_t* row, std::size_t length) {
  std::int32_t out;
  dot_rows_i8<1>(query, &row, length, &out);
  return out;
}

// Sixteen values: codes at `codes`, low bits in the lowest two of each of `bits`.
inline void add_ten_bit16(const float* query, const std::int8_t* codes, uint8x16_t bits, float32x4_t sums[4]) {
  const int8x16_t code = vld1q_s8(codes);
  const int8x16_t rest = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(bits, vdupq_n_u8(3))), vdupq_n_s8(2));
  const int16x8_t front = vaddw_s8(vshll_n_s8(vget_low_s8(code), 2), vget_low_s8(rest));
  const int16x8_t back = vaddw_s8(vshll_n_s8(vget_high_s8(code), 2), vget_high_s8(rest));
  sums[0] = vfmaq_f32(sums[0], load4(query), vcvtq_f32_s32(vmovl_s16(vget_low_s16(front))));
  sums[1] = vfmaq_f32(sums[1], load4(query + 4), vcvtq_f32_s32(vmovl_s16(vget_high_s16(front))));
  sums[2] = vfmaq_f32(sums[2], load4(query + 8), vcvtq_f32_s32(vmovl_s16(vget_low_s16(back))));
  sums[3] = vfmaq_f32(sums[3], load4(query + 12), vcvtq_f32_s32(vmovl_s16(vget_high_s16(back))));
}
float dot_ten_bit(const float* query, const std::int8_t* codes, const std::uint8_t* low, std::size_t length) {
  float32x4_t sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = vdupq_n_f32(0);
  for (std::size_t i = 0; i < length; i += kTenBitGroup, low += 16) {
    const uint8x16_t bits = vld1q_u8(low);
    add_ten_bit16(query + i, codes + i, bits, sums);
    add_ten_bit16(query + i + 16, codes + i + 16, vshrq_n_u8(bits, 2), sums);
    add_ten_bit16(query + i + 32, codes + i + 32, vshrq_n_u8(bits, 4), sums);
    add_ten_bit16(query + i + 48, codes + i + 48, vshrq_n_u8(bits, 6), sums);
  }
  return vaddvq_f32(vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3])));
}

void encode_f16(const float* from, std::uint16_t* to, std::size_t length) {
  std::size_t i = 0;
  for (; i + 4 <= length; i += 4) vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + i))));
  for (; i < length; ++i) to[i] = half_from_float(from[i]);
}
void decode_f16(const std::uint16_t* from, float* to, std::size_t length) {
  std::size_t i = 0;
  for (; i + 4 <= length; i += 4) vst1q_f32(to + i, load4(from + i));
  for (; i < length; ++i) to[i] = float_from_half(from[i]);
}

}  // namespace

const DistanceKernels kNeonKernels{
    .name = "neon",
    .dot_f32 = dot<float>,
    .dot4_f32 = dot_rows<4, float>,
    .dot_f16 = dot<std::uint16_t>,
    .dot4_f16 = dot_rows<4, std::uint16_t>,
    .dot_i8 = dot_i8,
    .dot4_i8 = dot_rows_i8<4>,
    .dot_ten_bit = dot_ten_bit,
    .estimate_sketches = estimate_sketches_neon,
    .pick = pick_scalar,
    .encode_f16 = encode_f16,
    .decode_f16 = decode_f16,
};

}  // namespace lorekeep::vector
#endif
