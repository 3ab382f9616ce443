#include "vector/distance_sets.h"
#if LOREKEEP_X86_KERNELS
#include <immintrin.h>

#include "vector/ten_bit.h"

#define LOREKEEP_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,f16c")))
#define LOREKEEP_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace lorekeep::vector {
namespace {

LOREKEEP_AVX512 inline __m512 load16(const float* from) {
  return _mm512_loadu_ps(from);
}
LOREKEEP_AVX512 inline __m512 load16(const std::uint16_t* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
LOREKEEP_AVX512 inline __m512 load16(const float* from, __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, from);
}
LOREKEEP_AVX512 inline __m512 load16(const std::uint16_t* from, __mmask16 mask) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
}

template <int kRows, class T>
LOREKEEP_AVX512 inline void dot_rows(const float* query, const T* const* rows, std::size_t length, float* out) {
  __m512 even[kRows];
  __m512 odd[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) even[r] = odd[r] = _mm512_setzero_ps();
  std::size_t i = 0;
  for (; i + 32 <= length; i += 32) {
    const __m512 q0 = load16(query + i);
    const __m512 q1 = load16(query + i + 16);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      even[r] = _mm512_fmadd_ps(q0, load16(rows[r] + i), even[r]);
      odd[r] = _mm512_fmadd_ps(q1, load16(rows[r] + i + 16), odd[r]);
    }
  }
  for (; i < length; i += 16) {  // at most twice
    const std::size_t left = length - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1);
    const __m512 q0 = load16(query + i, mask);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) even[r] = _mm512_fmadd_ps(q0, load16(rows[r] + i, mask), even[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) out[r] = _mm512_reduce_add_ps(_mm512_add_ps(even[r], odd[r]));
}

// VNNI multiplies unsigned by signed bytes. So r + 128 is used, and 128 * sum(q), computed by the same instruction once
// for all rows, is subtracted at the end.
template <int kRows>
LOREKEEP_VNNI inline void dot_rows_i8(const std::int8_t* query, const std::int8_t* const* rows, std::size_t length,
                                      std::int32_t* out) {
  const __m512i bias = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i offset = _mm512_setzero_si512();
  __m512i sums[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sums[r] = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 64 <= length; i += 64) {
    const __m512i q = _mm512_loadu_si512(query + i);
    offset = _mm512_dpbusd_epi32(offset, bias, q);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums[r] = _mm512_dpbusd_epi32(sums[r], _mm512_xor_si512(_mm512_loadu_si512(rows[r] + i), bias), q);
    }
  }
  if (i < length) {
    const __mmask64 mask = (__mmask64{1} << (length - i)) - 1;
    const __m512i q = _mm512_maskz_loadu_epi8(mask, query + i);
    offset = _mm512_dpbusd_epi32(offset, bias, q);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const __m512i row = _mm512_maskz_loadu_epi8(mask, rows[r] + i);
      sums[r] = _mm512_dpbusd_epi32(sums[r], _mm512_xor_si512(row, bias), q);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) out[r] = _mm512_reduce_add_epi32(_mm512_sub_epi32(sums[r], offset));
}

template <class T>
LOREKEEP_AVX512 float dot(const float* query, const T* row, std::size_t length) {
  float out;
  dot_rows<1>(query, &row, length, &out);
  return out;
}
LOREKEEP_VNNI std::int32_t dot_i8(const std::int8_t* query, const std::int8_t* row, std::size_t length) {
  std::int32_t out;
  dot_rows_i8<1>(query, &row, length, &out);
  return out;
}

LOREKEEP_AVX512 float dot_ten_bit(const float* query, const std::int8_t* codes, const std::uint8_t* low,
                                  std::size_t length) {
  const __m512i three = _mm512_set1_epi32(3);
  const __m512i two = _mm512_set1_epi32(2);
  __m512 sums[4];
#pragma GCC unroll 4
  for (int part = 0; part < 4; ++part) sums[part] = _mm512_setzero_ps();
  for (std::size_t i = 0; i < length; i += kTenBitGroup, low += 16) {
    const __m512i bits = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low)));
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      const auto* at = reinterpret_cast<const __m128i*>(codes + i + 16 * part);
      const __m512i code = _mm512_slli_epi32(_mm512_cvtepi8_epi32(_mm_loadu_si128(at)), 2);
      const __m512i rest = _mm512_sub_epi32(_mm512_and_si512(_mm512_srli_epi32(bits, 2 * part), three), two);
      const __m512 row = _mm512_cvtepi32_ps(_mm512_add_epi32(code, rest));
      sums[part] = _mm512_fmadd_ps(load16(query + i + 16 * part), row, sums[part]);
    }
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])));
}

LOREKEEP_AVX512 void encode_f16(const float* from, std::uint16_t* to, std::size_t length) {
  for (std::size_t i = 0; i < length; i += 16) {
    const std::size_t left = length - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1);
    const __m256i halves = _mm512_cvtps_ph(load16(from + i, mask), _MM_FROUND_TO_NEAREST_INT);
    _mm256_mask_storeu_epi16(to + i, mask, halves);
  }
}
LOREKEEP_AVX512 void decode_f16(const std::uint16_t* from, float* to, std::size_t length) {
  for (std::size_t i = 0; i < length; i += 16) {
    const std::size_t left = length - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1);
    _mm512_mask_storeu_ps(to + i, mask, load16(from + i, mask));
  }
}

using DotI8 = decltype(DistanceKernels::dot_i8);
using Dot4I8 = decltype(DistanceKernels::dot4_i8);

constexpr DistanceKernels kernels_with(const char* name, DotI8 one, Dot4I8 four) {
  return {
      .name = name,
      .dot_f32 = dot<float>,
      .dot4_f32 = dot_rows<4, float>,
      .dot_f16 = dot<std::uint16_t>,
      .dot4_f16 = dot_rows<4, std::uint16_t>,
      .dot_i8 = one,
      .dot4_i8 = four,
      .dot_ten_bit = dot_ten_bit,
      .estimate_sketches = estimate_sketches_avx512,
      .pick = pick_avx512,
      .encode_f16 = encode_f16,
      .decode_f16 = decode_f16,
  };
}

}  // namespace

const DistanceKernels kAvx512Kernels = kernels_with("avx512", dot_i8_avx2, dot4_i8_avx2);
const DistanceKernels kAvx512VnniKernels = kernels_with("avx512vnni", dot_i8, dot_rows_i8<4>);

}  // namespace lorekeep::vector
#endif
