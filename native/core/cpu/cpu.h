// Detects the instruction sets of this CPU that kernels may use, for distances, sketches, filters and the encoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace lorekeep {

/// A set of bits.
using CpuFeatures = std::uint32_t;
inline constexpr CpuFeatures kAvx2 = 1;    // with FMA and F16C
inline constexpr CpuFeatures kAvx512 = 2;  // F, BW, DQ and VL
inline constexpr CpuFeatures kAvx512Vnni = 4;
inline constexpr CpuFeatures kAvx512Bf16 = 8;
inline constexpr CpuFeatures kAmxBf16 = 16;  // tiles of 16 rows of 64 bytes; a process must ask for them
inline constexpr CpuFeatures kNeon = 32;
inline constexpr CpuFeatures kAvxVnni = 64;   // the 8-bit products of AVX-512 VNNI in registers of AVX2
inline constexpr CpuFeatures kNeonDot = 128;  // the 8-bit products of ARMv8.2, with NEON
inline constexpr CpuFeatures kAmxInt8 = 256;  // as kAmxBf16

/// Returns the features of this CPU whose registers the operating system saves. Detected once.
CpuFeatures cpu_features() noexcept;

/// Returns the features of `present` that kernels may use if LOREKEEP_KERNELS is `name`: "scalar", "avx2", "avx512",
/// "avx512vnni" and "neon" exclude everything beyond themselves. An unknown name, or a name that needs a feature
/// outside `present`, excludes nothing.
CpuFeatures features_within(std::string_view name, CpuFeatures present) noexcept;

/// Returns features_within() of the environment's LOREKEEP_KERNELS and this CPU. Read once.
CpuFeatures usable_features() noexcept;

/// The usable sets among at most kMax sets of kernels, in the given order, slowest first. A set has a member `name`.
template <class Set, std::size_t kMax>
class KernelSets {
 public:
  struct Entry {
    const Set* set;
    CpuFeatures needs;
    bool (*permitted)() noexcept = nullptr;  // asked if the features are there; null: always
  };
  KernelSets(std::initializer_list<Entry> entries, CpuFeatures features) noexcept {
    for (const Entry& entry : entries) {
      if ((entry.needs & ~features) != 0) continue;
      if (entry.permitted == nullptr || entry.permitted()) sets_[count_++] = entry.set;
    }
  }
  std::span<const Set* const> all() const noexcept { return std::span(sets_).first(count_); }
  /// Returns the set of that name, or null.
  const Set* named(std::string_view name) const noexcept {
    for (const Set* set : all()) {
      if (name == set->name) return set;
    }
    return nullptr;
  }

 private:
  std::array<const Set*, kMax> sets_{};
  std::size_t count_ = 0;
};

}  // namespace lorekeep
