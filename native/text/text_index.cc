#include "text/text_index.h"

#include <utility>

#include "core/values/wipe.h"

namespace lorekeep::text {

std::shared_ptr<const TextIndex> TextIndex::build(std::size_t documents, const TextOf& text_of,
                                                  const TextBuildOptions& options) {
  return std::make_shared<const TextIndex>(std::make_shared<BuiltIndex>(build_index(documents, text_of, options)));
}

std::shared_ptr<const TextIndex> TextIndex::build(std::span<const std::string_view> texts,
                                                  const TextBuildOptions& options) {
  return build(texts.size(), [texts](std::size_t document) { return texts[document]; }, options);
}

void TextIndex::wipe() const noexcept {
  wipe_bytes(const_cast<std::byte*>(data_.entries.data()), data_.entries.size());
}

std::optional<TermEntry> TextIndex::find(std::string_view term, const CancelToken* cancel) const {
  const std::uint64_t bucket = data_.bucket(term);
  if (check_ != nullptr) check_->require_sound(bucket, cancel);
  return buckets_.find(data_, term, bucket, cancel);
}

std::vector<std::string_view> TextIndex::sample_terms(std::size_t count, const CancelToken* cancel) const {
  std::vector<std::string_view> terms;
  for (std::uint64_t bucket = 0; bucket + 1 < data_.buckets.size() && terms.size() < count; ++bucket) {
    if (check_ != nullptr) check_->require_sound(bucket, cancel);
    const std::byte* at = data_.entries.data() + data_.buckets[bucket];
    const std::byte* const end = data_.entries.data() + data_.buckets[bucket + 1];
    while (at < end && terms.size() < count) terms.push_back(TermEntry::parse(at).term);
  }
  return terms;
}

TextSearchResult TextIndex::search(std::string_view query, const TextSearchOptions& options) const {
  TextSearchResult result;
  TextQuery prepared(*this, query, options.cancel);
  result.hits = prepared.search(options, result.plan);
  result.terms = std::move(prepared).terms();
  return result;
}

}  // namespace lorekeep::text
