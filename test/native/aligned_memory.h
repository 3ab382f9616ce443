// Memory with an alignment, which Windows takes from another heap than malloc() does.
#pragma once

#include <cstddef>
#include <cstdlib>
#if defined(_WIN32)
#include <malloc.h>
#endif

namespace lorekeep::test {

/// Returns null if there is no memory. `bytes` is a multiple of `alignment`.
inline void* aligned_memory(std::size_t alignment, std::size_t bytes) noexcept {
#if defined(_WIN32)
  return _aligned_malloc(bytes, alignment);
#else
  return std::aligned_alloc(alignment, bytes);
#endif
}

inline void free_aligned(void* memory) noexcept {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace lorekeep::test
