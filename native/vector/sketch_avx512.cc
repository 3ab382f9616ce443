#include "vector/distance_sets.h"
#if LOREKEEP_X86_KERNELS
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#define LOREKEEP_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))

namespace lorekeep::vector {
namespace {

// Words of a row are masks of the query's bytes. Sums of this many words fit a byte.
constexpr std::size_t kWordsPerSum = 6;
static_assert(kWordsPerSum * kLargestOfSketchQuery < 128);
// Rows to prefetch ahead: sketches are a cache line or two apart and take 3 ns each.
constexpr std::size_t kRowsAhead = 64;

LOREKEEP_AVX512 inline __mmask64 word_at(const std::byte* row, std::size_t word) {
  std::uint64_t bits;
  std::memcpy(&bits, row + word * sizeof(bits), sizeof(bits));
  return _cvtu64_mask64(bits);
}

/// The query's bytes for up to six words.
struct QueryBytes {
  __m512i of_word[kWordsPerSum];
};

LOREKEEP_AVX512 inline QueryBytes bytes_at(const SketchTask& task, std::size_t word) {
  QueryBytes bytes;
#pragma GCC unroll 6
  for (std::size_t i = 0; i < kWordsPerSum; ++i) {
    bytes.of_word[i] =
        word + i < task.words ? _mm512_loadu_si512(task.query + (word + i) * 64) : _mm512_setzero_si512();
  }
  return bytes;
}

constexpr char kBias = static_cast<char>(128);  // makes signed sums unsigned, so that they can be added across bytes

/// Returns sums of the query's values whose bit is set in up to six words, each over eight bytes, 8 * 128 too large.
LOREKEEP_AVX512 inline __m512i sums_of(const QueryBytes& query, const std::byte* words, std::size_t count) {
  __m512i sum = _mm512_set1_epi8(kBias);
#pragma GCC unroll 6
  for (std::size_t i = 0; i < kWordsPerSum; ++i) {
    if (i < count) sum = _mm512_mask_add_epi8(sum, word_at(words, i), sum, query.of_word[i]);
  }
  return _mm512_sad_epu8(sum, _mm512_setzero_si512());
}

/// Adds up the sums of four rows in parallel. They fit the low halves of their lanes.
LOREKEEP_AVX512 inline __m128i add_up(const __m512i rows[4]) {
  constexpr __mmask16 kHighHalves = 0xaaaa;
  const __m512i first = _mm512_mask_shuffle_epi32(rows[0], kHighHalves, rows[1], _MM_PERM_CCAA);
  const __m512i second = _mm512_mask_shuffle_epi32(rows[2], kHighHalves, rows[3], _MM_PERM_CCAA);
  const __m512i quads = _mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(quads), _mm512_extracti64x4_epi64(quads, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/// `kWords`: words per row if known, otherwise 0.
template <std::size_t kWords>
class Estimator {
 public:
  LOREKEEP_AVX512 explicit Estimator(const SketchTask& task) : task_(task), first_(bytes_at(task, 0)) {
    const auto sums = static_cast<std::int32_t>((words() + kWordsPerSum - 1) / kWordsPerSum);
    excess_ = 2 * 64 * 128 * sums + task.sum;
  }

  /// Estimates four rows; `own` selects the rows whose centre_distances are read and results stored.
  LOREKEEP_AVX512 void estimate(const std::byte* const at[4], __mmask8 own, const float* centre_distances,
                                float* likely, float* lower_bounds) const {
    __m512i sums[4];
    __m128 numbers[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      sums[r] = sums_of(first_, at[r], std::min(kWordsPerSum, words()));
      for (std::size_t i = kWordsPerSum; i < words(); i += kWordsPerSum) {
        const std::size_t left = std::min(kWordsPerSum, words() - i);
        sums[r] = _mm512_add_epi64(sums[r], sums_of(bytes_at(task_, i), at[r] + i * sizeof(std::uint64_t), left));
      }
      numbers[r] = _mm_maskz_loadu_ps(7, at[r] + words() * sizeof(std::uint64_t));  // SketchNumbers
    }
    _MM_TRANSPOSE4_PS(numbers[0], numbers[1], numbers[2], numbers[3]);  // bases, factors, stddevs
    const __m128 whole = _mm_cvtepi32_ps(_mm_sub_epi32(_mm_slli_epi32(add_up(sums), 1), _mm_set1_epi32(excess_)));
    const __m128 dots = _mm_mul_ps(numbers[1], _mm_mul_ps(whole, _mm_set1_ps(task_.step)));
    const __m128 distances = _mm_sub_ps(_mm_sub_ps(_mm_maskz_loadu_ps(own, centre_distances), numbers[0]), dots);
    _mm_mask_storeu_ps(likely, own, distances);
    _mm_mask_storeu_ps(lower_bounds, own, _mm_fnmadd_ps(_mm_set1_ps(task_.reach), numbers[2], distances));
  }

 private:
  std::size_t words() const noexcept { return kWords != 0 ? kWords : task_.words; }

  const SketchTask task_;  // a copy, so that stores cannot alias it
  QueryBytes first_;
  std::int32_t excess_;  // excess of twice the sums
};

template <std::size_t kWords>
LOREKEEP_AVX512 void estimate_all(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                                  std::size_t count, float* likely, float* lower_bounds) {
  const Estimator<kWords> estimator(task);
  const auto row = [rows = task.rows, stride = task.stride](std::size_t place) { return rows + place * stride; };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::size_t ahead = std::min(i + kRowsAhead, count - 4);
    for (std::size_t r = 0; r < 4; ++r) __builtin_prefetch(row(places[ahead + r]));
    const std::byte* const at[4] = {row(places[i]), row(places[i + 1]), row(places[i + 2]), row(places[i + 3])};
    estimator.estimate(at, 0xf, centre_distances + i, likely + i, lower_bounds + i);
  }
  if (i == count) return;
  const std::byte* const last = row(places[count - 1]);
  const std::byte* const at[4] = {row(places[i]), row(places[std::min(i + 1, count - 1)]), last, last};
  estimator.estimate(at, static_cast<__mmask8>((1u << (count - i)) - 1), centre_distances + i, likely + i,
                     lower_bounds + i);
}

}  // namespace

LOREKEEP_AVX512 void estimate_sketches_avx512(const SketchTask& task, const std::uint32_t* places,
                                              const float* centre_distances, std::size_t count, float* likely,
                                              float* lower_bounds) noexcept {
  if (task.words == 6)
    return estimate_all<6>(task, places, centre_distances, count, likely, lower_bounds);  // 384 dimensions
  estimate_all<0>(task, places, centre_distances, count, likely, lower_bounds);
}

LOREKEEP_AVX512 std::size_t pick_avx512(const float* bounds, std::size_t count, float furthest,
                                        std::uint32_t* picked) noexcept {
  const __m512 limit = _mm512_set1_ps(furthest);
  __m512i positions = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const auto own = static_cast<__mmask16>(count - i >= 16 ? 0xffffu : (1u << (count - i)) - 1);
    const __mmask16 mask = _mm512_mask_cmp_ps_mask(own, _mm512_maskz_loadu_ps(own, bounds + i), limit, _CMP_NGT_UQ);
    const auto found = static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(mask)));
    const auto first = static_cast<__mmask16>((1u << found) - 1);
    _mm512_mask_storeu_epi32(picked + size, first, _mm512_maskz_compress_epi32(mask, positions));
    size += found;
    positions = _mm512_add_epi32(positions, _mm512_set1_epi32(16));
  }
  return size;
}

}  // namespace lorekeep::vector
#endif
