#include "core/system/thread_stacks.h"

#include <climits>  // defines __GLIBC__

#if defined(__linux__) && !defined(__GLIBC__)
#include <pthread.h>

#include <cstddef>
#endif

namespace lorekeep {

void enlarge_thread_stacks() {
#if defined(__linux__) && !defined(__GLIBC__)
  constexpr std::size_t kStackBytes = 8u << 20;  // also the most that musl takes; it never makes stacks smaller
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
#endif
}

}  // namespace lorekeep
