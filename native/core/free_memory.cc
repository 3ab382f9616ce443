#include "core/free_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lorekeep {

void release_free_memory() noexcept {
#ifdef __GLIBC__
  // In every arena, glibc keeps freed memory below memory in use until malloc_trim().
  malloc_trim(0);
#endif
}

}  // namespace lorekeep
