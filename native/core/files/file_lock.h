// A lock between processes that ends with its process.
#pragma once

#include <filesystem>

namespace lorekeep {

/// Holds a lock file, which contains the number of the process. The system releases the lock when the process ends,
/// however it ends. Two locks of one process on the same path exclude each other, too.
class FileLock {
 public:
  /// Makes the file if it is absent. Throws Error(kIo) naming the path: another holder (detail "holder": its process
  /// number, 0 if unknown), a file system without locks, a file that cannot be made; Error(kInvalidArgument) for a
  /// file that is not a lock file.
  explicit FileLock(std::filesystem::path path);
  /// Removes the file and releases the lock.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path path_;
#if defined(_WIN32)
  void* handle_ = nullptr;
#else
  int handle_ = -1;
#endif
};

}  // namespace lorekeep
