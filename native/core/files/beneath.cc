#include "core/files/beneath.h"

#include "core/values/error.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "core/system/kernel_files.h"
#endif

namespace lorekeep {

int Descriptor::release() noexcept {
  const int number = number_;
  number_ = -1;
  return number;
}

#if defined(_WIN32)

void Descriptor::reset() noexcept {}

BeneathResult open_beneath(const BeneathRequest&) {
  fail(Code::kUnsupported, "paths cannot be walked by descriptors on this system");
}

#else

void Descriptor::reset() noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

namespace {

#if defined(O_PATH)
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;  // traversal needs no right to list the folder
#else
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif
constexpr int kFileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr int kMaxLinks = 40;  // as in Linux
/// Maximum number of components that may change between check and open.
constexpr int kMaxChanges = 64;

/// Ends a walk.
struct Stop {
  Reached reached;
};

[[noreturn]] void stop_for(int code) {
  switch (code) {
    case EACCES:
    case EPERM: throw Stop{Reached::kForbidden};
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP: throw Stop{Reached::kAbsent};
    default: fail(Code::kIo, std::string("cannot open: ") + std::strerror(code), {{"errno", std::int64_t{code}}});
  }
}

using Parts = std::deque<std::string>;

Parts split(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return parts;
}

std::string joined(const Parts& parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  return path;
}

struct Identity {
  dev_t device;
  ino_t file;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const struct stat& info) {
  return {info.st_dev, info.st_ino};
}

/// A folder and a name in it.
struct Place {
  Identity folder;
  std::string name;
};

/// Returns whether a name contains ".log" in any case, because some file systems ignore case.
bool is_log(std::string_view name) {
  constexpr std::string_view kEnding = ".log";
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::search(name.begin(), name.end(), kEnding.begin(), kEnding.end(), same) != name.end();
}

/// The closed files, resolved at the moment of one walk. The paths must outlive it.
class ClosedFiles {
 public:
  ClosedFiles(const std::vector<std::string>& paths, const std::string& logs) : paths_(paths), logs_(logs) {
    resolve();
  }

  /// Looks the paths up again, once a folder on the way to one may have been made.
  void resolve() {
    files_.clear();
    places_.clear();
    for (const std::string_view path : kKernelFolders) add(std::string(path));
    for (const std::string& path : paths_) add(path);
    if (!logs_.empty()) logs_folder_ = identity_at(logs_);
  }

  bool has(const struct stat& info) const {
    if (std::find(files_.begin(), files_.end(), identity_of(info)) != files_.end()) return true;
    return S_ISREG(info.st_mode) && info.st_nlink > 1 && logs_folder_ && is_linked_log(identity_of(info));
  }
  /// Returns whether a file of this name in this folder is, or would be, closed.
  bool has(const Identity& folder, const std::string& name) const {
    if (logs_folder_ == folder && is_log(name)) return true;
    return std::any_of(places_.begin(), places_.end(),
                       [&](const Place& place) { return place.folder == folder && place.name == name; });
  }

 private:
  static std::optional<Identity> identity_at(const std::string& path) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return {};
    return identity_of(info);
  }

  void add(const std::string& path) {
    if (const auto file = identity_at(path)) files_.push_back(*file);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    if (const auto folder = identity_at(path.substr(0, slash + 1)))
      places_.push_back({*folder, path.substr(slash + 1)});
  }

  bool is_linked_log(const Identity& file) const {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(logs_, error), end; !error && entry != end; entry.increment(error)) {
      if (is_log(entry->path().filename().string()) && identity_at(entry->path().string()) == file) return true;
    }
    return false;
  }

  const std::vector<std::string>& paths_;
  const std::string& logs_;
  std::optional<Identity> logs_folder_;
  std::vector<Identity> files_;
  std::vector<Place> places_;
};

struct Folder {
  Descriptor descriptor;
  Identity identity{};
  std::string name;
};

/// Returns the status of an open folder or file. Throws Stop(kClosed) in a kernel file system.
struct stat opened(int descriptor) {
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) stop_for(errno);
  if (is_kernel_file(descriptor)) throw Stop{Reached::kClosed};
  return info;
}

/// Walks one path, from a folder that it may not leave.
class Walk {
 public:
  /// `real`: the folder's absolute path without links; `spelled`: another path to it that links may use, or "".
  Walk(Folder boundary, const std::string& real, const std::string& spelled, ClosedFiles& closed)
      : closed_(closed), real_(split(real)), spelled_(split(spelled)) {
    folders_.push_back(std::move(boundary));
  }

  /// Opens the target of the path. Throws Stop.
  Descriptor run(std::string_view path, Wanted wanted, bool make_folders = false) {
    make_folders_ = make_folders;
    pending_ = split(path);
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      if (above_ > 0 || name == "..") {
        step_outside(name);
      } else if (auto found = step(name, wanted)) {
        return std::move(*found);
      }
    }
    if (above_ > 0) throw Stop{Reached::kOutside};
    if (wanted == Wanted::kFolder) return duplicate();
    throw Stop{Reached::kAbsent};  // a folder
  }

  /// Returns the target's path, relative to the boundary.
  std::string name() const {
    Parts parts;
    for (const Folder& folder : folders_) {
      if (&folder != &folders_.front()) parts.push_back(folder.name);
    }
    if (!last_.empty()) parts.push_back(last_);
    return joined(parts);
  }

 private:
  const Folder& here() const { return folders_.back(); }
  int at() const { return here().descriptor.number(); }

  /// Handles `..`, and names after a `..` that left the boundary. Links may lead out and back; only names are compared.
  void step_outside(const std::string& name) {
    if (name != "..") {
      if (name != real_[real_.size() - above_]) throw Stop{Reached::kOutside};
      --above_;
    } else if (folders_.size() > 1) {
      folders_.pop_back();
    } else if (above_ < real_.size()) {
      ++above_;
    }
  }

  /// Returns the result if this is the last component.
  std::optional<Descriptor> step(const std::string& name, Wanted wanted) {
    const bool last = pending_.empty();
    struct stat info{};
    if (::fstatat(at(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return absent(name, last, wanted);
    if (closed_.has(info) || closed_.has(here().identity, name)) throw Stop{Reached::kClosed};
    if (S_ISLNK(info.st_mode)) {
      follow(name);
      return {};
    }
    if (S_ISDIR(info.st_mode)) {
      if (last && wanted != Wanted::kFolder) throw Stop{Reached::kAbsent};
      enter(name);
      return {};
    }
    if (!S_ISREG(info.st_mode) || !last || wanted == Wanted::kFolder) throw Stop{Reached::kAbsent};
    return wanted == Wanted::kPlace ? place(name) : open_file(name);
  }

  std::optional<Descriptor> absent(const std::string& name, bool last, Wanted wanted) {
    const int code = errno;
    if (code != ENOENT || wanted != Wanted::kPlace) stop_for(code);
    if (last) return place(name);
    if (!make_folders_) throw Stop{Reached::kAbsent};
    if (closed_.has(here().identity, name)) throw Stop{Reached::kClosed};
    if (::mkdirat(at(), name.c_str(), 0777) != 0 && errno != EEXIST) {
      if (errno == EACCES || errno == EPERM || errno == EROFS) throw Stop{Reached::kUnmade};
      stop_for(errno);
    }
    closed_.resolve();
    again(name);
    return {};
  }

  Descriptor place(const std::string& name) {
    if (closed_.has(here().identity, name)) throw Stop{Reached::kClosed};
    last_ = name;
    return duplicate();
  }

  std::optional<Descriptor> open_file(const std::string& name) {
    Descriptor file(::openat(at(), name.c_str(), kFileFlags));
    if (file.number() < 0) return changed(name, errno);
    const struct stat info = open_here(file);
    if (!S_ISREG(info.st_mode)) throw Stop{Reached::kAbsent};
    last_ = name;
    return file;
  }

  /// Returns the status of a file or folder opened in the current folder. Throws Stop(kClosed).
  struct stat open_here(const Descriptor& descriptor) const {
    struct stat info{};
    if (::fstat(descriptor.number(), &info) != 0) stop_for(errno);
    const bool mounted = info.st_dev != here().identity.device;
    if (closed_.has(info) || (mounted && is_kernel_file(descriptor.number()))) throw Stop{Reached::kClosed};
    return info;
  }

  void enter(const std::string& name) {
    Descriptor folder(::openat(at(), name.c_str(), kFolderFlags | O_NOFOLLOW));
    if (folder.number() < 0) {
      changed(name, errno);
      return;
    }
    const struct stat info = open_here(folder);
    folders_.push_back({std::move(folder), identity_of(info), name});
  }

  void follow(const std::string& name) {
    if (++links_ > kMaxLinks) throw Stop{Reached::kAbsent};
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(at(), name.c_str(), target.data(), target.size());
    if (length < 0) {
      changed(name, errno == EINVAL ? ENOENT : errno);
      return;
    }
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    Parts parts = split(text);
    if (text.starts_with('/')) restart(parts);
    pending_.insert(pending_.begin(), parts.begin(), parts.end());
  }

  /// Restarts for the target of an absolute link: at the boundary if the target begins with its path, else at "/".
  void restart(Parts& target) {
    folders_.erase(folders_.begin() + 1, folders_.end());
    const bool inside = !spelled_.empty() && target.size() >= spelled_.size() &&
                        std::equal(spelled_.begin(), spelled_.end(), target.begin());
    above_ = inside ? 0 : real_.size();
    if (inside) target.erase(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(spelled_.size()));
  }

  /// The component changed since the check: checks again.
  std::optional<Descriptor> changed(const std::string& name, int code) {
    if (code != ENOENT && code != ELOOP && code != ENOTDIR && code != EMLINK && code != ENXIO) stop_for(code);
    again(name);
    return {};
  }

  void again(const std::string& name) {
    if (++changes_ > kMaxChanges) throw Stop{Reached::kAbsent};
    pending_.push_front(name);
  }

  Descriptor duplicate() const {
    Descriptor copy(::fcntl(at(), F_DUPFD_CLOEXEC, 0));
    if (copy.number() < 0) stop_for(errno);
    return copy;
  }

  ClosedFiles& closed_;
  const Parts real_;
  const Parts spelled_;
  std::vector<Folder> folders_;  // from the boundary to the current folder
  std::size_t above_ = 0;        // levels above the boundary, by the names in links
  Parts pending_;
  std::string last_;
  bool make_folders_ = false;
  int links_ = 0;
  int changes_ = 0;
};

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr), &std::free);
  if (found == nullptr) return {};
  return std::string(found.get());
}

/// Opens the root. Throws Stop. The operator chooses it, so only kernel folders are refused. Sets `real` to its path.
Folder open_root(const std::string& path, std::string& real) {
  const auto found = real_path(path);
  if (!found) throw Stop{Reached::kNoFolder};
  real = *found;
  if (is_kernel_path(real)) throw Stop{Reached::kClosed};
  Descriptor root(::open(real.c_str(), kFolderFlags | O_NOFOLLOW));
  if (root.number() < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) stop_for(errno);
    throw Stop{Reached::kNoFolder};
  }
  const struct stat info = opened(root.number());
  return {std::move(root), identity_of(info), ""};
}

/// Returns whether a folder, by its real path, is one of the sealed ones or in one.
bool is_sealed(const std::string& real, const std::vector<std::string>& sealed) {
  std::vector<Identity> folders;
  for (const std::string& path : sealed) {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0) folders.push_back(identity_of(info));
  }
  if (folders.empty()) return false;
  for (std::string at = real; !at.empty(); at.resize(at.rfind('/'))) {
    struct stat info{};
    if (::stat(at.c_str(), &info) != 0) continue;
    if (std::find(folders.begin(), folders.end(), identity_of(info)) != folders.end()) return true;
  }
  return false;
}

std::string under(const std::string& folder, const std::string& name) {
  if (folder.empty() || name.empty()) return folder + name;
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

/// Opens the folder that the path may not leave, and sets `real` to its real path. Throws Stop.
Folder open_folder(const BeneathRequest& request, ClosedFiles& closed, std::string& real) {
  Folder root = open_root(request.root, real);
  if (is_sealed(real, request.sealed)) throw Stop{Reached::kClosed};
  if (split(request.folder).empty()) return root;
  Walk walk(std::move(root), real, request.root, closed);
  Folder folder;
  try {
    folder.descriptor = walk.run(request.folder, Wanted::kFolder);
  } catch (const Stop& stop) {
    const bool none = stop.reached == Reached::kAbsent || stop.reached == Reached::kOutside;
    throw Stop{none ? Reached::kNoFolder : stop.reached};
  }
  folder.identity = identity_of(opened(folder.descriptor.number()));
  real = under(real, walk.name());
  return folder;
}

}  // namespace

BeneathResult open_beneath(const BeneathRequest& request) {
  BeneathResult result;
  ClosedFiles closed(request.closed, request.logs);
  try {
    if (request.path.find('\0') != std::string::npos) throw Stop{Reached::kAbsent};
    Walk walk(open_folder(request, closed, result.folder), result.folder, under(request.root, request.folder), closed);
    result.descriptor = walk.run(request.path, request.wanted, request.make_folders);
    result.name = walk.name();
    result.reached = Reached::kOpened;
  } catch (const Stop& stop) {
    result.reached = stop.reached;
  }
  return result;
}

#endif

}  // namespace lorekeep
