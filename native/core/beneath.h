// Opens files by paths that others choose, without ever leaving a folder. Paths are walked component by component, each
// opened from the descriptor of the one before and never through a link: links are read and walked in turn. So what a
// link leads to outside is never looked at, and what is opened is what was checked, however links change meanwhile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lorekeep {

/// An open descriptor, closed by its last owner. -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = other.release();
    }
    return *this;
  }

  int number() const noexcept { return number_; }
  int release() noexcept;

 private:
  void reset() noexcept;
  int number_ = -1;
};

enum class Wanted {
  kFile,    // a regular file, open for reading
  kFolder,  // a folder
  kPlace,   // the folder of a file that may be absent
};

struct BeneathRequest {
  /// Absolute; links in it are followed: it is the operator's.
  std::string root;
  /// Relative to the root, "" for the root itself: what `path` may not leave, and it may not leave the root.
  std::string folder;
  /// Relative to `folder`.
  std::string path;
  Wanted wanted = Wanted::kFile;
  /// Whether absent folders on the way to a place are made.
  bool make_folders = false;
  /// Files and folders that are never opened, by any of their names; those that are absent are never made.
  std::vector<std::string> closed;
  /// A folder whose logs (`*.log*`) are closed as well, by any of their names, or "". The root may be in it.
  std::string logs;
};

enum class Reached {
  kOpened,
  kOutside,    // the path leaves `folder`: nothing outside was looked at
  kNoFolder,   // the root or `folder` is absent or is no folder
  kAbsent,     // also a path too long, a loop of links, something else than was wanted
  kClosed,     // one of `closed`, or in a file system of the kernel's own, such as /proc
  kForbidden,  // the system does not allow it
};

struct BeneathResult {
  Reached reached = Reached::kAbsent;
  /// Of the file or the folder.
  Descriptor descriptor;
  /// Absolute path of what the path may not leave, and relative to it that of the file; both without links.
  std::string folder;
  std::string name;
};

/// Throws Error(kIo) when the system fails (too many open files), Error(kUnsupported) where it cannot do this
/// (Windows).
BeneathResult open_beneath(const BeneathRequest& request);

}  // namespace lorekeep
