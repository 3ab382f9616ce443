#include "quant/format.h"

#include <array>

#include "quant/file_blocks.h"

namespace lorekeep::quant {
namespace {

struct Traits {
  std::string_view name;
  std::uint32_t ggml_type;
  std::size_t values;
  std::size_t bytes;
};
constexpr std::array<Traits, kFormats> kTraits = {{
    {"F32", 0, 1, 4},
    {"F16", 1, 1, 2},
    {"BF16", 30, 1, 2},
    {"Q8_0", 8, kBlock, sizeof(FileQ8_0)},
    {"Q4_0", 2, kBlock, sizeof(FileQ4_0)},
    {"Q4_1", 3, kBlock, sizeof(FileQ4_1)},
    {"Q5_0", 6, kBlock, sizeof(FileQ5_0)},
    {"Q5_1", 7, kBlock, sizeof(FileQ5_1)},
    {"Q4_K", 12, kSuperBlock, sizeof(FileQ4_K)},
    {"Q5_K", 13, kSuperBlock, sizeof(FileQ5_K)},
    {"Q6_K", 14, kSuperBlock, sizeof(FileQ6_K)},
    {"IQ4_NL", 20, kBlock, sizeof(FileQ4_0)},
}};

const Traits& traits(Format format) noexcept {
  return kTraits[static_cast<std::size_t>(format)];
}

}  // namespace

std::string_view format_name(Format format) noexcept {
  return traits(format).name;
}

std::optional<Format> format_of_type(std::uint32_t ggml_type) noexcept {
  for (std::size_t i = 0; i < kFormats; ++i) {
    if (kTraits[i].ggml_type == ggml_type) return static_cast<Format>(i);
  }
  return std::nullopt;
}

std::size_t block_values(Format format) noexcept {
  return traits(format).values;
}

std::size_t block_bytes(Format format) noexcept {
  return traits(format).bytes;
}

std::size_t row_bytes(Format format, std::size_t inputs) noexcept {
  return inputs / traits(format).values * traits(format).bytes;
}

}  // namespace lorekeep::quant
