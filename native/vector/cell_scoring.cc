#include "vector/cell_scoring.h"

#include <algorithm>
#include <limits>

namespace lorekeep::vector {
namespace {

// The most promising of the first rows are scored first, so that their distances rule out others.
constexpr std::size_t kLikeliest = 64;
constexpr float kFurthest = 3.0f;  // beyond every distance
constexpr float kNoStddev = 1e-6f;
constexpr std::size_t kMinSurprising = 2;
constexpr std::size_t kHitsPerSurprising = 8;

bool contains(const std::vector<std::uint32_t>& sorted, std::uint32_t ordinal) noexcept {
  return std::binary_search(sorted.begin(), sorted.end(), ordinal);
}

void insert(std::vector<std::uint32_t>& sorted, std::span<const std::uint32_t> more) {
  sorted.insert(sorted.end(), more.begin(), more.end());
  std::sort(sorted.begin(), sorted.end());
}

}  // namespace

CellScoring::CellScoring(const CellQuery& query, std::shared_ptr<const SharedScan> shared)
    : query_(query), shared_(std::move(shared)), nearest_(query.k) {}

CellScoring CellScoring::split_off() const {
  CellScoring part(query_, shared_);
  part.nearest_ = nearest_;
  part.neighbours_ = neighbours_;
  return part;
}

void CellScoring::take_back(const CellScoring& part) {
  for (const Candidate& found : part.found_) keep(found);
  visited_ += part.visited_;
}

float CellScoring::furthest() const noexcept {
  if (!nearest_.full()) return std::numeric_limits<float>::infinity();
  return std::min(nearest_.worst().score, query_.limit + query_.code_error);
}

/// Returns the distance by codes beyond which a row is not among the k nearest: its distance and that of the k-th
/// nearest may each be off by the error of codes. Sketch bounds need no such allowance, because their own error is a
/// hundred times that of most codes.
float CellScoring::limit() const noexcept {
  return nearest_.full() ? nearest_.worst().score + 2 * query_.code_error : kFurthest;
}

void CellScoring::score(const CellGathering& gathered) {
  const bool first = !full();
  estimate(gathered);
  if (first && shared_->sketches) score_likeliest();
  score(pending_);
}

/// Sets pending_ to the gathered rows that may be among the k nearest.
void CellScoring::estimate(const CellGathering& gathered) {
  const std::size_t rows = gathered.size();
  const std::uint32_t* const places = gathered.places();
  pending_.clear();
  if (!shared_->sketches) {
    auto group = gathered.groups().begin();
    for (std::size_t i = 0; i < rows; ++i) {
      while (i >= group->end) ++group;
      pending_.push_back({0, 0, places[i], group->cell});
    }
    return;
  }
  if (likely_.size() < rows) {
    likely_.resize(2 * rows);
    lower_bounds_.resize(2 * rows);
  }
  shared_->sketches->estimate(places, gathered.centre_distances(), rows, query_.sketch_margin, likely_.data(),
                              lower_bounds_.data());
  visited_ += rows;
  const float furthest = this->furthest();
  picked_.resize(rows);
  const std::size_t picked = kernels().pick(lower_bounds_.data(), rows, furthest, picked_.data());
  auto group = gathered.groups().begin();
  for (std::size_t at = 0; at < picked; ++at) {
    const std::uint32_t i = picked_[at];
    while (i >= group->end) ++group;
    if (nearest_.full()) query_.codes.stream(gathered.ordinal(i));
    pending_.push_back({lower_bounds_[i], likely_[i], places[i], group->cell});
  }
}

/// Scores the most promising pending rows, then keeps the others pending that may still be among the nearest.
void CellScoring::score_likeliest() {
  const std::size_t count = std::max(kLikeliest, 2 * query_.k);
  if (count >= pending_.size()) return;
  const auto key = [](const Pending& row) { return row.likely < kFurthest ? row.likely : kFurthest; };  // NaN is last
  std::nth_element(
      pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count), pending_.end(),
      [key](const Pending& a, const Pending& b) { return key(a) != key(b) ? key(a) < key(b) : a.place < b.place; });
  for (std::size_t i = 0; i < count; ++i) query_.codes.stream(query_.cells.members()[pending_[i].place]);
  score(std::span(pending_).first(count));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
  if (!nearest_.full()) return;
  std::erase_if(pending_, [furthest = furthest()](const Pending& row) { return row.lower_bound > furthest; });
}

void CellScoring::score(std::span<const Pending> rows) {
  ordinals_.resize(rows.size());
  distances_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ordinals_[i] = query_.cells.members()[rows[i].place];
  query_.codes.distances(ordinals_.data(), rows.size(), distances_.data());
  visited_ += rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (distances_[i] > limit() || contains(neighbours_, ordinals_[i])) continue;
    const RankedCell& cell = shared_->cells[rows[i].cell];
    const float lead_over_centre = cell.centre_distance - distances_[i];
    const float sketch_stddev = (rows[i].likely - rows[i].lower_bound) / query_.sketch_margin;
    keep({{distances_[i], ordinals_[i]},
          cell.stddev > kNoStddev ? lead_over_centre / cell.stddev : 0.0f,
          sketch_stddev > kNoStddev ? (rows[i].likely - distances_[i]) / sketch_stddev : 0.0f});
  }
}

void CellScoring::keep(const Candidate& row) {
  nearest_.push(row.row);
  found_.push_back(row);
}

std::optional<float> CellScoring::settle() {
  std::erase_if(found_, [furthest = limit()](const Candidate& found) { return found.row.score > furthest; });
  if (!nearest_.full()) return std::nullopt;
  float greatest = 0;
  for (const Candidate& found : found_) {
    if (found.row.score <= nearest_.worst().score) greatest = std::max(greatest, found.lead_over_centre);
  }
  return greatest;
}

/// Returns the matching neighbours of the k nearest rows, except of rows whose neighbours were scored before.
std::vector<std::uint32_t> CellScoring::unexpanded() {
  std::vector<std::uint32_t> expand;
  for (const Candidate& found : found_) {
    const Scored& row = found.row;
    if (row.score > nearest_.worst().score || contains(expanded_, row.ordinal)) continue;
    expand.push_back(row.ordinal);
    for (std::size_t i = 0; i < query_.graph.base_stride; i += kOrdinalsPerLine) {
      prefetch_line(query_.graph.base_list(row.ordinal) + i);
    }
  }
  std::vector<std::uint32_t> neighbours;
  for (std::uint32_t ordinal : expand) {
    const std::uint32_t* const list = query_.graph.base_list(ordinal);
    for (std::size_t i = 0; i < query_.graph.base_stride && list[i] != kNoNode; ++i) {
      if (!query_.filter.test(list[i])) continue;
      query_.codes.stream(list[i]);
      neighbours.push_back(list[i]);
    }
  }
  insert(expanded_, expand);
  return neighbours;
}

bool CellScoring::take_neighbours() {
  if (!nearest_.full()) return false;
  ordinals_ = unexpanded();
  std::vector<std::uint32_t> known;
  for (const Candidate& found : found_) known.push_back(found.row.ordinal);
  std::sort(known.begin(), known.end());
  std::erase_if(ordinals_, [&known](std::uint32_t ordinal) { return contains(known, ordinal); });
  distances_.resize(ordinals_.size());
  query_.codes.distances(ordinals_.data(), ordinals_.size(), distances_.data());
  visited_ += ordinals_.size();
  std::vector<Scored> missed;
  for (std::size_t i = 0; i < ordinals_.size(); ++i) {
    if (distances_[i] < furthest()) missed.push_back({distances_[i], ordinals_[i]});
  }
  std::sort(missed.begin(), missed.end(), NearestFirst());
  missed.erase(std::unique(missed.begin(), missed.end()), missed.end());  // neighbours of several rows
  std::vector<std::uint32_t> taken;
  for (const Scored& row : missed) {
    keep({row, 0, 0});  // its lead over the centre is unknown
    taken.push_back(row.ordinal);
  }
  insert(neighbours_, taken);
  return !taken.empty();
}

bool CellScoring::sketches_mislead() const noexcept {
  if (!shared_->sketches || !nearest_.full()) return false;
  std::size_t surprising = 0;
  for (const Candidate& found : found_) {
    surprising += found.row.score <= nearest_.worst().score && found.surprise > query_.surprise ? 1 : 0;
  }
  return surprising > kMinSurprising + query_.k / kHitsPerSurprising;
}

std::vector<Scored> CellScoring::rows() const {
  std::vector<Scored> rows;
  rows.reserve(found_.size());
  for (const Candidate& found : found_) rows.push_back(found.row);
  return rows;
}

}  // namespace lorekeep::vector
