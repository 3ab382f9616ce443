// The metadata and tensors of an untrusted model in GGUF files: one file, or the parts of a split model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/values/error.h"
#include "core/values/seeded_hash.h"
#include "engine/gguf_part.h"

namespace lorekeep::engine {

class GgufFile {
 public:
  /// Maps and checks the file, and the other parts if it is the first of a split model, whose names llama.cpp derives
  /// from the first: "x-00001-of-00003.gguf". Throws Error(kNotFound) naming the part that is missing, Error(kIo), or
  /// Error(kModelInvalid) naming the defect.
  explicit GgufFile(const std::filesystem::path& path);

  /// Name of the file; of a split model, the first part's name.
  const std::string& name() const noexcept { return parts_.front()->file().name(); }
  const std::vector<std::unique_ptr<const GgufPart>>& parts() const noexcept { return parts_; }
  /// Bytes of all parts.
  std::uint64_t size() const noexcept;
  /// Throws Error(kCorrupt) naming a part that was changed or replaced since it was opened: llama.cpp opens the parts
  /// again. Call it after both have read the file. See MappedFile::check_unchanged() and check_same_at_path().
  void check_unchanged() const;
  /// The same for what was read of the mapping alone: a part may have been replaced at its path.
  void check_mapped() const;
  /// Lets the system reclaim the memory of the mapping; what is read of it again comes from the file.
  void forget() const noexcept;
  /// Throws Error(kNotFound) or Error(kCorrupt) naming a part that was removed or replaced since it was opened, if that
  /// may be why the load failed.
  void check_present(const Error& failure) const;
  /// Those of all parts.
  const std::vector<GgufTensor>& tensors() const noexcept { return tensors_; }
  const GgufTensor* tensor(std::string_view name) const noexcept;
  /// Returns the file that has the bytes of a tensor.
  const MappedFile& file_of(const GgufTensor& tensor) const noexcept;

  std::vector<std::string_view> keys() const;
  /// Returns null if the file has no such key.
  const GgufValue* find(std::string_view key) const noexcept { return parts_.front()->find(key); }
  /// Return a scalar; nullopt if the key is absent. Throw Error(kModelInvalid) naming the key for another type.
  std::optional<std::string_view> string(std::string_view key) const;
  std::optional<std::uint64_t> integer(std::string_view key) const { return parts_.front()->integer(key); }
  std::optional<double> number(std::string_view key) const;
  /// Returns the elements of an array of strings.
  std::optional<std::vector<std::string_view>> strings(std::string_view key) const;

  /// Throws Error(kModelInvalid) naming the file.
  [[noreturn]] void refuse(const std::string& reason) const { parts_.front()->refuse(reason); }

 private:
  void open_parts(const std::filesystem::path& first);
  void index_tensors();

  std::vector<std::unique_ptr<const GgufPart>> parts_;  // at least one
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, std::size_t, SeededHash> tensor_by_name_;
};

}  // namespace lorekeep::engine
