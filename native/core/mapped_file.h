#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/mapping_guard.h"

namespace lorekeep {

/// A whole file mapped read-only. The bytes are hostile until a reader has checked them, and again after that: another
/// program may write to the file in place. So whatever memory safety rests on is copied before it is checked
/// (SectionFileReader::copy), and whoever answers from the mapping calls check_unchanged() after it has read. Our own
/// writers replace files by rename, which leaves a mapping as it is.
class MappedFile {
 public:
  /// Throws Error(kNotFound) or Error(kIo), naming the path. An empty file maps to an empty span.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  const std::string& name() const noexcept { return name_; }
  /// Throws Error(kCorrupt) when the mapped file has been written to, truncated or touched since it was mapped, or
  /// could not be read: what was read from it may be wrong. About 0.3 us. A file that is replaced or removed is no
  /// change. Once it has thrown, it always throws.
  void check_unchanged() const;
  /// Lets the system take back the memory of a part that was copied.
  void forget(std::span<const std::byte> part) const noexcept;

 private:
  struct Stamp;

  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<Stamp> stamp_;  // null on Windows, where a mapped file cannot be written to
  std::unique_ptr<MappingGuard> guard_;
};

}  // namespace lorekeep
