#include "store/lexical_search.h"

#include "core/values/error.h"

namespace lorekeep::store {

LexicalTexts::LexicalTexts(const Storage& storage, const LexicalOptions& options, const Work& work) {
  if (storage.text_index() == nullptr) fail(Code::kInvalidArgument, "mode: the storage has no text index");
  texts_.push_back({storage.text_index(),
                    [&storage](std::size_t record) { return storage.text(static_cast<std::uint32_t>(record)); }});
  const filter::Columns* const metadata = storage.metadata();
  for (const auto& [field, boost] : options.boosts) {
    fields_.push_back(storage.field_texts().index(metadata, field, storage.text_index()->tokenizer(), work));
    texts_.push_back({fields_.back().get(),
                      [metadata, position = *metadata->schema().find(field)](std::size_t record) {
                        return field_text(*metadata, position, record);
                      },
                      boost});
  }
}

std::vector<const text::TextIndex*> LexicalTexts::indexes() const {
  std::vector<const text::TextIndex*> indexes;
  for (const text::SearchedTexts& texts : texts_) indexes.push_back(texts.index);
  return indexes;
}

std::vector<std::vector<text::Highlight>> highlights(const Storage& storage, std::string_view query,
                                                     const LexicalOptions& options,
                                                     std::span<const std::uint32_t> ordinals, const Work& work) {
  const LexicalTexts texts(storage, options, work);
  const text::Highlighter highlighter(texts.indexes(), query, options.query, work.cancel);
  std::vector<std::vector<text::Highlight>> found;
  for (const std::uint32_t ordinal : ordinals) {
    work.check();
    if (ordinal >= storage.size()) fail(Code::kInvalidArgument, "ordinals: " + std::to_string(ordinal) + " is none");
    found.push_back(highlighter.find(storage.text(ordinal)));
  }
  return found;
}

}  // namespace lorekeep::store
