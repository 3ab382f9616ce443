// The query plan as tables.
#include "vector/search_plan.h"

#include "harness.h"

namespace lorekeep::vector {
namespace {

PlanFacts facts_of(SearchPath asked, std::size_t size, std::size_t matched, bool has_cells, std::size_t k = 10) {
  return {asked, size, matched, k, filtered_ef(size, matched, std::max(kDefaultEf, k), k), has_cells};
}

TEST("plan: the first path") {
  using enum SearchPath;
  struct Row {
    SearchPath asked;
    std::size_t size, matched;
    bool has_cells;
    SearchPath path;
  };
  constexpr Row kTable[] = {
      {kAuto, 100000, 100000, true, kGraph},   // no filter: cells are for filters
      {kAuto, 100000, 99999, true, kCells},    //
      {kAuto, 100000, 50000, true, kCells},    //
      {kAuto, 100000, 50000, false, kGraph},   // an index without cells
      {kAuto, 100000, 2048, true, kCells},     //
      {kAuto, 100000, 2047, true, kExact},     // so few are scanned as quickly
      {kAuto, 100000, 0, true, kExact},        //
      {kAuto, 1000, 1000, true, kExact},       // a small index
      {kExact, 100000, 100000, true, kExact},  // asked for
      {kExact, 100000, 50000, true, kExact},   //
      {kGraph, 1000, 10, true, kGraph},        //
  };
  for (const Row& row : kTable) {
    CHECK(choose_path(facts_of(row.asked, row.size, row.matched, row.has_cells)) == row.path);
  }
}

TEST("plan: an index whose walks miss near rows scans cells if it has any, unless a walk is asked for") {
  using enum SearchPath;
  for (const bool has_cells : {true, false}) {
    PlanFacts facts = facts_of(kAuto, 100000, 100000, has_cells);
    facts.may_walk = false;
    CHECK(choose_path(facts) == (has_cells ? kCells : kExact));
    facts.asked = kGraph;
    CHECK(choose_path(facts) == kGraph);
  }
  PlanFacts few = facts_of(kAuto, 100000, 2047, true);
  few.may_walk = false;
  CHECK(choose_path(few) == kExact);
}

TEST("plan: the path after a walk") {
  using enum SearchPath;
  struct Row {
    std::size_t matched, found;
    bool has_cells;
    SearchPath path;
  };
  constexpr Row kTable[] = {
      {50000, 10, true, kGraph}, {50000, 9, true, kCells}, {50000, 9, false, kExact}, {50000, 0, true, kCells},
      {2047, 0, true, kExact},   {5, 5, true, kGraph},     {5, 4, true, kExact},      {0, 0, true, kGraph},
  };
  for (const SearchPath asked : {kAuto, kGraph}) {
    for (const Row& row : kTable) {
      CHECK(after_walk(facts_of(asked, 100000, row.matched, row.has_cells), row.found) == row.path);
    }
  }
}

TEST("plan: a scan of cells gives way to a walk that costs less and can be sound") {
  using enum CellStep;
  struct Row {
    SearchPath asked;
    std::size_t rows_left;
    bool sketched, matches_are_near;
    CellStep next;
  };
  constexpr Row kTable[] = {
      {SearchPath::kAuto, 1000, true, true, kShareRest},   {SearchPath::kAuto, 90000, true, true, kWalk},
      {SearchPath::kAuto, 90000, true, false, kShareRest},  // the filter avoids the query's neighbourhood
      {SearchPath::kGraph, 90000, true, true, kShareRest},  // its walk was unsound
      {SearchPath::kAuto, 15000, true, true, kShareRest},   // sketches make rows cheap
      {SearchPath::kAuto, 15000, false, true, kWalk},
  };
  for (const Row& row : kTable) {
    const PlanFacts facts = facts_of(row.asked, 100000, 95000, true);
    const auto matches_are_near = [&row] { return row.matches_are_near; };
    CHECK(after_cells(facts, row.rows_left, row.sketched, matches_are_near) == row.next);
  }
}

}  // namespace
}  // namespace lorekeep::vector
