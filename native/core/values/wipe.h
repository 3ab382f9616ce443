#pragma once

#include <cstddef>
#include <cstring>

namespace lorekeep {

/// Overwrites memory with zeros, in a way that no compiler leaves out.
inline void wipe_bytes(void* memory, std::size_t bytes) noexcept {
  // Compilers do not know which function this is.
  static void* (*const volatile set)(void*, int, std::size_t) = &std::memset;
  if (bytes > 0) set(memory, 0, bytes);
}

}  // namespace lorekeep
