#include "filter/interval_scan.h"

#include "core/cpu/cpu.h"
#include "filter/row_scan.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define LOREKEEP_X86_FILTERS 1
#include <immintrin.h>
#define LOREKEEP_AVX512 __attribute__((target("avx512f")))
#else
#define LOREKEEP_X86_FILTERS 0
#endif

namespace lorekeep::filter {
namespace {

#if LOREKEEP_X86_FILTERS
LOREKEEP_AVX512 inline __m512i load8(const std::int64_t* from) {
  return _mm512_loadu_si512(from);
}
LOREKEEP_AVX512 inline __m512i load8(const std::uint32_t* from) {
  return _mm512_maskz_cvtepu32_epi64(0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

template <class T>
LOREKEEP_AVX512 void scan_avx512(const T* values, std::size_t count, std::uint64_t low, std::uint64_t length,
                                 std::uint64_t* words) noexcept {
  const __m512i lows = _mm512_set1_epi64(static_cast<long long>(low));
  const __m512i lengths = _mm512_set1_epi64(static_cast<long long>(length));
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    std::uint64_t word = 0;
    for (std::size_t part = 0; part < 8; ++part) {
      const __m512i shifted = _mm512_sub_epi64(load8(values + i + 8 * part), lows);
      word |= std::uint64_t{_mm512_cmple_epu64_mask(shifted, lengths)} << (8 * part);
    }
    words[i / 64] = word;
  }
  if (i < count) scan_interval_plainly(values + i, count - i, low, length, words + i / 64);
}
#endif

}  // namespace

template <class T>
void scan_interval_plainly(const T* values, std::size_t count, std::uint64_t low, std::uint64_t length,
                           std::uint64_t* words) noexcept {
  // Shifted so that the interval starts at 0, one unsigned comparison finds both ends.
  const auto within = [&](std::size_t i) { return static_cast<std::uint64_t>(values[i]) - low <= length; };
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    unsigned char flags[64];  // all tests first, which the compiler can vectorise, then the packing
    for (std::size_t bit = 0; bit < 64; ++bit) flags[bit] = within(i + bit) ? 1 : 0;
    words[i / 64] = packed(flags);
  }
  if (i == count) return;
  words[i / 64] = 0;
  for (; i < count; ++i) words[i / 64] |= std::uint64_t{within(i)} << (i % 64);
}

template <class T>
IntervalScan<T> interval_scan() noexcept {
#if LOREKEEP_X86_FILTERS
  if ((usable_features() & kAvx512) != 0) return scan_avx512<T>;
#endif
  return scan_interval_plainly<T>;
}

template IntervalScan<std::int64_t> interval_scan<std::int64_t>() noexcept;
template IntervalScan<std::uint32_t> interval_scan<std::uint32_t>() noexcept;
template void scan_interval_plainly(const std::int64_t*, std::size_t, std::uint64_t, std::uint64_t,
                                    std::uint64_t*) noexcept;
template void scan_interval_plainly(const std::uint32_t*, std::size_t, std::uint64_t, std::uint64_t,
                                    std::uint64_t*) noexcept;

}  // namespace lorekeep::filter
