#include "vector/cell_scan.h"

#include <algorithm>

#include "vector/cell_gathering.h"
#include "vector/cell_ranking.h"
#include "vector/cell_scoring.h"

namespace lorekeep::vector {
namespace {

// Matching rows per gathering.
constexpr std::size_t kRowsAtFirst = 256;
constexpr std::size_t kRowsAtOnce = 1024;

// 50 µs of work: waking another thread takes up to 40.
constexpr std::size_t kRowsWorthSharing = 6000;

constexpr double kMinShareNear = 0.5;

}  // namespace

CellScan::CellScan(const CellQuery& query) : query_(query) {
  auto shared = std::make_shared<SharedScan>();
  shared->cells = survey_cells(query.cells, query.codes, query.query);
  surveyed_ = query.cells.size() + query.cells.sample().ordinals.size();
  if (query.sketches != nullptr) shared->sketches.emplace(*query.sketches, query.query);
  ranking_ = std::make_unique<CellRanking>(query.cells, shared->cells, query.cell_margin);
  gathering_ = std::make_unique<CellGathering>(query.cells, query.filter, query.filter_in_cell_order);
  scoring_ = std::make_unique<CellScoring>(query, shared);
  shared_ = std::move(shared);
}

CellScan::CellScan(const CellQuery& query, CellRanking ranking, CellScoring scoring)
    : query_(query),
      ranking_(std::make_unique<CellRanking>(std::move(ranking))),
      gathering_(std::make_unique<CellGathering>(query.cells, query.filter, query.filter_in_cell_order)),
      scoring_(std::make_unique<CellScoring>(std::move(scoring))) {}

CellScan::~CellScan() = default;

bool CellScan::advance() {
  query_.work.check();
  const std::size_t wanted = scoring_->full() ? kRowsAtOnce : std::max(kRowsAtFirst, 8 * query_.k);
  const float furthest = scoring_->furthest();
  gathering_->clear();
  while (gathering_->size() < wanted) {
    const auto cell = ranking_->next(furthest);
    if (!cell) break;
    gathering_->add(*cell, ranking_->peek());
    if (gathering_->size() == 0 && !scoring_->full() && ++without_matches_ == query_.cells.size() / kCellsPerNearOne)
      ranking_->oppose();
  }
  if (gathering_->size() == 0) return false;
  scoring_->score(*gathering_);
  learn_lead();
  return true;
}

void CellScan::share_rest() {
  if (!scoring_->full() || rows_left() < kRowsWorthSharing) return;
  CellScan part(query_, ranking_->split_off(), scoring_->split_off());
  const Work& work = query_.work;
  ThreadPool* const pool = work.pool != nullptr && work.pool->has_idle_thread() ? work.pool : nullptr;
  parallel_for({pool, work.workers}, 2, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      CellScan& own = i == 0 ? *this : part;
      while (own.advance()) {
      }
    }
  });
  scoring_->take_back(*part.scoring_);
  ranking_->take_back(*part.ranking_);
  learn_lead();
}

bool CellScan::look_beyond() {
  if (!scoring_->take_neighbours()) return false;
  learn_lead();
  ranking_->widen();
  return true;
}

void CellScan::learn_lead() {
  if (const auto lead_over_centre = scoring_->settle()) ranking_->expect_lead_over_centre(*lead_over_centre);
}

std::size_t CellScan::rows_left() const noexcept {
  return ranking_->rows_left(scoring_->furthest()) * query_.matched / query_.cells.members().size();
}

bool CellScan::matches_are_near(std::size_t rows) const {
  const auto further = [](const RankedCell& a, const RankedCell& b) { return a.centre_distance > b.centre_distance; };
  std::vector<RankedCell> cells = shared_->cells;
  std::make_heap(cells.begin(), cells.end(), further);
  std::size_t seen = 0;
  std::size_t matching = 0;
  while (seen < rows && !cells.empty()) {
    const std::uint32_t cell = cells.front().number;
    std::pop_heap(cells.begin(), cells.end(), further);
    cells.pop_back();
    const std::uint32_t begin = query_.cells.starts()[cell];
    const std::uint32_t end = query_.cells.starts()[cell + 1];
    for (std::uint32_t place = begin; place < end; ++place) {
      matching += query_.filter.test(query_.cells.members()[place]) ? 1 : 0;
    }
    seen += end - begin;
  }
  const double share = static_cast<double>(query_.matched) / static_cast<double>(query_.cells.members().size());
  return static_cast<double>(matching) >= kMinShareNear * share * static_cast<double>(seen);
}

std::size_t CellScan::visited() const noexcept {
  return surveyed_ + scoring_->visited();
}

bool CellScan::sketches_mislead() const noexcept {
  return scoring_->sketches_mislead();
}

std::vector<Scored> CellScan::rows() const {
  return scoring_->rows();
}

}  // namespace lorekeep::vector
