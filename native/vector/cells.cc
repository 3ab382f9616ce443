#include "vector/cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/values/error.h"
#include "vector/scorer.h"

namespace lorekeep::vector {
namespace {

// Cells per square root of rows. More cells are tighter, but take longer to rank.
constexpr double kCellsPerRoot = 3;
constexpr std::size_t kMaxCells = 4096;
// Rows per cell for learning centres, and for choosing seeds.
constexpr std::size_t kLearnedRowsPerCell = 16;
constexpr std::size_t kSeedRowsPerCell = 4;
constexpr std::size_t kRounds = 3;
// A seed is the farthest of this many random rows from the earlier seeds. The farthest of all rows would be an outlier.
constexpr std::size_t kSeedCandidates = 16;
constexpr std::size_t kRowsPerPiece = 64;
constexpr std::size_t kSampledRows = 128;
constexpr std::size_t kWordsPerPoll = 64;
constexpr std::size_t kRowsPerPoll = 1024;

std::size_t cells_for(std::size_t rows) noexcept {
  const auto wanted = static_cast<std::size_t>(kCellsPerRoot * std::sqrt(static_cast<double>(rows)));
  return std::clamp<std::size_t>(wanted, 1, std::min(rows, kMaxCells));
}

/// Returns `count` evenly spaced ordinals of `rows`.
std::vector<std::uint32_t> evenly(std::size_t rows, std::size_t count) {
  std::vector<std::uint32_t> taken(std::min(rows, count));
  for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = static_cast<std::uint32_t>(i * rows / taken.size());
  return taken;
}

/// The rows of each cell: cell i has the range [starts[i], starts[i + 1]) of `rows`.
struct Groups {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> rows;
};

class Builder {
 public:
  Builder(const VectorMatrix& rows, const Work& work)
      : rows_(rows), work_(work), centres_(seeds(cells_for(rows.size()))) {}

  Groups group() {
    const auto some = evenly(rows_.size(), kLearnedRowsPerCell * centres_.size());
    for (std::size_t round = 0; round < kRounds; ++round) move_centres(grouped(some));
    std::vector<std::uint32_t> all(rows_.size());
    std::iota(all.begin(), all.end(), 0u);
    return without_empty(grouped(all));
  }

  /// Returns the mean of some rows.
  std::vector<float> mean_of(std::span<const std::uint32_t> rows) const {
    std::vector<double> sums(rows_.dimension());
    std::vector<float> row(rows_.dimension());
    // All rows may be in one cell.
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % kRowsPerPoll == 0) work_.check();
      rows_.decode(rows[i], row.data());
      for (std::size_t j = 0; j < row.size(); ++j) sums[j] += row[j];
    }
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] = static_cast<float>(sums[j] / static_cast<double>(rows.size()));
    return row;
  }

 private:
  VectorMatrix seeds(std::size_t count) const {
    const auto among = evenly(rows_.size(), kSeedRowsPerCell * count);
    VectorMatrix seeds = VectorMatrix::allocate(VectorType::kI8, count, rows_.dimension());
    std::vector<float> nearest(among.size(), 2.0f);  // distance to the nearest seed
    std::vector<float> distances(among.size());
    std::vector<float> row(rows_.dimension());
    std::uint64_t state = 1;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < count; ++i) {
      work_.check();
      rows_.decode(among[chosen], row.data());
      seeds.set(i, row);
      Scorer(rows_, among[chosen]).distances(among.data(), among.size(), distances.data());
      for (std::size_t j = 0; j < nearest.size(); ++j) nearest[j] = std::min(nearest[j], distances[j]);
      for (std::size_t candidate = 0; candidate < kSeedCandidates; ++candidate) {
        state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
        const std::size_t other = (state >> 33) % among.size();
        if (candidate == 0 || nearest[other] > nearest[chosen]) chosen = other;
      }
    }
    return seeds;
  }

  Groups grouped(std::span<const std::uint32_t> rows) const {
    std::vector<std::uint32_t> cells(rows.size());
    parallel_for(work_, rows.size(), kRowsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t) {
      std::vector<float> row(rows_.dimension());
      std::vector<float> distances(centres_.size());
      for (std::size_t i = begin; i < end; ++i) {
        rows_.decode(rows[i], row.data());
        Scorer(centres_, row).distances_from(0, distances.size(), distances.data());
        const auto nearest = std::min_element(distances.begin(), distances.end());
        cells[i] = static_cast<std::uint32_t>(nearest - distances.begin());
      }
    });
    Groups groups{std::vector<std::uint32_t>(centres_.size() + 1), std::vector<std::uint32_t>(rows.size())};
    for (std::uint32_t cell : cells) ++groups.starts[cell + 1];
    std::partial_sum(groups.starts.begin(), groups.starts.end(), groups.starts.begin());
    std::vector<std::uint32_t> next(groups.starts.begin(), groups.starts.end() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) groups.rows[next[cells[i]]++] = rows[i];
    return groups;
  }

  /// Moves each centre to the mean of its rows, at length 1. An empty cell keeps its centre.
  void move_centres(const Groups& groups) {
    parallel_for(work_, centres_.size(), 1, [&](std::size_t cell, std::size_t, std::size_t) {
      const auto rows =
          std::span(groups.rows).subspan(groups.starts[cell], groups.starts[cell + 1] - groups.starts[cell]);
      if (rows.empty()) return;
      const std::vector<float> mean = mean_of(rows);
      std::vector<float> unit(mean.size());
      normalise(mean, unit.data(), "a centre");
      centres_.set(cell, unit);
    });
  }

  static Groups without_empty(Groups groups) {
    groups.starts.erase(std::unique(groups.starts.begin(), groups.starts.end()), groups.starts.end());
    return groups;
  }

  const VectorMatrix& rows_;
  const Work work_;
  VectorMatrix centres_;
};

float root_mean_square_distance(const VectorMatrix& rows, std::span<const std::uint32_t> members,
                                std::span<const float> centre, const Work& work) {
  std::vector<float> row(rows.dimension());
  double squares = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i % kRowsPerPoll == 0) work.check();
    rows.decode(members[i], row.data());
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double apart = static_cast<double>(row[j]) - centre[j];
      squares += apart * apart;
    }
  }
  return static_cast<float>(std::sqrt(squares / static_cast<double>(members.size())));
}

[[noreturn]] void refuse(std::string_view source, const std::string& reason) {
  fail_file(Code::kCorrupt, std::string(source), reason);
}

}  // namespace

struct Cells::Owned {
  Groups groups;
  std::vector<float> radii;
};

Cells Cells::build(const VectorMatrix& rows, const Work& work) {
  Cells cells;
  if (rows.size() == 0) return cells;
  Builder builder(rows, work);
  auto owned = std::make_shared<Owned>();
  owned->groups = builder.group();
  const auto& [starts, members] = owned->groups;
  owned->radii.resize(starts.size() - 1);
  cells.memory_.centres = VectorMatrix::allocate(VectorType::kI8, owned->radii.size(), rows.dimension());
  parallel_for(work, owned->radii.size(), 1, [&](std::size_t cell, std::size_t, std::size_t) {
    const auto own = std::span(members).subspan(starts[cell], starts[cell + 1] - starts[cell]);
    cells.memory_.centres.set(cell, builder.mean_of(own));
    std::vector<float> centre(rows.dimension());
    cells.memory_.centres.decode(cell, centre.data());
    owned->radii[cell] = root_mean_square_distance(rows, own, centre, work);
  });
  cells.memory_.starts = starts;
  cells.memory_.members = members;
  cells.memory_.radii = owned->radii;
  cells.owned_ = std::move(owned);
  cells.take_sample();
  return cells;
}

Cells Cells::view(Memory memory, std::string_view source) {
  const auto rows = memory.members.size();
  if (memory.starts.empty() || memory.starts.front() != 0 || memory.starts.back() != rows ||
      !std::is_sorted(memory.starts.begin(), memory.starts.end())) {
    refuse(source, "the ranges of its cells are invalid");
  }
  std::vector<bool> seen(rows);
  for (std::uint32_t member : memory.members) {
    if (member >= rows || seen[member]) refuse(source, "its cells do not contain every row once");
    seen[member] = true;
  }
  for (float radius : memory.radii) {
    if (!(radius >= 0 && radius <= 2)) refuse(source, "the radius of a cell is out of range");
  }
  Cells cells;
  cells.memory_ = std::move(memory);
  cells.take_sample();
  return cells;
}

Bitmap Cells::to_cell_order(const Bitmap& ordinals, const CancelToken* cancel) const {
  Bitmap places(ordinals.size());
  for (std::size_t word = 0; word < places.words().size(); ++word) {
    if (word % kWordsPerPoll == 0 && cancel != nullptr) cancel->check();
    const auto members = memory_.members.subspan(64 * word, std::min<std::size_t>(64, places.size() - 64 * word));
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < members.size(); ++i) bits |= std::uint64_t{ordinals.test(members[i])} << i;
    places.words()[word] = bits;
  }
  return places;
}

std::size_t Cells::heap_bytes() const noexcept {
  return memory_.centres.heap_bytes() + (owned_ ? bytes() - memory_.centres.bytes() : 0);
}

void Cells::take_sample() {
  std::size_t cell = 0;
  for (std::uint32_t place : evenly(memory_.members.size(), kSampledRows)) {
    while (memory_.starts[cell + 1] <= place) ++cell;
    sample_.ordinals.push_back(memory_.members[place]);
    sample_.cells.push_back(static_cast<std::uint32_t>(cell));
  }
}

}  // namespace lorekeep::vector
