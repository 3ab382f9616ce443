// Vectors of 16 lanes in two AVX2 registers. Included by the files that define LOREKEEP_INLINE. Internal to
// native/quant.

#include <immintrin.h>

#include <cstring>

#include "quant/groups.h"

namespace lorekeep::quant {
namespace {

struct Avx2Lanes {
  struct Bytes {
    __m256i v[2];
  };
  struct Ints {
    __m256i v[2];
  };
  struct Floats {
    __m256 v[2];
  };

  LOREKEEP_INLINE static Bytes load(const Step& step) {
    const auto* from = reinterpret_cast<const __m256i*>(step);
    return {{_mm256_load_si256(from), _mm256_load_si256(from + 1)}};
  }
  LOREKEEP_INLINE static void store(Step& step, Bytes bytes) {
    auto* to = reinterpret_cast<__m256i*>(step);
    _mm256_store_si256(to, bytes.v[0]);
    _mm256_store_si256(to + 1, bytes.v[1]);
  }
  LOREKEEP_INLINE static Bytes low_halves(Bytes bytes) {
    const __m256i mask = _mm256_set1_epi8(15);
    return {{_mm256_and_si256(bytes.v[0], mask), _mm256_and_si256(bytes.v[1], mask)}};
  }
  LOREKEEP_INLINE static Bytes high_halves(Bytes bytes) {
    return low_halves({{_mm256_srli_epi16(bytes.v[0], 4), _mm256_srli_epi16(bytes.v[1], 4)}});
  }
  /// low | (bits << 4 >> from) & mask
  LOREKEEP_INLINE static Bytes with_high(Bytes low, Bytes bits, int from, char mask) {
    return {{with_high(low.v[0], bits.v[0], from, mask), with_high(low.v[1], bits.v[1], from, mask)}};
  }
  LOREKEEP_INLINE static Bytes iq4_values(Bytes places) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kIq4Values));
    const __m256i added = _mm256_broadcastsi128_si256(_mm_xor_si128(values, _mm_set1_epi8(static_cast<char>(0x80))));
    return {{_mm256_shuffle_epi8(added, places.v[0]), _mm256_shuffle_epi8(added, places.v[1])}};
  }

  /// Four inputs, for all lanes.
  LOREKEEP_INLINE static __m256i four(const std::int8_t* values) {
    std::int32_t bits;
    std::memcpy(&bits, values, sizeof bits);
    return _mm256_set1_epi32(bits);
  }

  LOREKEEP_INLINE static Ints load_ints(const std::int32_t* from) {
    const auto* ints = reinterpret_cast<const __m256i*>(from);
    return {{_mm256_load_si256(ints), _mm256_load_si256(ints + 1)}};
  }
  LOREKEEP_INLINE static void store_ints(std::int32_t* to, Ints ints) {
    auto* vectors = reinterpret_cast<__m256i*>(to);
    _mm256_store_si256(vectors, ints.v[0]);
    _mm256_store_si256(vectors + 1, ints.v[1]);
  }
  LOREKEEP_INLINE static Ints no_ints() { return both(_mm256_setzero_si256()); }
  template <int kShift>
  LOREKEEP_INLINE static Ints shifted(std::int32_t value) {
    return both(_mm256_slli_epi32(_mm256_set1_epi32(value), kShift));
  }
  LOREKEEP_INLINE static Ints shifted_by(std::int32_t value, int shift) {
    return both(_mm256_sllv_epi32(_mm256_set1_epi32(value), _mm256_set1_epi32(shift)));
  }

  LOREKEEP_INLINE static Floats zeros() { return same(0); }
  LOREKEEP_INLINE static Floats same(float value) { return {{_mm256_set1_ps(value), _mm256_set1_ps(value)}}; }
  LOREKEEP_INLINE static Floats from_ints(Ints ints) {
    return {{_mm256_cvtepi32_ps(ints.v[0]), _mm256_cvtepi32_ps(ints.v[1])}};
  }
  LOREKEEP_INLINE static Floats from_halves(const std::uint16_t* from) {
    const auto* halves = reinterpret_cast<const __m128i*>(from);
    return {{_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))}};
  }
  LOREKEEP_INLINE static Floats from_bf16(const std::uint16_t* from) {
    const auto* values = reinterpret_cast<const __m128i*>(from);
    const __m256i low = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(values)), 16);
    const __m256i high = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(values + 1)), 16);
    return {{_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)}};
  }
  LOREKEEP_INLINE static Floats from_unsigned(const std::uint8_t* from) {
    return from_ints({{_mm256_cvtepu8_epi32(eight(from)), _mm256_cvtepu8_epi32(eight(from + 8))}});
  }
  LOREKEEP_INLINE static Floats from_signed(const std::int8_t* from) {
    return from_ints({{_mm256_cvtepi8_epi32(eight(from)), _mm256_cvtepi8_epi32(eight(from + 8))}});
  }
  LOREKEEP_INLINE static Floats mul(Floats a, Floats b) {
    return {{_mm256_mul_ps(a.v[0], b.v[0]), _mm256_mul_ps(a.v[1], b.v[1])}};
  }
  LOREKEEP_INLINE static Floats negate(Floats a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {{_mm256_xor_ps(a.v[0], sign), _mm256_xor_ps(a.v[1], sign)}};
  }
  LOREKEEP_INLINE static Floats add_product(Floats a, Floats b, Floats sum) {
    return {{_mm256_fmadd_ps(a.v[0], b.v[0], sum.v[0]), _mm256_fmadd_ps(a.v[1], b.v[1], sum.v[1])}};
  }
  LOREKEEP_INLINE static Floats load_floats(const float* from) {
    return {{_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}};
  }
  LOREKEEP_INLINE static Floats load_floats(const float* from, std::size_t lanes) {
    if (lanes == kLanes) return load_floats(from);
    alignas(32) float all[kLanes] = {};
    std::memcpy(all, from, lanes * sizeof(float));
    return load_floats(all);
  }
  LOREKEEP_INLINE static void store_floats(float* to, Floats floats, std::size_t lanes) {
    alignas(32) float all[kLanes];
    float* whole = lanes == kLanes ? to : all;
    _mm256_storeu_ps(whole, floats.v[0]);
    _mm256_storeu_ps(whole + 8, floats.v[1]);
    if (lanes != kLanes) std::memcpy(to, all, lanes * sizeof(float));
  }

 private:
  LOREKEEP_INLINE static Ints both(__m256i v) { return {{v, v}}; }
  LOREKEEP_INLINE static __m128i eight(const void* from) { return _mm_loadl_epi64(static_cast<const __m128i*>(from)); }
  LOREKEEP_INLINE static __m256i with_high(__m256i low, __m256i bits, int from, char mask) {
    const __m256i moved = from <= 4 ? _mm256_slli_epi16(bits, 4 - from) : _mm256_srli_epi16(bits, from - 4);
    return _mm256_or_si256(low, _mm256_and_si256(moved, _mm256_set1_epi8(mask)));
  }
};

}  // namespace
}  // namespace lorekeep::quant
