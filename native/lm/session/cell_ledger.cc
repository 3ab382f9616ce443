#include "lm/session/cell_ledger.h"

#include <algorithm>

namespace lorekeep::lm {

void CellLedger::extend(std::int32_t sequence, std::uint32_t cells) {
  if (cells == 0) return;
  Sequence& own = sequences_[sequence];
  if (own.runs.empty() || own.runs.back().use_count() > 1) own.runs.push_back(std::make_shared<std::uint32_t>(0));
  *own.runs.back() += cells;
  own.length += cells;
  used_ += cells;
}

void CellLedger::share(std::int32_t from, std::int32_t to, std::uint32_t cells) {
  if (cells == 0) return;
  const Sequence& source = sequences_.at(from);
  split(source, cells);
  std::vector<Run> runs;
  std::uint32_t length = 0;
  for (std::size_t i = 0; length < cells; ++i) {
    runs.push_back(source.runs[i]);
    length += *source.runs[i];
  }
  Sequence& target = sequences_[to];
  drop(target.runs, 0);
  target.runs = std::move(runs);
  target.length = cells;
}

void CellLedger::truncate(std::int32_t sequence, std::uint32_t length) {
  const auto found = sequences_.find(sequence);
  if (found == sequences_.end() || length >= found->second.length) return;
  split(found->second, length);
  std::uint32_t kept = 0;
  std::size_t runs = 0;
  while (kept < length) kept += *found->second.runs[runs++];
  drop(found->second.runs, runs);
  found->second.length = length;
}

void CellLedger::release(std::int32_t sequence) {
  const auto found = sequences_.find(sequence);
  if (found == sequences_.end()) return;
  drop(found->second.runs, 0);
  sequences_.erase(found);
}

void CellLedger::reserve(std::int32_t sequence, std::uint32_t length) {
  sequences_[sequence].reserved_length = length;
}

std::uint32_t CellLedger::length(std::int32_t sequence) const {
  const auto found = sequences_.find(sequence);
  return found == sequences_.end() ? 0 : found->second.length;
}

std::uint32_t CellLedger::reserved() const {
  std::uint32_t cells = 0;
  for (const auto& [id, sequence] : sequences_)
    cells += sequence.reserved_length - std::min(sequence.reserved_length, sequence.length);
  return cells;
}

std::uint32_t CellLedger::available() const {
  const std::uint32_t taken = used_ + reserved();
  return capacity_ - std::min(capacity_, taken);
}

// Makes `at` a border between two runs, in every sequence that owns the run.
void CellLedger::split(const Sequence& sequence, std::uint32_t at) {
  std::uint32_t begin = 0;
  for (const Run& run : sequence.runs) {
    const std::uint32_t end = begin + *run;
    if (at >= end) {
      begin = end;
      continue;
    }
    if (at == begin) return;
    const Run head = run;
    const Run tail = std::make_shared<std::uint32_t>(end - at);
    *head = at - begin;
    for (auto& [id, other] : sequences_) {
      const auto place = std::find(other.runs.begin(), other.runs.end(), head);
      if (place != other.runs.end()) other.runs.insert(place + 1, tail);
    }
    return;
  }
}

void CellLedger::drop(std::vector<Run>& runs, std::size_t from) {
  for (std::size_t i = from; i < runs.size(); ++i) {
    if (runs[i].use_count() == 1) used_ -= *runs[i];
  }
  runs.resize(from);
}

}  // namespace lorekeep::lm
