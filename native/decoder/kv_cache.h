// The keys and values of the tokens of sequences, in 16 or in 8 bits. A sequence is a list of blocks of kBlockKeys
// cells; sequences with a common prefix share its blocks, and a block is copied before a sequence appends to it that
// does not own it alone. Cells never move. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decoder/kernels.h"

namespace lorekeep::decoder {

enum class CacheFormat {
  kF16,   // integers of 16 bits with a scale for each key and value, which are more precise than f16
  kQ8_0,  // a byte for each number, and an f16 scale for every 32 dimensions of a cell
};

struct CacheShape {
  std::size_t layers;
  std::size_t kv_heads;
  std::size_t head;
  CacheFormat format = CacheFormat::kF16;

  /// Numbers of 16 bits of a head of a block. With kQ8_0, quants come first, then the scales: [group][kBlockKeys].
  std::size_t head_keys() const noexcept { return format == CacheFormat::kF16 ? key_numbers(head) : eight_bit(head); }
  std::size_t head_values() const noexcept {
    return format == CacheFormat::kF16 ? value_numbers(head) : eight_bit(padded(head));
  }
  std::size_t layer_numbers() const noexcept { return kv_heads * (head_keys() + head_values()); }
  std::size_t block_numbers() const noexcept { return layers * layer_numbers(); }
  /// Scales of a block's head; 0 without scales.
  std::size_t scales() const noexcept { return format == CacheFormat::kF16 ? 0 : scale_groups(head) * kBlockKeys; }

 private:
  std::size_t eight_bit(std::size_t width) const noexcept { return width * kBlockKeys / 2 + scales(); }
};

/// A head of a block in kQ8_0.
struct EightBitCells {
  std::int8_t* quants;
  std::uint16_t* scales;
};

class KvCache {
 public:
  /// `cells` for all sequences together. Throws bad_alloc. Memory is used as blocks are.
  KvCache(CacheShape shape, std::size_t cells, std::size_t sequences);
  ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  /// Returns the bytes that the cache may use.
  static std::size_t bytes(CacheShape shape, std::size_t cells, std::size_t sequences) noexcept;

  std::size_t length(std::size_t sequence) const noexcept { return sequences_[sequence].length; }
  /// Makes blocks writable for the cells from length() to `length` - 1. Returns false, with nothing changed, if there
  /// are not enough. The length changes with set_length().
  bool extend(std::size_t sequence, std::size_t length);
  /// Sets the length, and frees the blocks beyond it.
  void set_length(std::size_t sequence, std::size_t length) noexcept;
  /// Lets an empty sequence share the first cells of another.
  void share(std::size_t from, std::size_t to, std::size_t length);

  const CacheShape& shape() const noexcept { return shape_; }

  /// Writes the key and the value of a kv head of a cell. Numbers that are too large, or none, become the largest of
  /// f16.
  void store(std::size_t sequence, std::size_t cell, std::size_t layer, std::size_t kv_head, const float* key,
             const float* value, const DecoderKernels& kernels) noexcept;

  // With kF16.
  std::uint16_t* keys(std::size_t sequence, std::size_t block, std::size_t layer, std::size_t kv_head) noexcept {
    return layer_of(sequence, block, layer) + kv_head * shape_.head_keys();
  }
  std::uint16_t* values(std::size_t sequence, std::size_t block, std::size_t layer, std::size_t kv_head) noexcept {
    return layer_of(sequence, block, layer) + shape_.kv_heads * shape_.head_keys() + kv_head * shape_.head_values();
  }

  // With kQ8_0.
  EightBitCells eight_bit_keys(std::size_t sequence, std::size_t block, std::size_t layer,
                               std::size_t kv_head) noexcept {
    return split(keys(sequence, block, layer, kv_head), shape_.head_keys());
  }
  EightBitCells eight_bit_values(std::size_t sequence, std::size_t block, std::size_t layer,
                                 std::size_t kv_head) noexcept {
    return split(values(sequence, block, layer, kv_head), shape_.head_values());
  }

  /// Returns the cells of a sequence and nothing else, for restore() into a cache of the same shape.
  std::vector<std::byte> save(std::size_t sequence) const;
  /// Restores `length` cells into an empty sequence. Returns false, with the sequence empty, if the state has another
  /// size, holds numbers that are not finite, or there is no room.
  bool restore(std::size_t sequence, std::span<const std::byte> state, std::size_t length);

 private:
  using Block = std::uint32_t;
  struct Sequence {
    std::vector<Block> blocks;
    std::size_t length = 0;
  };

  static std::size_t blocks_for(std::size_t cells, std::size_t sequences) noexcept;
  template <class Body>
  void each_run(const Body& body) const;
  /// Bytes of the state of a sequence of this length.
  std::size_t state_bytes(std::size_t length) const noexcept;
  std::uint16_t* block_at(Block block) const noexcept { return numbers_ + block * shape_.block_numbers(); }
  std::uint16_t* layer_of(std::size_t sequence, std::size_t block, std::size_t layer) noexcept {
    return block_at(sequences_[sequence].blocks[block]) + layer * shape_.layer_numbers();
  }
  EightBitCells split(std::uint16_t* head, std::size_t numbers) const noexcept {
    return {reinterpret_cast<std::int8_t*>(head), head + numbers - shape_.scales()};
  }
  bool all_finite(Block block) const noexcept;
  std::optional<Block> take();
  void release(Block block) noexcept;
  bool own_last(Sequence& sequence);

  CacheShape shape_;
  void* memory_ = nullptr;
  std::uint16_t* numbers_ = nullptr;   // in it, aligned to cache lines
  std::vector<std::uint32_t> owners_;  // of each block
  std::vector<Block> free_;            // blocks that were used before come last
  std::vector<Sequence> sequences_;
};

}  // namespace lorekeep::decoder
