// The place of a file that is about to be written. What may be there: nothing, an empty file, or a regular file that
// this program wrote, of the same kind. Everything else is refused and left as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace lorekeep {

/// Reads the file that is at a destination.
class FoundFile {
 public:
  explicit FoundFile(std::uint64_t size) : size_(size) {}
  virtual ~FoundFile() = default;
  std::uint64_t size() const noexcept { return size_; }
  /// False when not all of `to` could be read.
  virtual bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept = 0;

 private:
  std::uint64_t size_;
};

/// Says why a file that is not empty must not be replaced, as the end of "PATH: it ..."; empty: it may be.
using ReplacementRule = std::function<std::string(const FoundFile&)>;

/// Holds the folder open from the first check to the rename, so that a folder that is moved or replaced meanwhile
/// changes nothing. A symbolic link at the destination is not followed but refused.
class Destination {
 public:
  /// A folder that cannot be opened is reported by create().
  Destination(std::filesystem::path target, ReplacementRule rule);
  ~Destination();
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;

  const std::filesystem::path& target() const noexcept { return target_; }
  /// Throws Error(kInvalidArgument) that names the file unless it may be replaced; Error(kIo) when it cannot be read.
  void check() const;
  /// Makes a file that is not there yet beside the target and opens it for writing; null with errno (EEXIST).
  std::FILE* create(const std::filesystem::path& name) const;
  void remove(const std::filesystem::path& name) const noexcept;
  /// Renames a file beside the target to it. The target is checked again, by device and inode up to the rename itself.
  /// Throws as check(); false with errno when the system refuses.
  bool replace_with(const std::filesystem::path& name) const;
  /// Makes the rename durable.
  void flush_folder() const noexcept;

 private:
  struct Seen;
  Seen look() const;
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void unreadable(int code) const;

  std::filesystem::path target_;
  ReplacementRule rule_;
  int folder_ = -1;  // unused on Windows
};

}  // namespace lorekeep
