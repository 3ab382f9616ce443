#include "core/free_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lorekeep {

void release_free_memory() noexcept {
#ifdef __GLIBC__
  // glibc keeps what was freed below something that is still in use, in every arena, until it is told otherwise.
  malloc_trim(0);
#endif
}

}  // namespace lorekeep
