// Opens files by untrusted paths without ever leaving a folder. Walks paths component by component and opens each from
// the descriptor of the previous one. Links are never followed by the system, but read and walked. So nothing outside
// is checked, and the opened file is the checked one, however links change meanwhile.
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
  /// Absolute. Chosen by the operator, so links in it are followed.
  std::string root;
  /// The folder that `path` may not leave, relative to the root ("": the root itself), which it may not leave either.
  std::string folder;
  /// Relative to `folder`.
  std::string path;
  Wanted wanted = Wanted::kFile;
  /// Whether to create absent folders on the way to a kPlace.
  bool make_folders = false;
  /// Files and folders that are never opened, by any of their names, nor created.
  std::vector<std::string> closed;
  /// A folder whose logs (`*.log*`) are also closed, by any of their names, or "". The root may be in it.
  std::string logs;
  /// Folders that the root may be neither nor be in: requests with such a root reach nothing.
  std::vector<std::string> sealed;
};

enum class Reached {
  kOpened,
  kOutside,    // the path leaves `folder`; nothing outside was looked at
  kNoFolder,   // the root or `folder` is absent or not a folder
  kAbsent,     // also: a path too long, a loop of links, another kind of file
  kClosed,     // in `closed`, or in a kernel file system such as /proc
  kForbidden,  // permission denied by the system
  kUnmade,     // the folder of a kPlace is absent and the system does not let it be created
};

struct BeneathResult {
  Reached reached = Reached::kAbsent;
  /// The open file or folder.
  Descriptor descriptor;
  /// The absolute path of `folder`, and the file's path relative to it; both without links.
  std::string folder;
  std::string name;
};

/// Throws Error(kIo) if the system fails (too many open files), Error(kUnsupported) on Windows.
BeneathResult open_beneath(const BeneathRequest& request);

}  // namespace lorekeep
