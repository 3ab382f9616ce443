#include "store/prepared_filter.h"

#include "core/values/error.h"
#include "filter/evaluation.h"
#include "store/storage.h"

namespace lorekeep::store {

namespace {

/// Whether the rows are of a storage with parts of these sizes.
bool fits(const MatchingRows& matching, const Storage& storage) {
  if (matching.parts() != storage.parts().size()) return false;
  for (std::size_t i = 0; i < matching.parts(); ++i) {
    if (matching.of(i).rows.size() != storage.parts()[i].segment->size()) return false;
  }
  return true;
}

PartRows rows_of(const PreparedFilter& filter, const Part& part, const CancelToken* cancel) {
  const Segment& segment = *part.segment;
  PartRows found;
  if (segment.metadata() != nullptr) {
    found.rows = filter::evaluate(*filter.predicate, *segment.metadata(), cancel);
  } else {
    const filter::Columns none(std::make_shared<const filter::Schema>(), segment.size(), {});
    found.rows = filter::evaluate(*filter.predicate, none, cancel);
  }
  if (part.live() != nullptr) found.rows.intersect(*part.live());
  if (filter.to_cell_order && segment.vectors() != nullptr) {
    found.rows_in_cell_order = segment.vectors()->to_cell_order(found.rows, cancel);
  }
  return found;
}

}  // namespace

std::shared_ptr<const MatchingRows> matching_rows(const PreparedFilter& filter, const Storage& storage,
                                                  const CancelToken* cancel) {
  if (filter.known) {
    if (fits(*filter.known, storage)) return filter.known;
    fail(Code::kInvalidArgument, "filter: it was prepared for another storage", {{"field", "filter"}});
  }
  auto found = std::make_shared<MatchingRows>();
  for (const Part& part : storage.parts()) {
    PartRows rows = rows_of(filter, part, cancel);
    if (&part == &storage.parts().front()) {
      static_cast<PartRows&>(*found) = std::move(rows);
    } else {
      found->others.push_back(std::move(rows));
    }
  }
  return found;
}

PreparedFilter CompiledFilter::prepare(const std::shared_ptr<const Storage>& storage,
                                       const std::vector<filter::Variable>& values) const {
  PreparedFilter prepared{predicate_->bind(values)};
  if (predicate_->variables().empty() && matching_ && storage_.lock() == storage) prepared.known = matching_;
  prepared.to_cell_order = used_ && first_use(prepared);
  return prepared;
}

void CompiledFilter::learn(const std::shared_ptr<const Storage>& storage, const PreparedFilter& used,
                           const SearchResult& result) {
  if (!first_use(used)) return;
  if (used.to_cell_order) {
    storage_ = storage;
    matching_ = result.matching;
  }
  used_ = true;
}

}  // namespace lorekeep::store
