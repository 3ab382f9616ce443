#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include "core/files/destination.h"

namespace lorekeep {

/// Writes a file atomically: readers see the old file or the new one. Bytes go to a temporary name next to the target
/// (`<name>.<process>-<n>.tmp`); commit() makes them durable and renames. Without commit() the temporary file is
/// removed; the next writer of the target removes temporary files of killed processes. A writer holds a lock on its
/// temporary file. The new file has the permissions and the owner of the file that it replaces. destination.h defines
/// which files may be replaced.
class AtomicFile {
 public:
  /// Throws Error(kIo) naming the path if the folder cannot be written, Error(kInvalidArgument) if destination.h
  /// forbids replacing the target.
  AtomicFile(std::filesystem::path target, ReplacementRule rule);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws Error(kIo), for example on a full disk; the target is untouched.
  void write(std::span<const std::byte> bytes);
  /// Overwrites written bytes, for headers that are known last. The write position stays at the end.
  void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Bytes written so far.
  std::uint64_t size() const noexcept { return size_; }
  /// Checks the target again, flushes to the device, renames, flushes the folder. Throws as the constructor.
  void commit();

 private:
  void create();
  [[noreturn]] void refuse(const char* what);
  void close() noexcept;
  void discard() noexcept;

  const std::filesystem::path& target() const noexcept { return destination_.target(); }

  Destination destination_;
  std::filesystem::path temporary_;  // its name in the folder; empty while no temporary file of ours exists
  std::unique_ptr<char[]> buffer_;   // the stream's; glibc ignores a buffer size without a buffer
  std::FILE* file_ = nullptr;
  std::uint64_t size_ = 0;
};

/// Removes the temporary files that killed writers of `target` left, and returns their number. Never removes a live
/// writer's file. Ignores files that it cannot see or remove.
std::size_t remove_stray_files(const std::filesystem::path& target) noexcept;

}  // namespace lorekeep
