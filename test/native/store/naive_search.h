// The slow twin of Storage::search: ranks every record, filters afterwards, fuses through maps.
#pragma once

#include <functional>
#include <memory>

#include "naive_bm25.h"
#include "sample_storage.h"
#include "vector/flat_index.h"

namespace lorekeep::store {

class NaiveSearch {
 public:
  explicit NaiveSearch(const Sample& sample);

  /// `matches` stands for the request's filter and `allowed`, which are not looked at.
  std::vector<Hit> search(const SearchRequest& request, const std::function<bool(std::uint32_t)>& matches) const;
  /// The same with legs of the given depth, whatever top_k is.
  std::vector<Hit> search_to_depth(const SearchRequest& request, std::size_t depth,
                                   const std::function<bool(std::uint32_t)>& matches) const;

 private:
  std::size_t size_;
  std::shared_ptr<const vector::FlatIndex> vectors_;
  text::NaiveBm25 words_;
};

}  // namespace lorekeep::store
