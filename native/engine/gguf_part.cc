#include "engine/gguf_part.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/values/error.h"

namespace lorekeep::engine {
namespace {

constexpr std::uint32_t kNewestVersion = 3;
// llama.cpp checks for duplicates in quadratic time. Real files have some 50 keys.
constexpr std::uint64_t kMaxKeys = 8192;
constexpr std::size_t kMaxTensorName = 63;  // llama.cpp: GGML_MAX_NAME is 64 with the terminator
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kMaxAlignment = 65536;

constexpr TensorType kTensorTypes[] = {
    {kTensorF32, "F32", 1, 4}, {kTensorF16, "F16", 1, 2}, {2, "Q4_0", 32, 18},         {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},       {7, "Q5_1", 32, 24},       {kTensorQ8, "Q8_0", 32, 34}, {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},    {12, "Q4_K", 256, 144},    {13, "Q5_K", 256, 176},      {14, "Q6_K", 256, 210},
    {16, "IQ2_XXS", 256, 66},  {17, "IQ2_XS", 256, 74},   {18, "IQ3_XXS", 256, 98},    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},    {21, "IQ3_S", 256, 110},   {22, "IQ2_S", 256, 82},      {23, "IQ4_XS", 256, 136},
    {29, "IQ1_M", 256, 56},    {30, "BF16", 1, 2},        {9, "Q8_1", 32, 36},         {15, "Q8_K", 256, 292},
    {24, "I8", 1, 1},          {25, "I16", 1, 2},         {26, "I32", 1, 4},           {27, "I64", 1, 8},
    {28, "F64", 1, 8},         {34, "TQ1_0", 256, 54},    {35, "TQ2_0", 256, 66},      {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},     {41, "Q1_0", 128, 18},     {42, "Q2_0", 64, 18},
};

std::size_t scalar_size(GgufType type) noexcept {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool: return 1;
    case GgufType::kUint16:
    case GgufType::kInt16: return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32: return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64: return 8;
    case GgufType::kString:
    case GgufType::kArray: return 0;
  }
  return 0;
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string shown = "'";
  for (char c : text.substr(0, kShown)) shown += (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) ? '?' : c;
  shown += text.size() > kShown ? "...'" : "'";
  return shown;
}

/// Reads forward through the file. Throws past the end.
class GgufCursor {
 public:
  explicit GgufCursor(const GgufPart& file) : file_(file), bytes_(file.bytes()) {}

  std::size_t offset() const noexcept { return offset_; }
  std::uint64_t remaining() const noexcept { return bytes_.size() - offset_; }

  std::span<const std::byte> take(std::uint64_t size, const char* what) {
    if (size > remaining()) {
      file_.refuse("truncated or damaged: " + std::string(what) + " at offset " + std::to_string(offset_) + " needs " +
                   std::to_string(size) + " bytes, " + std::to_string(remaining()) + " are left");
    }
    const auto part = bytes_.subspan(offset_, static_cast<std::size_t>(size));
    offset_ += part.size();
    return part;
  }
  template <class T>
  T read(const char* what) {
    return load_number<T>(take(sizeof(T), what));
  }
  std::string_view string(const char* what) {
    const auto bytes = take(read<std::uint64_t>(what), what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  GgufValue value(std::string_view key) {
    auto type = static_cast<GgufType>(read<std::uint32_t>("a value's type"));
    GgufValue value{type, type == GgufType::kArray, 1, {}};
    if (value.array) {
      value.type = static_cast<GgufType>(read<std::uint32_t>("an array's type"));
      value.count = read<std::uint64_t>("an array's length");
    }
    const std::size_t begin = offset_;
    if (value.type == GgufType::kString) {
      // Each string has a length of 8 bytes, so the file's size bounds the loop.
      for (std::uint64_t i = 0; i < value.count; ++i) string("a string");
    } else {
      const std::size_t size = scalar_size(value.type);
      if (size == 0) {
        file_.refuse("key " + quoted(key) + " has the unknown type " +
                     std::to_string(static_cast<std::uint32_t>(value.type)));
      }
      if (value.count > remaining() / size) take(remaining() + 1, "an array");
      take(value.count * size, "a value");
    }
    value.bytes = bytes_.subspan(begin, offset_ - begin);
    return value;
  }

 private:
  const GgufPart& file_;
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
};

const TensorType* tensor_type(std::uint32_t id) noexcept {
  for (const TensorType& type : kTensorTypes) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

GgufPart::GgufPart(const std::filesystem::path& path) : file_(path) {
  GgufCursor cursor(*this);
  if (bytes().size() < 4 || std::memcmp(bytes().data(), "GGUF", 4) != 0) {
    refuse(bytes().empty() ? "the file is empty" : "not a GGUF file: it does not start with the letters GGUF");
  }
  cursor.take(4, "the magic");
  const auto version = cursor.read<std::uint32_t>("the version");
  if ((version & 0xFFFF) == 0 && version != 0) refuse("a big-endian GGUF file; only little-endian ones are read");
  if (version < 2 || version > kNewestVersion) {
    refuse("GGUF version " + std::to_string(version) + "; versions 2 and 3 are read");
  }
  const auto tensor_count = cursor.read<std::uint64_t>("the number of tensors");
  const auto key_count = cursor.read<std::uint64_t>("the number of keys");
  if (tensor_count > kMaxTensors) {
    refuse("damaged: it claims " + std::to_string(tensor_count) + " tensors; at most " + std::to_string(kMaxTensors) +
           " are read");
  }
  if (key_count > kMaxKeys) {
    refuse("damaged: it claims " + std::to_string(key_count) + " keys; at most " + std::to_string(kMaxKeys) +
           " are read");
  }
  read_metadata(cursor, key_count);
  read_tensors(cursor, tensor_count);
}

void GgufPart::read_metadata(GgufCursor& cursor, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view key = cursor.string("a key");
    if (key.empty() || key.find('\0') != std::string_view::npos)
      refuse("damaged: key " + std::to_string(i) + " has no name");
    if (!metadata_.emplace(key, cursor.value(key)).second) refuse("damaged: key " + quoted(key) + " appears twice");
  }
}

// Reads one row of the tensor table, except the offset of its bytes.
GgufTensor GgufPart::read_tensor(GgufCursor& cursor) const {
  GgufTensor tensor{cursor.string("a tensor's name"), 0, {1, 1, 1, 1}, nullptr, {}};
  const std::string who = "damaged: tensor " + quoted(tensor.name);
  if (tensor.name.empty() || tensor.name.size() > kMaxTensorName || tensor.name.find('\0') != std::string_view::npos) {
    refuse(who + " has an impossible name");
  }
  tensor.dimensions = cursor.read<std::uint32_t>("a tensor's dimensions");
  if (tensor.dimensions == 0 || tensor.dimensions > tensor.shape.size()) {
    refuse(who + " has " + std::to_string(tensor.dimensions) + " dimensions");
  }
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < tensor.dimensions; ++d) {
    const auto extent = cursor.read<std::uint64_t>("a tensor's shape");
    // No type stores more than 8 elements in a byte (the smallest 7.1), so a larger count cannot be in this file.
    if (extent == 0 || extent > bytes().size() * 8 / elements)
      refuse(who + " has an extent of " + std::to_string(extent));
    tensor.shape[d] = extent;
    elements *= extent;
  }
  const auto type = cursor.read<std::uint32_t>("a tensor's type");
  tensor.type = tensor_type(type);
  if (tensor.type == nullptr) {
    refuse("tensor " + quoted(tensor.name) + " has the unknown type " + std::to_string(type) +
           "; the file is damaged, or of a newer format");
  }
  if (tensor.shape[0] % tensor.type->block != 0) {
    refuse(who + " has rows of " + std::to_string(tensor.shape[0]) + " elements, not a multiple of " +
           std::to_string(tensor.type->block));
  }
  return tensor;
}

void GgufPart::read_tensors(GgufCursor& cursor, std::uint64_t count) {
  const std::uint64_t alignment = integer("general.alignment").value_or(kDefaultAlignment);
  if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
    refuse("damaged: general.alignment is " + std::to_string(alignment) + ", not a power of two up to 65536");
  }
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    tensors_.push_back(read_tensor(cursor));
    offsets.push_back(cursor.read<std::uint64_t>("a tensor's offset"));
  }
  if (count == 0) return;  // the first part of a split model may hold keys alone
  cursor.take((alignment - cursor.offset() % alignment) % alignment, "the padding before the tensors");
  const auto data = bytes().subspan(cursor.offset());
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    GgufTensor& tensor = tensors_[i];
    const std::uint64_t size = tensor.elements() / tensor.type->block * tensor.type->bytes;
    if (offsets[i] != expected) {
      refuse("damaged: tensor " + quoted(tensor.name) + " lies at offset " + std::to_string(offsets[i]) + ", not at " +
             std::to_string(expected));
    }
    if (expected > data.size() || size > data.size() - expected) {
      refuse("truncated: tensor " + quoted(tensor.name) + " ends " + std::to_string(expected + size - data.size()) +
             " bytes after the end of the file");
    }
    tensor.bytes = data.subspan(static_cast<std::size_t>(expected), static_cast<std::size_t>(size));
    expected = (expected + size + alignment - 1) / alignment * alignment;
  }
}

void GgufPart::refuse(const std::string& reason) const {
  fail_file(Code::kModelInvalid, file_.name(), reason);
}

const GgufValue* GgufPart::find(std::string_view key) const noexcept {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> GgufPart::integer(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::int64_t number = -1;
  switch (value->array ? GgufType::kArray : value->type) {
    case GgufType::kUint8:
    case GgufType::kBool: number = load_number<std::uint8_t>(value->bytes); break;
    case GgufType::kInt8: number = load_number<std::int8_t>(value->bytes); break;
    case GgufType::kUint16: number = load_number<std::uint16_t>(value->bytes); break;
    case GgufType::kInt16: number = load_number<std::int16_t>(value->bytes); break;
    case GgufType::kUint32: number = load_number<std::uint32_t>(value->bytes); break;
    case GgufType::kInt32: number = load_number<std::int32_t>(value->bytes); break;
    case GgufType::kUint64:
    case GgufType::kInt64: number = load_number<std::int64_t>(value->bytes); break;
    default: refuse("key " + quoted(key) + " is not an integer");
  }
  if (number < 0) refuse("key " + quoted(key) + " is negative or too large");
  return static_cast<std::uint64_t>(number);
}

}  // namespace lorekeep::engine
