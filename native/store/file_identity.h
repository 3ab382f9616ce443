// By what a file is known again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/cancel_token.h"

namespace lorekeep::store {

struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t changed = 0;  // last write, in the platform's own units and epoch: compared, never interpreted

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct FileIdentity {
  FileStamp stamp;
  std::uint64_t checksum = 0;  // XXH3-64 of the content
  /// Whether another content under the same stamp would have to be forged: the file had rested for kSettlingTime when
  /// its content was read, so that a later write shows in the stamp, however coarse the file system's clock is.
  bool settled = false;
};

/// Throws Error(kIo) for a file that could not be opened, for the reason in errno.
[[noreturn]] void refuse_open(const std::filesystem::path& path);
/// Throws Error(kNotFound), kIo, naming the path.
FileStamp read_stamp(const std::filesystem::path& path);
/// Whether a file with this stamp, whose content is read from now on, counts as settled.
bool is_settled(const FileStamp& stamp) noexcept;
/// Reads the whole file, through a buffer of 1 MiB: a file that is truncated meanwhile is an error, not a fault. Throws
/// Error(kNotFound), kIo (also when the file is changed meanwhile), kCancelled (grain: 1 MiB).
FileIdentity identify_file(const std::filesystem::path& path, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
