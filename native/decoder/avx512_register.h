// Registers of 16 values of AVX-512, for kernel_bodies.h, without the products of pairs. The including file defines
// LOREKEEP_TARGET.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lorekeep::decoder {
namespace {

struct Avx512Register {
  using Value = __m512;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kQueries = 12;  // 24 sums, 2 registers of keys and a value in 32 registers

  LOREKEEP_TARGET static Value load(const float* from) { return _mm512_loadu_ps(from); }
  LOREKEEP_TARGET static void store(float* to, Value a) { _mm512_storeu_ps(to, a); }
  LOREKEEP_TARGET static Value set(float value) { return _mm512_set1_ps(value); }
  LOREKEEP_TARGET static Value load_half(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  LOREKEEP_TARGET static Value load_bytes(const std::int8_t* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  LOREKEEP_TARGET static Value add(Value a, Value b) { return _mm512_add_ps(a, b); }
  LOREKEEP_TARGET static Value sub(Value a, Value b) { return _mm512_sub_ps(a, b); }
  LOREKEEP_TARGET static Value mul(Value a, Value b) { return _mm512_mul_ps(a, b); }
  LOREKEEP_TARGET static Value div(Value a, Value b) { return _mm512_div_ps(a, b); }
  LOREKEEP_TARGET static Value fma(Value a, Value b, Value c) { return _mm512_fmadd_ps(a, b, c); }
  LOREKEEP_TARGET static Value min(Value a, Value b) { return _mm512_min_ps(a, b); }
  LOREKEEP_TARGET static Value max(Value a, Value b) { return _mm512_max_ps(a, b); }
  LOREKEEP_TARGET static Value round(Value a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  LOREKEEP_TARGET static Value times_two_to(Value a, Value b) { return _mm512_scalef_ps(a, b); }
  LOREKEEP_TARGET static Value less(Value a, Value b, Value x, Value y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
  }
  LOREKEEP_TARGET static Value ordinals() {
    return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  using Pairs = __m512i;
  using Sums = __m512i;
  LOREKEEP_TARGET static Pairs load_pairs(const std::uint16_t* from) { return _mm512_loadu_si512(from); }
  LOREKEEP_TARGET static Pairs same_pair(const std::uint16_t* from) {
    std::int32_t pair;
    std::memcpy(&pair, from, sizeof pair);
    return _mm512_set1_epi32(pair);
  }
  LOREKEEP_TARGET static void store_pairs(std::uint16_t* to, Value even, Value odd) {
    constexpr __mmask32 kOdd = 0xaaaaaaaa;
    const __m512i high = _mm512_slli_epi32(_mm512_cvtps_epi32(odd), 16);
    _mm512_storeu_si512(to, _mm512_mask_blend_epi16(kOdd, _mm512_cvtps_epi32(even), high));
  }
  LOREKEEP_TARGET static void store_integers(std::uint16_t* to, Value a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(a)));
  }
  // Two registers have groups of 4 dimensions in turn.
  LOREKEEP_TARGET static void interleave(const std::uint16_t* first, const std::uint16_t* second, Pairs (&to)[2]) {
    const __m512i a = _mm512_loadu_si512(first);
    const __m512i b = _mm512_loadu_si512(second);
    to[0] = _mm512_unpacklo_epi16(a, b);
    to[1] = _mm512_unpackhi_epi16(a, b);
  }
  LOREKEEP_TARGET static void in_order(Value (&values)[2]) {
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i high = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const Value first = _mm512_permutex2var_ps(values[0], low, values[1]);
    values[1] = _mm512_permutex2var_ps(values[0], high, values[1]);
    values[0] = first;
  }
  LOREKEEP_TARGET static void interleave(const std::uint16_t* first, const std::uint16_t* second, Pairs (&to)[1]) {
    const __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first)));
    const __m512i b = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(second)));
    to[0] = _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
  }
  LOREKEEP_TARGET static void in_order(Value (&)[1]) {}
  LOREKEEP_TARGET static Sums no_sums() { return _mm512_setzero_si512(); }
  LOREKEEP_TARGET static Value from_sums(Sums sums) { return _mm512_cvtepi32_ps(sums); }
  LOREKEEP_TARGET static float sum(Value a) { return _mm512_reduce_add_ps(a); }
  LOREKEEP_TARGET static float largest(Value a) { return _mm512_reduce_max_ps(a); }
};

}  // namespace
}  // namespace lorekeep::decoder
