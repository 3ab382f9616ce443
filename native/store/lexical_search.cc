#include "store/lexical_search.h"

#include "core/threads/step_watch.h"
#include "core/values/error.h"

namespace lorekeep::store {

LexicalTexts::LexicalTexts(const Storage& storage, const LexicalOptions& options, const Work& work) {
  if (storage.text_index() == nullptr) fail(Code::kInvalidArgument, "mode: the storage has no text index");
  texts_.emplace_back(&storage.words(), [&storage](std::size_t row) {
    const Place at = storage.place_of_row(static_cast<std::uint32_t>(row));
    return at.segment.text(at.row);
  });
  for (const auto& [field, boost] : options.boosts) {
    fields_.push_back(storage.field_words(field, work));
    const std::size_t position = *storage.metadata()->schema().find(field);
    const auto text_of = [&storage, position](std::size_t row) {
      const Place at = storage.place_of_row(static_cast<std::uint32_t>(row));
      return field_text(*at.segment.metadata(), position, at.row);
    };
    texts_.emplace_back(&fields_.back()->collection, text_of, boost);
  }
}

std::vector<const text::TextCollection*> LexicalTexts::collections() const {
  std::vector<const text::TextCollection*> collections;
  for (const text::SearchedTexts& texts : texts_) collections.push_back(texts.collection);
  return collections;
}

std::vector<text::Highlights> highlights(const Storage& storage, std::string_view query, const LexicalOptions& options,
                                         std::span<const std::uint32_t> ordinals, text::Shown shown, const Work& work) {
  const LexicalTexts texts(storage, options, work);
  const text::Highlighter highlighter(texts.collections(), query, options.query, work.cancel);
  std::vector<text::Highlights> found;
  const CheckedPart checked;  // texts may be long; the client's share of the search threads bounds them
  for (const std::uint32_t ordinal : ordinals) {
    work.check();
    if (ordinal >= storage.size()) fail(Code::kInvalidArgument, "ordinals: " + std::to_string(ordinal) + " is none");
    found.push_back(highlighter.find(storage.text(ordinal), shown, work.cancel));
  }
  return found;
}

}  // namespace lorekeep::store
