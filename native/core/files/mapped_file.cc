#include "core/files/mapped_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "core/files/utf8_path.h"
#include "core/values/error.h"

#if defined(_WIN32)
#include "core/system/windows_api.h"
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

void MappedFile::check_same_at_path() const {
  const auto found = file_id(path_of_utf8(name_));
  if (!found || !id_ || *found == *id_) return;
  fail(Code::kCorrupt, name_ + ": it was replaced by another file while it was read; load it again",
       {{"path", name_}, {"reason", std::string("changed")}});
}

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
  id_ = file_id_of_handle(file);
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

struct MappedFile::Stamp {};

MappedFile::~MappedFile() {
  if (data_ != nullptr) UnmapViewOfFile(data_);
}

void MappedFile::check_unchanged() const {}
void MappedFile::read(std::span<const std::byte> part, std::byte* to) const {
  std::memcpy(to, part.data(), part.size());
}
void MappedFile::forget(std::span<const std::byte>) const noexcept {}

#else

namespace {

/// Status of the open file: size, times in nanoseconds, number of hard links.
struct Facts {
  std::int64_t size;
  std::int64_t modified;
  std::int64_t changed;
  std::uint64_t names;

  bool same_content(const Facts& other) const noexcept { return size == other.size && modified == other.modified; }
};

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Facts facts_of(const struct stat& info) noexcept {
#if defined(__APPLE__)
  const timespec modified = info.st_mtimespec;
  const timespec changed = info.st_ctimespec;
#else
  const timespec modified = info.st_mtim;
  const timespec changed = info.st_ctim;
#endif
  return {info.st_size, nanoseconds(modified), nanoseconds(changed), info.st_nlink};
}

}  // namespace

/// The open file, and its status when it was mapped.
struct MappedFile::Stamp {
  int file;
  std::mutex mutex;
  Facts facts;
  bool refused = false;

  explicit Stamp(int opened) : file(opened), facts{} {}
  ~Stamp() { ::close(file); }

  bool changed() {
    struct stat info{};
    if (::fstat(file, &info) != 0) return true;
    const Facts now = facts_of(info);
    const std::lock_guard lock(mutex);
    // Adding or removing a hard link, as a replacement by rename does, also sets the change time.
    const bool renamed = now.names != facts.names;
    if (!refused && now.same_content(facts) && (now.changed == facts.changed || renamed))
      facts = now;
    else
      refused = true;
    return refused;
  }
};

MappedFile::MappedFile(const std::filesystem::path& path) : name_(utf8_path(path)) {
  const int file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // so that a pipe without a writer does not block
  if (file < 0) {
    const int code = errno;
    fail_file(code == ENOENT || code == ENOTDIR ? Code::kNotFound : Code::kIo, name_,
              std::string("cannot open: ") + std::strerror(code), {{"errno", std::int64_t{code}}});
  }
  stamp_ = std::make_unique<Stamp>(file);
  struct stat info{};
  if (::fstat(file, &info) != 0) refuse(name_, "cannot open", false, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) refuse(name_, "cannot open", false, "not a regular file");
  stamp_->facts = facts_of(info);
  id_ = file_id_of(info);
  if (info.st_size == 0) return;
  void* address = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) {
    const int code = errno;
    fail_file(code == ENOMEM ? Code::kOutOfMemory : Code::kIo, name_, std::string("cannot map: ") + std::strerror(code),
              {{"errno", std::int64_t{code}}});
  }
  data_ = static_cast<const std::byte*>(address);
  size_ = static_cast<std::size_t>(info.st_size);
  try {
    guard_ = std::make_unique<MappingGuard>(data_, size_);
  } catch (...) {
    ::munmap(address, size_);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  guard_.reset();
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::check_unchanged() const {
  const bool lost = guard_ && guard_->broken();
  if (!lost && !stamp_->changed()) return;
  const char* const what =
      lost ? ": a part of it could not be read: it was truncated or its device failed" : ": it was changed in place";
  fail(Code::kCorrupt, name_ + what + " while it was in use; replace files by renaming, and load it again",
       {{"path", name_}, {"reason", std::string("changed")}});
}

void MappedFile::read(std::span<const std::byte> part, std::byte* to) const {
  for (std::size_t done = 0; done < part.size();) {
    const auto offset = static_cast<off_t>(part.data() - data_) + static_cast<off_t>(done);
    const ssize_t count = ::pread(stamp_->file, to + done, part.size() - done, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      fail(Code::kCorrupt, name_ + ": a part of it could not be read: it was truncated or its device failed",
           {{"path", name_}, {"reason", std::string("changed")}});
    }
    done += static_cast<std::size_t>(count);
  }
}

void MappedFile::forget(std::span<const std::byte> part) const noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(part.data()) + part.size()) / page * page;
  if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

#endif

}  // namespace lorekeep
