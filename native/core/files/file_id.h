// The identity of a file: tells whether two paths, or a path and an open file, lead to the same one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

struct stat;

namespace lorekeep {

/// Volume and file. No other file has the same value while one of them is open or mapped.
struct FileId {
  std::uint64_t volume = 0;
  std::uint64_t file = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

/// Returns nothing for a path that leads nowhere or may not be looked at. Links are followed.
std::optional<FileId> file_id(const std::filesystem::path& path);

#if defined(_WIN32)
/// `handle`: a HANDLE of an open file.
std::optional<FileId> file_id_of_handle(void* handle);
#else
FileId file_id_of(const struct stat& info) noexcept;
#endif

}  // namespace lorekeep
