// Files that are no files: what the kernel shows under /proc, /sys and /dev.
#pragma once

#include <array>
#include <string_view>

namespace lorekeep {

inline constexpr std::array<std::string_view, 3> kKernelFolders{"/proc", "/sys", "/dev"};

/// Whether an open file or folder is in a file system of the kernel's own, wherever it is mounted.
bool is_kernel_file(int descriptor) noexcept;

/// Whether an absolute path without links is /proc, /sys or /dev, or below one of them.
bool is_kernel_path(std::string_view path) noexcept;

}  // namespace lorekeep
