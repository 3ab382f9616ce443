#include "decoder/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "decoder/kernels.h"
#include "harness.h"

using lorekeep::decoder::CacheFormat;
using lorekeep::decoder::CacheShape;
using lorekeep::decoder::kBlockKeys;
using lorekeep::decoder::KvCache;

namespace {

constexpr CacheShape kShape{2, 3, 10};
constexpr std::size_t kSequences = 6;

// Writes a mark into a cell's key and value of every layer and head.
void mark(KvCache& cache, std::size_t sequence, std::size_t cell, std::uint16_t value) {
  for (std::size_t layer = 0; layer < kShape.layers; ++layer) {
    for (std::size_t head = 0; head < kShape.kv_heads; ++head) {
      cache.keys(sequence, cell / kBlockKeys, layer, head)[2 * (cell % kBlockKeys)] = value;
      cache.values(sequence, cell / kBlockKeys, layer, head)[cell % kBlockKeys * 16] = value;
    }
  }
}

bool marked(KvCache& cache, std::size_t sequence, std::size_t cell, std::uint16_t value) {
  bool same = true;
  for (std::size_t layer = 0; layer < kShape.layers; ++layer) {
    for (std::size_t head = 0; head < kShape.kv_heads; ++head) {
      same = same && cache.keys(sequence, cell / kBlockKeys, layer, head)[2 * (cell % kBlockKeys)] == value;
      same = same && cache.values(sequence, cell / kBlockKeys, layer, head)[cell % kBlockKeys * 16] == value;
    }
  }
  return same;
}

bool append(KvCache& cache, std::size_t sequence, std::uint16_t value) {
  const std::size_t at = cache.length(sequence);
  if (!cache.extend(sequence, at + 1)) return false;
  mark(cache, sequence, at, value);
  cache.set_length(sequence, at + 1);
  return true;
}

}  // namespace

TEST("kv cache: sequences that share, append, shorten, save and restore keep the cells that each has alone") {
  std::mt19937_64 random(lorekeep::test::seed());
  KvCache cache(kShape, 20 * kBlockKeys, kSequences);
  std::vector<std::vector<std::uint16_t>> expected(kSequences);
  std::uint16_t next = 1;
  for (int step = 0; step < 4000; ++step) {
    const std::size_t sequence = random() % kSequences;
    std::vector<std::uint16_t>& cells = expected[sequence];
    switch (random() % 6) {
      case 0:
      case 1:
      case 2:
        for (std::size_t i = random() % 40; i-- > 0 && append(cache, sequence, next);) {
          cells.push_back(next);
          next = static_cast<std::uint16_t>(next % 20000 + 1);
        }
        break;
      case 3: {
        const std::size_t length = cells.empty() ? 0 : random() % cells.size();
        cache.set_length(sequence, length);
        cells.resize(length);
        break;
      }
      case 4: {
        const std::size_t from = random() % kSequences;
        if (from == sequence) break;
        const std::size_t length = expected[from].empty() ? 0 : random() % (expected[from].size() + 1);
        cache.share(from, sequence, length);
        cells.assign(expected[from].begin(), expected[from].begin() + static_cast<std::ptrdiff_t>(length));
        break;
      }
      default: {
        const std::vector<std::byte> state = cache.save(sequence);
        cache.set_length(sequence, 0);
        if (!cache.restore(sequence, state, cells.size())) cells.clear();
      }
    }
    for (std::size_t i = 0; i < kSequences; ++i) {
      REQUIRE(cache.length(i) == expected[i].size());
      for (std::size_t cell = 0; cell < expected[i].size(); ++cell) REQUIRE(marked(cache, i, cell, expected[i][cell]));
    }
  }
}

TEST("kv cache: a saved state has the cells of its sequence only, whoever shares or used its last block") {
  std::mt19937_64 random(lorekeep::test::seed());
  for (const CacheFormat format : {CacheFormat::kF16, CacheFormat::kQ8_0}) {
    const CacheShape shape{2, 3, 10, format};
    const std::size_t cell = 2 * shape.block_numbers() / kBlockKeys;
    const auto& kernels = *lorekeep::decoder::available_kernels().front();
    const auto fill = [&](KvCache& cache, std::size_t sequence, std::size_t length, int seed) {
      const std::size_t begin = cache.length(sequence);
      REQUIRE(cache.extend(sequence, length));
      for (std::size_t at = begin; at < length; ++at) {
        std::vector<float> numbers(20, static_cast<float>(at + 1) + static_cast<float>(seed) / 8);
        for (std::size_t i = 0; i < shape.layers * shape.kv_heads; ++i)
          cache.store(sequence, at, i / 3, i % 3, numbers.data(), numbers.data() + 10, kernels);
      }
      cache.set_length(sequence, length);
    };
    for (int round = 0; round < 40; ++round) {
      const std::size_t length = random() % (3 * kBlockKeys);
      const std::size_t longer = length + random() % 40;
      KvCache alone(shape, 8 * kBlockKeys, 2);
      fill(alone, 0, length, 0);
      const std::vector<std::byte> expected = alone.save(0);
      CHECK_EQ(expected.size(), length * cell);

      KvCache shared(shape, 8 * kBlockKeys, 3);
      fill(shared, 2, 2 * kBlockKeys, 5);  // leaves its numbers in blocks that are used again
      shared.set_length(2, 0);
      fill(shared, 0, length, 0);
      fill(shared, 0, longer, 1);
      shared.share(0, 1, length);
      CHECK(shared.save(1) == expected);

      KvCache other(shape, 8 * kBlockKeys, 1);
      REQUIRE(other.restore(0, expected, length));
      CHECK(other.save(0) == expected);
      CHECK(length == 0 || !other.restore(0, std::span(expected).first(expected.size() - 1), length));
      CHECK(!other.restore(0, expected, length + 1));
    }
  }
}

TEST("kv cache: holds at least the promised cells, however many sequences share them, and says when it is full") {
  constexpr std::size_t kCells = 8 * kBlockKeys;
  KvCache cache(kShape, kCells, kSequences);
  // One prefix, and tails of all others in blocks of their own.
  constexpr std::size_t kPrefix = 100;
  for (std::size_t i = 0; i < kPrefix; ++i) REQUIRE(append(cache, 0, 7));
  for (std::size_t i = 1; i < kSequences; ++i) cache.share(0, i, kPrefix - i);
  std::size_t used = kPrefix;
  for (std::size_t i = 0; used < kCells; i = (i + 1) % kSequences, ++used) REQUIRE(append(cache, i, 9));
  std::size_t more = 0;
  while (append(cache, 1, 3)) ++more;
  CHECK(more < 2 * kSequences * kBlockKeys + kBlockKeys);
  const std::size_t length = cache.length(1);
  CHECK(!cache.extend(1, length + 10 * kBlockKeys));
  CHECK_EQ(cache.length(1), length);
  for (std::size_t i = 0; i < kSequences; ++i) cache.set_length(i, 0);
  CHECK(cache.extend(3, kCells));
}

TEST("kv cache: a failed step's blocks are free again") {
  KvCache cache(kShape, kBlockKeys, 1);
  for (int i = 0; i < 100; ++i) {
    CHECK(cache.extend(0, kBlockKeys));
    cache.set_length(0, 0);
  }
}

TEST("kv cache: refuses states of another size, and numbers that are not finite") {
  KvCache cache(kShape, 10 * kBlockKeys, 2);
  for (int i = 0; i < 40; ++i) append(cache, 0, 5);
  std::vector<std::byte> state = cache.save(0);
  CHECK(!cache.restore(1, state, 20));
  CHECK(!cache.restore(1, std::span(state).first(state.size() - 1), 40));
  CHECK(!cache.restore(1, {}, 40));
  CHECK(cache.restore(1, state, 40));
  cache.set_length(1, 0);
  const std::uint16_t infinite = 0x7c00;
  const std::size_t keys = kShape.head_keys() * sizeof(std::uint16_t);
  const auto refused = [&](std::size_t at, const void* bytes, std::size_t count) {
    std::vector<std::byte> changed = state;
    std::memcpy(changed.data() + at, bytes, count);
    const bool restored = cache.restore(1, changed, 40);
    cache.set_length(1, 0);
    return !restored;
  };
  CHECK(!refused(0, &infinite, sizeof infinite));  // an integer
  CHECK(!refused(kShape.kv_heads * keys, &infinite, sizeof infinite));
  const float infinite_scale = std::numeric_limits<float>::infinity();
  const std::size_t values = kShape.kv_heads * keys + kShape.head_values() * sizeof(std::uint16_t);
  for (const std::size_t end : {keys, values})
    CHECK(refused(end - sizeof infinite_scale, &infinite_scale, sizeof infinite_scale));
  CHECK(cache.restore(1, state, 40));
}

TEST("kv cache: cells of 8 bits take half the memory, are near what was stored, and survive saving") {
  constexpr CacheShape kEightBit{2, 3, 40, CacheFormat::kQ8_0};
  constexpr CacheShape kSixteenBit{2, 3, 40};
  CHECK(10 * kEightBit.block_numbers() < 6 * kSixteenBit.block_numbers());
  const lorekeep::decoder::DecoderKernels& kernels = *lorekeep::decoder::available_kernels().back();
  KvCache cache(kEightBit, 4 * kBlockKeys, 2);
  std::mt19937_64 random(lorekeep::test::seed());
  std::normal_distribution<float> normal;
  constexpr std::size_t kCells = 50;
  std::vector<std::vector<float>> stored;
  REQUIRE(cache.extend(0, kCells));
  for (std::size_t i = 0; i < kCells * 6; ++i) {
    std::vector<float>& head = stored.emplace_back(80);
    for (float& value : head) value = normal(random);
    if (i == 5) head[3] = std::numeric_limits<float>::quiet_NaN();
    if (i == 6) head[3] = -std::numeric_limits<float>::infinity();
    cache.store(0, i / 6, i / 3 % 2, i % 3, head.data(), head.data() + 40, kernels);
  }
  cache.set_length(0, kCells);
  std::vector<std::byte> state = cache.save(0);
  REQUIRE(cache.restore(1, state, kCells));
  std::vector<std::uint16_t> keys(lorekeep::decoder::key_numbers(40));
  std::vector<std::uint16_t> values(lorekeep::decoder::value_numbers(40));
  for (std::size_t i = 7; i < kCells * 6; ++i) {
    const std::size_t cell = i / 6;
    const auto key = cache.eight_bit_keys(1, cell / kBlockKeys, i / 3 % 2, i % 3);
    const auto value = cache.eight_bit_values(1, cell / kBlockKeys, i / 3 % 2, i % 3);
    kernels.expand_keys(key.quants, key.scales, keys.data(), 40);
    kernels.expand_values(value.quants, value.scales, values.data(), 40);
    for (std::size_t d = 0; d < 40; ++d) {
      const auto integer = static_cast<std::int16_t>(keys[(d / 2 * kBlockKeys + cell % kBlockKeys) * 2 + d % 2]);
      const float scale = lorekeep::decoder::key_scales(keys.data(), 40)[cell % kBlockKeys];
      CHECK_NEAR(scale * static_cast<float>(integer), stored[i][d], 0.03);
      const auto number = static_cast<std::int16_t>(values[cell % kBlockKeys * 48 + d]);
      const float value_scale = lorekeep::decoder::value_scales(values.data(), 40)[cell % kBlockKeys];
      CHECK_NEAR(value_scale * static_cast<float>(number), stored[i][40 + d], 0.03);
    }
  }
  // Quants may be anything; a scale may not.
  state[0] = std::byte{0x80};
  CHECK(cache.restore(1, state, kCells));
  const std::uint16_t infinite = 0x7c00;
  std::memcpy(state.data() + 40 * kBlockKeys, &infinite, sizeof infinite);
  CHECK(!cache.restore(1, state, kCells));
}
