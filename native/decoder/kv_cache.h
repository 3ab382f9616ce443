// The keys and values of the tokens of sequences, in f16. A sequence is a list of blocks of kBlockKeys cells; sequences
// with a common prefix share its blocks, and a block is copied before a sequence appends to it that does not own it
// alone. Cells never move. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decoder/kernels.h"

namespace lorekeep::decoder {

struct CacheShape {
  std::size_t layers;
  std::size_t kv_heads;
  std::size_t head;

  /// Numbers (f16) of a head of a block.
  std::size_t head_keys() const noexcept { return head * kBlockKeys; }
  std::size_t head_values() const noexcept { return padded(head) * kBlockKeys; }
  std::size_t layer_numbers() const noexcept { return kv_heads * (head_keys() + head_values()); }
  std::size_t block_numbers() const noexcept { return layers * layer_numbers(); }
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
  /// Sets the length, and frees the blocks behind it.
  void set_length(std::size_t sequence, std::size_t length) noexcept;
  /// Lets an empty sequence share the first cells of another.
  void share(std::size_t from, std::size_t to, std::size_t length);

  std::uint16_t* keys(std::size_t sequence, std::size_t block, std::size_t layer, std::size_t kv_head) noexcept {
    return layer_of(sequence, block, layer) + kv_head * shape_.head_keys();
  }
  std::uint16_t* values(std::size_t sequence, std::size_t block, std::size_t layer, std::size_t kv_head) noexcept {
    return layer_of(sequence, block, layer) + shape_.kv_heads * shape_.head_keys() + kv_head * shape_.head_values();
  }

  /// Returns the cells of a sequence, for restore() into a cache of the same shape.
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
  std::uint16_t* block_at(Block block) const noexcept { return numbers_ + block * shape_.block_numbers(); }
  std::uint16_t* layer_of(std::size_t sequence, std::size_t block, std::size_t layer) noexcept {
    return block_at(sequences_[sequence].blocks[block]) + layer * shape_.layer_numbers();
  }
  std::optional<Block> take();
  void release(Block block) noexcept;
  bool own_last(Sequence& sequence);

  CacheShape shape_;
  std::uint16_t* numbers_ = nullptr;
  std::vector<std::uint32_t> owners_;  // of each block
  std::vector<Block> free_;            // blocks that were used before come last
  std::vector<Sequence> sequences_;
};

}  // namespace lorekeep::decoder
