#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#include <immintrin.h>

#include "quant/groups.h"

#define LOREKEEP_AVX2 __attribute__((target("avx2,fma")))

namespace lorekeep::quant {
namespace {

LOREKEEP_AVX2 inline float largest_of(__m256 a) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

// 16 quants, as the lower bytes of the result's halves.
LOREKEEP_AVX2 inline __m128i quants(__m256 low, __m256 high, __m256 inverse) {
  const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(low, inverse));
  const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(high, inverse));
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

LOREKEEP_AVX2 inline std::int32_t sum_of(__m128i quants) {
  const __m256i pairs = _mm256_madd_epi16(_mm256_cvtepi8_epi16(quants), _mm256_set1_epi16(1));
  const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
}

}  // namespace

LOREKEEP_AVX2 void quantize_avx2(const float* from, ActivationBlock* to, std::size_t blocks) noexcept {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  for (std::size_t block = 0; block < blocks; ++block, from += kBlock, ++to) {
    __m256 values[4];
    __m256 most = _mm256_setzero_ps();
    for (int i = 0; i < 4; ++i) {
      values[i] = _mm256_loadu_ps(from + 8 * i);
      most = _mm256_max_ps(most, _mm256_and_ps(values[i], magnitude));
    }
    const float largest = largest_of(most);
    const __m256 inverse = _mm256_set1_ps(largest == 0 ? 0 : kMaxActivation / largest);
    const __m128i first = quants(values[0], values[1], inverse);
    const __m128i second = quants(values[2], values[3], inverse);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to->quants), first);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to->quants + kLanes), second);
    const std::int32_t half = sum_of(first);
    to->set_sums(largest, half, half + sum_of(second));
  }
}

}  // namespace lorekeep::quant
#endif
