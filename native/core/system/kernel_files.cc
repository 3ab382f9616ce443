#include "core/system/kernel_files.h"

#if !defined(_WIN32)
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#endif

#if defined(__linux__)
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/mount.h>

#include <sys/param.h>
#include <cstring>
#endif

namespace lorekeep {

#if defined(_WIN32)

bool is_kernel_file(int) noexcept {
  return false;
}

bool is_kernel_path(std::string_view) noexcept {
  return false;
}

#else

namespace {

#if defined(__linux__)
// From linux/magic.h, written out because older headers lack some.
constexpr std::array<unsigned long, 19> kKernelFileSystems{
    0x9fa0,      // proc
    0x62656572,  // sysfs
    0x1cd1,      // devpts
    0x27e0eb,    // cgroup
    0x63677270,  // cgroup2
    0x64626720,  // debugfs
    0x74726163,  // tracefs
    0x73636673,  // securityfs
    0xf97cff8c,  // selinuxfs
    0x43415d53,  // smackfs
    0x62656570,  // configfs
    0xcafe4a11,  // bpf
    0xde5e81e4,  // efivarfs
    0x6165676c,  // pstore
    0x19800202,  // mqueue
    0x42494e4d,  // binfmt_misc
    0x65735543,  // fusectl
    0x6e736673,  // nsfs
    0x958458f6,  // hugetlbfs
};

bool in_kernel_file_system(int descriptor) noexcept {
  struct statfs info{};
  if (::fstatfs(descriptor, &info) != 0) return false;
  const auto type = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
  return std::find(kKernelFileSystems.begin(), kKernelFileSystems.end(), type) != kKernelFileSystems.end();
}
#elif defined(__APPLE__)
bool in_kernel_file_system(int descriptor) noexcept {
  struct statfs info{};
  return ::fstatfs(descriptor, &info) == 0 && std::strcmp(info.f_fstypename, "devfs") == 0;
}
#else
bool in_kernel_file_system(int) noexcept {
  return false;
}
#endif

/// Returns the device of /dev, which has no file system type of its own; nullopt if it is a plain folder of "/".
std::optional<dev_t> device_of_dev() noexcept {
  struct stat dev{};
  struct stat root{};
  if (::stat("/dev", &dev) != 0 || ::stat("/", &root) != 0 || dev.st_dev == root.st_dev) return {};
  return dev.st_dev;
}

}  // namespace

bool is_kernel_file(int descriptor) noexcept {
  if (in_kernel_file_system(descriptor)) return true;
  struct stat info{};
  const auto dev = device_of_dev();
  return dev && ::fstat(descriptor, &info) == 0 && info.st_dev == *dev;
}

bool is_kernel_path(std::string_view path) noexcept {
  return std::any_of(kKernelFolders.begin(), kKernelFolders.end(), [&](std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  });
}

#endif

}  // namespace lorekeep
