#include "vector/distance_sets.h"
#if LOREKEEP_X86_KERNELS
#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "vector/sketch_by_bit.h"

#define LOREKEEP_AVX2 __attribute__((target("avx2,fma")))

namespace lorekeep::vector {
namespace {

constexpr char kBias = static_cast<char>(128);  // makes signed sums unsigned, so that they can be added across bytes

LOREKEEP_AVX2 inline __m128i load16(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

LOREKEEP_AVX2 inline __m256i both(const std::int8_t* query) {
  return _mm256_broadcastsi128_si256(load16(query));
}

/// `kWords`: words per row if known, otherwise 0.
template <std::size_t kWords>
class Estimator {
 public:
  LOREKEEP_AVX2 explicit Estimator(const SketchTask& task) : task_(task), query_(task) {
    const auto sums = static_cast<std::int32_t>((groups() + kGroupsPerSum - 1) / kGroupsPerSum);
    excess_ = 2 * 4 * 16 * 128 * sums + task.sum;
    // A byte with only the highest bit left is negative, so the sign instruction negates the selected value.
    for (std::size_t group = 0; group < groups(); ++group) {
      auto* const highest = reinterpret_cast<__m128i*>(query_.of_group(group) + 16 * 7);
      _mm_store_si128(highest, _mm_sub_epi8(_mm_setzero_si128(), _mm_load_si128(highest)));
    }
  }

  LOREKEEP_AVX2 void operator()(const std::byte* const rows[4], const float* centre_distances, float* likely,
                                float* lower_bounds) const {
    const __m256i front = sums_of(rows[0], rows[1]);
    const __m256i back = sums_of(rows[2], rows[3]);
    const __m256i evens_and_odds =
        _mm256_add_epi64(_mm256_unpacklo_epi64(front, back), _mm256_unpackhi_epi64(front, back));
    const __m128i odds = _mm_slli_epi64(_mm256_extracti128_si256(evens_and_odds, 1), 32);
    const __m128i sums = _mm_or_si128(_mm256_castsi256_si128(evens_and_odds), odds);

    __m128 numbers[4];  // SketchNumbers, and padding
    for (int r = 0; r < 4; ++r) numbers[r] = _mm_castsi128_ps(load16(rows[r] + words() * sizeof(std::uint64_t)));
    _MM_TRANSPOSE4_PS(numbers[0], numbers[1], numbers[2], numbers[3]);  // bases, factors, stddevs
    const __m128 whole = _mm_cvtepi32_ps(_mm_sub_epi32(_mm_slli_epi32(sums, 1), _mm_set1_epi32(excess_)));
    const __m128 dots = _mm_mul_ps(numbers[1], _mm_mul_ps(whole, _mm_set1_ps(task_.step)));
    const __m128 distances = _mm_sub_ps(_mm_sub_ps(_mm_loadu_ps(centre_distances), numbers[0]), dots);
    _mm_storeu_ps(likely, distances);
    _mm_storeu_ps(lower_bounds, _mm_fnmadd_ps(_mm_set1_ps(task_.reach), numbers[2], distances));
  }

 private:
  std::size_t words() const noexcept { return kWords != 0 ? kWords : task_.words; }
  std::size_t groups() const noexcept { return sketch_groups(words()); }

  /// Returns the sums of the query's values whose bit is set, too large by half of excess_: for the first row in the
  /// two low lanes of 64 bits, for the second in the others.
  LOREKEEP_AVX2 __m256i sums_of(const std::byte* first, const std::byte* second) const {
    __m256i total = _mm256_setzero_si256();
    for (std::size_t begin = 0; begin < groups(); begin += kGroupsPerSum) {
      const std::size_t count = std::min(kGroupsPerSum, groups() - begin);
      __m256i rows[kGroupsPerSum];
#pragma GCC unroll 3
      for (std::size_t i = 0; i < kGroupsPerSum; ++i) {
        const std::size_t at = 16 * (begin + i);
        if (i < count)
          rows[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(load16(first + at)), load16(second + at), 1);
      }
#pragma GCC unroll 4
      for (int bit = 0; bit < 8; bit += 2) {
        const __m256i low = _mm256_set1_epi8(static_cast<char>(1 << bit));
        const __m256i high = _mm256_set1_epi8(static_cast<char>(2 << bit));
        __m256i sum = _mm256_set1_epi8(kBias);
#pragma GCC unroll 3
        for (std::size_t i = 0; i < kGroupsPerSum; ++i) {
          if (i == count) break;
          const std::int8_t* const query = query_.of_group(begin + i) + 16 * bit;
          sum = _mm256_add_epi8(sum, _mm256_sign_epi8(both(query), _mm256_and_si256(rows[i], low)));
          sum = _mm256_add_epi8(sum, _mm256_sign_epi8(both(query + 16), _mm256_and_si256(rows[i], high)));
        }
        total = _mm256_add_epi64(total, _mm256_sad_epu8(sum, _mm256_setzero_si256()));
      }
    }
    return total;
  }

  const SketchTask task_;
  QueryByBit query_;
  std::int32_t excess_;  // excess of twice the sums
};

}  // namespace

LOREKEEP_AVX2 void estimate_sketches_avx2(const SketchTask& task, const std::uint32_t* places,
                                          const float* centre_distances, std::size_t count, float* likely,
                                          float* lower_bounds) noexcept {
  if (task.words == 6) {  // 384 dimensions
    return estimate_in_fours(Estimator<6>(task), task, places, centre_distances, count, likely, lower_bounds);
  }
  estimate_in_fours(Estimator<0>(task), task, places, centre_distances, count, likely, lower_bounds);
}

LOREKEEP_AVX2 std::size_t pick_avx2(const float* bounds, std::size_t count, float furthest,
                                    std::uint32_t* picked) noexcept {
  const __m256 limit = _mm256_set1_ps(furthest);
  std::size_t size = 0;
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    auto mask =
        static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(bounds + i), limit, _CMP_NGT_UQ)));
    for (; mask != 0; mask &= mask - 1) {
      picked[size++] = static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(std::countr_zero(mask));
    }
  }
  for (; i < count; ++i) {
    if (!(bounds[i] > furthest)) picked[size++] = static_cast<std::uint32_t>(i);
  }
  return size;
}

}  // namespace lorekeep::vector
#endif
