#include "text/text_collection.h"

#include <algorithm>
#include <utility>

#include "text/posting_blocks.h"
#include "text/text_index.h"

namespace lorekeep::text {

TextCollection::TextCollection(const TextIndex& index) : parts_{{&index}}, alone_(true) {}

TextCollection::TextCollection(std::vector<CollectionPart> parts, std::uint64_t documents, std::uint64_t tokens)
    : parts_(std::move(parts)), documents_(documents), tokens_(tokens) {}

Tokenizer TextCollection::tokenizer() const noexcept {
  return parts_.front().index->tokenizer();
}

std::uint32_t TextCollection::documents() const noexcept {
  return alone_ ? parts_.front().index->documents() : static_cast<std::uint32_t>(documents_);
}

std::uint64_t TextCollection::tokens() const noexcept {
  return alone_ ? parts_.front().index->tokens() : tokens_;
}

std::uint32_t TextCollection::rows() const noexcept {
  return parts_.back().first + parts_.back().index->documents();
}

std::optional<Bitmap> TextCollection::live_rows() const {
  if (alone_) return std::nullopt;
  Bitmap live(rows());
  for (const CollectionPart& part : parts_) {
    const Bitmap all = part.live == nullptr ? Bitmap(part.index->documents(), true) : Bitmap();
    const auto& words = part.live == nullptr ? all.words() : part.live->words();
    std::copy(words.begin(), words.end(), live.words().begin() + part.first / 64);
  }
  return live;
}

std::size_t TextCollection::part_of(std::uint32_t row) const noexcept {
  if (parts_.size() == 1) return 0;
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), row,
                                      [](std::uint32_t at, const CollectionPart& part) { return at < part.first; });
  return static_cast<std::size_t>(after - parts_.begin()) - 1;
}

std::uint32_t TextCollection::length(std::uint32_t row) const noexcept {
  const CollectionPart& part = parts_[part_of(row)];
  return part.index->data().lengths[row - part.first];
}

// With slopes s of the index and s' of the collection, and r = s' / s < 1, the norm of any document is at least r times
// its norm in the index, so its fraction is at most 1 / r times as large.
float TextCollection::bound_factor(const CollectionPart& part) const noexcept {
  if (alone_) return 1;
  const float own = part.index->data().norm().slope();
  const float shared = norm().slope();
  return shared < own && shared > 0 ? own / shared : 1;
}

std::uint32_t TextCollection::documents_with(const CollectionPart& part, const TermEntry& entry) {
  if (part.live == nullptr) return entry.documents;
  if (part.deleted != nullptr) return entry.documents - std::min(entry.documents, part.deleted->documents_with(entry));
  return documents_among(entry, part.index->data().blocks(), *part.live);
}

std::uint32_t TextCollection::documents_with(std::string_view term, const CancelToken* cancel) const {
  std::uint32_t documents = 0;
  for (const CollectionPart& part : parts_) {
    if (const auto entry = part.index->find(term, cancel)) documents += documents_with(part, *entry);
  }
  return documents;
}

template <class Find>
std::vector<std::string_view> TextCollection::terms_of(const CancelToken* cancel, Find&& find) const {
  std::vector<std::string_view> terms;
  for (const CollectionPart& part : parts_) {
    const auto found = find(part.index->sorted_terms(cancel));
    terms.insert(terms.end(), found.begin(), found.end());
  }
  if (alone_) return terms;
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  std::erase_if(terms, [&](std::string_view term) { return documents_with(term, cancel) == 0; });
  return terms;
}

std::vector<std::string_view> TextCollection::starting_with(std::string_view prefix, const CancelToken* cancel) const {
  return terms_of(cancel, [&](const SortedTerms& sorted) { return sorted.starting_with(prefix); });
}

std::vector<std::string_view> TextCollection::one_edit_from(std::string_view word, const CancelToken* cancel) const {
  return terms_of(cancel, [&](const SortedTerms& sorted) { return sorted.one_edit_from(word, cancel); });
}

}  // namespace lorekeep::text
