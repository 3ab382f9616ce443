#include "decoder/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "core/cpu/half.h"

namespace lorekeep::decoder {
namespace {

constexpr std::uint16_t kHalfExponent = 0x7c00;  // all ones: infinite or not a number

constexpr float kLargestHalf = 65504;
constexpr float kMaxQuant = 127;
constexpr std::size_t kLine = 64;

bool is_finite(std::uint16_t half) noexcept {
  return (half & kHalfExponent) != kHalfExponent;
}

// Writes `count` numbers of a cell, `stride` bytes apart. Scales are kBlockKeys apart.
void quantize(const float* from, std::size_t count, std::int8_t* to, std::size_t stride,
              std::uint16_t* scales) noexcept {
  for (std::size_t begin = 0; begin < count; begin += kScaleDimensions, scales += kBlockKeys) {
    const std::size_t end = std::min(begin + kScaleDimensions, count);
    float largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(from[i]));  // ignores NaN
    *scales = half_from_float(std::min(largest, kLargestHalf) / kMaxQuant);
    const float scale = float_from_half(*scales);
    const float inverse = scale == 0 ? 0 : 1 / scale;
    for (std::size_t i = begin; i < end; ++i) {
      const float quant = from[i] * inverse;
      const bool inside = std::abs(quant) <= kMaxQuant;
      to[i * stride] = static_cast<std::int8_t>(inside ? std::lrint(quant) : quant < 0 ? -kMaxQuant : kMaxQuant);
    }
  }
}

std::size_t blocks_of(std::size_t cells) noexcept {
  return (cells + kBlockKeys - 1) / kBlockKeys;
}

}  // namespace

// A sequence may fill its last block partly, and have a copy of a block that it shares in part.
std::size_t KvCache::blocks_for(std::size_t cells, std::size_t sequences) noexcept {
  return blocks_of(cells) + 2 * std::min(sequences, cells);
}

std::size_t KvCache::bytes(CacheShape shape, std::size_t cells, std::size_t sequences) noexcept {
  return blocks_for(cells, sequences) * shape.block_numbers() * sizeof(std::uint16_t);
}

KvCache::KvCache(CacheShape shape, std::size_t cells, std::size_t sequences) : shape_(shape), sequences_(sequences) {
  const std::size_t blocks = blocks_for(cells, sequences);
  if (blocks > std::numeric_limits<Block>::max()) throw std::bad_alloc();
  owners_.resize(blocks);
  free_.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i) free_[i] = static_cast<Block>(blocks - 1 - i);
  // Zeros, which the system maps when they are first written: values of unused cells are finite.
  const std::size_t block_bytes = shape.block_numbers() * sizeof(std::uint16_t);
  memory_ = std::calloc(blocks + (kLine + block_bytes - 1) / block_bytes, block_bytes);
  if (memory_ == nullptr) throw std::bad_alloc();
  void* first = memory_;
  std::size_t space = blocks * block_bytes + kLine;
  numbers_ = static_cast<std::uint16_t*>(std::align(kLine, blocks * block_bytes, first, space));
}

KvCache::~KvCache() {
  std::free(memory_);
}

std::optional<KvCache::Block> KvCache::take() {
  if (free_.empty()) return std::nullopt;
  const Block block = free_.back();
  free_.pop_back();
  owners_[block] = 1;
  return block;
}

void KvCache::release(Block block) noexcept {
  if (--owners_[block] == 0) free_.push_back(block);  // has the capacity
}

// Copies the last block of a sequence if others share it.
bool KvCache::own_last(Sequence& sequence) {
  Block& last = sequence.blocks.back();
  if (owners_[last] == 1) return true;
  const std::optional<Block> copy = take();
  if (!copy) return false;
  std::memcpy(block_at(*copy), block_at(last), shape_.block_numbers() * sizeof(std::uint16_t));
  release(last);
  last = *copy;
  return true;
}

bool KvCache::extend(std::size_t sequence, std::size_t length) {
  Sequence& found = sequences_[sequence];
  if (length <= found.length) return true;
  if (found.length % kBlockKeys != 0 && !own_last(found)) return false;
  const std::size_t wanted = blocks_of(length);
  while (found.blocks.size() < wanted) {
    const std::optional<Block> block = take();
    if (!block) {
      set_length(sequence, found.length);
      return false;
    }
    found.blocks.push_back(*block);
  }
  return true;
}

void KvCache::set_length(std::size_t sequence, std::size_t length) noexcept {
  Sequence& found = sequences_[sequence];
  found.length = length;
  while (found.blocks.size() > blocks_of(length)) {
    release(found.blocks.back());
    found.blocks.pop_back();
  }
}

void KvCache::share(std::size_t from, std::size_t to, std::size_t length) {
  set_length(to, 0);
  const std::vector<Block>& blocks = sequences_[from].blocks;
  sequences_[to].blocks.assign(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(blocks_of(length)));
  for (const Block block : sequences_[to].blocks) ++owners_[block];
  sequences_[to].length = length;
}

void KvCache::store(std::size_t sequence, std::size_t cell, std::size_t layer, std::size_t kv_head, const float* key,
                    const float* value, const DecoderKernels& kernels) noexcept {
  const std::size_t block = cell / kBlockKeys;
  const std::size_t at = cell % kBlockKeys;
  if (shape_.format == CacheFormat::kF16) {
    std::uint16_t* to = keys(sequence, block, layer, kv_head);
    key_scales(to, shape_.head)[at] = kernels.store_pairs(key, to + 2 * at, shape_.head, 2 * kBlockKeys);
    std::uint16_t* const to_values = values(sequence, block, layer, kv_head);
    value_scales(to_values, shape_.head)[at] =
        kernels.store_value(value, to_values + at * padded(shape_.head), shape_.head);
    return;
  }
  const EightBitCells to_keys = eight_bit_keys(sequence, block, layer, kv_head);
  const EightBitCells to_values = eight_bit_values(sequence, block, layer, kv_head);
  quantize(key, shape_.head, to_keys.quants + at, kBlockKeys, to_keys.scales + at);
  quantize(value, shape_.head, to_values.quants + at * padded(shape_.head), 1, to_values.scales + at);
}

// Integers are always finite.
bool KvCache::all_finite(Block block) const noexcept {
  const std::uint16_t* numbers = block_at(block);
  const bool wide = shape_.format == CacheFormat::kF16;
  for (std::size_t head = 0; head < 2 * shape_.layers * shape_.kv_heads; ++head) {
    const bool is_key = head / shape_.kv_heads % 2 == 0;
    const std::size_t count = is_key ? shape_.head_keys() : shape_.head_values();
    if (wide) {
      const float* scales = is_key ? key_scales(numbers, shape_.head) : value_scales(numbers, shape_.head);
      const auto allowed = [](float scale) { return scale >= 0 && scale <= kLargestHalf; };
      if (!std::all_of(scales, scales + kBlockKeys, allowed)) return false;
    } else if (!std::all_of(numbers + count - shape_.scales(), numbers + count, is_finite)) {
      return false;
    }
    numbers += count;
  }
  return true;
}

// Calls body(offset, bytes) for each run of a block: `bytes` of each of its kBlockKeys cells, one after the other.
template <class Body>
void KvCache::each_run(const Body& body) const {
  std::size_t offset = 0;
  const auto runs = [&offset, &body](std::size_t count, std::size_t bytes) {
    for (; count > 0; --count, offset += bytes * kBlockKeys) body(offset, bytes);
  };
  const bool wide = shape_.format == CacheFormat::kF16;
  for (std::size_t layer = 0; layer < shape_.layers; ++layer) {
    for (std::size_t head = 0; head < shape_.kv_heads; ++head) {
      runs(wide ? pairs(shape_.head) : shape_.head, wide ? 2 * sizeof(std::uint16_t) : sizeof(std::int8_t));
      runs(wide ? 1 : scale_groups(shape_.head), wide ? sizeof(float) : sizeof(std::uint16_t));
    }
    for (std::size_t head = 0; head < shape_.kv_heads; ++head) {
      runs(1, padded(shape_.head) * (wide ? sizeof(std::uint16_t) : sizeof(std::int8_t)));
      runs(wide ? 1 : scale_groups(shape_.head), wide ? sizeof(float) : sizeof(std::uint16_t));
    }
  }
}

std::size_t KvCache::state_bytes(std::size_t length) const noexcept {
  return length * (shape_.block_numbers() / kBlockKeys) * sizeof(std::uint16_t);
}

// The last block may end with cells of another sequence, which are left out.
std::vector<std::byte> KvCache::save(std::size_t sequence) const {
  const Sequence& found = sequences_[sequence];
  std::vector<std::byte> state(state_bytes(found.length));
  std::byte* to = state.data();
  for (std::size_t first = 0; first < found.length; first += kBlockKeys) {
    const std::size_t cells = std::min(kBlockKeys, found.length - first);
    const auto* const from = reinterpret_cast<const std::byte*>(block_at(found.blocks[first / kBlockKeys]));
    if (cells == kBlockKeys) {
      std::memcpy(to, from, state_bytes(cells));
      to += state_bytes(cells);
      continue;
    }
    each_run([&to, from, cells](std::size_t offset, std::size_t bytes) {
      std::memcpy(to, from + offset, cells * bytes);
      to += cells * bytes;
    });
  }
  return state;
}

bool KvCache::restore(std::size_t sequence, std::span<const std::byte> state, std::size_t length) {
  set_length(sequence, 0);
  if (state.size() != state_bytes(length) || !extend(sequence, length)) return false;
  set_length(sequence, length);
  bool finite = true;
  const std::byte* from = state.data();
  for (std::size_t first = 0; first < length; first += kBlockKeys) {
    const std::size_t cells = std::min(kBlockKeys, length - first);
    const Block block = sequences_[sequence].blocks[first / kBlockKeys];
    auto* const to = reinterpret_cast<std::byte*>(block_at(block));
    if (cells == kBlockKeys) {
      std::memcpy(to, from, state_bytes(cells));
    } else {
      std::memset(to, 0, state_bytes(kBlockKeys));
      const std::byte* source = from;
      each_run([&source, to, cells](std::size_t offset, std::size_t bytes) {
        std::memcpy(to + offset, source, cells * bytes);
        source += cells * bytes;
      });
    }
    from += state_bytes(cells);
    finite = finite && all_finite(block);
    if (!finite) std::memset(to, 0, state_bytes(kBlockKeys));
  }
  if (!finite) set_length(sequence, 0);
  return finite;
}

}  // namespace lorekeep::decoder
