#include "core/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/utf8_path.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lorekeep {
namespace {

[[noreturn]] void refuse(const std::string& name, const char* what, bool missing, const std::string& reason) {
  fail_file(missing ? Code::kNotFound : Code::kIo, name, std::string(what) + ": " + reason);
}

}  // namespace

#if defined(_WIN32)

MappedFile::MappedFile(const std::filesystem::path& path) : name_(utf8_path(path)) {
  HANDLE file = CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                            FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    const DWORD code = GetLastError();
    refuse(name_, "cannot open", code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND,
           "system error " + std::to_string(code));
  }
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file, &size)) {
    CloseHandle(file);
    refuse(name_, "cannot read its size", false, "system error");
  }
  size_ = static_cast<std::size_t>(size.QuadPart);
  if (size_ > 0) {
    HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping != nullptr) {
      data_ = static_cast<const std::byte*>(MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0));
      CloseHandle(mapping);
    }
  }
  CloseHandle(file);
  if (size_ > 0 && data_ == nullptr) refuse(name_, "cannot map", false, "system error");
}

void MappedFile::release() noexcept {
  if (data_ != nullptr) UnmapViewOfFile(data_);
  data_ = nullptr;
  size_ = 0;
}

#else

MappedFile::MappedFile(const std::filesystem::path& path) : name_(utf8_path(path)) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer must not block
  if (file < 0) {
    const int code = errno;
    fail(code == ENOENT || code == ENOTDIR ? Code::kNotFound : Code::kIo,
         name_ + ": cannot open: " + std::strerror(code), {{"path", name_}, {"errno", std::int64_t{code}}});
  }
  struct stat info{};
  const bool known = ::fstat(file, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    const std::string reason = known ? "not a regular file" : std::strerror(errno);
    ::close(file);
    refuse(name_, "cannot open", false, reason);
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ > 0) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) {
      const std::string reason = std::strerror(errno);
      ::close(file);
      refuse(name_, "cannot map", false, reason);
    }
    data_ = static_cast<const std::byte*>(address);
  }
  ::close(file);
}

void MappedFile::release() noexcept {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  data_ = nullptr;
  size_ = 0;
}

#endif

MappedFile::~MappedFile() {
  release();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    release();
    name_ = std::move(other.name_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

}  // namespace lorekeep
