#include "store/prepared_filter.h"

#include "core/values/error.h"
#include "filter/evaluation.h"
#include "store/storage.h"

namespace lorekeep::store {

std::shared_ptr<const MatchingRows> matching_rows(const PreparedFilter& filter, const Storage& storage,
                                                  const CancelToken* cancel) {
  if (filter.known) {
    if (filter.known->rows.size() == storage.size()) return filter.known;
    fail(Code::kInvalidArgument, "filter: it was prepared for another storage", {{"field", "filter"}});
  }
  const filter::Columns none(std::make_shared<const filter::Schema>(), storage.size(), {});
  const filter::Columns& metadata = storage.metadata() == nullptr ? none : *storage.metadata();
  auto found = std::make_shared<MatchingRows>();
  found->rows = filter::evaluate(*filter.predicate, metadata, cancel);
  if (filter.to_cell_order && storage.vectors() != nullptr) {
    found->rows_in_cell_order = storage.vectors()->to_cell_order(found->rows, cancel);
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
