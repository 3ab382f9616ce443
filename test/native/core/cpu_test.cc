#include "core/cpu/cpu.h"

#include "harness.h"

namespace lorekeep {
namespace {

constexpr CpuFeatures kEverything = kAvx2 | kAvx512 | kAvx512Vnni | kAvx512Bf16 | kAmxBf16 | kAmxInt8;

TEST("cpu: a limit excludes every feature beyond it") {
  CHECK_EQ(features_within("scalar", kEverything), 0u);
  CHECK_EQ(features_within("avx2", kEverything), kAvx2);
  CHECK_EQ(features_within("avx512", kEverything), kAvx2 | kAvx512);
  CHECK_EQ(features_within("avx512vnni", kEverything), kAvx2 | kAvx512 | kAvx512Vnni);
  CHECK_EQ(features_within("neon", kNeon), kNeon);
  CHECK_EQ(features_within("scalar", kNeon), 0u);
}

TEST("cpu: a limit that is unknown, or that this CPU does not reach, excludes nothing") {
  for (const char* name : {"", "abacus", "AVX2", "avx512-bf16", "neon"}) {
    CHECK_EQ(features_within(name, kEverything), kEverything);
  }
  CHECK_EQ(features_within("avx512vnni", kAvx2 | kAvx512), kAvx2 | kAvx512);
  CHECK_EQ(features_within("avx2", kNeon), kNeon);
}

struct Named {
  const char* name;
};

TEST("cpu: sets of kernels are those whose features are all there, in their order") {
  static constexpr Named kPlain{"plain"}, kWide{"wide"}, kOther{"other"};
  const KernelSets<Named, 3> sets({{&kPlain, 0}, {&kOther, kNeon}, {&kWide, kAvx2 | kAvx512}}, kAvx2 | kAvx512);
  CHECK_EQ(sets.all().size(), 2u);
  CHECK(sets.all().front() == &kPlain);
  CHECK(sets.all().back() == &kWide);
  CHECK(sets.named("wide") == &kWide);
  CHECK(sets.named("other") == nullptr);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
TEST("cpu: the features of the processor are those that GCC's library finds") {
  __builtin_cpu_init();
  const CpuFeatures found = cpu_features();
  const auto has = [found](CpuFeatures feature) { return (found & feature) != 0; };
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  CHECK_EQ(has(kAvx2), avx2);
  CHECK_EQ(has(kAvx512), avx512);
  CHECK_EQ(has(kAvx512Vnni), avx512 && __builtin_cpu_supports("avx512vnni") != 0);
  CHECK_EQ(has(kAvx512Bf16), avx512 && __builtin_cpu_supports("avx512bf16") != 0);
}
#endif

}  // namespace
}  // namespace lorekeep
