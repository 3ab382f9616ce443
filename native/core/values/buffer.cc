#include "core/values/buffer.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "core/values/error.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Large memory is mapped, except under a sanitizer, which watches memory of operator new.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define LOREKEEP_MAPS_LARGE_MEMORY 1
#else
#define LOREKEEP_MAPS_LARGE_MEMORY 0
#endif

namespace lorekeep {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kHugeFrom = 4 * kHugePage;  // below this size, rounding wastes more than TLB misses cost

std::align_val_t alignment_of(std::size_t bytes) noexcept {
  return std::align_val_t{bytes >= kHugeFrom ? kHugePage : kCacheLine};
}

bool is_mapped(std::size_t bytes) noexcept {
  return LOREKEEP_MAPS_LARGE_MEMORY != 0 && bytes >= kHugeFrom;
}

#if LOREKEEP_MAPS_LARGE_MEMORY
/// Returns whole zeroed huge pages, or null.
void* map_memory(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX - 2 * kHugePage) return nullptr;
  const std::size_t length = (bytes + kHugePage - 1) & ~(kHugePage - 1);
  const std::size_t reserved = length + kHugePage;
  void* const mapped = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const auto aligned = (begin + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned > begin) ::munmap(mapped, aligned - begin);
  void* const memory = reinterpret_cast<void*>(aligned);
  if (const std::size_t after = begin + reserved - (aligned + length); after > 0) {
    ::munmap(static_cast<std::byte*>(memory) + length, after);
  }
  ::madvise(memory, length, MADV_HUGEPAGE);  // only advice: a refusal costs speed
  return memory;
}

void unmap_memory(void* memory, std::size_t bytes) noexcept {
  ::munmap(memory, (bytes + kHugePage - 1) & ~(kHugePage - 1));
}
#else
void* map_memory(std::size_t) noexcept {
  return nullptr;
}
void unmap_memory(void*, std::size_t) noexcept {}
#endif

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const memory = is_mapped(bytes) ? map_memory(bytes) : ::operator new(bytes, alignment_of(bytes), std::nothrow);
  if (memory == nullptr) {
    fail(Code::kOutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes requested",
         {{"bytes", static_cast<std::int64_t>(bytes)}});
  }
  return memory;
}

void* allocate_zeroed(std::size_t bytes) {
  void* const memory = allocate_aligned(bytes);
  if (bytes > 0 && !is_mapped(bytes)) std::memset(memory, 0, bytes);
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  if (is_mapped(bytes)) {
    unmap_memory(memory, bytes);
  } else {
    ::operator delete(memory, alignment_of(bytes));
  }
}

}  // namespace lorekeep
