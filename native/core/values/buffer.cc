#include "core/values/buffer.h"

#include <cstdint>
#include <new>
#include <string>

#include "core/values/error.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lorekeep {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kHugeFrom = 4 * kHugePage;  // below this size, rounding wastes more than TLB misses cost

std::align_val_t alignment_of(std::size_t bytes) noexcept {
  return std::align_val_t{bytes >= kHugeFrom ? kHugePage : kCacheLine};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const memory = ::operator new(bytes, alignment_of(bytes), std::nothrow);
  if (memory == nullptr) {
    fail(Code::kOutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes requested",
         {{"bytes", static_cast<std::int64_t>(bytes)}});
  }
#if defined(__linux__)
  if (bytes >= kHugeFrom) ::madvise(memory, bytes, MADV_HUGEPAGE);  // only advice: a refusal costs speed
#endif
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  if (memory != nullptr) ::operator delete(memory, alignment_of(bytes));
}

}  // namespace lorekeep
