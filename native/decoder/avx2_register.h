// Registers of 8 values of AVX2, for kernel_bodies.h, without the products of pairs. The including file defines
// LOREKEEP_TARGET.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lorekeep::decoder {
namespace {

struct Avx2Register {
  using Value = __m256;
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kQueries = 6;  // 12 sums, 2 registers of keys and a value in 16 registers

  LOREKEEP_TARGET static Value load(const float* from) { return _mm256_loadu_ps(from); }
  LOREKEEP_TARGET static void store(float* to, Value a) { _mm256_storeu_ps(to, a); }
  LOREKEEP_TARGET static Value set(float value) { return _mm256_set1_ps(value); }
  LOREKEEP_TARGET static Value load_half(const std::uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  LOREKEEP_TARGET static Value load_bytes(const std::int8_t* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  LOREKEEP_TARGET static Value add(Value a, Value b) { return _mm256_add_ps(a, b); }
  LOREKEEP_TARGET static Value sub(Value a, Value b) { return _mm256_sub_ps(a, b); }
  LOREKEEP_TARGET static Value mul(Value a, Value b) { return _mm256_mul_ps(a, b); }
  LOREKEEP_TARGET static Value div(Value a, Value b) { return _mm256_div_ps(a, b); }
  LOREKEEP_TARGET static Value fma(Value a, Value b, Value c) { return _mm256_fmadd_ps(a, b, c); }
  LOREKEEP_TARGET static Value min(Value a, Value b) { return _mm256_min_ps(a, b); }
  LOREKEEP_TARGET static Value max(Value a, Value b) { return _mm256_max_ps(a, b); }
  LOREKEEP_TARGET static Value round(Value a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  // Builds 2^b from its bits: b is between -126 and 127.
  LOREKEEP_TARGET static Value times_two_to(Value a, Value b) {
    constexpr int kBias = 127;
    constexpr int kMantissa = 23;
    const __m256i bits =
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(b), _mm256_set1_epi32(kBias)), kMantissa);
    return _mm256_mul_ps(a, _mm256_castsi256_ps(bits));
  }
  LOREKEEP_TARGET static Value less(Value a, Value b, Value x, Value y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  LOREKEEP_TARGET static Value ordinals() { return _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7); }
  using Pairs = __m256i;
  using Sums = __m256i;
  LOREKEEP_TARGET static Pairs load_pairs(const std::uint16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  LOREKEEP_TARGET static Pairs same_pair(const std::uint16_t* from) {
    std::int32_t pair;
    std::memcpy(&pair, from, sizeof pair);
    return _mm256_set1_epi32(pair);
  }
  LOREKEEP_TARGET static void store_pairs(std::uint16_t* to, Value even, Value odd) {
    const __m256i high = _mm256_slli_epi32(_mm256_cvtps_epi32(odd), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_blend_epi16(_mm256_cvtps_epi32(even), high, 0xaa));
  }
  LOREKEEP_TARGET static void store_integers(std::uint16_t* to, Value a) {
    const __m256i whole = _mm256_cvtps_epi32(a);
    const __m128i packed = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
  }
  // Two registers have groups of 4 dimensions in turn.
  LOREKEEP_TARGET static void interleave(const std::uint16_t* first, const std::uint16_t* second, Pairs (&to)[2]) {
    const __m256i a = load_pairs(first);
    const __m256i b = load_pairs(second);
    to[0] = _mm256_unpacklo_epi16(a, b);
    to[1] = _mm256_unpackhi_epi16(a, b);
  }
  LOREKEEP_TARGET static void in_order(Value (&values)[2]) {
    const Value first = _mm256_permute2f128_ps(values[0], values[1], 0x20);
    values[1] = _mm256_permute2f128_ps(values[0], values[1], 0x31);
    values[0] = first;
  }
  LOREKEEP_TARGET static void interleave(const std::uint16_t* first, const std::uint16_t* second, Pairs (&to)[1]) {
    const __m256i a = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first)));
    const __m256i b = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(second)));
    to[0] = _mm256_or_si256(a, _mm256_slli_epi32(b, 16));
  }
  LOREKEEP_TARGET static void in_order(Value (&)[1]) {}
  LOREKEEP_TARGET static Sums no_sums() { return _mm256_setzero_si256(); }
  LOREKEEP_TARGET static Value from_sums(Sums sums) { return _mm256_cvtepi32_ps(sums); }
  LOREKEEP_TARGET static float sum(Value a) {
    float each[kLanes];
    _mm256_storeu_ps(each, a);
    return ((each[0] + each[4]) + (each[1] + each[5])) + ((each[2] + each[6]) + (each[3] + each[7]));
  }
  LOREKEEP_TARGET static float largest(Value a) {
    float each[kLanes];
    _mm256_storeu_ps(each, a);
    float found = each[0];
    for (std::size_t i = 1; i < kLanes; ++i) found = each[i] > found ? each[i] : found;
    return found;
  }
};

}  // namespace
}  // namespace lorekeep::decoder
