#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/threads/work.h"
#include "core/values/buffer.h"
#include "quant/format.h"

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

/// A matrix of a model file in the order in which the kernels read it (groups.h). It holds the file's quants and scales
/// bit for bit, in 0 to 3 % more bytes (more with fewer than 16 outputs), so that it can replace the file's copy.
/// Immutable; any number of threads may read it.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Packs `outputs` rows of `inputs` weights each, adjacent as in the file. `inputs` is a multiple of
  /// block_values(format) and `rows` holds outputs * row_bytes(format, inputs) bytes. Throws bad_alloc, and as
  /// `work.cancel`, which is polled per panel. The matrices of a model should share a `memory`.
  static PackedMatrix pack(Format format, std::span<const std::byte> rows, std::size_t outputs, std::size_t inputs,
                           const Work& work, PackedMemory& memory);
  /// The same, in newly allocated memory.
  static PackedMatrix pack(Format format, std::span<const std::byte> rows, std::size_t outputs, std::size_t inputs,
                           const Work& work);

  Format format() const noexcept { return format_; }
  std::size_t outputs() const noexcept { return outputs_; }
  std::size_t inputs() const noexcept { return inputs_; }
  /// Memory of the packed weights.
  std::size_t bytes() const noexcept { return bytes_; }

  /// Writes the `inputs` weights of one output, exactly as in the file's row.
  void row(std::size_t output, float* to) const noexcept;

  /// The weights of outputs 16 index to 16 index + 15.
  const std::byte* panel(std::size_t index) const noexcept { return data_.get() + index * panel_bytes_; }
  std::size_t panel_bytes() const noexcept { return panel_bytes_; }

 private:
  Format format_ = Format::kF32;
  std::size_t outputs_ = 0;
  std::size_t inputs_ = 0;
  std::size_t panel_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte> data_;
};

}  // namespace lorekeep::quant
