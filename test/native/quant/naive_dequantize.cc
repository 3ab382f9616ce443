#include "naive_dequantize.h"

#include <cstdint>
#include <cstring>

#include "core/cpu/bf16.h"
#include "core/cpu/half.h"
#include "quant/file_blocks.h"

namespace lorekeep::quant {
namespace {

template <class T>
T read(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Writes value(block, quant, its index) for all values of all blocks.
template <class Block, std::size_t kValues, class Value>
void dequantize_blocks(const std::byte* row, float* to, std::size_t inputs, Value&& value) {
  for (std::size_t begin = 0; begin < inputs; begin += kValues, row += sizeof(Block)) {
    const auto block = read<Block>(row);
    std::uint8_t quants[kValues];
    quants_of(block, quants);
    for (std::size_t i = 0; i < kValues; ++i) to[begin + i] = value(block, quants[i], i);
  }
}

float from_half(std::uint16_t half) noexcept {
  return float_from_half(half);
}

template <class Block>
void dequantize_small_scales(const std::byte* row, float* to, std::size_t inputs) {
  for (std::size_t begin = 0; begin < inputs; begin += kSuperBlock, row += sizeof(Block)) {
    const auto block = read<Block>(row);
    std::uint8_t quants[kSuperBlock], scales[kSubBlocks], minima[kSubBlocks];
    quants_of(block, quants);
    small_scales(block.scales, scales, minima);
    for (std::size_t i = 0; i < kSuperBlock; ++i) {
      const float scale = from_half(block.d) * scales[i / kBlock];
      to[begin + i] = scale * quants[i] - from_half(block.dmin) * minima[i / kBlock];
    }
  }
}

void dequantize_floats(Format format, const std::byte* row, float* to, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    switch (format) {
      case Format::kF16: to[i] = from_half(read<std::uint16_t>(row + 2 * i)); break;
      case Format::kBf16: to[i] = from_bf16(read<std::uint16_t>(row + 2 * i)); break;
      default: to[i] = read<float>(row + 4 * i);
    }
  }
}

}  // namespace

void dequantize_row(Format format, const std::byte* row, float* to, std::size_t inputs) noexcept {
  const auto centred = [](int zero) {
    return [zero](const auto& block, int quant, std::size_t) {
      return from_half(block.scale) * static_cast<float>(quant - zero);
    };
  };
  const auto above = [](const auto& block, int quant, std::size_t) {
    return from_half(block.scale) * static_cast<float>(quant) + from_half(block.minimum);
  };
  const auto sixteen = [](const FileQ6_K& block, int quant, std::size_t i) {
    return from_half(block.d) * block.scales[i / 16] * static_cast<float>(quant - 32);
  };
  const auto listed = [](const FileQ4_0& block, int quant, std::size_t) {
    return from_half(block.scale) * kIq4Values[quant];
  };
  switch (format) {
    case Format::kQ8_0: return dequantize_blocks<FileQ8_0, kBlock>(row, to, inputs, centred(128));
    case Format::kQ4_0: return dequantize_blocks<FileQ4_0, kBlock>(row, to, inputs, centred(8));
    case Format::kQ5_0: return dequantize_blocks<FileQ5_0, kBlock>(row, to, inputs, centred(16));
    case Format::kQ4_1: return dequantize_blocks<FileQ4_1, kBlock>(row, to, inputs, above);
    case Format::kQ5_1: return dequantize_blocks<FileQ5_1, kBlock>(row, to, inputs, above);
    case Format::kQ4_K: return dequantize_small_scales<FileQ4_K>(row, to, inputs);
    case Format::kQ5_K: return dequantize_small_scales<FileQ5_K>(row, to, inputs);
    case Format::kQ6_K: return dequantize_blocks<FileQ6_K, kSuperBlock>(row, to, inputs, sixteen);
    case Format::kIq4Nl: return dequantize_blocks<FileQ4_0, kBlock>(row, to, inputs, listed);
    default: return dequantize_floats(format, row, to, inputs);
  }
}

}  // namespace lorekeep::quant
