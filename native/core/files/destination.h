// The destination of a file to be written. It may be absent, an empty file, or a regular file of the same kind that
// this program wrote. Everything else is refused and left unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/files/file_id.h"

namespace lorekeep {

/// Reads the existing file at a destination.
class FoundFile {
 public:
  explicit FoundFile(std::uint64_t size) : size_(size) {}
  virtual ~FoundFile() = default;
  std::uint64_t size() const noexcept { return size_; }
  /// Returns false if `to` could not be filled.
  virtual bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept = 0;

 private:
  std::uint64_t size_;
};

/// Returns the folder of a target; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& target);

/// Why a non-empty file must not be replaced.
struct Refusal {
  std::string reason;  // the end of "PATH: it ...", without another path; empty if it may be replaced
  std::string owner;   // the path of the file that it belongs to; empty if none
};
using ReplacementRule = std::function<Refusal(const FoundFile&)>;

/// Keeps the folder open from the first check to the rename, so that moving or replacing it meanwhile has no effect.
/// Refuses a symbolic link at the destination.
class Destination {
 public:
  /// A folder that cannot be opened is reported by create().
  Destination(std::filesystem::path target, ReplacementRule rule);
  ~Destination();
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;

  const std::filesystem::path& target() const noexcept { return target_; }
  /// Throws Error(kInvalidArgument) naming the file unless it may be replaced; Error(kIo) if it cannot be read.
  void check() const;
  /// Creates a file next to the target, with the permissions and the owner of the file that is there, and opens it for
  /// writing. Returns null with errno (EEXIST) on failure.
  std::FILE* create(const std::filesystem::path& name) const;
  void remove(const std::filesystem::path& name) const noexcept;
  /// Renames a file next to the target to the target, which it checks again first, and by device and inode up to the
  /// rename itself. Throws as check(); returns false with errno if the system refuses.
  bool replace_with(const std::filesystem::path& name) const;
  /// Makes the rename durable.
  void flush_folder() const noexcept;

 private:
  /// Checks the target as check(). Returns the file there; nothing if there is none, and on Windows.
  std::optional<FileId> look() const;
  [[noreturn]] void refuse(const Refusal& why) const;
  [[noreturn]] void unreadable(int code) const;

  std::filesystem::path target_;
  ReplacementRule rule_;
  int folder_ = -1;  // unused on Windows
};

}  // namespace lorekeep
