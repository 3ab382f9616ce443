// The slow reference for TextIndex: scores every document for every term, without pruning, packing or threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

class NaiveBm25 {
 public:
  NaiveBm25(std::span<const std::string_view> texts, Tokenizer tokenizer);

  /// As TextIndex::search().hits, with scores equal to the bit.
  std::vector<Scored> search(std::string_view query, std::size_t k, const Bitmap* filter = nullptr) const;
  /// The score of one document in double precision, straight from the formula.
  double score(std::string_view query, std::size_t document) const;

 private:
  Tokenizer tokenizer_;
  std::vector<std::map<std::string, std::uint32_t>> documents_;  // term -> occurrences
  std::vector<std::uint32_t> lengths_;
  std::map<std::string, std::uint32_t> documents_with_;
  std::uint64_t tokens_ = 0;
};

}  // namespace lorekeep::text
