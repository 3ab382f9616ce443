#include "vector/cell_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lorekeep::vector {
namespace {

// Matching rows that are looked at together. Of the first of them those that seem nearest are scored first: they give
// the others something to be measured against.
constexpr std::size_t kRowsAtFirst = 256;
constexpr std::size_t kRowsAtOnce = 1024;
constexpr std::size_t kLikeliest = 64;
constexpr std::size_t kBuckets = 256;

// A cell is passed over when its rows would have to be nearer than its centre by more than this many spreads; and by
// more than what the k nearest rows found so far are, and this much again. Where rows lie about their centres like a
// normal distribution the first is what counts, and one row in 6,000 leads by more. Real texts have rows that lead by
// ten, and then rows that were found say so.
constexpr float kLeastMargin = 3.6f;
constexpr float kMarginBeyond = 0.5f;
// By so much more once the graph knows a row that was missed.
constexpr float kWider = 1.5f;

constexpr float kFurthest = 3.0f;  // beyond every distance
constexpr float kSpreadless = 1e-6f;
constexpr std::size_t kPerLine = 16;  // ordinals in a cache line
constexpr double kMostSpread = 1e6;   // of a damaged file

bool contains(const std::vector<std::uint32_t>& sorted, std::uint32_t ordinal) noexcept {
  return std::binary_search(sorted.begin(), sorted.end(), ordinal);
}

void insert(std::vector<std::uint32_t>& sorted, std::span<const std::uint32_t> more) {
  sorted.insert(sorted.end(), more.begin(), more.end());
  std::sort(sorted.begin(), sorted.end());
}

void prefetch_line(const void* at) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(at);
#endif
}

}  // namespace

CellScan::CellScan(const CellQuery& query, SearchWork& work)
    : query_(query), work_(work), origins_(query.cells.size()), margin_(kLeastMargin), nearest_(query.k) {
  Scorer(query.cells.centres(), query.query).distances_from(0, origins_.size(), origins_.data());
  work_.visited += origins_.size();
  spread_ = measure_spread();
  work_.visited += query.cells.sample().ordinals.size();
  sort_cells();
  if (query.sketches != nullptr) sketch_query_.emplace(*query.sketches, query.query);
}

/// Of some rows, which stand for all: how they lie about their centres depends on where the query is. If all of them
/// lie in their centres they say nothing of others, and no row leads by more than its distance from the centre.
float CellScan::measure_spread() const {
  const auto& [ordinals, cells] = query_.cells.sample();
  std::vector<float> distances(ordinals.size());
  query_.codes.distances(ordinals.data(), ordinals.size(), distances.data());
  double squares = 0;
  double radii = 0;
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    const double lead = static_cast<double>(origins_[cells[i]]) - distances[i];
    const double radius = query_.cells.radii()[cells[i]];
    squares += lead * lead;
    radii += radius * radius;
  }
  return radii > 0 ? static_cast<float>(std::min(std::sqrt(squares / radii), kMostSpread)) : 1.0f;
}

/// By the nearest that their rows may be, in steps of a 256th of what there is: a full sort would take as long as all
/// the rest of many searches.
void CellScan::sort_cells() {
  std::vector<float> bounds(origins_.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = origins_[i] - margin_ * spread_ * query_.cells.radii()[i];
  }
  const auto [nearest, furthest] = std::minmax_element(bounds.begin(), bounds.end());
  const float least = *nearest;
  const float scale = *furthest > least ? static_cast<float>(kBuckets - 1) / (*furthest - least) : 0.0f;
  const auto bucket_of = [&](float bound) {
    return std::min(static_cast<std::size_t>((bound - least) * scale), kBuckets - 1);
  };
  std::size_t ends[kBuckets + 1] = {};
  for (float bound : bounds) ++ends[bucket_of(bound) + 1];
  std::partial_sum(ends, ends + kBuckets + 1, ends);
  order_.resize(bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) order_[ends[bucket_of(bounds[i])]++] = static_cast<std::uint32_t>(i);
}

bool CellScan::may_hold(std::uint32_t cell) const noexcept {
  return !nearest_.full() || origins_[cell] - margin_ * spread_ * query_.cells.radii()[cell] <= nearest_.worst().score;
}

std::size_t CellScan::rows_left() const noexcept {
  std::size_t rows = 0;
  for (std::size_t i = next_; i < order_.size(); ++i) {
    if (may_hold(order_[i])) rows += query_.cells.starts()[order_[i] + 1] - query_.cells.starts()[order_[i]];
  }
  return rows * query_.matched / query_.cells.members().size();
}

bool CellScan::advance() {
  if (query_.cancel != nullptr) query_.cancel->check();
  const bool first = !nearest_.full();
  gather(first ? std::max(kRowsAtFirst, 8 * query_.k) : kRowsAtOnce);
  if (gathered_ == 0) return false;
  look_at_gathered();
  if (first && sketch_query_) score_likeliest();
  score(pending_);
  learn_margin();
  return true;
}

/// The matching rows of the next cells, about `rows`.
void CellScan::gather(std::size_t rows) {
  gathered_ = 0;
  while (gathered_ < rows) {
    if (next_ == order_.size()) {
      // What was passed over may count after all, since the margin may have grown.
      order_.resize(passed_over_);
      next_ = passed_over_ = 0;
      if (!looked_) return;
      looked_ = false;
      continue;
    }
    const std::uint32_t cell = order_[next_++];
    if (may_hold(cell)) {
      prefetch_next();
      gather(cell);
      looked_ = true;
    } else {
      order_[passed_over_++] = cell;
    }
  }
}

void CellScan::prefetch_next() const noexcept {
  if (next_ == order_.size()) return;
  const std::uint32_t* const members = query_.cells.members().data();
  const std::uint32_t end = query_.cells.starts()[order_[next_] + 1];
  for (std::uint32_t place = query_.cells.starts()[order_[next_]]; place < end; place += kPerLine) {
    prefetch_line(members + place);
  }
}

void CellScan::gather(std::uint32_t cell) {
  const std::uint32_t begin = query_.cells.starts()[cell];
  const std::uint32_t end = query_.cells.starts()[cell + 1];
  if (gathered_ + (end - begin) > places_.size()) {
    places_.resize(2 * (gathered_ + (end - begin)));
    origins_of_places_.resize(places_.size());
    cells_of_places_.resize(places_.size());
  }
  const std::uint32_t* const members = query_.cells.members().data();
  const std::uint64_t* const words = query_.filter.words().data();
  std::uint32_t* const places = places_.data();
  std::size_t gathered = gathered_;
  for (std::uint32_t place = begin; place < end; ++place) {
    places[gathered] = place;
    gathered += (words[members[place] / 64] >> (members[place] % 64)) & 1;
  }
  std::fill(origins_of_places_.data() + gathered_, origins_of_places_.data() + gathered, origins_[cell]);
  std::fill(cells_of_places_.data() + gathered_, cells_of_places_.data() + gathered, cell);
  gathered_ = gathered;
}

/// Makes pending what may be among the nearest.
void CellScan::look_at_gathered() {
  const std::size_t rows = gathered_;
  pending_.clear();
  if (!sketch_query_) {
    for (std::size_t i = 0; i < rows; ++i) pending_.push_back({0, 0, places_[i], cells_of_places_[i]});
    return;
  }
  if (likely_.size() < rows) {
    likely_.resize(places_.size());
    bounds_.resize(places_.size());
  }
  sketch_query_->estimate(places_.data(), origins_of_places_.data(), rows, kSketchMargin, likely_.data(),
                          bounds_.data());
  work_.visited += rows;
  const float furthest = nearest_.full() ? nearest_.worst().score : std::numeric_limits<float>::infinity();
  picked_.resize(rows);
  std::size_t picked = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    picked_[picked] = static_cast<std::uint32_t>(i);
    picked += bounds_[i] > furthest ? 0 : 1;  // not so what a damaged file makes no number of
  }
  for (std::size_t at = 0; at < picked; ++at) {
    const std::uint32_t i = picked_[at];
    pending_.push_back({bounds_[i], likely_[i], places_[i], cells_of_places_[i]});
  }
}

/// Leaves those of the others pending that may still be among the nearest.
void CellScan::score_likeliest() {
  const std::size_t count = std::max(kLikeliest, 2 * query_.k);
  if (count >= pending_.size()) return;
  // What a damaged file makes no number of comes last.
  const auto key = [](const Pending& row) { return row.likely < kFurthest ? row.likely : kFurthest; };
  std::nth_element(
      pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count), pending_.end(),
      [key](const Pending& a, const Pending& b) { return key(a) != key(b) ? key(a) < key(b) : a.place < b.place; });
  score(std::span(pending_).first(count));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
  if (!nearest_.full()) return;
  std::erase_if(pending_, [furthest = nearest_.worst().score](const Pending& row) { return row.nearest > furthest; });
}

void CellScan::score(std::span<const Pending> rows) {
  ordinals_.resize(rows.size());
  distances_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ordinals_[i] = query_.cells.members()[rows[i].place];
  query_.codes.distances(ordinals_.data(), rows.size(), distances_.data());
  work_.visited += rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (distances_[i] > limit() || contains(neighbours_, ordinals_[i])) continue;
    const float spread = spread_ * query_.cells.radii()[rows[i].cell];
    keep(distances_[i], ordinals_[i], spread > kSpreadless ? (origins_[rows[i].cell] - distances_[i]) / spread : 0.0f);
  }
}

void CellScan::keep(float distance, std::uint32_t ordinal, float lead) {
  nearest_.push({distance, ordinal});
  found_.push_back({{distance, ordinal}, lead});
}

/// Drops what is not among the nearest any more, and learns from the rest how far rows lead.
void CellScan::learn_margin() {
  std::erase_if(found_, [furthest = limit()](const Candidate& found) { return found.row.score > furthest; });
  if (!nearest_.full()) return;
  float lead = 0;
  for (const auto& [row, its_lead] : found_) {
    if (row.score <= nearest_.worst().score) lead = std::max(lead, its_lead);
  }
  margin_ = std::max(margin_, lead + kMarginBeyond);
}

bool CellScan::look_beyond() {
  if (!nearest_.full()) return false;
  const float furthest = nearest_.worst().score;
  known_.clear();
  fresh_.clear();
  for (const auto& [row, lead] : found_) {
    known_.push_back(row.ordinal);
    if (row.score > furthest || contains(expanded_, row.ordinal)) continue;
    fresh_.push_back(row.ordinal);
    for (std::size_t i = 0; i < query_.graph.base_stride; i += kPerLine) {
      prefetch_line(query_.graph.base_list(row.ordinal) + i);
    }
  }
  ordinals_.clear();
  for (std::uint32_t ordinal : fresh_) {
    const std::uint32_t* const list = query_.graph.base_list(ordinal);
    for (std::size_t i = 0; i < query_.graph.base_stride && list[i] != kNoNode; ++i) {
      if (query_.filter.test(list[i])) ordinals_.push_back(list[i]);
    }
  }
  insert(expanded_, fresh_);
  std::sort(known_.begin(), known_.end());
  std::erase_if(ordinals_, [this](std::uint32_t ordinal) { return contains(known_, ordinal); });
  distances_.resize(ordinals_.size());
  query_.codes.distances(ordinals_.data(), ordinals_.size(), distances_.data());
  work_.visited += ordinals_.size();
  std::vector<Scored> missed;
  for (std::size_t i = 0; i < ordinals_.size(); ++i) {
    if (distances_[i] < furthest) missed.push_back({distances_[i], ordinals_[i]});
  }
  std::sort(missed.begin(), missed.end(), NearestFirst());
  missed.erase(std::unique(missed.begin(), missed.end()), missed.end());  // neighbours of several
  fresh_.clear();
  for (const Scored& row : missed) {
    keep(row.score, row.ordinal, 0);  // how far it leads is not known
    fresh_.push_back(row.ordinal);
  }
  if (fresh_.empty()) return false;
  insert(neighbours_, fresh_);
  learn_margin();
  margin_ *= kWider;
  return true;
}

/// A row whose codes are further than this is not among the k nearest: the k-th nearest so far, and it, may be off
/// by the error of their codes. Sketches need no such room: their error is a hundred times that of most codes.
float CellScan::limit() const noexcept {
  return nearest_.full() ? nearest_.worst().score + 2 * query_.code_error : kFurthest;
}

std::vector<Scored> CellScan::take() {
  std::vector<Scored> rows;
  rows.reserve(found_.size());
  for (const Candidate& found : found_) rows.push_back(found.row);
  std::sort(rows.begin(), rows.end(), NearestFirst());
  return rows;
}

}  // namespace lorekeep::vector
