// Vectors of 16 lanes in one AVX-512 register. Included by the files that define LOREKEEP_INLINE. Internal to
// native/quant.

#include <immintrin.h>

#include <cstring>

#include "quant/groups.h"

namespace lorekeep::quant {
namespace {

struct Avx512Lanes {
  using Bytes = __m512i;
  using Ints = __m512i;
  using Floats = __m512;

  LOREKEEP_INLINE static Bytes load(const Step& step) { return _mm512_load_si512(step); }
  LOREKEEP_INLINE static void store(Step& step, Bytes bytes) { _mm512_store_si512(step, bytes); }
  LOREKEEP_INLINE static Bytes low_halves(Bytes bytes) { return _mm512_and_si512(bytes, _mm512_set1_epi8(15)); }
  LOREKEEP_INLINE static Bytes high_halves(Bytes bytes) { return low_halves(_mm512_srli_epi16(bytes, 4)); }
  /// low | (bits << 4 >> from) & mask
  LOREKEEP_INLINE static Bytes with_high(Bytes low, Bytes bits, int from, char mask) {
    const Bytes moved = from <= 4 ? _mm512_slli_epi16(bits, static_cast<unsigned>(4 - from))
                                  : _mm512_srli_epi16(bits, static_cast<unsigned>(from - 4));
    constexpr int kLowOrBoth = 0xf8;  // a | (b & c)
    return _mm512_ternarylogic_epi32(low, moved, _mm512_set1_epi8(mask), kLowOrBoth);
  }
  LOREKEEP_INLINE static Bytes iq4_values(Bytes places) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kIq4Values));
    const __m128i added = _mm_xor_si128(values, _mm_set1_epi8(static_cast<char>(0x80)));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(added), places);
  }

  /// Four inputs, for all lanes.
  LOREKEEP_INLINE static __m512i four(const std::int8_t* values) {
    std::int32_t bits;
    std::memcpy(&bits, values, sizeof bits);
    return _mm512_set1_epi32(bits);
  }

  LOREKEEP_INLINE static Ints load_ints(const std::int32_t* from) { return _mm512_load_si512(from); }
  LOREKEEP_INLINE static void store_ints(std::int32_t* to, Ints ints) { _mm512_store_si512(to, ints); }
  LOREKEEP_INLINE static Ints no_ints() { return _mm512_setzero_si512(); }
  template <int kShift>
  LOREKEEP_INLINE static Ints shifted(std::int32_t value) {
    return _mm512_slli_epi32(_mm512_set1_epi32(value), kShift);
  }
  LOREKEEP_INLINE static Ints shifted_by(std::int32_t value, int shift) {
    return _mm512_sllv_epi32(_mm512_set1_epi32(value), _mm512_set1_epi32(shift));
  }

  LOREKEEP_INLINE static Floats zeros() { return _mm512_setzero_ps(); }
  LOREKEEP_INLINE static Floats same(float value) { return _mm512_set1_ps(value); }
  LOREKEEP_INLINE static Floats from_ints(Ints ints) { return _mm512_cvtepi32_ps(ints); }
  LOREKEEP_INLINE static Floats from_halves(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  LOREKEEP_INLINE static Floats from_bf16(const std::uint16_t* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  LOREKEEP_INLINE static Floats from_unsigned(const std::uint8_t* from) {
    return from_ints(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  LOREKEEP_INLINE static Floats from_signed(const std::int8_t* from) {
    return from_ints(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  LOREKEEP_INLINE static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  LOREKEEP_INLINE static Floats negate(Floats a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
  LOREKEEP_INLINE static Floats add_product(Floats a, Floats b, Floats sum) { return _mm512_fmadd_ps(a, b, sum); }
  LOREKEEP_INLINE static Floats load_floats(const float* from) { return _mm512_loadu_ps(from); }
  LOREKEEP_INLINE static Floats load_floats(const float* from, std::size_t lanes) {
    return _mm512_maskz_loadu_ps(mask(lanes), from);
  }
  LOREKEEP_INLINE static void store_floats(float* to, Floats floats, std::size_t lanes) {
    _mm512_mask_storeu_ps(to, mask(lanes), floats);
  }

 private:
  LOREKEEP_INLINE static __mmask16 mask(std::size_t lanes) { return static_cast<__mmask16>((1u << lanes) - 1); }
};

}  // namespace
}  // namespace lorekeep::quant
