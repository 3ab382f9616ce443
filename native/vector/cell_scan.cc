#include "vector/cell_scan.h"

#include <algorithm>
#include <array>
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

// What is left is shared with another thread where it takes 50 µs or more. To wake that one up takes up to 40, for
// which it gets fewer cells: four of nine.
constexpr std::size_t kRowsWorthSharing = 6000;
constexpr std::size_t kCellsOfShare = 9;
constexpr std::size_t kCellsGivenAway = 4;

// A cell is passed over when its rows would have to be nearer than its centre by more than this many spreads; and by
// more than what the k nearest rows found so far are, and this much again. Where rows lie about their centres like a
// normal distribution the first is what counts, and one row in 20,000 leads by more. Real texts have rows that lead by
// ten, and then rows that were found say so.
constexpr float kLeastMargin = 3.9f;
constexpr float kMarginBeyond = 0.5f;
// By so much more once the graph knows a row that was missed.
constexpr float kWider = 1.5f;

constexpr float kFurthest = 3.0f;  // beyond every distance
constexpr float kSpreadless = 1e-6f;
constexpr std::size_t kPerLine = 16;  // ordinals in a cache line
constexpr std::size_t kPlacesPerByte = 8;
constexpr double kMostSpread = 1e6;  // of a damaged file

bool contains(const std::vector<std::uint32_t>& sorted, std::uint32_t ordinal) noexcept {
  return std::binary_search(sorted.begin(), sorted.end(), ordinal);
}

void insert(std::vector<std::uint32_t>& sorted, std::span<const std::uint32_t> more) {
  sorted.insert(sorted.end(), more.begin(), more.end());
  std::sort(sorted.begin(), sorted.end());
}

/// The numbers of the bits that are set in a byte, ascending.
struct SetBits {
  std::uint8_t count;
  std::uint8_t numbers[8];
};

constexpr std::array<SetBits, 256> kSetBits = [] {
  std::array<SetBits, 256> all{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) all[byte].numbers[all[byte].count++] = static_cast<std::uint8_t>(bit);
    }
  }
  return all;
}();

/// 64 bits from any one on; zeros behind the last word.
std::uint64_t bits_from(const std::vector<std::uint64_t>& words, std::size_t bit) noexcept {
  const std::size_t shift = bit % 64;
  const std::uint64_t low = words[bit / 64] >> shift;
  return shift == 0 || bit / 64 + 1 == words.size() ? low : low | words[bit / 64 + 1] << (64 - shift);
}

void prefetch_line(const void* at) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(at);
#endif
}

}  // namespace

CellScan::CellScan(const CellQuery& query)
    : query_(query), ground_(std::make_shared<Ground>()), margin_(kLeastMargin), nearest_(query.k) {
  ground_->cells = survey();
  sort_cells();
  if (query.sketches != nullptr) ground_->sketches.emplace(*query.sketches, query.query);
}

CellScan::CellScan(CellScan& whole)
    : query_(whole.query_),
      ground_(whole.ground_),
      margin_(whole.margin_),
      nearest_(whole.nearest_),
      neighbours_(whole.neighbours_) {
  std::size_t kept = whole.next_;
  for (std::size_t i = whole.next_; i < whole.order_.size(); ++i) {
    if (i % kCellsOfShare < kCellsGivenAway) {
      order_.push_back(whole.order_[i]);
    } else {
      whole.order_[kept++] = whole.order_[i];
    }
  }
  whole.order_.resize(kept);
}

std::vector<CellScan::Cell> CellScan::survey() {
  std::vector<float> origins(query_.cells.size());
  Scorer(query_.cells.centres(), query_.query).distances_from(0, origins.size(), origins.data());
  const float spread = measure_spread(origins);
  visited_ += origins.size() + query_.cells.sample().ordinals.size();
  std::vector<Cell> cells;
  cells.reserve(origins.size());
  for (std::uint32_t i = 0; i < origins.size(); ++i) cells.push_back({origins[i], spread * query_.cells.radii()[i], i});
  return cells;
}

/// Per radius of a cell, of some rows, which stand for all: how they lie about their centres depends on where the query
/// is. If all of them lie in their centres they say nothing of others, and no row leads by more than its distance from
/// the centre.
float CellScan::measure_spread(std::span<const float> origins) const {
  const auto& [ordinals, cells] = query_.cells.sample();
  std::vector<float> distances(ordinals.size());
  query_.codes.distances(ordinals.data(), ordinals.size(), distances.data());
  double squares = 0;
  double radii = 0;
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    const double lead = static_cast<double>(origins[cells[i]]) - distances[i];
    const double radius = query_.cells.radii()[cells[i]];
    squares += lead * lead;
    radii += radius * radius;
  }
  return radii > 0 ? static_cast<float>(std::min(std::sqrt(squares / radii), kMostSpread)) : 1.0f;
}

/// By the nearest that their rows may be, in steps of a 256th of what there is: a full sort would take as long as all
/// the rest of many searches.
void CellScan::sort_cells() {
  const std::vector<Cell>& cells = ground_->cells;
  std::vector<float> bounds(cells.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = cells[i].origin - margin_ * cells[i].spread;
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
  for (std::size_t i = 0; i < bounds.size(); ++i) order_[ends[bucket_of(bounds[i])]++] = cells[i];
}

/// Of the k nearest so far.
float CellScan::furthest() const noexcept {
  return nearest_.full() ? nearest_.worst().score : std::numeric_limits<float>::infinity();
}

/// So does what a damaged file makes no number of.
bool CellScan::may_hold(const Cell& cell, float furthest) const noexcept {
  return !(cell.origin - margin_ * cell.spread > furthest);
}

std::size_t CellScan::rows_left() const noexcept {
  const auto starts = query_.cells.starts();
  std::size_t members = 0;
  for (std::size_t i = next_; i < order_.size(); ++i) {
    const std::uint32_t cell = order_[i].number;
    if (may_hold(order_[i], furthest())) members += starts[cell + 1] - starts[cell];
  }
  return members * query_.matched / query_.cells.members().size();
}

bool CellScan::advance() {
  query_.work.check();
  const bool first = !nearest_.full();
  gather(first ? std::max(kRowsAtFirst, 8 * query_.k) : kRowsAtOnce);
  if (gathered_ == 0) return false;
  look_at_gathered();
  if (first && ground_->sketches) score_likeliest();
  score(pending_);
  learn_margin();
  return true;
}

void CellScan::share_rest() {
  if (!nearest_.full() || rows_left() < kRowsWorthSharing) return;
  CellScan part(*this);
  const Work& work = query_.work;
  ThreadPool* const pool = work.pool != nullptr && work.pool->has_idle_thread() ? work.pool : nullptr;
  parallel_for({pool, work.workers}, 2, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      CellScan& own = i == 0 ? *this : part;
      while (own.advance()) {
      }
    }
  });
  absorb(part);
}

/// Cells that were passed over count as not looked at again, since what the other part found may say so.
void CellScan::absorb(const CellScan& part) {
  for (const Candidate& found : part.found_) keep(found.row.score, found.row.ordinal, found.lead);
  margin_ = std::max(margin_, part.margin_);
  learn_margin();
  order_.insert(order_.end(), part.order_.begin(), part.order_.end());
  next_ = passed_over_ = 0;
  looked_ = false;
  visited_ += part.visited_;
}

/// The matching rows of the next cells, about `rows`.
void CellScan::gather(std::size_t rows) {
  const float furthest = this->furthest();
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
    const Cell cell = order_[next_++];
    if (may_hold(cell, furthest)) {
      if (query_.filter_in_cell_order == nullptr) prefetch_next();
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
  const std::uint32_t cell = order_[next_].number;
  const std::uint32_t end = query_.cells.starts()[cell + 1];
  for (std::uint32_t place = query_.cells.starts()[cell]; place < end; place += kPerLine) {
    prefetch_line(members + place);
  }
}

void CellScan::gather(const Cell& cell) {
  const std::uint32_t begin = query_.cells.starts()[cell.number];
  const std::uint32_t end = query_.cells.starts()[cell.number + 1];
  const std::size_t room = gathered_ + (end - begin) + kPlacesPerByte;
  if (room > places_.size()) {
    places_.resize(2 * room);
    origins_of_places_.resize(places_.size());
    cells_of_places_.resize(places_.size());
  }
  const std::size_t gathered =
      query_.filter_in_cell_order != nullptr ? append_in_cell_order(begin, end) : append_matching(begin, end);
  std::fill(origins_of_places_.data() + gathered_, origins_of_places_.data() + gathered, cell.origin);
  std::fill(cells_of_places_.data() + gathered_, cells_of_places_.data() + gathered, cell.number);
  gathered_ = gathered;
}

/// Appends the matching ones of these places; returns how many there are then.
std::size_t CellScan::append_matching(std::uint32_t begin, std::uint32_t end) noexcept {
  const std::uint32_t* const members = query_.cells.members().data();
  const std::uint64_t* const words = query_.filter.words().data();
  std::uint32_t* const places = places_.data();
  std::size_t gathered = gathered_;
  for (std::uint32_t place = begin; place < end; ++place) {
    places[gathered] = place;
    gathered += (words[members[place] / 64] >> (members[place] % 64)) & 1;
  }
  return gathered;
}

/// The same, by the filter in the order of places: eight of them at once, most of which are not looked at where near
/// rows match or do not together (measured: 0.2 ns a member instead of 1). Writes up to kPlacesPerByte too many.
std::size_t CellScan::append_in_cell_order(std::uint32_t begin, std::uint32_t end) noexcept {
  const std::vector<std::uint64_t>& words = query_.filter_in_cell_order->words();
  std::uint32_t* const places = places_.data();
  std::size_t gathered = gathered_;
  for (std::uint32_t group = begin; group < end; group += 64) {
    std::uint64_t bits = bits_from(words, group);
    if (end - group < 64) bits &= (std::uint64_t{1} << (end - group)) - 1;
    for (std::uint32_t place = group; bits != 0; bits >>= 8, place += kPlacesPerByte) {
      const SetBits& set = kSetBits[bits & 255];
      for (std::size_t i = 0; i < kPlacesPerByte; ++i) places[gathered + i] = place + set.numbers[i];
      gathered += set.count;
    }
  }
  return gathered;
}

/// Makes pending what may be among the nearest.
void CellScan::look_at_gathered() {
  const std::size_t rows = gathered_;
  pending_.clear();
  if (!ground_->sketches) {
    for (std::size_t i = 0; i < rows; ++i) pending_.push_back({0, 0, places_[i], cells_of_places_[i]});
    return;
  }
  if (likely_.size() < rows) {
    likely_.resize(places_.size());
    bounds_.resize(places_.size());
  }
  ground_->sketches->estimate(places_.data(), origins_of_places_.data(), rows, kSketchMargin, likely_.data(),
                              bounds_.data());
  visited_ += rows;
  const float furthest = this->furthest();
  picked_.resize(rows);
  std::size_t picked = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    picked_[picked] = static_cast<std::uint32_t>(i);
    picked += bounds_[i] > furthest ? 0 : 1;  // not so what a damaged file makes no number of
  }
  for (std::size_t at = 0; at < picked; ++at) {
    const std::uint32_t i = picked_[at];
    if (nearest_.full()) query_.codes.stream(query_.cells.members()[places_[i]]);
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
  for (std::size_t i = 0; i < count; ++i) query_.codes.stream(query_.cells.members()[pending_[i].place]);
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
  visited_ += rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (distances_[i] > limit() || contains(neighbours_, ordinals_[i])) continue;
    const Cell& cell = ground_->cells[rows[i].cell];
    keep(distances_[i], ordinals_[i], cell.spread > kSpreadless ? (cell.origin - distances_[i]) / cell.spread : 0.0f);
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
      if (!query_.filter.test(list[i])) continue;
      query_.codes.stream(list[i]);
      ordinals_.push_back(list[i]);
    }
  }
  insert(expanded_, fresh_);
  std::sort(known_.begin(), known_.end());
  std::erase_if(ordinals_, [this](std::uint32_t ordinal) { return contains(known_, ordinal); });
  distances_.resize(ordinals_.size());
  query_.codes.distances(ordinals_.data(), ordinals_.size(), distances_.data());
  visited_ += ordinals_.size();
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

std::vector<Scored> CellScan::take() const {
  std::vector<Scored> rows;
  rows.reserve(found_.size());
  for (const Candidate& found : found_) rows.push_back(found.row);
  return rows;
}

}  // namespace lorekeep::vector
