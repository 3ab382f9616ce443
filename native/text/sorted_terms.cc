#include "text/sorted_terms.h"

#include <algorithm>
#include <string>

#include "core/values/utf8.h"
#include "text/multilingual.h"
#include "text/one_edit.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

constexpr std::size_t kTermsPerPoll = 4096;

void decode(std::string_view word, std::u32string& out) {
  out.clear();
  const char* at = word.data();
  for (const char* const end = at + word.size(); at < end;) out.push_back(decode_utf8(at, end));
}

}  // namespace

SortedTerms::SortedTerms(std::vector<std::string_view> terms) : terms_(std::move(terms)) {
  std::erase_if(terms_, [](std::string_view term) {
    return term.starts_with(kBaseFormMark) || term.starts_with(kBeginningMark);
  });
  std::sort(terms_.begin(), terms_.end());
}

std::span<const std::string_view> SortedTerms::starting_with(std::string_view prefix) const {
  const auto first = std::lower_bound(terms_.begin(), terms_.end(), prefix);
  const auto end =
      std::partition_point(first, terms_.end(), [prefix](std::string_view term) { return term.starts_with(prefix); });
  return {first, end};
}

std::vector<std::string_view> SortedTerms::one_edit_from(std::string_view word, const CancelToken* cancel) const {
  std::u32string wanted;
  decode(word, wanted);
  std::u32string other;
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (i % kTermsPerPoll == 0 && cancel != nullptr) cancel->check();
    const std::size_t size = terms_[i].size();
    if (size > word.size() + kMaxUtf8Bytes || size + kMaxUtf8Bytes < word.size()) continue;
    decode(terms_[i], other);
    if (is_one_edit(wanted, other)) found.push_back(terms_[i]);
  }
  return found;
}

const SortedTerms& SortedTermsCache::of(const TextIndex& index, const CancelToken* cancel) {
  const std::lock_guard lock(mutex_);
  if (!terms_) {
    terms_ = std::make_unique<const SortedTerms>(index.sample_terms(static_cast<std::size_t>(index.terms()), cancel));
  }
  return *terms_;
}

}  // namespace lorekeep::text
