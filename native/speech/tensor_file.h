// Reads files of weights in ggml's older format, which whisper.cpp uses: a header of the model, then tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/mapped_file.h"

namespace lorekeep::speech {

/// Types of tensors by their numbers in ggml.
enum class TensorType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
};

/// Returns the bytes of `elements` values; 0 for an unknown type, or a number that is not a multiple of its blocks.
std::uint64_t tensor_bytes(std::uint32_t type, std::uint64_t elements) noexcept;

struct TensorEntry {
  std::string name;
  std::uint32_t type;
  std::vector<std::uint32_t> shape;  // the fastest dimension first
  std::span<const std::byte> data;

  std::uint64_t elements() const noexcept;
};

/// A file that is read from front to back. Each read checks what is left. Throws Error(kModelInvalid) naming the file.
class TensorFile {
 public:
  /// The four bytes at the beginning of every such file.
  static constexpr std::uint32_t kMagic = 0x67676d6c;

  /// Throws as MappedFile. The first value must be kMagic.
  explicit TensorFile(const std::filesystem::path& path);

  const std::string& name() const noexcept { return file_.name(); }
  std::uint64_t size() const noexcept { return file_.bytes().size(); }
  std::span<const std::byte> bytes() const noexcept { return file_.bytes(); }
  bool at_end() const noexcept { return at_ == file_.bytes().size(); }
  void check_unchanged() const { file_.check_unchanged(); }

  std::uint32_t number();
  /// Reads a number in [min, max]. `what`: for the error.
  std::uint32_t number(std::string_view what, std::uint32_t min, std::uint32_t max);
  std::span<const std::byte> take(std::uint64_t count);
  std::string text(std::uint64_t length);
  /// Reads one tensor with its data, which lies in the mapping.
  TensorEntry tensor();

  [[noreturn]] void invalid(const std::string& reason) const;

 private:
  MappedFile file_;
  std::size_t at_ = 0;
};

/// Throws Error(kModelInvalid) for a tensor with values, or scales of quantised values, that are not finite.
void check_finite(const TensorFile& file, const TensorEntry& tensor);

/// Returns the values of an F32, F16 or Q8_0 tensor as floats. Throws Error(kModelInvalid) for other types and for
/// values that are not finite.
std::vector<float> floats_of(const TensorFile& file, const TensorEntry& tensor);

/// The tensors of a file by name.
class Tensors {
 public:
  /// Reads the file to its end. `model`: what a tensor's shape should belong to, for errors. Throws
  /// Error(kModelInvalid), also for a tensor that is there twice.
  Tensors(TensorFile& file, std::string model);

  const std::map<std::string, TensorEntry>& all() const noexcept { return found_; }
  /// Throws Error(kModelInvalid) if there is none, or it has another shape. Extents of 1 may be left out.
  const TensorEntry& entry(const std::string& name, const std::vector<std::uint32_t>& shape) const;
  /// As entry() and floats_of().
  std::vector<float> floats(const std::string& name, const std::vector<std::uint32_t>& shape) const;

 private:
  const TensorFile& file_;
  std::string model_;
  std::map<std::string, TensorEntry> found_;
};

}  // namespace lorekeep::speech
