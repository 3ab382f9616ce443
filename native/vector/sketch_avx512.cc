#include "vector/distance_sets.h"
#if LOREKEEP_X86_KERNELS
#include <immintrin.h>

#include <algorithm>

#define LOREKEEP_POPCOUNT __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,fma")))

namespace lorekeep::vector {
namespace {

constexpr std::size_t kWordsAtOnce = 8;
// Sketches lie a cache line or two apart and are done with in 3 ns: asked for so many rows ahead.
constexpr std::size_t kRowsAhead = 24;

/// Up to eight words of the query's planes.
struct Planes {
  __mmask8 mask;
  __m512i plane[4];
};

LOREKEEP_POPCOUNT inline Planes planes_at(const SketchTask& task, std::size_t word) {
  Planes at;
  at.mask = static_cast<__mmask8>((1u << std::min(kWordsAtOnce, task.words - word)) - 1);
  for (std::size_t p = 0; p < 4; ++p) {
    at.plane[p] = _mm512_maskz_loadu_epi64(at.mask, task.planes + p * task.words + word);
  }
  return at;
}

/// The bit counts of those words of a row, weighted by plane and still apart by word.
LOREKEEP_POPCOUNT inline __m512i counts_of(const Planes& query, const std::byte* words) {
  const __m512i bits = _mm512_maskz_loadu_epi64(query.mask, words);
  __m512i count[4];
#pragma GCC unroll 4
  for (int p = 0; p < 4; ++p) count[p] = _mm512_popcnt_epi64(_mm512_and_si512(bits, query.plane[p]));
  // Times 1, 2, 4 and -8.
  const __m512i high = _mm512_sub_epi64(count[2], _mm512_add_epi64(count[3], count[3]));
  const __m512i low = _mm512_add_epi64(count[0], _mm512_add_epi64(count[1], count[1]));
  return _mm512_add_epi64(low, _mm512_slli_epi64(high, 2));
}

/// The same of a whole row. `first`: planes_at(task, 0), which stay in registers; they are all where rows are short.
LOREKEEP_POPCOUNT inline __m512i counts_of(const SketchTask& task, const Planes& first, const std::byte* row) {
  __m512i sum = counts_of(first, row);
  for (std::size_t i = kWordsAtOnce; i < task.words; i += kWordsAtOnce) {
    sum = _mm512_add_epi64(sum, counts_of(planes_at(task, i), row + i * sizeof(std::uint64_t)));
  }
  return sum;
}

/// Adds up four rows' counts side by side. They fit the low halves of their lanes.
LOREKEEP_POPCOUNT inline __m128i sums_of(const __m512i rows[4]) {
  constexpr __mmask16 kHighHalves = 0xaaaa;
  const __m512i first = _mm512_mask_shuffle_epi32(rows[0], kHighHalves, rows[1], _MM_PERM_CCAA);
  const __m512i second = _mm512_mask_shuffle_epi32(rows[2], kHighHalves, rows[3], _MM_PERM_CCAA);
  const __m512i quads = _mm512_add_epi32(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(quads), _mm512_extracti64x4_epi64(quads, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/// Four rows; `write` says which of the results are stored.
LOREKEEP_POPCOUNT inline void estimate4(const SketchTask& task, const Planes& first, const std::byte* const at[4],
                                        __mmask8 write, float* likely, float* nearest) {
  __m512i counts[4];
  __m128 numbers[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    counts[r] = counts_of(task, first, at[r]);
    numbers[r] = _mm_maskz_loadu_ps(7, at[r] + task.words * sizeof(std::uint64_t));  // SketchNumbers
  }
  _MM_TRANSPOSE4_PS(numbers[0], numbers[1], numbers[2], numbers[3]);  // bases, factors, spreads
  const __m128 sums = _mm_cvtepi32_ps(_mm_sub_epi32(_mm_slli_epi32(sums_of(counts), 1), _mm_set1_epi32(task.sum)));
  const __m128 dots = _mm_mul_ps(numbers[1], _mm_mul_ps(sums, _mm_set1_ps(task.step)));
  const __m128 distances = _mm_sub_ps(_mm_sub_ps(_mm_set1_ps(task.origin), numbers[0]), dots);
  _mm_mask_storeu_ps(likely, write, distances);
  _mm_mask_storeu_ps(nearest, write, _mm_fnmadd_ps(_mm_set1_ps(task.reach), numbers[2], distances));
}

}  // namespace

LOREKEEP_POPCOUNT void estimate_sketches_avx512(const SketchTask& given, const std::uint32_t* ordinals,
                                                std::size_t count, float* likely, float* nearest) noexcept {
  const SketchTask task = given;  // nothing that is written below can be part of it
  const auto row = [&](std::size_t i) { return task.rows + ordinals[i] * task.stride; };
  const Planes first = planes_at(task, 0);
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::size_t ahead = std::min(i + kRowsAhead, count - 4);
    for (std::size_t r = 0; r < 4; ++r) __builtin_prefetch(row(ahead + r));
    const std::byte* const at[4] = {row(i), row(i + 1), row(i + 2), row(i + 3)};
    estimate4(task, first, at, 0xf, likely + i, nearest + i);
  }
  if (i == count) return;
  const std::byte* const at[4] = {row(i), row(std::min(i + 1, count - 1)), row(count - 1), row(count - 1)};
  estimate4(task, first, at, static_cast<__mmask8>((1u << (count - i)) - 1), likely + i, nearest + i);
}

}  // namespace lorekeep::vector
#endif
