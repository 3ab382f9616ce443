// The storage formats of matrices in GGUF files. Formats, type numbers and the meaning of each field are ggml's
// (ggml/include/ggml.h, ggml/src/ggml-common.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lorekeep::quant {

/// A quantised row is a sequence of blocks: 32 values, or 256 for the K formats.
enum class Format : std::uint8_t {
  kF32,
  kF16,
  kBf16,
  kQ8_0,   // scale * q, q in -128 to 127
  kQ4_0,   // scale * (q - 8), q in 0 to 15
  kQ4_1,   // scale * q + minimum
  kQ5_0,   // scale * (q - 16), q in 0 to 31
  kQ5_1,   // scale * q + minimum
  kQ4_K,   // (d * scale) * q - (dmin * minimum), with a scale and a minimum of 6 bits for every 32 values
  kQ5_K,   // as Q4_K, q in 0 to 31
  kQ6_K,   // (d * scale) * (q - 32), with a scale of 8 bits for every 16 values
  kIq4Nl,  // scale * kIq4Values[q]
};
inline constexpr std::size_t kFormats = 12;

/// Values of IQ4_NL.
inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

/// Returns the name as in file names: "Q4_K".
std::string_view format_name(Format format) noexcept;
/// Returns the format of a tensor type of ggml, if it is one of ours.
std::optional<Format> format_of_type(std::uint32_t ggml_type) noexcept;

/// Returns whether the weights are f32, f16 or bf16.
constexpr bool is_float(Format format) noexcept {
  return format <= Format::kBf16;
}
/// Values of a block; a row's size must be a multiple. 1 for floats.
std::size_t block_values(Format format) noexcept;
/// Bytes of a block in the file.
std::size_t block_bytes(Format format) noexcept;
/// Bytes of a row in the file. `inputs` is a multiple of block_values().
std::size_t row_bytes(Format format, std::size_t inputs) noexcept;

}  // namespace lorekeep::quant
