#include "quant/format.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "harness.h"
#include "matrices.h"
#include "naive_dequantize.h"

namespace lorekeep::quant {
namespace {

TEST("format: type numbers and sizes are ggml's") {
  CHECK(format_of_type(0) == Format::kF32);
  CHECK(format_of_type(12) == Format::kQ4_K);
  CHECK(format_of_type(20) == Format::kIq4Nl);
  CHECK(format_of_type(10) == std::nullopt);
  CHECK(format_of_type(99) == std::nullopt);
  CHECK_EQ(format_name(Format::kQ4_K), "Q4_K");
  CHECK_EQ(row_bytes(Format::kQ4_K, 512), 288u);
  CHECK_EQ(row_bytes(Format::kQ8_0, 64), 68u);
  CHECK_EQ(row_bytes(Format::kBf16, 7), 14u);
}

/// Values 0, n / 4 + 1, n / 2 + 3 and n - 1 of a block of n values (8 for floats).
struct Sample {
  Format format;
  float values[4];
};

// Computed by ggml's to_float from the bytes below.
constexpr Sample kSamples[] = {
    {Format::kF16, {0x1.02cp-3, 0x1.ba4p-12, 0x1.844p-2, 0x1.844p-2}},
    {Format::kBf16, {0x1.16p-31, 0x1.d2p-98, 0x1.22p-19, 0x1.22p-19}},
    {Format::kQ8_0, {0x1.57a7p+3, -0x1.7c0ap+3, 0x1.437p+1, 0x1.02cp+1}},
    {Format::kQ4_0, {-0x1.842p-2, -0x1.842p-1, 0x1.02cp-1, -0x1.02cp+0}},
    {Format::kQ4_1, {0x1.57e4p+1, 0x1.276p+1, 0x1.954p-1, 0x1.954p-1}},
    {Format::kQ5_0, {0x1.2318p+0, 0x1.842p-1, 0x1.437p-1, 0x1.02cp-3}},
    {Format::kQ5_1, {0x1.9894p+1, 0x1.954p-1, 0x1.04e4p+2, 0x1.d5fp-1}},
    {Format::kQ4_K, {0x1.5bacp+1, -0x1.8241p+5, 0x1.3e348p+5, -0x1.96dbp+4}},
    {Format::kQ5_K, {0x1.05876p+6, -0x1.8241p+5, 0x1.3e348p+5, -0x1.da1ap+3}},
    {Format::kQ6_K, {-0x1.2ddap-9, 0x1.7cbep-9, -0x1.b6cp-13, -0x1.95p-14}},
    {Format::kIq4Nl, {-0x1.1b02p+2, -0x1.4f91p+3, 0x1.ac8ep+2, -0x1.00ba8p+4}},
};

TEST("format: values equal ggml's, bit for bit") {
  for (const Sample& sample : kSamples) {
    const std::size_t count = is_float(sample.format) ? 8 : block_values(sample.format);
    std::vector<std::byte> block(row_bytes(sample.format, count));
    for (std::size_t i = 0; i < block.size(); ++i) {
      const bool scale = is_float(sample.format) || i < 4 || i + 2 >= block.size();  // of finite numbers
      block[i] = static_cast<std::byte>((i * 37 + 11) & (scale && i % 2 == 1 ? 0x3f : 0xff));
    }
    std::vector<float> found(count);
    dequantize_row(sample.format, block.data(), found.data(), count);
    const std::size_t places[] = {0, count / 4 + 1, count / 2 + 3, count - 1};
    for (std::size_t i = 0; i < 4; ++i) CHECK_EQ(found[places[i]], sample.values[i]);
  }
}

}  // namespace
}  // namespace lorekeep::quant
