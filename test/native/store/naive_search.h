// The slow twin of Storage::search: ranks every record, filters afterwards, fuses through maps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "naive_bm25.h"
#include "sample_storage.h"
#include "vector/flat_index.h"

namespace lorekeep::store {

using NaiveLeg = std::map<std::uint32_t, std::pair<std::uint32_t, float>>;  // ordinal -> rank from 1, raw score

class NaiveSearch {
 public:
  explicit NaiveSearch(const Sample& sample);

  /// `matches` stands for the request's filter and `allowed`, which are not looked at.
  std::vector<Hit> search(const SearchRequest& request, const std::function<bool(std::uint32_t)>& matches) const;
  /// The same with legs of the given depth, whatever top_k is.
  std::vector<Hit> search_to_depth(const SearchRequest& request, std::size_t depth,
                                   const std::function<bool(std::uint32_t)>& matches) const;

 private:
  double background_of(const std::map<std::uint32_t, float>& distances) const;
  /// Ranks all candidates again. `hits`: all of them, ranked without feedback.
  void feed_back(const SearchRequest& request, std::vector<Hit>& hits, const NaiveLeg& dense,
                 const NaiveLeg& lexical) const;

  std::size_t size_;
  std::shared_ptr<const vector::FlatIndex> vectors_;
  text::NaiveBm25 words_;
};

}  // namespace lorekeep::store
