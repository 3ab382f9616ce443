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

  /// Another thread: finds which records the filter lets through, if that is worth keeping and not known.
  void select(const store::Storage& storage, const CancelToken& cancel);
  /// JavaScript thread, after a search there: what it teaches for later ones.
  void learn(const std::shared_ptr<const store::Storage>& storage, ModeTimes& of_storage, SearchClock::duration taken);

  /// Valid while this lives and stays where it is.
  const store::SearchRequest& bind(const CancelToken& cancel);

  store::Mode mode() const noexcept { return request_.mode; }
  std::size_t top_k() const noexcept { return request_.top_k; }
  /// In the unit of its SearchTimes.
  double size() const noexcept;
  int legs() const noexcept { return request_.mode == store::Mode::kHybrid ? 2 : 1; }
  /// The filter's own, because what it lets through decides; else the storage's.
  SearchTimes& times(ModeTimes& of_storage) const noexcept {
    return history_ ? history_->times(request_.mode) : of_storage.of(request_.mode);
  }

 private:
  store::SearchRequest request_;
  std::vector<float> query_;
  std::string text_;
  std::optional<filter::BoundPredicate> filter_;
  std::shared_ptr<FilterHistory> history_;  // the filter's
  std::shared_ptr<const Bitmap> selection_;
  bool selects_ = false;  // select() is to find it
};

}  // namespace lorekeep::binding
