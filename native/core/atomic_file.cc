#include "core/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "core/error.h"

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace lorekeep {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
// A process that was killed leaves its temporary files; in a container its successor often has the same process id.
constexpr int kNameAttempts = 1000;

std::filesystem::path temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
#if defined(_WIN32)
  const long process = _getpid();
#else
  const long process = ::getpid();
#endif
  std::filesystem::path name = target;
  name += "." + std::to_string(process) + "-" + std::to_string(counter.fetch_add(1)) + ".tmp";
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

// A rename is durable only once the folder is; file systems that refuse to fsync a folder do it themselves.
void flush_folder(const std::filesystem::path& target) {
#if !defined(_WIN32)
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
#else
  (void)target;
#endif
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target)
    : target_(std::move(target)), buffer_(std::make_unique<char[]>(kBufferBytes)) {
  create();
  std::setvbuf(file_, buffer_.get(), _IOFBF, kBufferBytes);
}

// Never opens a file that exists: it may be another writer's.
void AtomicFile::create() {
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    std::filesystem::path name = temporary_name(target_);
#if defined(_WIN32)
    file_ = _wfopen(name.c_str(), L"wbx");
#else
    file_ = std::fopen(name.c_str(), "wbxe");
#endif
    if (file_ != nullptr) {
      temporary_ = std::move(name);
      return;
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
  if (file_ == nullptr) fail(Code::kInternal, target_.string() + ": written after commit");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) refuse("cannot write");
  size_ += bytes.size();
}

void AtomicFile::rewrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (file_ == nullptr || offset > size_ || bytes.size() > size_ - offset)
    fail(Code::kInternal, target_.string() + ": bad rewrite");
  const bool done =
      seek(file_, offset) && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() && seek(file_, size_);
  if (!done) refuse("cannot write");
}

void AtomicFile::commit() {
  if (file_ == nullptr) fail(Code::kInternal, target_.string() + ": committed twice");
  if (!flush_to_device(file_)) refuse("cannot flush");
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed) refuse("cannot close");
  std::error_code error;
  std::filesystem::rename(temporary_, target_, error);
  if (error) {
    errno = error.value();
    refuse("cannot replace");
  }
  temporary_.clear();
  flush_folder(target_);
}

void AtomicFile::refuse(const char* what) {
  const int code = errno;
  discard();
  const std::string name = target_.string();
  fail(Code::kIo, name + ": " + what + ": " + std::strerror(code), {{"path", name}});
}

void AtomicFile::discard() noexcept {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
  if (!temporary_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    temporary_.clear();
  }
}

}  // namespace lorekeep
