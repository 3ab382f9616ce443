// Causal attention of the rows of a step over the cells of their sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/values/buffer.h"
#include "decoder/kernels.h"
#include "decoder/kv_cache.h"
#include "decoder/shape.h"
#include "decoder/team.h"

namespace lorekeep::decoder {

/// Consecutive rows of a step that belong to one sequence.
struct Part {
  std::size_t sequence;
  std::size_t position;  // of the first row
  std::size_t row;
  std::size_t rows;
};

class Attention {
 public:
  Attention(const DecoderShape& shape, const DecoderKernels& kernels, KvCache& cache, Team& team);

  /// Plans the work of a step, the same for all layers.
  void plan(std::span<const Part> parts);

  /// Computes heads side by side: `to` and `queries` are rows x stride. The keys and values of all rows are in the
  /// cache. `window`: maximum number of keys that a row sees; 0: all before it. Returns false if the step is unwanted.
  bool compute(std::size_t layer, std::size_t window, const float* queries, float* to, std::size_t stride);

 private:
  /// A tile of the queries of a part that share a key/value head, over the segments from `first` to before `last`.
  struct Task {
    Part part;
    std::size_t kv_head;
    std::size_t query;  // row * group + head of the group
    std::size_t queries;
    std::size_t first;
    std::size_t last;
    std::size_t slot;  // of its first segment's results; kNoSlot: the task covers all segments
  };
  static constexpr std::size_t kNoSlot = ~std::size_t{0};

  struct Layer {
    std::size_t index;
    std::size_t window;
    const float* queries;
    float* to;
    std::size_t stride;
  };

  /// Memory of a worker.
  struct Scratch {
    explicit Scratch(const DecoderShape& shape, CacheFormat format);
    Buffer<std::uint16_t> queries;
    Buffer<float> query_scales;
    Buffer<float> scores;
    Buffer<std::uint16_t> weights;
    Buffer<float> weight_units;
    Buffer<float> total;  // results
    Buffer<float> next;
    Buffer<std::uint16_t> expanded;  // a segment of a cache of 8 bits in 16
  };

  static std::size_t state_floats(const DecoderShape& shape) noexcept {
    return kTileQueries * (2 + padded(shape.head));
  }
  std::size_t state_floats() const noexcept { return state_floats(shape_); }
  SegmentResults state_at(float* from) const noexcept { return {from, from + kTileQueries, from + 2 * kTileQueries}; }
  void run(const Task& task, const Layer& layer, std::size_t worker);
  void segment(const Task& task, const Layer& layer, std::size_t segment, std::size_t worker,
               const SegmentResults& found);
  void find_cells(const Task& task, std::size_t layer, std::size_t first_block, std::size_t blocks, std::size_t worker,
                  const std::uint16_t** keys, const std::uint16_t** values);
  void finish(const Task& task, const Layer& layer, const SegmentResults& state) const;

  const DecoderShape& shape_;
  const DecoderKernels& kernels_;
  KvCache& cache_;
  Team& team_;
  std::vector<Task> tasks_;
  std::vector<Task> split_;  // tiles whose segments are several tasks, to be merged
  Buffer<float> partial_;
  std::vector<Scratch> scratch_;  // of each worker
};

}  // namespace lorekeep::decoder
