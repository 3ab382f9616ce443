// How the request of a storage search crosses: its numbers in one Float64Array, because reading an object's properties
// one by one costs more than a short search.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binding/short_search.h"
#include "store/search.h"

namespace lorekeep::binding {

/// A request that owns what store::SearchRequest only refers to.
class StorageRequest {
 public:
  /// search(numbers, vector, text, filter, variables): `numbers` as lib/storage-request.ts writes them.
  static StorageRequest parse(const Napi::CallbackInfo& info);

  /// Valid while this lives and stays where it is.
  const store::SearchRequest& bind(const CancelToken& cancel);

  store::Mode mode() const noexcept { return request_.mode; }
  std::size_t top_k() const noexcept { return request_.top_k; }
  /// In the unit of its SearchTimes.
  double size() const noexcept;
  int legs() const noexcept { return request_.mode == store::Mode::kHybrid ? 2 : 1; }
  /// The filter's own, because what it lets through decides; else the storage's.
  SearchTimes& times(ModeTimes& of_storage) const noexcept {
    return (filter_times_ ? *filter_times_ : of_storage).of(request_.mode);
  }

 private:
  store::SearchRequest request_;
  std::vector<float> query_;
  std::string text_;
  std::optional<filter::BoundPredicate> filter_;
  std::shared_ptr<ModeTimes> filter_times_;
};

}  // namespace lorekeep::binding
