#include "core/system/free_memory.h"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace lorekeep {

namespace {

#ifdef __GLIBC__
/// Below the length from which glibc maps each allocation by itself.
constexpr std::size_t kChunkBytes = 64 * 1024;

/// Returns the pages that lie wholly inside a chunk to the system.
void release_pages(void* chunk) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(chunk);
  const auto first = (begin + page - 1) / page * page;
  const auto last = (begin + kChunkBytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}
#endif

}  // namespace

void release_free_memory() noexcept {
#ifdef __GLIBC__
  // In every arena, glibc keeps freed memory below memory in use until malloc_trim().
  malloc_trim(0);
#endif
}

FreePages::FreePages() noexcept {
#ifdef __GLIBC__
  end_ = sbrk(0);
#endif
}

FreePages::~FreePages() {
  for (void* chunk : chunks_) std::free(chunk);
}

bool FreePages::release([[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __GLIBC__
  for (std::size_t taken = 0; taken < bytes; taken += kChunkBytes) {
    void* chunk = take();
    if (chunk == nullptr) return false;
    release_pages(chunk);
  }
  return true;
#else
  return false;
#endif
}

void* FreePages::take() noexcept {
#ifdef __GLIBC__
  void* chunk = std::malloc(kChunkBytes);
  if (chunk == nullptr) return nullptr;
  try {
    if (std::less<const void*>()(chunk, end_)) {
      chunks_.push_back(chunk);
      return chunk;
    }
  } catch (const std::bad_alloc&) {  // The chunk is given back below.
  }
  std::free(chunk);
#endif
  return nullptr;
}

}  // namespace lorekeep
