// Reads the request of a storage search from lib/search/storage-request.ts. Its numbers are in one Float64Array,
// because reading an object's properties one by one costs more than a short search.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/lexical_options.h"
#include "store/prepared_filter.h"
#include "store/search.h"

namespace lorekeep::binding {

/// Owns everything that store::SearchRequest refers to.
class StorageRequest {
 public:
  /// Reads the arguments of search(numbers, vector, text, filter, variables, _, lexical) of this storage.
  StorageRequest(const Napi::CallbackInfo& info, std::shared_ptr<const store::Storage> storage);
  StorageRequest(const StorageRequest&) = delete;
  StorageRequest& operator=(const StorageRequest&) = delete;

  const store::Storage& storage() const noexcept { return *storage_; }
  const std::shared_ptr<const store::Storage>& shared_storage() const noexcept { return storage_; }
  store::SearchRequest request(const Work& work) const;
  store::SearchCost cost(store::StorageTimes& times) const noexcept {
    return store::cost_of(request_, times, compiled_.get());
  }
  /// JavaScript thread, after the search.
  void learn(const store::SearchResult& result) const;

 private:
  std::shared_ptr<const store::Storage> storage_;
  std::vector<float> query_;
  std::string text_;
  std::shared_ptr<store::CompiledFilter> compiled_;  // null: no filter
  std::optional<store::PreparedFilter> filter_;
  std::shared_ptr<const store::LexicalOptions> lexical_;  // null: words
  store::SearchRequest request_;
};

}  // namespace lorekeep::binding
