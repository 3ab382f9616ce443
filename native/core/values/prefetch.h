#pragma once

namespace lorekeep {

/// Prefetches the cache line of `address`, which need not be valid.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace lorekeep
