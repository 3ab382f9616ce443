// The terms of a text index in byte order, to find those with a prefix or within one edit of a word. Text index files
// have terms in hash order, so the list is made when it is first needed.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"

namespace lorekeep::text {

class TextIndex;

/// Words only: without the extra terms of multilingual indexes.
class SortedTerms {
 public:
  explicit SortedTerms(std::vector<std::string_view> terms);

  std::span<const std::string_view> starting_with(std::string_view prefix) const;
  /// Returns the terms that is_one_edit() accepts. Grain of cancellation: 4096 terms.
  std::vector<std::string_view> one_edit_from(std::string_view word, const CancelToken* cancel) const;

 private:
  std::vector<std::string_view> terms_;
};

/// Makes the list once.
class SortedTermsCache {
 public:
  /// Throws as TextIndex::sample_terms().
  const SortedTerms& of(const TextIndex& index, const CancelToken* cancel);

 private:
  std::mutex mutex_;
  std::unique_ptr<const SortedTerms> terms_;
};

}  // namespace lorekeep::text
