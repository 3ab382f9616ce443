#include "core/files/file_lock.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/files/file_id.h"
#include "core/files/utf8_path.h"
#include "core/values/error.h"

#if defined(_WIN32)
#include "core/system/windows_api.h"
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lorekeep {
namespace {

// Longer than any process number with its newline.
constexpr std::size_t kMaxContent = 32;
// Retries while other processes release and remove the file.
constexpr int kLockAttempts = 100;

bool is_lock_content(std::string_view content) {
  return content.size() < kMaxContent && content.find_first_not_of("0123456789\n") == std::string_view::npos;
}

std::int64_t holder_of(std::string_view content) {
  const std::string digits(content.substr(0, content.find('\n')));
  return digits.empty() || digits.size() > 18 ? 0 : std::stoll(digits);
}

[[noreturn]] void refuse_lock(const std::filesystem::path& path, const std::string& reason) {
  fail_file(Code::kIo, utf8_path(path), reason);
}

[[noreturn]] void refuse_foreign(const std::filesystem::path& path) {
  fail_file(Code::kInvalidArgument, utf8_path(path), "is not a lock of lorekeep, so it is left as it is; move it away");
}

[[noreturn]] void refuse_held(const std::filesystem::path& path, std::string_view content) {
  const std::int64_t holder = is_lock_content(content) ? holder_of(content) : 0;
  const std::string who = holder == 0 ? "another process" : "process " + std::to_string(holder);
  fail_file(Code::kIo, utf8_path(path), who + " changes this knowledge base; one process at a time may do so",
            {{"holder", holder}});
}

}  // namespace

#if defined(_WIN32)

namespace {

// Locked bytes cannot be read by others, so the lock is beyond the content.
constexpr DWORD kLockedByte = 1 << 20;

std::string read_lock(HANDLE handle) {
  char buffer[kMaxContent];
  DWORD got = 0;
  OVERLAPPED at{};
  return ReadFile(handle, buffer, sizeof(buffer), &got, &at) ? std::string(buffer, got) : std::string();
}

}  // namespace

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    HANDLE handle = CreateFileW(path_.c_str(), GENERIC_READ | GENERIC_WRITE, kShareAll, nullptr, OPEN_ALWAYS,
                                FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
      if (GetLastError() == ERROR_ACCESS_DENIED && attempt + 1 < kLockAttempts) {  // being removed
        Sleep(1);
        continue;
      }
      refuse_lock(path_, "cannot be opened: error " + std::to_string(GetLastError()));
    }
    OVERLAPPED at{};
    at.Offset = kLockedByte;
    const std::string content = read_lock(handle);
    if (!LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)) {
      CloseHandle(handle);
      refuse_held(path_, content);
    }
    const auto own = file_id_of_handle(handle);
    if (!own || own != file_id(path_)) {
      CloseHandle(handle);
      continue;
    }
    if (!is_lock_content(content)) {
      CloseHandle(handle);
      refuse_foreign(path_);
    }
    const std::string text = std::to_string(GetCurrentProcessId()) + "\n";
    DWORD written = 0;
    OVERLAPPED begin{};
    SetEndOfFile(handle);
    WriteFile(handle, text.data(), static_cast<DWORD>(text.size()), &written, &begin);
    handle_ = handle;
    return;
  }
  refuse_lock(path_, "other processes keep replacing it");
}

FileLock::~FileLock() {
  DeleteFileW(path_.c_str());
  CloseHandle(handle_);
}

#else

namespace {

std::string read_lock(int handle) {
  char buffer[kMaxContent];
  const ssize_t got = ::pread(handle, buffer, sizeof(buffer), 0);
  return got < 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(got));
}

/// Whether the path still leads to the open file: its last holder may have removed it since.
bool is_named(int handle, const std::filesystem::path& path) {
  struct stat opened{};
  struct stat named{};
  return ::fstat(handle, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && file_id_of(opened) == file_id_of(named);
}

bool is_regular(int handle) {
  struct stat opened{};
  return ::fstat(handle, &opened) == 0 && S_ISREG(opened.st_mode);
}

}  // namespace

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  constexpr mode_t kOwnerOnly = 0600;
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    const int handle = ::open(path_.c_str(), kFlags, kOwnerOnly);
    if (handle < 0) refuse_lock(path_, std::string("cannot be opened: ") + std::strerror(errno));
    if (!is_regular(handle)) {
      ::close(handle);
      refuse_foreign(path_);
    }
    if (::flock(handle, LOCK_EX | LOCK_NB) != 0) {
      const int code = errno;
      const std::string content = read_lock(handle);
      ::close(handle);
      if (code == EWOULDBLOCK) refuse_held(path_, content);
      refuse_lock(path_, std::string("cannot be locked: ") + std::strerror(code));
    }
    if (!is_named(handle, path_)) {
      ::close(handle);
      continue;
    }
    if (!is_lock_content(read_lock(handle))) {
      ::close(handle);
      refuse_foreign(path_);
    }
    // The number only names the holder in messages: the lock holds without it, on a full disk.
    const std::string text = std::to_string(::getpid()) + "\n";
    if (::ftruncate(handle, 0) != 0 || ::pwrite(handle, text.data(), text.size(), 0) < 0) errno = 0;
    handle_ = handle;
    return;
  }
  refuse_lock(path_, "other processes keep replacing it");
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(handle_);
}

#endif

}  // namespace lorekeep
