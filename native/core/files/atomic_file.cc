#include "core/files/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "core/files/utf8_path.h"
#include "core/values/error.h"

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lorekeep {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
// A killed process leaves its temporary files; in a container, its successor often has the same process id.
constexpr int kNameAttempts = 1000;

std::filesystem::path temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
#if defined(_WIN32)
  const long process = _getpid();
#else
  const long process = ::getpid();
#endif
  std::string end = std::to_string(process);
  end += '-';
  end += std::to_string(counter.fetch_add(1));
  std::filesystem::path name = target.filename();
  name += "." + end + ".tmp";
  return name;
}

bool seek(std::FILE* file, std::uint64_t offset) {
#if defined(_WIN32)
  return _fseeki64(file, static_cast<__int64>(offset), SEEK_SET) == 0;
#else
  return ::fseeko(file, static_cast<off_t>(offset), SEEK_SET) == 0;
#endif
}

bool flush_to_device(std::FILE* file) {
  if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
  return _commit(_fileno(file)) == 0;
#else
  return ::fsync(::fileno(file)) == 0;
#endif
}

#if defined(_WIN32)
// Windows cannot remove an open file, so the age only needs to cover the moment between closing and renaming.
constexpr auto kStrayAge = std::chrono::hours(1);

bool remove_if_stray(const std::filesystem::path& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error || std::filesystem::file_time_type::clock::now() - written < kStrayAge) return false;
  return std::filesystem::remove(path, error);
}

bool claim(std::FILE*) {
  return true;
}
#else
bool same_file(int handle, const char* path) {
  struct stat opened{};
  struct stat named{};
  return ::fstat(handle, &opened) == 0 && ::lstat(path, &named) == 0 && file_id_of(opened) == file_id_of(named);
}

/// Takes the lock that marks the writer as alive; it ends with the process. Returns false if another process removed
/// the new file as a stray before the lock. Strays are not removed from file systems without locks.
bool claim(std::FILE* file) {
  if (::flock(::fileno(file), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat made{};
  return ::fstat(::fileno(file), &made) != 0 || made.st_nlink > 0;
}

bool remove_if_stray(const std::filesystem::path& path) {
  const int handle = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (handle < 0) return false;
  const bool removed =
      ::flock(handle, LOCK_EX | LOCK_NB) == 0 && same_file(handle, path.c_str()) && ::unlink(path.c_str()) == 0;
  ::close(handle);
  return removed;
}
#endif

/// Returns whether `name` is a temporary_name() of a target called `target`.
bool is_temporary_of(std::string_view name, std::string_view target) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.starts_with(target) || !name.ends_with(kEnd)) return false;
  if (name.size() <= target.size() + 1 + kEnd.size() || name[target.size()] != '.') return false;
  const std::string_view middle = name.substr(target.size() + 1, name.size() - target.size() - 1 - kEnd.size());
  return middle.find_first_not_of("0123456789-") == std::string_view::npos;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target, ReplacementRule rule)
    : destination_(std::move(target), std::move(rule)), buffer_(std::make_unique<char[]>(kBufferBytes)) {
  destination_.check();
  remove_stray_files(this->target());
  create();
  std::setvbuf(file_, buffer_.get(), _IOFBF, kBufferBytes);
}

// Never opens an existing file: it may be another writer's.
void AtomicFile::create() {
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    std::filesystem::path name = temporary_name(target());
    file_ = destination_.create(name);
    if (file_ != nullptr && claim(file_)) {
      temporary_ = std::move(name);
      return;
    }
    if (file_ != nullptr) {
      std::fclose(file_);  // another process has removed the name or is about to
      file_ = nullptr;
      continue;
    }
    if (errno != EEXIST) break;
  }
  refuse("cannot create");
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (file_ == nullptr) fail(Code::kInternal, utf8_path(target()) + ": written after commit");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) refuse("cannot write");
  size_ += bytes.size();
}

void AtomicFile::rewrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (file_ == nullptr || offset > size_ || bytes.size() > size_ - offset)
    fail(Code::kInternal, utf8_path(target()) + ": bad rewrite");
  const bool done =
      seek(file_, offset) && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() && seek(file_, size_);
  if (!done) refuse("cannot write");
}

void AtomicFile::commit() {
  if (file_ == nullptr) fail(Code::kInternal, utf8_path(target()) + ": committed twice");
  if (!flush_to_device(file_)) refuse("cannot flush");
#if defined(_WIN32)
  close();  // an open file cannot be renamed
#endif
  if (!destination_.replace_with(temporary_)) refuse("cannot replace");
  temporary_.clear();
  close();  // releases the lock only after the temporary name is gone, so that no other writer sees a stray
  destination_.flush_folder();
}

// Ignores errors: everything is on the device already.
void AtomicFile::close() noexcept {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
}

void AtomicFile::refuse(const char* what) {
  const int code = errno;
  discard();
  const std::string name = utf8_path(target());
  const std::string folder = utf8_path(folder_of(target()));
  fail_file(Code::kIo, name, std::string(what) + " in its folder: " + std::strerror(code), {{"folder", folder}});
}

void AtomicFile::discard() noexcept {
  if (!temporary_.empty()) {
#if defined(_WIN32)
    close();
#endif
    destination_.remove(temporary_);
    temporary_.clear();
  }
  close();
}

std::size_t remove_stray_files(const std::filesystem::path& target) noexcept try {
  const std::filesystem::path folder = folder_of(target);
  const std::string name = utf8_path(target.filename());
  std::size_t removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_temporary_of(utf8_path(entry->path().filename()), name) && remove_if_stray(entry->path())) ++removed;
  }
  return removed;
} catch (const std::exception&) {
  return 0;  // strays cost space, not correctness
}

}  // namespace lorekeep
