#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#include <immintrin.h>

#include "quant/groups.h"

#define LOREKEEP_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))

namespace lorekeep::quant {
namespace {

LOREKEEP_AVX512 inline __m128i quants(__m512 values, __m512 inverse) {
  return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(values, inverse)));
}

LOREKEEP_AVX512 inline std::int32_t sum_of(__m128i quants) {
  return _mm512_reduce_add_epi32(_mm512_cvtepi8_epi32(quants));
}

}  // namespace

LOREKEEP_AVX512 void quantize_avx512(const float* from, ActivationBlock* to, std::size_t blocks) noexcept {
  for (std::size_t block = 0; block < blocks; ++block, from += kBlock, ++to) {
    const __m512 low = _mm512_loadu_ps(from);
    const __m512 high = _mm512_loadu_ps(from + kLanes);
    const float largest = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(low), _mm512_abs_ps(high)));
    const __m512 inverse = _mm512_set1_ps(largest == 0 ? 0 : kMaxActivation / largest);
    const __m128i first = quants(low, inverse);
    const __m128i second = quants(high, inverse);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to->quants), first);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to->quants + kLanes), second);
    const std::int32_t half = sum_of(first);
    to->set_sums(largest, half, half + sum_of(second));
  }
}

}  // namespace lorekeep::quant
#endif
