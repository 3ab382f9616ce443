#pragma once

#include <cstddef>

namespace lorekeep {

/// Overwrites memory with zeros, in a way that no compiler leaves out.
inline void wipe_bytes(void* memory, std::size_t bytes) noexcept {
  volatile char* const at = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < bytes; ++i) at[i] = 0;
}

}  // namespace lorekeep
