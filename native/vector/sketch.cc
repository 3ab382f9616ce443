#include "vector/sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace lorekeep::vector {
namespace {

// Queries nearer to the mean than this count as equal to it.
constexpr float kShortest = 1e-30f;
constexpr std::size_t kRowsPerPoll = 256;

/// Returns the next bits of a fixed pseudo-random sequence (splitmix64).
std::uint64_t next_bits(std::uint64_t& state) noexcept {
  std::uint64_t bits = (state += 0x9e3779b97f4a7c15u);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

void transform_block(float* values, std::size_t length) noexcept {
  for (std::size_t half = 1; half < length; half *= 2) {
    for (std::size_t begin = 0; begin < length; begin += 2 * half) {
      for (std::size_t i = begin; i < begin + half; ++i) {
        const float a = values[i];
        const float b = values[i + half];
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
  }
}

/// Returns the mean of all rows, computed from the centres. It need not be exact: rows and queries use the same mean.
std::vector<float> mean_of(const Cells& cells) {
  const auto rows = static_cast<float>(cells.members().size());
  std::vector<float> mean(cells.centres().dimension());
  std::vector<float> centre(mean.size());
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    cells.centres().decode(cell, centre.data());
    const float share = static_cast<float>(cells.starts()[cell + 1] - cells.starts()[cell]) / rows;
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += share * centre[j];
  }
  return mean;
}

float dot(std::span<const float> a, std::span<const float> b) noexcept {
  return kernels().dot_f32(a.data(), b.data(), a.size());
}

}  // namespace

Rotation::Rotation(std::size_t dimension)
    : width_(whole_groups(dimension)), block_(width_ & (~width_ + 1)), flips_(kRounds * width_) {
  std::uint64_t state = 1;
  const float scale = 1 / std::sqrt(static_cast<float>(block_));
  for (std::size_t i = 0; i < flips_.size(); i += 64) {
    const std::uint64_t bits = next_bits(state);
    for (std::size_t j = 0; j < 64; ++j) flips_[i + j] = ((bits >> j) & 1) != 0 ? scale : -scale;
  }
}

void Rotation::apply(float* values, float* spare) const noexcept {
  const std::size_t blocks = width_ / block_;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const float* flips = flips_.data() + round * width_;
    for (std::size_t i = 0; i < width_; ++i) values[i] *= flips[i];
    for (std::size_t begin = 0; begin < width_; begin += block_) transform_block(values + begin, block_);
    if (blocks == 1) continue;
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t i = 0; i < block_; ++i) spare[i * blocks + block] = values[block * block_ + i];
    }
    std::copy(spare, spare + width_, values);
  }
}

Sketches Sketches::encode(const VectorMatrix& rows, const Cells& cells, const Work& work) {
  Sketches made;
  if (rows.size() == 0) return made;
  made.count_ = rows.size();
  made.dimension_ = rows.dimension();
  made.stride_ = sketch_stride(rows.dimension());
  made.owned_rows_ = Buffer<std::byte>::zeroed(made.count_ * made.stride_);
  made.owned_mean_ = Buffer<std::byte>::zeroed(rows.dimension() * sizeof(float));
  made.rows_ = made.owned_rows_.data();
  made.mean_ = made.owned_mean_.as<float>();
  const std::vector<float> mean = mean_of(cells);
  std::copy(mean.begin(), mean.end(), made.owned_mean_.as<float>());
  made.rotation_ = Rotation(rows.dimension());
  parallel_for(work, cells.size(), 1, [&](std::size_t cell, std::size_t, std::size_t) {
    std::vector<float> centre(rows.dimension());
    std::vector<float> residual(rows.dimension());
    std::vector<float> spare;
    cells.centres().decode(cell, centre.data());
    // All rows may be in one cell.
    for (std::size_t place = cells.starts()[cell]; place < cells.starts()[cell + 1]; ++place) {
      if (place % kRowsPerPoll == 0) work.check();
      rows.decode(cells.members()[place], residual.data());
      for (std::size_t j = 0; j < residual.size(); ++j) residual[j] -= centre[j];
      made.encode_residual(place, residual, spare);
    }
  });
  return made;
}

void Sketches::encode_residual(std::size_t place, std::span<const float> residual, std::vector<float>& spare) {
  const std::size_t width = rotation_.width();
  spare.assign(2 * width, 0.0f);
  std::copy(residual.begin(), residual.end(), spare.begin());
  rotation_.apply(spare.data(), spare.data() + width);
  std::byte* to = owned_rows_.data() + place * stride_;
  double squares = 0;
  double magnitudes = 0;
  for (std::size_t word = 0; word < width / 64; ++word) {
    std::uint64_t bits = 0;
    for (std::size_t j = 0; j < 64; ++j) {
      const float value = spare[word * 64 + j];
      bits |= std::uint64_t{value > 0} << j;
      squares += static_cast<double>(value) * value;
      magnitudes += std::fabs(value);
    }
    std::memcpy(to + word * sizeof(bits), &bits, sizeof(bits));
  }
  SketchNumbers numbers{dot(residual, mean()), 0, 0};
  if (magnitudes > 0) {
    const double factor = squares / magnitudes;
    // The lost length is spread over all directions except the residual's own.
    const double lost = std::max(0.0, static_cast<double>(width) * factor * factor - squares);
    numbers.factor = static_cast<float>(factor);
    numbers.stddev = static_cast<float>(std::sqrt(lost / static_cast<double>(width - 1)));
  }
  std::memcpy(to + width / 8, &numbers, sizeof(numbers));
}

Sketches Sketches::view(std::size_t count, std::size_t dimension, const float* mean, const std::byte* rows,
                        std::shared_ptr<const void> owner) {
  Sketches made;
  made.count_ = count;
  made.dimension_ = dimension;
  made.stride_ = sketch_stride(dimension);
  made.rotation_ = Rotation(dimension);
  made.mean_ = mean;
  made.rows_ = rows;
  made.owner_ = std::move(owner);
  return made;
}

SketchQuery::SketchQuery(const Sketches& sketches, std::span<const float> query) {
  const Rotation& rotation = sketches.rotation();
  const std::size_t width = rotation.width();
  std::vector<float> unit(sketches.dimension());
  normalise(query, unit.data(), "the query");
  const auto mean = sketches.mean();
  std::vector<float> rotated(2 * width);
  for (std::size_t j = 0; j < unit.size(); ++j) rotated[j] = unit[j] - mean[j];
  rotation.apply(rotated.data(), rotated.data() + width);
  rotated.resize(width);
  length_ = std::sqrt(dot(rotated, rotated));
  float largest = 0;
  for (const float value : rotated) largest = std::max(largest, std::fabs(value));
  task_.step = largest / kLargestOfSketchQuery;
  task_.words = width / 64;
  integers_.resize(width);
  const float per_step = largest > kShortest ? 1 / task_.step : 0.0f;
  for (std::size_t j = 0; j < width; ++j) {
    integers_[j] = static_cast<std::int8_t>(std::lrint(rotated[j] * per_step));
    task_.sum += integers_[j];
  }
  task_.query = integers_.data();
  task_.rows = sketches.row_bytes().data();
  task_.stride = sketches.stride();
}

bool SketchQuery::fast() noexcept {
  return kernels().estimate_sketches != nullptr;
}

void SketchQuery::estimate(const std::uint32_t* places, const float* centre_distances, std::size_t count, float margin,
                           float* likely, float* lower_bounds) const noexcept {
  SketchTask task = task_;
  task.reach = margin * length_;
  const auto kernel = fast() ? kernels().estimate_sketches : estimate_sketches_plainly;
  kernel(task, places, centre_distances, count, likely, lower_bounds);
}

void estimate_sketches_plainly(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                               std::size_t count, float* likely, float* lower_bounds) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* row = task.rows + places[i] * task.stride;
    std::int32_t sum = 0;
    for (std::size_t word = 0; word < task.words; ++word) {
      std::uint64_t bits;
      std::memcpy(&bits, row + word * sizeof(bits), sizeof(bits));
      for (; bits != 0; bits &= bits - 1)
        sum += task.query[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
    }
    SketchNumbers numbers;
    std::memcpy(&numbers, row + task.words * sizeof(std::uint64_t), sizeof(numbers));
    likely[i] =
        centre_distances[i] - numbers.base - numbers.factor * (static_cast<float>(2 * sum - task.sum) * task.step);
    lower_bounds[i] = likely[i] - task.reach * numbers.stddev;
  }
}

}  // namespace lorekeep::vector
