#include "quant/packed_memory.h"

#include <algorithm>

namespace lorekeep::quant {

std::shared_ptr<std::byte> PackedMemory::take(std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  bytes = (bytes + kLine - 1) / kLine * kLine;
  if (bytes > chunk_->size() - used_) {
    chunk_ = std::make_shared<Buffer<std::byte>>(std::max(bytes, least_));
    used_ = 0;
  }
  const std::size_t begin = used_;
  used_ += bytes;
  return {chunk_, chunk_->data() + begin};
}

}  // namespace lorekeep::quant
