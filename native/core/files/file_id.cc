#include "core/files/file_id.h"

#if defined(_WIN32)
#include "core/system/windows_api.h"
#else
#include <sys/stat.h>
#endif

namespace lorekeep {

#if defined(_WIN32)

std::optional<FileId> file_id(const std::filesystem::path& path) {
  constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  // Folders need the flag of backups.
  HANDLE file = CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return std::nullopt;
  const auto id = file_id_of_handle(file);
  CloseHandle(file);
  return id;
}

std::optional<FileId> file_id_of_handle(void* handle) {
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(handle, &info)) return std::nullopt;
  return FileId{info.dwVolumeSerialNumber, std::uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow};
}

#else

std::optional<FileId> file_id(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return file_id_of(info);
}

FileId file_id_of(const struct stat& info) noexcept {
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

#endif

}  // namespace lorekeep
