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

#if defined(__x86_64__) && defined(__GNUC__)
CpuFeatures amx_features() noexcept {
  constexpr unsigned kOsXsave = 1u << 27;  // leaf 1, ecx
  constexpr unsigned kBf16 = 1u << 22;     // leaf 7, edx
  constexpr unsigned kTiles = 1u << 24;
  constexpr unsigned kInt8 = 1u << 25;
  constexpr unsigned kTileState = 3u << 17;  // XCR0: XTILECFG, XTILEDATA
  constexpr unsigned kTileLeaf = 0x1d;       // subleaf 1: palette 1
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsXsave) == 0) return 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTiles) == 0) return 0;
  const CpuFeatures found = ((d & kBf16) != 0 ? kAmxBf16 : 0) | ((d & kInt8) != 0 ? kAmxInt8 : 0);
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  if ((a & kTileState) != kTileState) return 0;
  if (__get_cpuid_count(kTileLeaf, 1, &a, &b, &c, &d) == 0) return 0;
  return (b & 0xffff) == 64 && b >> 16 == 8 && (c & 0xffff) == 16 ? found : 0;
}
#endif

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
bool has_avx_vnni() noexcept {
  constexpr unsigned kAvxVnniBit = 1u << 4;  // leaf 7, subleaf 1, eax
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || a < 1) return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvxVnniBit) != 0;
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
  __builtin_cpu_init();  // the checks include that the operating system saves the registers
  const auto add = [&found](CpuFeatures feature, bool present) { found |= present ? feature : 0; };
  add(kAvx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"));
  if ((found & kAvx2) == 0) return found;
  add(kAvxVnni, has_avx_vnni());
  add(kAvx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
  if ((found & kAvx512) == 0) return found;
  add(kAvx512Vnni, __builtin_cpu_supports("avx512vnni"));
  add(kAvx512Bf16, __builtin_cpu_supports("avx512bf16"));
#if defined(__x86_64__)
  found |= amx_features();
#endif
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
