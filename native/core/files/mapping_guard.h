// Survives the truncation of mapped files. Reading a page that the file no longer has raises SIGBUS, which ends the
// process by default. Inside a guarded range, this page and all later ones become zeros, and the range is marked.
#pragma once

#include <cstddef>

namespace lorekeep {

/// Guards one mapping, on every thread. Installs a SIGBUS handler while any guard exists; it passes other faults to the
/// previous handler. No effect on Windows, which refuses to truncate mapped files.
class MappingGuard {
 public:
  /// Precondition: `data` is page-aligned. Throws Error(kIo) if too many files are mapped.
  MappingGuard(const void* data, std::size_t size);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  /// Returns whether a part of the file could not be read and is zeros.
  bool broken() const noexcept;

 private:
  std::size_t slot_;
};

}  // namespace lorekeep
