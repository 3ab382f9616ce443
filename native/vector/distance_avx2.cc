#include "vector/distance_sets.h"
#if LOREKEEP_X86_KERNELS
#include <immintrin.h>

#include "core/cpu/half.h"
#include "vector/ten_bit.h"

#define LOREKEEP_AVX2 __attribute__((target("avx2,fma,f16c")))

namespace lorekeep::vector {
namespace {

LOREKEEP_AVX2 inline __m256 load8(const float* from) {
  return _mm256_loadu_ps(from);
}
LOREKEEP_AVX2 inline __m256 load8(const std::uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
inline float value(float from) {
  return from;
}
inline float value(std::uint16_t from) {
  return float_from_half(from);
}

LOREKEEP_AVX2 inline float reduce(__m256 sum) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

// Two sums per row hide half the latency of FMA; four rows at once hide all of it, in 8 of 16 registers.
template <int kRows, class T>
LOREKEEP_AVX2 inline void dot_rows(const float* query, const T* const* rows, std::size_t length, float* out) {
  __m256 even[kRows];
  __m256 odd[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) even[r] = odd[r] = _mm256_setzero_ps();
  std::size_t i = 0;
  for (; i + 16 <= length; i += 16) {
    const __m256 q0 = load8(query + i);
    const __m256 q1 = load8(query + i + 8);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      even[r] = _mm256_fmadd_ps(q0, load8(rows[r] + i), even[r]);
      odd[r] = _mm256_fmadd_ps(q1, load8(rows[r] + i + 8), odd[r]);
    }
  }
  if (i + 8 <= length) {
    const __m256 q0 = load8(query + i);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) even[r] = _mm256_fmadd_ps(q0, load8(rows[r] + i), even[r]);
    i += 8;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    float sum = reduce(_mm256_add_ps(even[r], odd[r]));
    for (std::size_t j = i; j < length; ++j) sum += query[j] * value(rows[r][j]);
    out[r] = sum;
  }
}

LOREKEEP_AVX2 inline std::int32_t reduce(__m256i sum) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}

// |q| * (sign of q) r in pairs: at most 2 * 127 * 127 = 32258, so the 16-bit sums never saturate.
template <int kRows>
LOREKEEP_AVX2 inline void dot_rows_i8(const std::int8_t* query, const std::int8_t* const* rows, std::size_t length,
                                      std::int32_t* out) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sums[r] = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 32 <= length; i += 32) {
    const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(query + i));
    const __m256i magnitude = _mm256_abs_epi8(q);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const __m256i row = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[r] + i));
      const __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(row, q));
      sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(pairs, ones));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    std::int32_t sum = reduce(sums[r]);
    for (std::size_t j = i; j < length; ++j) sum += std::int32_t{query[j]} * rows[r][j];
    out[r] = sum;
  }
}

template <class T>
LOREKEEP_AVX2 float dot(const float* query, const T* row, std::size_t length) {
  float out;
  dot_rows<1>(query, &row, length, &out);
  return out;
}

// Eight values: codes at `codes`, low bits in two of the eight bits of each of `bits`.
LOREKEEP_AVX2 inline __m256 ten_bit8(const std::int8_t* codes, __m256i bits, int shift) {
  const __m256i code = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes)));
  const __m256i low = _mm256_and_si256(_mm256_srli_epi32(bits, shift), _mm256_set1_epi32(3));
  const __m256i rest = _mm256_sub_epi32(low, _mm256_set1_epi32(2));
  return _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_slli_epi32(code, 2), rest));
}
LOREKEEP_AVX2 float dot_ten_bit(const float* query, const std::int8_t* codes, const std::uint8_t* low,
                                std::size_t length) {
  __m256 even[4];
  __m256 odd[4];
#pragma GCC unroll 4
  for (int part = 0; part < 4; ++part) even[part] = odd[part] = _mm256_setzero_ps();
  for (std::size_t i = 0; i < length; i += kTenBitGroup, low += 16) {
    const __m256i first = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low)));
    const __m256i second = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low + 8)));
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      const std::size_t at = i + static_cast<std::size_t>(16 * part);
      even[part] = _mm256_fmadd_ps(load8(query + at), ten_bit8(codes + at, first, 2 * part), even[part]);
      odd[part] = _mm256_fmadd_ps(load8(query + at + 8), ten_bit8(codes + at + 8, second, 2 * part), odd[part]);
    }
  }
  for (int part = 0; part < 4; ++part) even[part] = _mm256_add_ps(even[part], odd[part]);
  return reduce(_mm256_add_ps(_mm256_add_ps(even[0], even[1]), _mm256_add_ps(even[2], even[3])));
}

LOREKEEP_AVX2 void encode_f16(const float* from, std::uint16_t* to, std::size_t length) {
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
  for (; i < length; ++i) to[i] = half_from_float(from[i]);
}
LOREKEEP_AVX2 void decode_f16(const std::uint16_t* from, float* to, std::size_t length) {
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8) _mm256_storeu_ps(to + i, load8(from + i));
  for (; i < length; ++i) to[i] = float_from_half(from[i]);
}

}  // namespace

LOREKEEP_AVX2 std::int32_t dot_i8_avx2(const std::int8_t* query, const std::int8_t* row, std::size_t length) {
  std::int32_t out;
  dot_rows_i8<1>(query, &row, length, &out);
  return out;
}
LOREKEEP_AVX2 void dot4_i8_avx2(const std::int8_t* query, const std::int8_t* const rows[4], std::size_t length,
                                std::int32_t out[4]) {
  dot_rows_i8<4>(query, rows, length, out);
}

const DistanceKernels kAvx2Kernels{
    .name = "avx2",
    .dot_f32 = dot<float>,
    .dot4_f32 = dot_rows<4, float>,
    .dot_f16 = dot<std::uint16_t>,
    .dot4_f16 = dot_rows<4, std::uint16_t>,
    .dot_i8 = dot_i8_avx2,
    .dot4_i8 = dot4_i8_avx2,
    .dot_ten_bit = dot_ten_bit,
    .estimate_sketches = estimate_sketches_avx2,
    .pick = pick_avx2,
    .encode_f16 = encode_f16,
    .decode_f16 = decode_f16,
};

}  // namespace lorekeep::vector
#endif
