#pragma once

#include <cstddef>
#include <memory>

#include "core/values/buffer.h"

namespace lorekeep::quant {

/// Memory for the matrices of one model, in chunks large enough for huge pages (core/values/buffer.h). The unused end
/// of a chunk is never touched. A chunk lives as long as memory taken from it. Not thread-safe.
class PackedMemory {
 public:
  /// Chunks have at least `chunk` bytes.
  explicit PackedMemory(std::size_t chunk = kChunk) : least_(chunk) {}
  /// Returns uninitialised memory, aligned to cache lines. Throws Error(kOutOfMemory).
  std::shared_ptr<std::byte> take(std::size_t bytes);

 private:
  static constexpr std::size_t kChunk = std::size_t{64} << 20;

  std::size_t least_;
  std::shared_ptr<Buffer<std::byte>> chunk_ = std::make_shared<Buffer<std::byte>>();
  std::size_t used_ = 0;
};

}  // namespace lorekeep::quant
