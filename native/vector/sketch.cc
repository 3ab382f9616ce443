#include "vector/sketch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRowsPerPiece = 256;
constexpr std::size_t kPlanes = 4;
constexpr float kLargest = 7;  // of the integers of a query
// The centre is that of so many rows, evenly spread: it need not be exact, as rows and queries are taken relative to
// the same.
constexpr std::size_t kRowsOfCentre = 4096;

/// The next of a fixed sequence of random bits (splitmix64).
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

std::vector<float> centre_of(const VectorMatrix& rows) {
  const std::size_t taken = std::min(rows.size(), kRowsOfCentre);
  std::vector<double> sums(rows.dimension());
  std::vector<float> row(rows.dimension());
  for (std::size_t i = 0; i < taken; ++i) {
    rows.decode(i * rows.size() / taken, row.data());
    for (std::size_t j = 0; j < row.size(); ++j) sums[j] += row[j];
  }
  std::vector<float> centre(rows.dimension());
  for (std::size_t j = 0; j < centre.size(); ++j) centre[j] = static_cast<float>(sums[j] / static_cast<double>(taken));
  return centre;
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

Sketches Sketches::encode(const VectorMatrix& rows, ThreadPool* pool, std::size_t workers, const CancelToken* cancel) {
  Sketches made;
  if (rows.size() == 0) return made;
  made.count_ = rows.size();
  made.dimension_ = rows.dimension();
  made.stride_ = sketch_stride(rows.dimension());
  made.owned_rows_ = AlignedBuffer(made.count_ * made.stride_);
  made.owned_centre_ = AlignedBuffer(rows.dimension() * sizeof(float));
  made.rows_ = made.owned_rows_.data();
  made.centre_ = made.owned_centre_.as<float>();
  const std::vector<float> centre = centre_of(rows);
  std::copy(centre.begin(), centre.end(), made.owned_centre_.as<float>());
  made.rotation_ = Rotation(rows.dimension());
  parallel_for(pool, workers, rows.size(), kRowsPerPiece, cancel, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<float> row(rows.dimension());
    std::vector<float> spare;
    for (std::size_t i = begin; i < end; ++i) {
      rows.decode(i, row.data());
      made.encode_row(i, row, spare);
    }
  });
  return made;
}

void Sketches::encode_row(std::size_t ordinal, std::span<const float> row, std::vector<float>& spare) {
  const std::size_t width = rotation_.width();
  spare.assign(2 * width, 0.0f);
  for (std::size_t j = 0; j < dimension_; ++j) spare[j] = row[j] - centre_[j];
  rotation_.apply(spare.data(), spare.data() + width);
  std::byte* to = owned_rows_.data() + ordinal * stride_;
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
  SketchNumbers numbers{dot(row, centre()), 0, 0};
  if (magnitudes > 0) {
    const double factor = squares / magnitudes;
    // Length of what is lost, spread over all directions but the row's own.
    const double lost = std::max(0.0, static_cast<double>(width) * factor * factor - squares);
    numbers.factor = static_cast<float>(factor);
    numbers.spread = static_cast<float>(std::sqrt(lost / static_cast<double>(width - 1)));
  }
  std::memcpy(to + width / 8, &numbers, sizeof(numbers));
}

Sketches Sketches::view(std::size_t count, std::size_t dimension, const float* centre, const std::byte* rows,
                        std::shared_ptr<const void> owner) {
  Sketches made;
  made.count_ = count;
  made.dimension_ = dimension;
  made.stride_ = sketch_stride(dimension);
  made.rotation_ = Rotation(dimension);
  made.centre_ = centre;
  made.rows_ = rows;
  made.owner_ = std::move(owner);
  return made;
}

SketchQuery::SketchQuery(const Sketches& sketches, std::span<const float> query) {
  const Rotation& rotation = sketches.rotation();
  const std::size_t width = rotation.width();
  std::vector<float> unit(sketches.dimension());
  normalise(query, unit.data(), "the query");
  const auto centre = sketches.centre();
  task_.origin = 1 - (dot(unit, centre) - dot(centre, centre));
  std::vector<float> turned(2 * width);
  for (std::size_t j = 0; j < unit.size(); ++j) turned[j] = unit[j] - centre[j];
  rotation.apply(turned.data(), turned.data() + width);
  turned.resize(width);
  length_ = std::sqrt(dot(turned, turned));
  float largest = 0;
  for (const float value : turned) largest = std::max(largest, std::fabs(value));
  task_.step = largest / kLargest;
  task_.words = width / 64;
  planes_.resize(kPlanes * width / 64);
  for (std::size_t j = 0; j < width; ++j) {
    const auto whole = largest > 0 ? static_cast<std::int32_t>(std::lrint(turned[j] / task_.step)) : 0;
    task_.sum += whole;
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      const auto bit = static_cast<std::uint64_t>((static_cast<std::uint32_t>(whole) >> plane) & 1);
      planes_[plane * task_.words + j / 64] |= bit << (j % 64);
    }
  }
  task_.planes = planes_.data();
  task_.rows = sketches.row_bytes().data();
  task_.stride = sketches.stride();
}

bool SketchQuery::fast() noexcept {
  return kernels().estimate_sketches != nullptr;
}

void SketchQuery::estimate(const std::uint32_t* ordinals, std::size_t count, float margin, float* likely,
                           float* nearest) const noexcept {
  SketchTask task = task_;
  task.reach = margin * length_;
  const auto kernel = fast() ? kernels().estimate_sketches : estimate_sketches_plainly;
  kernel(task, ordinals, count, likely, nearest);
}

void estimate_sketches_plainly(const SketchTask& task, const std::uint32_t* ordinals, std::size_t count, float* likely,
                               float* nearest) noexcept {
  constexpr std::array<std::int32_t, kPlanes> kWeights = {1, 2, 4, -8};
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* row = task.rows + ordinals[i] * task.stride;
    std::int32_t sum = 0;
    for (std::size_t word = 0; word < task.words; ++word) {
      std::uint64_t bits;
      std::memcpy(&bits, row + word * sizeof(bits), sizeof(bits));
      for (std::size_t plane = 0; plane < kPlanes; ++plane) {
        sum += kWeights[plane] * std::popcount(bits & task.planes[plane * task.words + word]);
      }
    }
    SketchNumbers numbers;
    std::memcpy(&numbers, row + task.words * sizeof(std::uint64_t), sizeof(numbers));
    likely[i] = task.origin - numbers.base - numbers.factor * (static_cast<float>(2 * sum - task.sum) * task.step);
    nearest[i] = likely[i] - task.reach * numbers.spread;
  }
}

}  // namespace lorekeep::vector
