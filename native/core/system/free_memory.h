#pragma once

#include <cstddef>
#include <vector>

namespace lorekeep {

/// Returns free memory of the C allocator to the system, if the allocator supports it. Takes milliseconds per hundred
/// megabytes, during which allocations on other threads may wait.
void release_free_memory() noexcept;

/// Returns most free memory of the main thread's heap to the system in steps, so that release_free_memory() takes
/// little time afterwards. Does nothing where the heap is not glibc's. For one thread.
class FreePages {
 public:
  FreePages() noexcept;
  FreePages(const FreePages&) = delete;
  FreePages& operator=(const FreePages&) = delete;
  ~FreePages();

  /// Releases the pages of about `bytes` of free memory. Returns false once none is left. The memory stays allocated
  /// until the destruction, so that no step finds it again.
  bool release(std::size_t bytes) noexcept;

 private:
  /// Takes a chunk from the free ones; nullptr if there is none.
  void* take() noexcept;

  std::vector<void*> chunks_;
  /// End of the heap at the start. Chunks beyond it were not free.
  const void* end_ = nullptr;
};

}  // namespace lorekeep
