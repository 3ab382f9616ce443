#include "quant/packed_memory.h"

#include <algorithm>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lorekeep::quant {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kHugeFrom = 4 * kHugePage;  // below this size, rounding wastes more than huge pages save

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const auto alignment = std::align_val_t{bytes >= kHugeFrom ? kHugePage : kLine};
  auto* data = static_cast<std::byte*>(::operator new(bytes, alignment));
#if defined(__linux__)
  if (bytes >= kHugeFrom) ::madvise(data, bytes, MADV_HUGEPAGE);  // only advice: a refusal costs speed
#endif
  return {data, [alignment](std::byte* memory) { ::operator delete(memory, alignment); }};
}

}  // namespace

std::shared_ptr<std::byte> PackedMemory::take(std::size_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  if (bytes > size_ - used_) {
    const std::size_t size = std::max(bytes, least_);
    chunk_ = allocate(size);
    size_ = size;
    used_ = 0;
  }
  const std::size_t begin = used_;
  used_ += bytes;
  return {chunk_, chunk_.get() + begin};
}

}  // namespace lorekeep::quant
