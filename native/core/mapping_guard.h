// Survives the truncation of mapped files. Touching a page that the file no longer has raises SIGBUS, which ends the
// process by default; inside a guarded range the page and all behind it become zeros instead, and the range is marked.
#pragma once

#include <cstddef>

namespace lorekeep {

/// Guards one mapping, on every thread. The process's handler of SIGBUS is ours while any guard lives; faults elsewhere
/// go to the handler that was there before. Without effect on Windows, which refuses to truncate mapped files.
class MappingGuard {
 public:
  /// `data` is at the beginning of a page. Throws Error(kIo) when too many files are mapped.
  MappingGuard(const void* data, std::size_t size);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  /// Whether a part of the file could not be read and is zeros.
  bool broken() const noexcept;

 private:
  std::size_t slot_;
};

}  // namespace lorekeep
