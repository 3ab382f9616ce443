#include "vector/aligned_buffer.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "core/error.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lorekeep::vector {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kHugeFrom = 4 * kHugePage;  // below this size, rounding wastes more than TLB misses cost

std::size_t alignment_of(std::size_t size) noexcept {
  return size >= kHugeFrom ? kHugePage : kCacheLine;
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size) : size_(size) {
  if (size == 0) return;
  const std::size_t alignment = alignment_of(size);
  data_ = static_cast<std::byte*>(::operator new(size, std::align_val_t{alignment}, std::nothrow));
  if (data_ == nullptr) {
    size_ = 0;
    fail(Code::kOutOfMemory, "out of memory: " + std::to_string(size) + " bytes requested by a vector index",
         {{"bytes", static_cast<std::int64_t>(size)}});
  }
#if defined(__linux__)
  if (alignment == kHugePage) ::madvise(data_, size, MADV_HUGEPAGE);  // only advice: a refusal costs speed
#endif
  std::memset(data_, 0, size);
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr) ::operator delete(data_, std::align_val_t{alignment_of(size_)});
}

}  // namespace lorekeep::vector
