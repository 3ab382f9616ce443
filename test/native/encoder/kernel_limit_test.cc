// All kernels obey LOREKEEP_KERNELS. CMake runs this program once per value of it.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/cpu/cpu.h"
#include "decoder/kernels.h"
#include "encoder/kernels.h"
#include "filter/interval_scan.h"
#include "harness.h"
#include "quant/kernels.h"
#include "vector/distance.h"

namespace lorekeep {
namespace {

TEST(
    "kernels: distances, filters, the encoder, the decoder and quantised products use nothing beyond "
    "LOREKEEP_KERNELS") {
  const char* const value = std::getenv("LOREKEEP_KERNELS");
  const std::string_view wanted = value == nullptr ? "" : value;
  const bool named = vector::kernels_named(wanted) != nullptr;
  CHECK_EQ(std::string_view(vector::kernels().name),
           named ? wanted : std::string_view(vector::available_kernels().back()->name));
  const CpuFeatures usable = features_within(wanted, cpu_features());
  CHECK_EQ(usable_features(), usable);
  CHECK_EQ(usable == cpu_features(), !named || usable == features_within("", cpu_features()));
  const bool plain = filter::interval_scan<std::int64_t>() == filter::scan_interval_plainly<std::int64_t>;
  CHECK_EQ(plain, (usable & kAvx512) == 0);
  CHECK_EQ(encoder::kernels_named("avx2") != nullptr, (usable & kAvx2) != 0);
  CHECK_EQ(encoder::kernels_named("avx512") != nullptr, (usable & kAvx512) != 0);
  CHECK_EQ(encoder::kernels_named("avx512-vnni") != nullptr, (usable & kAvx512Vnni) != 0);
  CHECK_EQ(encoder::kernels_named("avx512-bf16") != nullptr, (usable & kAvx512Bf16) != 0);
  CHECK_EQ(quant::kernels_named("avx2") != nullptr, (usable & kAvx2) != 0);
  CHECK_EQ(quant::kernels_named("avx-vnni") != nullptr, (usable & kAvxVnni) != 0);
  CHECK_EQ(quant::kernels_named("avx512") != nullptr, (usable & kAvx512) != 0);
  CHECK_EQ(quant::kernels_named("avx512-vnni") != nullptr, (usable & kAvx512Vnni) != 0);
  const auto decodes = [](std::string_view name) {
    const auto sets = decoder::available_kernels();
    return std::any_of(sets.begin(), sets.end(), [name](const auto* set) { return set->name == name; });
  };
  CHECK_EQ(decodes("avx2"), (usable & kAvx2) != 0);
  CHECK_EQ(decodes("avx512"), (usable & kAvx512) != 0);
  if ((usable & kAmxBf16) == 0) CHECK(encoder::kernels_named("amx-bf16") == nullptr);
  if ((usable & kAmxInt8) == 0) CHECK(quant::kernels_named("amx-int8") == nullptr);
}

}  // namespace
}  // namespace lorekeep
