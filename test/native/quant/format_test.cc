#include "quant/format.h"

#include <optional>

#include "harness.h"
#include "matrices.h"

namespace lorekeep::quant {
namespace {

TEST("format: type numbers and sizes are those of ggml") {
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

}  // namespace
}  // namespace lorekeep::quant
