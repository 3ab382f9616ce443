#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/files/file_id.h"
#include "core/files/mapping_guard.h"

namespace lorekeep {

/// A whole file mapped read-only. The bytes are untrusted, even after a check, because another program may write to the
/// file in place. So copy everything that memory safety depends on before checking it (SectionFileReader::copy), and
/// call check_unchanged() after reading an answer from the mapping. Our own writers replace files by rename, which
/// leaves mappings unchanged.
class MappedFile {
 public:
  /// Throws Error(kNotFound), Error(kIo) or Error(kOutOfMemory), naming the path. An empty file maps to an empty span.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  const std::string& name() const noexcept { return name_; }
  /// Throws Error(kCorrupt) if the mapped file was written to, truncated or touched since it was mapped, or could not
  /// be read: data read from it may be wrong. Takes about 0.3 us. Replacing or removing the file is no change. Once it
  /// has thrown, it always throws.
  void check_unchanged() const;
  /// Throws Error(kCorrupt) if the path leads to another file by now, for a caller that opened the path again to read
  /// the rest of the same file. A path that leads nowhere is no error.
  void check_same_at_path() const;
  /// Copies a part of bytes() by reading the file, where the system can: the part does not become resident. Throws
  /// Error(kCorrupt) if it cannot be read.
  void read(std::span<const std::byte> part, std::byte* to) const;
  /// Lets the system reclaim the memory of a copied part.
  void forget(std::span<const std::byte> part) const noexcept;

 private:
  struct Stamp;

  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<FileId> id_;
  std::unique_ptr<Stamp> stamp_;  // null on Windows, which refuses writes to a mapped file
  std::unique_ptr<MappingGuard> guard_;
};

}  // namespace lorekeep
