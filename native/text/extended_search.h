// Scores a query with operators (query_analysis.h) against the texts of the documents and, with a boost, other texts
// of theirs, such as titles. Reads whole posting lists; a query of plain words is faster by TextQuery, with the same
// scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/work.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "text/query_analysis.h"
#include "text/text_index.h"
#include "text/text_query.h"

namespace lorekeep::text {

class StemmedPrefixes;

/// One text of every document. Documents are named by their rows in the collection.
struct SearchedTexts {
  SearchedTexts(const TextCollection* searched, TextOf text, float factor = 1)
      : collection(searched), text_of(std::move(text)), boost(factor) {}
  SearchedTexts(const TextIndex* index, TextOf text, float factor = 1)
      : SearchedTexts(&index->alone(), std::move(text), factor) {}

  const TextCollection* collection;
  TextOf text_of;  // for phrases and prefixes
  float boost;     // factor of its BM25 score
};

/// Reads each text at most twice, whatever the number of clauses: once if it holds a word whose stem hides that a
/// prefix matches it (StemmedPrefixes), and once if it holds all words of a phrase (PhraseSet). Grain of cancellation:
/// 64 documents, kTextBytesPerPoll of a text, 64 blocks or 65,536 postings of a posting list.
class ExtendedSearch {
 public:
  /// `texts`: at least one, of the same documents, in the same rows and with the same tokenizer. `candidates`: rows of
  /// remaining documents; null: all of them.
  /// Throws as analyse_query() and TextQuery.
  ExtendedSearch(std::span<const SearchedTexts> texts, std::string_view query, const QueryOptions& options,
                 const Bitmap* candidates, const Work& work);

  /// Documents that required and excluded clauses allow, within the candidates; null if there are no such clauses.
  const Bitmap* allowed() const noexcept { return allowed_ ? &*allowed_ : nullptr; }

  /// Returns the k best allowed documents in HighestFirst order. A document needs at least one clause that is not
  /// excluded.
  std::vector<Scored> search(std::size_t k) const;
  /// Sets scores[i] to the score of document ordinals[i], allowed or not; 0 if no clause matches.
  void score(std::span<const std::uint32_t> ordinals, std::span<float> scores) const noexcept;

  /// Tokens of the clauses that are not excluded, and the distinct ones in any document.
  std::size_t tokens() const noexcept { return tokens_; }
  std::size_t terms() const noexcept { return terms_; }
  /// Documents with a score.
  std::size_t scored() const noexcept { return scored_; }

 private:
  struct Posting {
    std::uint32_t document;
    std::uint32_t frequency;
  };
  /// A union of terms in one text, with its part of the score.
  struct Part {
    float weight;
    std::string_view first_term;  // breaks ties in the order of addition
    const TextCollection* collection;
    std::vector<Posting> postings;
  };

  /// A text of the documents and, by prefix, the words in it that match by their stem alone.
  struct ReadText {
    const SearchedTexts& searched;
    const StemmedPrefixes& prefixes;
    std::vector<std::vector<Posting>> stemmed;

    std::span<const Posting> stemmed_of(const TermUnion& any) const;
  };

  std::vector<std::vector<Posting>> count_stemmed(const SearchedTexts& texts, const StemmedPrefixes& prefixes,
                                                  const Work& work) const;
  void add(const QueryClause& clause, std::span<const ReadText> texts, const Work& work);
  std::vector<Posting> postings_of(const ReadText& text, const TermUnion& any, const Work& work);
  void count(std::uint32_t document, std::uint32_t frequency, std::vector<Posting>& postings);
  void add_scores(const Work& work);
  void constrain(std::span<const ReadText> texts, const Work& work);
  Bitmap matching(const QueryClause& clause, std::span<const ReadText> texts, const Work& work) const;
  void constrain_by_phrases(std::span<const QueryClause* const> phrases, std::span<const ReadText> texts,
                            const Work& work);
  Bitmap with_words_of(const QueryClause& phrase, const SearchedTexts& texts, const Work& work) const;

  std::uint32_t rows_;
  std::optional<Bitmap> live_;  // rows of remaining documents; absent: all
  const Bitmap* candidates_;    // null: all rows
  std::vector<QueryClause> clauses_;
  std::vector<Part> parts_;
  std::vector<float> scores_;               // by row
  std::vector<std::uint32_t> frequencies_;  // by row; zeros between calls
  std::optional<Bitmap> allowed_;
  std::size_t tokens_ = 0;
  std::size_t terms_ = 0;
  std::size_t scored_ = 0;
};

}  // namespace lorekeep::text
