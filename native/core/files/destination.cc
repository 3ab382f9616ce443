#include "core/files/destination.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/files/utf8_path.h"
#include "core/values/error.h"

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include "core/files/windows_replace.h"
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <linux/fs.h>
#include <sys/syscall.h>
#endif

namespace lorekeep {
namespace {

// Retries while other writers replace the target.
constexpr int kRenameAttempts = 100;

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.has_parent_path() ? target.parent_path() : ".";
}

void Destination::refuse(const Refusal& why) const {
  const std::string name = utf8_path(target_);
  const std::string owner = why.owner.empty() ? "" : "that is " + why.owner + ", seen from its folder; ";
  const std::string remedy = owner + "remove it or choose another path for the file";
  const std::string reason = "it " + why.reason + ", so it is not overwritten";
  fail(Code::kInvalidArgument, name + ": " + reason + "; " + remedy,
       {{"file", name}, {"reason", reason}, {"remedy", remedy}});
}

void Destination::unreadable(int code) const {
  const std::string name = utf8_path(target_);
  fail_file(Code::kIo, name, "cannot check whether it may be replaced: " + std::string(std::strerror(code)));
}

#if defined(_WIN32)

namespace {

class StreamedFile final : public FoundFile {
 public:
  StreamedFile(const std::filesystem::path& path, std::uint64_t size)
      : FoundFile(size), file_(path, std::ios::binary) {}
  bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept override {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
    return static_cast<std::size_t>(file_.gcount()) == to.size();
  }

 private:
  mutable std::ifstream file_;
};

}  // namespace

Destination::Destination(std::filesystem::path target, ReplacementRule rule)
    : target_(std::move(target)), rule_(std::move(rule)) {}

Destination::~Destination() = default;

std::optional<FileId> Destination::look() const {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(target_, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (error) unreadable(error.value());
  if (std::filesystem::is_symlink(status)) refuse({"is a symbolic link", {}});
  if (!std::filesystem::is_regular_file(status)) refuse({"is not a regular file", {}});
  const std::uint64_t size = std::filesystem::file_size(target_, error);
  if (error) unreadable(error.value());
  if (size == 0) return {};
  if (!wait_until_readable(target_)) unreadable(errno);
  if (const Refusal why = rule_(StreamedFile(target_, size)); !why.reason.empty()) refuse(why);
  return {};
}

std::FILE* Destination::create(const std::filesystem::path& name) const {
  const std::filesystem::path path = folder_of(target_) / name;
  constexpr int kFlags = _O_CREAT | _O_EXCL | _O_BINARY | _O_WRONLY | _O_NOINHERIT;
  const int file = _wopen(path.c_str(), kFlags, _S_IREAD | _S_IWRITE);
  std::FILE* const stream = file < 0 ? nullptr : _wfdopen(file, L"wb");
  if (file >= 0 && stream == nullptr) _close(file);
  return stream;
}

void Destination::remove(const std::filesystem::path& name) const noexcept {
  std::error_code ignored;
  std::filesystem::remove(folder_of(target_) / name, ignored);
}

bool Destination::replace_with(const std::filesystem::path& name) const {
  look();
  return replace_file(folder_of(target_) / name, target_);
}

void Destination::flush_folder() const noexcept {}

#else

namespace {

class OpenedFile final : public FoundFile {
 public:
  OpenedFile(int handle, std::uint64_t size) : FoundFile(size), handle_(handle) {}
  ~OpenedFile() override { ::close(handle_); }
  bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept override {
    while (!to.empty()) {
      const ssize_t got = ::pread(handle_, to.data(), to.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      offset += static_cast<std::uint64_t>(got);
      to = to.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

 private:
  int handle_;
};

constexpr mode_t kPermissionBits = 0777;
constexpr mode_t kOwnerBits = 0700;
constexpr mode_t kGroupBits = 0070;
constexpr mode_t kUsualPermissions = 0666;  // less the umask's

/// Gives an open file the permissions and the owner of another, as far as this user may set them. Only root may change
/// the owner, and not every file system has permissions.
void give_access(int handle, const struct stat& like) noexcept {
  struct stat made{};
  if (::fstat(handle, &made) != 0) return;
  if (made.st_uid != like.st_uid || made.st_gid != like.st_gid) {
    if (::fchown(handle, like.st_uid, like.st_gid) != 0 && ::fchown(handle, made.st_uid, like.st_gid) != 0) errno = 0;
  }
  struct stat owned{};
  if (::fstat(handle, &owned) != 0) return;
  mode_t bits = like.st_mode & kPermissionBits;
  if (owned.st_gid != like.st_gid) bits &= ~kGroupBits;  // another group's are not for this one
  if ((owned.st_mode & kPermissionBits) != bits && ::fchmod(handle, bits) != 0) errno = 0;
}

/// Renames without replacing anything; nullopt if the system cannot guarantee that.
std::optional<bool> rename_to_free_name(int folder, const char* from, const char* to) {
#if defined(__linux__) && defined(SYS_renameat2)
  if (::syscall(SYS_renameat2, folder, from, folder, to, RENAME_NOREPLACE) == 0) return true;  // glibc before 2.28
  if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return std::nullopt;  // not supported by the file system
  return false;
#else
  (void)folder, (void)from, (void)to;
  return std::nullopt;
#endif
}

}  // namespace

Destination::Destination(std::filesystem::path target, ReplacementRule rule)
    : target_(std::move(target)),
      rule_(std::move(rule)),
      folder_(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

Destination::~Destination() {
  if (folder_ >= 0) ::close(folder_);
}

std::optional<FileId> Destination::look() const {
  if (folder_ < 0) return {};  // create() reports the error
  const std::filesystem::path name = target_.filename();
  struct stat named{};
  if (::fstatat(folder_, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    unreadable(errno);
  }
  if (S_ISLNK(named.st_mode)) refuse({"is a symbolic link", {}});
  if (S_ISDIR(named.st_mode)) refuse({"is a folder", {}});
  if (!S_ISREG(named.st_mode)) refuse({"is not a regular file", {}});
  const int handle = ::openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (handle < 0) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP) refuse({"is a symbolic link", {}});
    unreadable(errno);
  }
  struct stat opened{};
  const bool known = ::fstat(handle, &opened) == 0;
  const int code = errno;
  const OpenedFile file(handle, static_cast<std::uint64_t>(opened.st_size));
  if (!known) unreadable(code);
  if (!S_ISREG(opened.st_mode)) refuse({"is not a regular file", {}});
  if (opened.st_size > 0) {
    if (const Refusal why = rule_(file); !why.reason.empty()) refuse(why);
  }
  return file_id_of(opened);
}

std::FILE* Destination::create(const std::filesystem::path& name) const {
  if (folder_ < 0) return std::fopen((folder_of(target_) / name).c_str(), "wbxe");  // for its errno
  struct stat like{};
  const std::filesystem::path own = target_.filename();
  const bool replaces = ::fstatat(folder_, own.c_str(), &like, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(like.st_mode);
  const mode_t mode = replaces ? like.st_mode & kOwnerBits : kUsualPermissions;
  const int handle = ::openat(folder_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (handle < 0) return nullptr;
  if (replaces) give_access(handle, like);
  std::FILE* file = ::fdopen(handle, "wb");
  if (file == nullptr) {
    const int code = errno;
    ::close(handle);
    remove(name);
    errno = code;
  }
  return file;
}

void Destination::remove(const std::filesystem::path& name) const noexcept {
  if (folder_ >= 0) ::unlinkat(folder_, name.c_str(), 0);
}

bool Destination::replace_with(const std::filesystem::path& name) const {
  const std::filesystem::path own = target_.filename();
  for (int attempt = 0; attempt < kRenameAttempts; ++attempt) {
    const std::optional<FileId> seen = look();
    if (!seen) {
      const std::optional<bool> renamed = rename_to_free_name(folder_, name.c_str(), own.c_str());
      if (renamed && (*renamed || errno != EEXIST)) return *renamed;
      if (renamed) continue;  // another writer created the file meanwhile
    }
    struct stat now{};
    const bool there = ::fstatat(folder_, own.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    if ((there ? std::optional(file_id_of(now)) : std::nullopt) == seen)
      return ::renameat(folder_, name.c_str(), folder_, own.c_str()) == 0;
  }
  errno = EBUSY;
  return false;
}

// Ignores errors: file systems that refuse to fsync a folder do not need it.
void Destination::flush_folder() const noexcept {
  if (folder_ >= 0) ::fsync(folder_);
}

#endif

void Destination::check() const {
  look();
}

}  // namespace lorekeep
