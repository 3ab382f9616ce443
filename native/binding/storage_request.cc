#include "binding/storage_request.h"

#include <array>
#include <cmath>

#include "binding/arguments.h"
#include "binding/metadata_binding.h"
#include "filter/evaluation.h"

namespace lorekeep::binding {
namespace {

// The positions in `numbers`; lib/storage-request.ts has the same list.
enum Position : std::size_t {
  kMode,  // 0 dense, 1 lexical, 2 hybrid
  kTopK,
  kEf,
  kThreshold,  // NaN: none
  kRrfK,
  kDenseWeight,
  kLexicalWeight,
  kCandidates,
  kPositions,
};

constexpr std::array<store::Mode, 3> kModes = {store::Mode::kDense, store::Mode::kLexical, store::Mode::kHybrid};

double finite(double value, const char* name) {
  if (!std::isfinite(value)) fail(Code::kInvalidArgument, std::string(name) + ": a number is expected");
  return value;
}

std::size_t whole(double value, const char* name, double min, double max) {
  if (!(value >= min && value <= max) || value != std::floor(value)) {
    fail(Code::kInvalidArgument, std::string(name) + ": an integer is expected");
  }
  return static_cast<std::size_t>(value);
}

}  // namespace

StorageRequest StorageRequest::parse(const Napi::CallbackInfo& info,
                                     const std::shared_ptr<const store::Storage>& storage) {
  StorageRequest parsed;
  const std::span<const double> numbers = doubles_argument(info[0], "request");
  if (numbers.size() < kPositions) fail(Code::kInvalidArgument, "request: too few numbers");
  store::SearchRequest& request = parsed.request_;
  request.mode = kModes[whole(numbers[kMode], "mode", 0, kModes.size() - 1)];
  request.top_k = whole(numbers[kTopK], "topK", 1, kMostHits);
  request.ef = whole(numbers[kEf], "ef", 0, vector::kMaxEf);
  if (!std::isnan(numbers[kThreshold]))
    request.threshold = static_cast<float>(finite(numbers[kThreshold], "threshold"));
  request.rrf.k = finite(numbers[kRrfK], "rrfK");
  request.rrf.dense_weight = finite(numbers[kDenseWeight], "denseWeight");
  request.rrf.lexical_weight = finite(numbers[kLexicalWeight], "lexicalWeight");
  request.rrf.candidates = whole(numbers[kCandidates], "candidates", 0, kMostHits);
  if (!info[1].IsUndefined()) parsed.query_ = floats_argument(info[1], "vector");
  if (!info[2].IsUndefined()) parsed.text_ = string_argument(info[2], "text");
  if (!info[3].IsUndefined()) {
    auto* filter = unwrap_argument<FilterBinding>(info[3], "filter");
    parsed.filter_ = filter->predicate()->bind(variables_argument(info[4]));
    parsed.history_ = filter->history();
    if (filter->predicate()->variables().empty()) {
      parsed.selection_ = parsed.history_->selection(storage);
      parsed.selects_ = !parsed.selection_ && storage->metadata() != nullptr;
      parsed.keeps_ = parsed.selects_ && parsed.history_->used();
    }
  }
  return parsed;
}

store::SearchResult StorageRequest::search(const store::Storage& storage, const Work& work) {
  if (selects_) {
    Selection found{filter::evaluate(*filter_, *storage.metadata(), work.cancel), {}};
    if (keeps_ && storage.vectors() != nullptr) found.arranged = storage.vectors()->arrange(found.records, work.cancel);
    selection_ = std::make_shared<const Selection>(std::move(found));
  }
  request_.query = query_;
  request_.text = text_;
  request_.filter = filter_ && !selection_ ? &*filter_ : nullptr;
  request_.allowed = selection_ ? &selection_->records : nullptr;
  request_.arranged = selection_ ? &selection_->arranged : nullptr;
  request_.work = work;
  return storage.search(request_);
}

void StorageRequest::keep_selection(const std::shared_ptr<const store::Storage>& storage) {
  if (!selects_) return;
  history_->count_use();
  if (keeps_) history_->keep(storage, selection_);
}

const SearchTimes& StorageRequest::expected(StorageTimes& of_storage) const noexcept {
  const SearchTimes& own = times(of_storage);
  return filter_ && !own.seen() ? of_storage.first_uses.of(request_.mode) : own;
}

SearchTimes& StorageRequest::times(StorageTimes& of_storage) const noexcept {
  if (!filter_) return of_storage.unfiltered.of(request_.mode);
  return selects_ ? of_storage.first_uses.of(request_.mode) : history_->times(request_.mode);
}

double StorageRequest::size() const noexcept {
  if (filter_) return 1;
  constexpr double kTokenizing = 32;  // in bytes of a query text: what even a short one costs
  const double words = kTokenizing + static_cast<double>(text_.size());
  const double walk = graph_search_size(request_.ef, std::max(request_.top_k, request_.rrf.candidates));
  switch (request_.mode) {
    case store::Mode::kDense: return graph_search_size(request_.ef, request_.top_k);
    case store::Mode::kLexical:
      return words * (1 + std::sqrt(static_cast<double>(request_.top_k)));  // as TextQuery::work
    case store::Mode::kHybrid: break;
  }
  return walk + words;
}

}  // namespace lorekeep::binding
