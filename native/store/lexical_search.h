// The lexical leg of a search with LexicalOptions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "store/lexical_options.h"
#include "store/storage.h"
#include "text/extended_search.h"
#include "text/highlight.h"

namespace lorekeep::store {

/// The texts of a storage that a query searches, by row. The storage must outlive it.
class LexicalTexts {
 public:
  /// Throws as FieldTexts::index().
  LexicalTexts(const Storage& storage, const LexicalOptions& options, const Work& work);

  const std::vector<text::SearchedTexts>& texts() const noexcept { return texts_; }
  std::vector<const text::TextCollection*> collections() const;

 private:
  std::vector<std::shared_ptr<const FieldCollection>> fields_;
  std::vector<text::SearchedTexts> texts_;
};

/// Returns, for each record, the words of its text that match the query. Throws as text::analyse_query().
std::vector<text::Highlights> highlights(const Storage& storage, std::string_view query, const LexicalOptions& options,
                                         std::span<const std::uint32_t> ordinals, text::Shown shown, const Work& work);

}  // namespace lorekeep::store
