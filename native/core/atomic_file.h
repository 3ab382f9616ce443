#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include "core/destination.h"

namespace lorekeep {

/// Writes a file so that readers see the old one or the new one, never a part: bytes go to a temporary name
/// beside the target (`<name>.<process>-<n>.tmp`), commit() makes them durable and renames. Not committed: removed;
/// what a killed process left is removed by the next writer of the target. A writer holds a lock on its temporary file.
/// The new file has the permissions of a newly made one. What may be replaced: destination.h.
class AtomicFile {
 public:
  /// Throws Error(kIo) naming the path when the folder cannot be written, Error(kInvalidArgument) when what is at the
  /// target must not be replaced.
  AtomicFile(std::filesystem::path target, ReplacementRule rule);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws Error(kIo), for example on a full disk; the target is untouched.
  void write(std::span<const std::byte> bytes);
  /// Overwrites already written bytes, for headers that are known last. The write position stays at the end.
  void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Bytes written so far.
  std::uint64_t size() const noexcept { return size_; }
  /// Flushes to the device, renames over the target, flushes the folder. Throws as the constructor does, also about
  /// what has come to the target meanwhile.
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

/// Removes the temporary files of writers of `target` that were killed, never one whose writer is alive, and returns
/// how many. What cannot be seen or removed stays; nothing is thrown.
std::size_t remove_stray_files(const std::filesystem::path& target) noexcept;

}  // namespace lorekeep
