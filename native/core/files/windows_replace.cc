#include "core/files/windows_replace.h"

#if defined(_WIN32)
#include <process.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "core/system/windows_api.h"

namespace lorekeep {
namespace {

constexpr DWORD kFirstWaitMs = 5;
constexpr DWORD kLongestWaitMs = 200;
constexpr ULONGLONG kLongestHoldMs = 5000;

// Windows 10, and missing from older headers.
constexpr auto kFileRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
constexpr DWORD kReplaceIfExists = 1;
constexpr DWORD kPosixSemantics = 2;

/// FILE_RENAME_INFO of Windows 10, without the name's characters.
struct RenameRequest {
  DWORD flags;
  HANDLE folder;
  DWORD name_bytes;
  wchar_t name[1];
};

bool is_in_use(DWORD code) noexcept {
  return code == ERROR_ACCESS_DENIED || code == ERROR_SHARING_VIOLATION || code == ERROR_LOCK_VIOLATION ||
         code == ERROR_USER_MAPPED_FILE;
}

int errno_of(DWORD code) noexcept {
  if (is_in_use(code)) return EACCES;
  if (code == ERROR_DIRECTORY) return EISDIR;
  if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND) return ENOENT;
  return code == ERROR_DISK_FULL ? ENOSPC : EIO;
}

/// Calls `attempt`, which returns a system error, until it finds no file in use. Returns false with errno on failure.
template <class Attempt>
bool once_free(Attempt&& attempt) {
  const ULONGLONG end = GetTickCount64() + kLongestHoldMs;
  for (DWORD wait = kFirstWaitMs;; wait = std::min(2 * wait, kLongestWaitMs)) {
    const DWORD code = attempt();
    if (code == ERROR_SUCCESS) return true;
    if (!is_in_use(code) || GetTickCount64() >= end) {
      errno = errno_of(code);
      return false;
    }
    Sleep(wait);
  }
}

/// Replaces in one step; the replaced file lives on for who has it open. Not every file system, and not Wine, can.
bool replace_at_once(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  const std::wstring name = std::filesystem::absolute(to, error).native();
  if (error) return false;
  const HANDLE file =
      CreateFileW(from.c_str(), DELETE | SYNCHRONIZE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                  OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (file == INVALID_HANDLE_VALUE) return false;
  const std::size_t bytes = name.size() * sizeof(wchar_t);
  std::vector<std::byte> buffer(sizeof(RenameRequest) + bytes);
  auto* request = reinterpret_cast<RenameRequest*>(buffer.data());
  request->flags = kReplaceIfExists | kPosixSemantics;
  request->name_bytes = static_cast<DWORD>(bytes);
  std::memcpy(buffer.data() + offsetof(RenameRequest, name), name.data(), bytes);
  const bool done =
      SetFileInformationByHandle(file, kFileRenameInfoEx, request, static_cast<DWORD>(buffer.size())) != 0;
  CloseHandle(file);
  return done;
}

/// Files that this process moved aside and could not remove yet, because they were mapped.
class AsideFiles {
 public:
  void remove_or_keep(std::wstring path) {
    const std::lock_guard lock(mutex_);
    paths_.push_back(std::move(path));
    std::erase_if(paths_, [](const std::wstring& old) {
      return DeleteFileW(old.c_str()) != 0 || GetLastError() == ERROR_FILE_NOT_FOUND;
    });
  }

 private:
  std::mutex mutex_;
  std::vector<std::wstring> paths_;
};

AsideFiles& aside_files() {
  static auto* files = new AsideFiles;  // leaked: a file may be written while statics are destroyed
  return *files;
}

std::wstring aside_name(const std::filesystem::path& to) {
  static std::atomic<unsigned> counter{0};
  return to.native() + L"." + std::to_wstring(_getpid()) + L"-" + std::to_wstring(GetTickCount64()) + L"-" +
         std::to_wstring(counter.fetch_add(1)) + L".tmp";
}

/// Returns false, with everything in its old place, if a file is held.
bool replace_by_moving_aside(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::wstring aside = aside_name(to);
  if (!MoveFileExW(to.c_str(), aside.c_str(), 0)) return false;
  if (!MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_WRITE_THROUGH)) {
    MoveFileExW(aside.c_str(), to.c_str(), 0);
    return false;
  }
  aside_files().remove_or_keep(aside);
  return true;
}

bool is_folder(const std::filesystem::path& path) {
  const DWORD attributes = GetFileAttributesW(path.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

}  // namespace

bool replace_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  return once_free([&]() -> DWORD {
    if (replace_at_once(from, to)) return ERROR_SUCCESS;
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return ERROR_SUCCESS;
    const DWORD code = GetLastError();
    if (!is_in_use(code)) return code;
    if (is_folder(to)) return ERROR_DIRECTORY;
    return replace_by_moving_aside(from, to) ? ERROR_SUCCESS : code;
  });
}

bool wait_until_readable(const std::filesystem::path& path) {
  return once_free([&]() -> DWORD {
    const HANDLE file = CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) return GetLastError();
    CloseHandle(file);
    return ERROR_SUCCESS;
  });
}

}  // namespace lorekeep
#endif
