// One GGUF file (versions 2 and 3, little-endian), which may be a part of a split model. The reader checks every count,
// length and extent against the size of the file, so that a hostile file causes an error and never a large allocation,
// a hang or an abort inside llama.cpp, which reads the file afterwards. Internal to GgufFile.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/files/mapped_file.h"
#include "core/values/seeded_hash.h"

namespace lorekeep::engine {

/// Tensors of a model, in all of its parts together. llama.cpp checks for duplicates in quadratic time, and real files
/// have at most a few thousand.
inline constexpr std::uint64_t kMaxTensors = 16384;

enum class GgufType : std::uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

struct GgufValue {
  GgufType type;  // of the elements, if array
  bool array;
  std::uint64_t count;               // 1 unless array
  std::span<const std::byte> bytes;  // as in the file: strings follow their lengths
};

/// Storage of a tensor type: `block` elements take `bytes` bytes.
struct TensorType {
  std::uint32_t id;
  std::string_view name;
  std::uint32_t block;
  std::uint32_t bytes;
};

inline constexpr std::uint32_t kTensorF32 = 0;
inline constexpr std::uint32_t kTensorQ8 = 8;  // Q8_0
inline constexpr std::uint32_t kTensorF16 = 1;

/// Returns null for an unknown type.
const TensorType* tensor_type(std::uint32_t id) noexcept;

struct GgufTensor {
  std::string_view name;
  std::uint32_t dimensions;
  std::array<std::uint64_t, 4> shape;  // fastest first; 1 beyond `dimensions`
  const TensorType* type;
  std::span<const std::byte> bytes;

  std::uint64_t elements() const noexcept { return shape[0] * shape[1] * shape[2] * shape[3]; }
};

/// Reads a number from the start of `bytes`, which has room for it.
template <class T>
T load_number(std::span<const std::byte> bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

using GgufMetadata = std::unordered_map<std::string_view, GgufValue, SeededHash>;

/// Returns a text from a file for a message: without control characters, cut if it is long.
std::string quoted(std::string_view text);

class GgufPart {
 public:
  /// Maps and checks the file. Throws Error(kNotFound), Error(kIo), or Error(kModelInvalid) naming the defect.
  explicit GgufPart(const std::filesystem::path& path);

  const MappedFile& file() const noexcept { return file_; }
  std::span<const std::byte> bytes() const noexcept { return file_.bytes(); }
  const GgufMetadata& metadata() const noexcept { return metadata_; }
  const std::vector<GgufTensor>& tensors() const noexcept { return tensors_; }

  /// Returns null if the file has no such key.
  const GgufValue* find(std::string_view key) const noexcept;
  /// Returns a scalar; nullopt if the key is absent. Throws Error(kModelInvalid) naming the key for another type.
  std::optional<std::uint64_t> integer(std::string_view key) const;

  /// Throws Error(kModelInvalid) naming the file.
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  void read_metadata(class GgufCursor& cursor, std::uint64_t count);
  GgufTensor read_tensor(class GgufCursor& cursor) const;
  void read_tensors(class GgufCursor& cursor, std::uint64_t count);

  MappedFile file_;
  GgufMetadata metadata_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace lorekeep::engine
