// Detects the kernel's pseudo-files under /proc, /sys and /dev.
#pragma once

#include <array>
#include <string_view>

namespace lorekeep {

inline constexpr std::array<std::string_view, 3> kKernelFolders{"/proc", "/sys", "/dev"};

/// Returns whether an open file or folder is in a kernel file system, wherever it is mounted.
bool is_kernel_file(int descriptor) noexcept;

/// Returns whether an absolute path without links is /proc, /sys or /dev, or below one of them.
bool is_kernel_path(std::string_view path) noexcept;

}  // namespace lorekeep
