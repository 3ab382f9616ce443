#include "speech/tensor_file.h"

#include <cmath>
#include <utility>

#include "core/cpu/half.h"
#include "core/values/error.h"

namespace lorekeep::speech {
namespace {

constexpr std::uint32_t kMaxNameBytes = 128;
constexpr std::uint32_t kMaxDimensions = 4;

struct Blocks {
  std::uint32_t elements;
  std::uint32_t bytes;
  /// Numbers of half precision in a block, such as its scales: the offset of the first, and how many lie side by side.
  std::uint32_t halves_at = 0;
  std::uint32_t halves = 0;
};

Blocks blocks_of(std::uint32_t type) noexcept {
  switch (static_cast<TensorType>(type)) {
    case TensorType::kF32: return {1, 4};
    case TensorType::kF16: return {1, 2, 0, 1};
    case TensorType::kQ4_0: return {32, 18, 0, 1};
    case TensorType::kQ4_1: return {32, 20, 0, 2};
    case TensorType::kQ5_0: return {32, 22, 0, 1};
    case TensorType::kQ5_1: return {32, 24, 0, 2};
    case TensorType::kQ8_0: return {32, 34, 0, 1};
    case TensorType::kQ2_K: return {256, 84, 80, 2};
    case TensorType::kQ3_K: return {256, 110, 108, 1};
    case TensorType::kQ4_K: return {256, 144, 0, 2};
    case TensorType::kQ5_K: return {256, 176, 0, 2};
    case TensorType::kQ6_K: return {256, 210, 208, 1};
  }
  return {0, 0};
}

bool are_floats_finite(std::span<const std::byte> data) noexcept {
  for (std::size_t at = 0; at < data.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, data.data() + at, sizeof(value));
    if (!std::isfinite(value)) return false;
  }
  return true;
}

bool are_halves_finite(std::span<const std::byte> data, const Blocks& blocks) noexcept {
  constexpr std::uint16_t kExponent = 0x7c00;  // all ones: infinite, or not a number
  for (std::size_t block = 0; block < data.size(); block += blocks.bytes) {
    for (std::uint32_t i = 0; i < blocks.halves; ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, data.data() + block + blocks.halves_at + i * sizeof(half), sizeof(half));
      if ((half & kExponent) == kExponent) return false;
    }
  }
  return true;
}

}  // namespace

std::uint64_t tensor_bytes(std::uint32_t type, std::uint64_t elements) noexcept {
  const Blocks blocks = blocks_of(type);
  if (blocks.elements == 0 || elements % blocks.elements != 0) return 0;
  return elements / blocks.elements * blocks.bytes;
}

void check_finite(const TensorFile& file, const TensorEntry& tensor) {
  const Blocks blocks = blocks_of(tensor.type);
  const bool finite = blocks.halves == 0 ? are_floats_finite(tensor.data) : are_halves_finite(tensor.data, blocks);
  if (!finite) file.invalid("the tensor " + tensor.name + " has values that are not numbers");
}

std::uint64_t TensorEntry::elements() const noexcept {
  std::uint64_t product = 1;
  for (const std::uint32_t extent : shape) product *= extent;
  return product;
}

TensorFile::TensorFile(const std::filesystem::path& path) : file_(path) {
  if (file_.bytes().size() < sizeof(std::uint32_t) || number() != kMagic)
    invalid("is not a model of speech in ggml's format (ggml-*.bin)");
}

void TensorFile::invalid(const std::string& reason) const {
  fail_file(Code::kModelInvalid, name(), reason);
}

std::span<const std::byte> TensorFile::take(std::uint64_t count) {
  const std::span<const std::byte> all = file_.bytes();
  if (count > all.size() - at_) invalid("ends after " + std::to_string(all.size()) + " bytes, in the middle of a part");
  const std::span<const std::byte> part = all.subspan(at_, count);
  at_ += count;
  return part;
}

std::uint32_t TensorFile::number() {
  std::uint32_t value = 0;
  std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
  return value;
}

std::uint32_t TensorFile::number(std::string_view what, std::uint32_t min, std::uint32_t max) {
  const std::uint32_t value = number();
  if (value < min || value > max)
    invalid(std::string(what) + " is " + std::to_string(value) + ", outside " + std::to_string(min) + " to " +
            std::to_string(max));
  return value;
}

std::string TensorFile::text(std::uint64_t length) {
  const std::span<const std::byte> bytes = take(length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TensorEntry TensorFile::tensor() {
  TensorEntry entry;
  const std::uint32_t dimensions = number("the number of dimensions of a tensor", 0, kMaxDimensions);
  const std::uint32_t length = number("the length of a tensor's name", 1, kMaxNameBytes);
  entry.type = number();
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    entry.shape.push_back(number("an extent of a tensor", 1, 1u << 24));
    elements *= entry.shape.back();
    if (elements > 1ull << 34) invalid("a tensor has more than 2^34 values");
  }
  entry.name = text(length);
  const std::uint64_t bytes = tensor_bytes(entry.type, elements);
  const std::uint32_t row = entry.shape.empty() ? 1 : entry.shape.front();
  if (bytes == 0 || row % blocks_of(entry.type).elements != 0)
    invalid("the tensor " + entry.name + " has the unknown type " + std::to_string(entry.type) +
            ", or no whole number of blocks");
  entry.data = take(bytes);
  return entry;
}

std::vector<float> floats_of(const TensorFile& file, const TensorEntry& tensor) {
  check_finite(file, tensor);
  std::vector<float> values(tensor.elements());
  if (tensor.type == static_cast<std::uint32_t>(TensorType::kF32)) {
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  } else if (tensor.type == static_cast<std::uint32_t>(TensorType::kF16)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, tensor.data.data() + i * sizeof(half), sizeof(half));
      values[i] = float_from_half(half);
    }
  } else if (tensor.type == static_cast<std::uint32_t>(TensorType::kQ8_0)) {
    const Blocks blocks = blocks_of(tensor.type);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::byte* block = tensor.data.data() + i / blocks.elements * blocks.bytes;
      std::uint16_t scale = 0;
      std::memcpy(&scale, block, sizeof(scale));
      values[i] = float_from_half(scale) * static_cast<std::int8_t>(block[sizeof(scale) + i % blocks.elements]);
    }
  } else {
    file.invalid("the tensor " + tensor.name + " has type " + std::to_string(tensor.type) +
                 "; F32, F16 or Q8_0 is expected");
  }
  return values;
}

Tensors::Tensors(TensorFile& file, std::string model) : file_(file), model_(std::move(model)) {
  while (!file.at_end()) {
    TensorEntry entry = file.tensor();
    if (!found_.emplace(entry.name, std::move(entry)).second) file.invalid("has a tensor twice: " + entry.name);
  }
}

const TensorEntry& Tensors::entry(const std::string& name, const std::vector<std::uint32_t>& shape) const {
  const auto found = found_.find(name);
  if (found == found_.end()) file_.invalid("lacks the tensor " + name);
  const auto without_ones = [](std::vector<std::uint32_t> extents) {
    std::erase(extents, 1u);
    return extents;
  };
  if (without_ones(found->second.shape) != without_ones(shape))
    file_.invalid("the tensor " + name + " has another shape than in " + model_);
  return found->second;
}

std::vector<float> Tensors::floats(const std::string& name, const std::vector<std::uint32_t>& shape) const {
  return floats_of(file_, entry(name, shape));
}

}  // namespace lorekeep::speech
