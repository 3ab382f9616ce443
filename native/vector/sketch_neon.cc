#include "vector/distance_sets.h"
#if LOREKEEP_NEON_KERNELS
#include <arm_neon.h>

#include "vector/sketch_by_bit.h"

namespace lorekeep::vector {
namespace {

/// `kWords`: words per row if known, otherwise 0.
template <std::size_t kWords>
class Estimator {
 public:
  explicit Estimator(const SketchTask& task) : task_(task), query_(task) {}

  void operator()(const std::byte* const rows[4], const float* centre_distances, float* likely,
                  float* lower_bounds) const {
    int32x4_t sums[4];
    float32x4_t numbers[4];  // SketchNumbers, and padding
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(rows[r]);
      sums[r] = sums_of(bytes);
      numbers[r] = vreinterpretq_f32_u8(vld1q_u8(bytes + words() * sizeof(std::uint64_t)));
    }
    const int32x4_t selected = vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3]));
    const float32x4x2_t front = vtrnq_f32(numbers[0], numbers[1]);
    const float32x4x2_t back = vtrnq_f32(numbers[2], numbers[3]);
    const float32x4_t bases = vcombine_f32(vget_low_f32(front.val[0]), vget_low_f32(back.val[0]));
    const float32x4_t factors = vcombine_f32(vget_low_f32(front.val[1]), vget_low_f32(back.val[1]));
    const float32x4_t stddevs = vcombine_f32(vget_high_f32(front.val[0]), vget_high_f32(back.val[0]));

    const float32x4_t whole = vcvtq_f32_s32(vsubq_s32(vshlq_n_s32(selected, 1), vdupq_n_s32(task_.sum)));
    const float32x4_t dots = vmulq_f32(factors, vmulq_n_f32(whole, task_.step));
    const float32x4_t distances = vsubq_f32(vsubq_f32(vld1q_f32(centre_distances), bases), dots);
    vst1q_f32(likely, distances);
    vst1q_f32(lower_bounds, vfmsq_f32(distances, vdupq_n_f32(task_.reach), stddevs));
  }

 private:
  std::size_t words() const noexcept { return kWords != 0 ? kWords : task_.words; }
  std::size_t groups() const noexcept { return sketch_groups(words()); }

  /// Returns the sum of the query's values whose bit is set, in four parts.
  int32x4_t sums_of(const std::uint8_t* row) const {
    int32x4_t total = vdupq_n_s32(0);
    for (std::size_t begin = 0; begin < groups(); begin += kGroupsPerSum) {
      int8x16_t sums[4];
      for (int8x16_t& sum : sums) sum = vdupq_n_s8(0);
#pragma GCC unroll 3
      for (std::size_t i = 0; i < kGroupsPerSum; ++i) {
        if (begin + i == groups()) break;
        const std::int8_t* const query = query_.of_group(begin + i);
        const uint8x16_t bytes = vld1q_u8(row + 16 * (begin + i));
#pragma GCC unroll 8
        for (int bit = 0; bit < 8; ++bit) {
          const uint8x16_t set = vtstq_u8(bytes, vdupq_n_u8(static_cast<std::uint8_t>(1 << bit)));
          const int8x16_t values = vandq_s8(vld1q_s8(query + 16 * bit), vreinterpretq_s8_u8(set));
          sums[bit / 2] = vaddq_s8(sums[bit / 2], values);
        }
      }
      int16x8_t pairs = vpaddlq_s8(sums[0]);
#pragma GCC unroll 3
      for (int i = 1; i < 4; ++i) pairs = vpadalq_s8(pairs, sums[i]);
      total = vpadalq_s16(total, pairs);
    }
    return total;
  }

  const SketchTask task_;
  QueryByBit query_;
};

}  // namespace

void estimate_sketches_neon(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                            std::size_t count, float* likely, float* lower_bounds) noexcept {
  if (task.words == 6) {  // 384 dimensions
    return estimate_in_fours(Estimator<6>(task), task, places, centre_distances, count, likely, lower_bounds);
  }
  estimate_in_fours(Estimator<0>(task), task, places, centre_distances, count, likely, lower_bounds);
}

}  // namespace lorekeep::vector
#endif
