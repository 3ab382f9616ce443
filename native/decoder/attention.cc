#include "decoder/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace lorekeep::decoder {
namespace {

// With fewer tiles than this for each thread, the segments of a tile are shared among threads.
constexpr std::size_t kTasksPerThread = 4;

std::uint32_t within_segment(std::size_t position, std::size_t segment) noexcept {
  const std::size_t begin = segment * kSegmentKeys;
  return static_cast<std::uint32_t>(position <= begin ? 0 : std::min(position - begin, kSegmentKeys));
}

}  // namespace

Attention::Attention(const DecoderShape& shape, const DecoderKernels& kernels, KvCache& cache, Team& team)
    : shape_(shape), kernels_(kernels), cache_(cache), team_(team) {
  // Allocated here: computing must not fail.
  for (std::size_t worker = 0; worker < team.size(); ++worker) scratch_.emplace_back(shape, cache.shape().format);
}

Attention::Scratch::Scratch(const DecoderShape& shape, CacheFormat format)
    : queries(pairs(shape.head) * 2 * kTileQueries),
      query_scales(kTileQueries),
      scores(kTileQueries * kSegmentKeys),
      weights(kTileQueries * kSegmentKeys),
      weight_units(kTileQueries),
      total(state_floats(shape)),
      next(state_floats(shape)),
      expanded(format == CacheFormat::kF16 ? 0
                                           : kSegmentBlocks * (key_numbers(shape.head) + value_numbers(shape.head))) {}

void Attention::plan(std::span<const Part> parts) {
  tasks_.clear();
  split_.clear();
  std::size_t most_segments = 0;
  for (const Part& part : parts) {
    const std::size_t queries = part.rows * shape_.group();
    for (std::size_t kv_head = 0; kv_head < shape_.kv_heads; ++kv_head) {
      for (std::size_t query = 0; query < queries; query += kTileQueries) {
        const std::size_t count = std::min(kTileQueries, queries - query);
        const std::size_t last_position = part.position + (query + count - 1) / shape_.group();
        const std::size_t segments = last_position / kSegmentKeys + 1;
        most_segments = std::max(most_segments, segments);
        tasks_.push_back({part, kv_head, query, count, 0, segments, kNoSlot});
      }
    }
  }
  const std::size_t wanted = kTasksPerThread * team_.size();
  if (team_.size() == 1 || tasks_.size() >= wanted || most_segments < 2) return;
  std::size_t segments = 0;
  for (const Task& task : tasks_) segments += task.last;
  const std::size_t each = std::max<std::size_t>(1, segments / wanted);
  std::vector<Task> tiles;
  tiles.swap(tasks_);
  std::size_t slots = 0;
  for (Task& tile : tiles) {
    if (tile.last <= each) {
      tasks_.push_back(tile);
      continue;
    }
    tile.slot = slots;
    slots += tile.last;
    split_.push_back(tile);
    for (std::size_t first = 0; first < tile.last; first += each) {
      Task task = tile;
      task.first = first;
      task.last = std::min(first + each, tile.last);
      task.slot = tile.slot + first;
      tasks_.push_back(task);
    }
  }
  partial_.at_least(slots * state_floats());
}

// Segments are always merged one by one in the order of positions, so that the bits of a result do not depend on the
// tasks.
bool Attention::compute(std::size_t layer, std::size_t window, const float* queries, float* to, std::size_t stride) {
  const Layer found{layer, window, queries, to, stride};
  const bool all =
      team_.run(tasks_.size(), [&](std::size_t ticket, std::size_t worker) { run(tasks_[ticket], found, worker); });
  if (!all || split_.empty()) return all;
  return team_.run(split_.size(), [&](std::size_t ticket, std::size_t) {
    const Task& task = split_[ticket];
    float* const first = partial_.data() + task.slot * state_floats();
    for (std::size_t i = 1; i < task.last; ++i)
      kernels_.merge(state_at(first), state_at(first + i * state_floats()), task.queries, padded(shape_.head));
    finish(task, found, state_at(first));
  });
}

void Attention::run(const Task& task, const Layer& layer, std::size_t worker) {
  Scratch& scratch = scratch_[worker];
  const SegmentResults total = state_at(scratch.total.data());
  const SegmentResults next = state_at(scratch.next.data());
  std::memset(scratch.queries.data(), 0, scratch.queries.size() * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < task.queries; ++i) {
    const std::size_t row = task.part.row + (task.query + i) / shape_.group();
    const std::size_t head = task.kv_head * shape_.group() + (task.query + i) % shape_.group();
    const float* from = layer.queries + row * layer.stride + head * shape_.head;
    scratch.query_scales.data()[i] = shape_.attention_scale * kernels_.store_pairs(from, scratch.queries.data() + 2 * i,
                                                                                   shape_.head, 2 * kTileQueries);
  }
  if (task.slot != kNoSlot) {
    for (std::size_t i = task.first; i < task.last; ++i) {
      float* const slot = partial_.data() + (task.slot + i - task.first) * state_floats();
      segment(task, layer, i, worker, state_at(slot));
    }
    return;
  }
  segment(task, layer, 0, worker, total);
  for (std::size_t i = 1; i < task.last && !team_.stopped(); ++i) {
    segment(task, layer, i, worker, next);
    kernels_.merge(total, next, task.queries, padded(shape_.head));
  }
  finish(task, layer, total);
}

void Attention::segment(const Task& task, const Layer& layer, std::size_t segment, std::size_t worker,
                        const SegmentResults& found) {
  std::uint32_t begin[kTileQueries];
  std::uint32_t end[kTileQueries];
  SegmentAttention work{};
  for (std::size_t i = 0; i < task.queries; ++i) {
    const std::size_t seen = task.part.position + (task.query + i) / shape_.group() + 1;
    end[i] = within_segment(seen, segment);
    begin[i] = layer.window == 0 || seen <= layer.window ? 0 : within_segment(seen - layer.window, segment);
    if (begin[i] < end[i]) work.most = std::max(work.most, end[i]);
  }
  if (work.most == 0) {
    std::fill_n(found.largest, task.queries, -std::numeric_limits<float>::infinity());
    std::fill_n(found.sum, task.queries, 0.0f);
    std::fill_n(found.weighted, task.queries * padded(shape_.head), 0.0f);
    return;
  }
  const std::uint16_t* keys[kSegmentBlocks];
  const std::uint16_t* values[kSegmentBlocks];
  const std::size_t blocks = (work.most + kBlockKeys - 1) / kBlockKeys;
  find_cells(task, layer.index, segment * kSegmentBlocks, blocks, worker, keys, values);
  work.head = shape_.head;
  work.queries = task.queries;
  work.query = scratch_[worker].queries.data();
  work.query_scales = scratch_[worker].query_scales.data();
  work.begin = begin;
  work.end = end;
  work.keys = keys;
  work.values = values;
  work.softcap = shape_.attention_softcap;
  work.scores = scratch_[worker].scores.data();
  work.weights = scratch_[worker].weights.data();
  work.weight_units = scratch_[worker].weight_units.data();
  work.largest = found.largest;
  work.sum = found.sum;
  work.weighted = found.weighted;
  kernels_.attend(work);
}

void Attention::find_cells(const Task& task, std::size_t layer, std::size_t first_block, std::size_t blocks,
                           std::size_t worker, const std::uint16_t** keys, const std::uint16_t** values) {
  const std::size_t sequence = task.part.sequence;
  const bool expand = cache_.shape().format != CacheFormat::kF16;
  std::uint16_t* to = scratch_[worker].expanded.data();
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t block = first_block + i;
    keys[i] = cache_.keys(sequence, block, layer, task.kv_head);
    values[i] = cache_.values(sequence, block, layer, task.kv_head);
    if (!expand) continue;
    const EightBitCells key = cache_.eight_bit_keys(sequence, block, layer, task.kv_head);
    const EightBitCells value = cache_.eight_bit_values(sequence, block, layer, task.kv_head);
    kernels_.expand_keys(key.quants, key.scales, to, shape_.head);
    keys[i] = to;
    to += key_numbers(shape_.head);
    kernels_.expand_values(value.quants, value.scales, to, shape_.head);
    values[i] = to;
    to += value_numbers(shape_.head);
  }
}

void Attention::finish(const Task& task, const Layer& layer, const SegmentResults& state) const {
  for (std::size_t i = 0; i < task.queries; ++i) {
    const std::size_t row = task.part.row + (task.query + i) / shape_.group();
    const std::size_t head = task.kv_head * shape_.group() + (task.query + i) % shape_.group();
    float* to = layer.to + row * layer.stride + head * shape_.head;
    const float* from = state.weighted + i * padded(shape_.head);
    const float share = 1.0f / state.sum[i];
    for (std::size_t d = 0; d < shape_.head; ++d) to[d] = from[d] * share;
  }
}

}  // namespace lorekeep::decoder
