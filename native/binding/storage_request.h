// How the request of a storage search crosses: its numbers in one Float64Array, because reading an object's properties
// one by one costs more than a short search.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binding/filter_history.h"
#include "binding/short_search.h"
#include "store/search.h"

namespace lorekeep::binding {

/// A request that owns what store::SearchRequest only refers to.
class StorageRequest {
 public:
  /// search(numbers, vector, text, filter, variables) of this storage: `numbers` as lib/storage-request.ts writes them.
  static StorageRequest parse(const Napi::CallbackInfo& info, const std::shared_ptr<const store::Storage>& storage);

  /// The search. Of a filter that holds no variables it first finds which records it lets through, if that is not
  /// known.
  store::SearchResult search(const store::Storage& storage, const Work& work);
  /// JavaScript thread, after a search: what the filter lets through, if it is asked for again.
  void keep_selection(const std::shared_ptr<const store::Storage>& storage);

  store::Mode mode() const noexcept { return request_.mode; }
  std::size_t top_k() const noexcept { return request_.top_k; }
  /// In the unit of its SearchTimes.
  double size() const noexcept;
  /// What tells how long the search will take: the filter's own times, because what it lets through decides, once
  /// there are any.
  const SearchTimes& expected(StorageTimes& of_storage) const noexcept;
  /// What the time that it took is to be learnt by.
  SearchTimes& times(StorageTimes& of_storage) const noexcept;

 private:
  store::SearchRequest request_;
  std::vector<float> query_;
  std::string text_;
  std::optional<filter::BoundPredicate> filter_;
  std::shared_ptr<FilterHistory> history_;  // the filter's
  std::shared_ptr<const Selection> selection_;
  bool selects_ = false;  // search() is to find it
  bool keeps_ = false;    // and it is to be kept
};

}  // namespace lorekeep::binding
