// Identifies the content of a file by stamp and checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"

namespace lorekeep::store {

struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t changed = 0;  // last write, in the platform's units and epoch; only for comparison

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct FileIdentity {
  FileStamp stamp;
  std::uint64_t checksum = 0;  // XXH3-64 of the content
  /// Whether the file was unchanged for kSettlingTime before it was read. Then every later write changes the stamp,
  /// unless it is forged, however coarse the file system's clock is.
  bool settled = false;
};

/// Throws Error(kIo) for a file that could not be opened, with the reason from errno.
[[noreturn]] void refuse_open(const std::filesystem::path& path);
/// Throws Error(kIo) with mismatch "content": another process changed or replaced the file while it was read.
[[noreturn]] void refuse_changed(const std::filesystem::path& path);
/// Throws Error(kNotFound), kIo, naming the path.
FileStamp read_stamp(const std::filesystem::path& path);
/// Returns the sizes of the files, then of the files in a folder, which may have no path; 0 for what is no regular
/// file. Grain of cancellation: 64 files.
std::vector<std::uint64_t> file_sizes(std::span<const std::filesystem::path> files, const std::filesystem::path& folder,
                                      const CancelToken& cancel);
/// Returns whether a file with this stamp counts as settled if its content is read now.
bool is_settled(const FileStamp& stamp) noexcept;
/// Reads the whole file through a buffer of 1 MiB, not a mapping, so that truncation meanwhile is an error and not a
/// fault. Throws Error(kNotFound), kIo (also if the file changes meanwhile), kCancelled (grain: 1 MiB).
FileIdentity identify_file(const std::filesystem::path& path, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
