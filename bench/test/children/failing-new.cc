// Preloaded into a process: an allocation of the addon throws std::bad_alloc. LOREKEEP_FAILING_NEW names a file of 8 bytes, a number
// that counts down at each allocation of lorekeep.node of 4 KiB or more; the allocation that brings it to 0 fails. Smaller allocations do not fail
// in practice.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr std::size_t kMin = 4096;

std::atomic<long>* counter() {
  static std::atomic<long>* const mapped = [] {
    const char* path = std::getenv("LOREKEEP_FAILING_NEW");
    const int file = path == nullptr ? -1 : ::open(path, O_RDWR);
    if (file < 0) return static_cast<std::atomic<long>*>(nullptr);
    void* at = ::mmap(nullptr, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return at == MAP_FAILED ? nullptr : static_cast<std::atomic<long>*>(at);
  }();
  return mapped;
}

bool is_addon(void* caller) {
  Dl_info found;
  return dladdr(caller, &found) != 0 && found.dli_fname != nullptr && std::strstr(found.dli_fname, "lorekeep.node");
}

void* allocate(std::size_t bytes, std::size_t alignment, void* caller) {
  if (bytes >= kMin && counter() != nullptr && counter()->load() > 0 && is_addon(caller) &&
      counter()->fetch_sub(1) == 1) {
    throw std::bad_alloc();
  }
  void* memory = alignment == 0 ? std::malloc(bytes) : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes == 0 ? 1 : bytes, 0, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes == 0 ? 1 : bytes, 0, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
