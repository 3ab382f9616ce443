#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace lorekeep {

/// A whole file mapped read-only. The bytes are hostile until a reader has checked them. Truncating a mapped file
/// from outside is the one thing that cannot be checked; our own writers replace files by rename, never in place.
class MappedFile {
 public:
  /// Throws Error(kNotFound) or Error(kIo), naming the path. An empty file maps to an empty span.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  const std::string& name() const noexcept { return name_; }

 private:
  void release() noexcept;

  std::string name_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lorekeep
