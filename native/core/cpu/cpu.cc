#include "core/cpu/cpu.h"

#include <cstdlib>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace lorekeep {
namespace {

struct Limit {
  std::string_view name;
  CpuFeatures features;
};
constexpr Limit kLimits[] = {
    {"scalar", 0},
    {"avx2", kAvx2},
    {"avx512", kAvx2 | kAvx512},
    {"avx512vnni", kAvx2 | kAvx512 | kAvx512Vnni},
    {"neon", kNeon | kNeonDot},
};

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros for a leaf that the processor has not.
Cpuid cpuid(unsigned leaf, unsigned subleaf = 0) noexcept {
  Cpuid found;
  if (__get_cpuid_count(leaf, subleaf, &found.a, &found.b, &found.c, &found.d) == 0) return {};
  return found;
}

// The registers that the operating system saves: the low half of XCR0.
unsigned saved_registers() noexcept {
  constexpr unsigned kOsXsave = 1u << 27;  // leaf 1, ecx
  if ((cpuid(1).c & kOsXsave) == 0) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr bool has_all(unsigned bits, unsigned wanted) noexcept {
  return (bits & wanted) == wanted;
}

CpuFeatures amx_features(const Cpuid& extended) noexcept {
  constexpr unsigned kBf16 = 1u << 22, kTiles = 1u << 24, kInt8 = 1u << 25;  // leaf 7, edx
  constexpr unsigned kTileLeaf = 0x1d;                                       // subleaf 1: palette 1
  if (!has_all(extended.d, kTiles)) return 0;
  const Cpuid palette = cpuid(kTileLeaf, 1);
  if ((palette.b & 0xffff) != 64 || palette.b >> 16 != 8 || (palette.c & 0xffff) != 16) return 0;
  return (has_all(extended.d, kBf16) ? kAmxBf16 : 0) | (has_all(extended.d, kInt8) ? kAmxInt8 : 0);
}

// Not __builtin_cpu_supports(): with Zig's runtime library, it finds nothing.
CpuFeatures x86_features() noexcept {
  constexpr unsigned kFma = 1u << 12, kAvx = 1u << 28, kF16c = 1u << 29;                                 // leaf 1, ecx
  constexpr unsigned kAvx2Bit = 1u << 5, kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;  // leaf 7, ebx
  constexpr unsigned kVnni = 1u << 11;                                                                   // leaf 7, ecx
  constexpr unsigned kAvxVnniBit = 1u << 4, kBf16 = 1u << 5;             // leaf 7, subleaf 1, eax
  constexpr unsigned kYmm = 3u << 1, kZmm = 7u << 5, kTiles = 3u << 17;  // XCR0
  const unsigned saved = saved_registers();
  const Cpuid extended = cpuid(7);
  const unsigned more = extended.a >= 1 ? cpuid(7, 1).a : 0;
  if (!has_all(saved, kYmm) || !has_all(cpuid(1).c, kFma | kAvx | kF16c) || !has_all(extended.b, kAvx2Bit)) return 0;
  CpuFeatures found = kAvx2;
  if (has_all(more, kAvxVnniBit)) found |= kAvxVnni;
  if (!has_all(saved, kYmm | kZmm) || !has_all(extended.b, kF | kDq | kBw | kVl)) return found;
  found |= kAvx512;
  if (has_all(extended.c, kVnni)) found |= kAvx512Vnni;
  if (has_all(more, kBf16)) found |= kAvx512Bf16;
#if defined(__x86_64__)
  if (has_all(saved, kTiles)) found |= amx_features(extended);
#endif
  return found;
}
#endif

#if defined(__aarch64__) && defined(__ARM_NEON)
bool has_neon_dot() noexcept {
#if defined(__ARM_FEATURE_DOTPROD) || defined(__APPLE__)
  return true;
#elif defined(__linux__)
  constexpr unsigned long kDotProducts = 1ul << 20;  // HWCAP_ASIMDDP
  return (::getauxval(AT_HWCAP) & kDotProducts) != 0;
#else
  return false;
#endif
}
#endif

CpuFeatures detect() noexcept {
  CpuFeatures found = 0;
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
  found |= x86_features();
#elif defined(__aarch64__) && defined(__ARM_NEON)
  found |= kNeon;
  if (has_neon_dot()) found |= kNeonDot;
#endif
  return found;
}

}  // namespace

CpuFeatures cpu_features() noexcept {
  static const CpuFeatures found = detect();
  return found;
}

CpuFeatures features_within(std::string_view name, CpuFeatures present) noexcept {
  for (const Limit& limit : kLimits) {
    if (name == limit.name && (limit.features & ~present) == 0) return limit.features;
  }
  return present;
}

CpuFeatures usable_features() noexcept {
  static const CpuFeatures usable = [] {
    const char* wanted = std::getenv("LOREKEEP_KERNELS");
    return features_within(wanted == nullptr ? "" : wanted, cpu_features());
  }();
  return usable;
}

}  // namespace lorekeep
