#include "text/extended_search.h"

#include <algorithm>

#include "core/threads/step_watch.h"
#include "text/english.h"
#include "text/query_term_postings.h"
#include "text/tokenizer.h"

namespace lorekeep::text {
namespace {

constexpr std::size_t kBlocksPerPoll = 64;
constexpr std::size_t kPostingsPerPoll = 65536;
constexpr std::size_t kDocumentsPerPiece = 64;

/// Calls visit(word, token) for every token of kEnhanced: the word in the text, and its stem.
template <class Visit>
void for_each_english_word(std::string_view text, const CancelToken* cancel, Visit&& visit) {
  char token[kMaxTokenBytes];
  for_each_token(
      text, Tokenizer::kBasic,
      [&](std::string_view word, TokenKind) {
        if (is_english_stopword(word)) return;
        std::copy(word.begin(), word.end(), token);
        visit(word, std::string_view(token, strip_english_suffix(token, word.size())));
      },
      cancel);
}

/// Returns whether a word of the texts matches a prefix by its stem alone.
bool has_stem(const TermUnion& any, std::string_view word, std::string_view stem) {
  return word.starts_with(any.beginning) && std::find(any.stems.begin(), any.stems.end(), stem) != any.stems.end();
}

/// Tokens that must follow each other, and how far a failed match continues (Knuth, Morris and Pratt, 1977): a search
/// reads each token of a text once, however often words of the phrase repeat.
class Phrase {
 public:
  explicit Phrase(const QueryClause& clause) : clause_(clause), shorter_(clause.phrase.size() + 1, 0) {
    for (std::size_t i = 1, matched = 0; i < clause.phrase.size(); ++i) {
      matched = extended(matched, clause.phrase[i]);
      shorter_[i + 1] = matched;
    }
    if (!clause.open) return;
    for (const std::string& term : clause.unions.back().terms) {
      if (!term.starts_with(clause.phrase.back())) other_ends_.push_back(term);
    }
  }

  bool occurs_in(std::string_view text, Tokenizer tokenizer, const CancelToken* cancel) const {
    std::size_t matched = 0;
    const std::size_t last = clause_.phrase.size() - 1;
    const auto step = [&](std::string_view word, std::string_view token) {
      if (matched > last) return;
      matched = clause_.open && matched == last && ends(word, token) ? last + 1 : extended(matched, token);
    };
    if (clause_.open && tokenizer == Tokenizer::kEnhanced) {
      for_each_english_word(text, cancel, step);
    } else {
      for_each_token(
          text, tokenizer,
          [&](std::string_view token, TokenKind kind) {
            if (kind == TokenKind::kWord) step(token, token);
          },
          cancel);
    }
    return matched > last;
  }

 private:
  /// Returns whether the word matches the prefix that ends the phrase.
  bool ends(std::string_view word, std::string_view token) const {
    return token.starts_with(clause_.phrase.back()) || has_stem(clause_.unions.back(), word, token) ||
           std::find(other_ends_.begin(), other_ends_.end(), token) != other_ends_.end();
  }

  /// Returns how many tokens of the phrase end with this one, if `matched` ended with the one before.
  std::size_t extended(std::size_t matched, std::string_view token) const {
    const std::vector<std::string>& tokens = clause_.phrase;
    while (matched > 0 && tokens[matched] != token) matched = shorter_[matched];
    return tokens[matched] == token ? matched + 1 : 0;
  }

  const QueryClause& clause_;
  std::vector<std::size_t> shorter_;          // by tokens matched: the next shorter beginning that also ends there
  std::vector<std::string_view> other_ends_;  // terms that match the prefix without beginning with it
};

/// Calls visit(row, frequency) for the remaining documents of a part with a term.
template <class Visit>
void for_each_posting_of(const CollectionPart& part, std::string_view term, const Work& work, Visit&& visit) {
  const auto entry = part.index->find(term, work.cancel);
  if (!entry) return;
  const std::uint32_t blocks = part.index->data().blocks();
  const QueryTermPostings postings({*entry, 1.0f}, blocks);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    if (block % kBlocksPerPoll == 0) work.check();
    const QueryTermPostings::Body body = postings.find(block);
    if (body.size == 0) continue;
    for_each_posting(body.data, body.size, [&](std::uint32_t local, std::uint32_t frequency) {
      const std::uint32_t document = block * kBlockDocuments + local;
      if (part.live == nullptr || part.live->test(document)) visit(part.first + document, frequency);
    });
  }
}

template <class Visit>
void for_each_posting_of(const TextCollection& collection, std::string_view term, const Work& work, Visit&& visit) {
  for (const CollectionPart& part : collection.parts()) for_each_posting_of(part, term, work, visit);
}

/// Returns how many words of a text have one of the stems and begin as the prefix does.
std::uint32_t words_of_stems(std::string_view text, const TermUnion& any, const CancelToken* cancel) {
  std::uint32_t count = 0;
  for_each_english_word(text, cancel,
                        [&](std::string_view word, std::string_view stem) { count += has_stem(any, word, stem); });
  return count;
}

std::vector<const TextCollection*> collections_of(std::span<const SearchedTexts> texts) {
  std::vector<const TextCollection*> collections;
  for (const SearchedTexts& text : texts) collections.push_back(text.collection);
  return collections;
}

}  // namespace

ExtendedSearch::ExtendedSearch(std::span<const SearchedTexts> texts, std::string_view query,
                               const QueryOptions& options, const Bitmap* candidates, const Work& work)
    : rows_(texts.front().collection->rows()),
      live_(candidates == nullptr ? texts.front().collection->live_rows() : std::nullopt),
      candidates_(live_ ? &*live_ : candidates),
      clauses_(analyse_query(collections_of(texts), query, options, work.cancel)),
      frequencies_(rows_) {
  const CheckedPart checked;  // there may be a thousand clauses; the client's share of the search threads bounds them
  for (const QueryClause& clause : clauses_) add(clause, texts, work);
  add_scores(work);
  constrain(texts, work);
  frequencies_ = {};
}

void ExtendedSearch::add(const QueryClause& clause, std::span<const SearchedTexts> texts, const Work& work) {
  if (clause.sign == Clause::Sign::kExcluded) return;
  if (!clause.compound) tokens_ += clause.phrase.empty() ? clause.occurrences : clause.phrase.size();
  bool known = false;
  for (const TermUnion& all : clause.unions) {
    bool found = false;
    for (const SearchedTexts& text : texts) {
      Part part{0, all.terms.front(), text.collection, postings_of(text, all, work)};
      if (part.postings.empty()) continue;
      found = true;
      const std::uint32_t documents = text.collection->documents();
      part.weight = text.boost * (all.share * bm25_weight(documents, part.postings.size(), clause.occurrences));
      parts_.push_back(std::move(part));
    }
    if (!clause.phrase.empty()) terms_ += found ? 1 : 0;
    known = known || found;
  }
  if (clause.phrase.empty() && !clause.compound) terms_ += known ? 1 : 0;
}

/// Returns the documents with any of the terms, ascending, and how often these occur together.
std::vector<ExtendedSearch::Posting> ExtendedSearch::postings_of(const SearchedTexts& texts, const TermUnion& any,
                                                                 const Work& work) {
  std::vector<Posting> postings;
  for (const std::string& term : any.terms) {
    work.check();
    for_each_posting_of(*texts.collection, term, work,
                        [&](std::uint32_t document, std::uint32_t frequency) { count(document, frequency, postings); });
  }
  if (!any.stems.empty()) count_words_of_stems(texts, any, postings, work);
  for (Posting& posting : postings) posting.frequency = std::exchange(frequencies_[posting.document], 0);
  if (any.terms.size() + any.stems.size() > 1) {
    std::sort(postings.begin(), postings.end(),
              [](const Posting& a, const Posting& b) { return a.document < b.document; });
  }
  return postings;
}

/// Adds to frequencies_, and a posting for a document without any.
void ExtendedSearch::count(std::uint32_t document, std::uint32_t frequency, std::vector<Posting>& postings) {
  if (frequency == 0) return;
  if (frequencies_[document] == 0) postings.push_back({document, 0});
  frequencies_[document] = std::min(frequencies_[document] + frequency, kMaxTermFrequency);
}

/// Counts the words of stems that begin as the prefix does. The texts of the documents with these stems are read.
void ExtendedSearch::count_words_of_stems(const SearchedTexts& texts, const TermUnion& any,
                                          std::vector<Posting>& postings, const Work& work) {
  Bitmap with_stem(rows_);
  for (const std::string& stem : any.stems) {
    for_each_posting_of(*texts.collection, stem, work,
                        [&](std::uint32_t document, std::uint32_t) { with_stem.set(document); });
  }
  std::vector<std::uint32_t> documents;
  with_stem.for_each([&](std::size_t document) { documents.push_back(static_cast<std::uint32_t>(document)); });
  std::vector<std::uint32_t> found(documents.size());
  parallel_for(work, documents.size(), kDocumentsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) found[i] = words_of_stems(texts.text_of(documents[i]), any, work.cancel);
  });
  for (std::size_t i = 0; i < documents.size(); ++i) count(documents[i], found[i], postings);
}

void ExtendedSearch::add_scores(const Work& work) {
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.first_term < b.first_term;
  });
  scores_.assign(rows_, 0.0f);
  for (const Part& part : parts_) {
    const Bm25Norm norm = part.collection->norm();
    std::size_t added = 0;
    for (const Posting& posting : part.postings) {
      if (added++ % kPostingsPerPoll == 0) work.check();
      float& score = scores_[posting.document];
      scored_ += score == 0 ? 1 : 0;
      score += part.weight * norm.fraction(posting.frequency, part.collection->length(posting.document));
    }
  }
  parts_.clear();
}

Bitmap ExtendedSearch::matching(const QueryClause& clause, std::span<const SearchedTexts> texts, const Work& work) {
  Bitmap all(rows_);
  for (const SearchedTexts& text : texts) {
    if (!clause.phrase.empty()) {
      all.unite(with_phrase(clause, text, work));
      continue;
    }
    for (const TermUnion& any : clause.unions) {
      if (!any.binding) continue;
      for (const Posting& posting : postings_of(text, any, work)) all.set(posting.document);
    }
  }
  return all;
}

Bitmap ExtendedSearch::with_phrase(const QueryClause& clause, const SearchedTexts& texts, const Work& work) {
  Bitmap candidates(rows_, true);
  if (allowed_) candidates.intersect(*allowed_);
  for (const TermUnion& any : clause.unions) {
    Bitmap with_word(rows_);
    for (const Posting& posting : postings_of(texts, any, work)) with_word.set(posting.document);
    candidates.intersect(with_word);
  }
  std::vector<std::uint32_t> documents;
  candidates.for_each([&](std::size_t document) { documents.push_back(static_cast<std::uint32_t>(document)); });
  std::vector<std::uint8_t> found(documents.size());
  const Phrase phrase(clause);
  parallel_for(work, documents.size(), kDocumentsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      found[i] = phrase.occurs_in(texts.text_of(documents[i]), texts.collection->tokenizer(), work.cancel);
    }
  });
  Bitmap with(rows_);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (found[i] != 0) with.set(documents[i]);
  }
  return with;
}

/// Sets allowed_. Phrases come last, because they read texts.
void ExtendedSearch::constrain(std::span<const SearchedTexts> texts, const Work& work) {
  for (const bool phrases : {false, true}) {
    for (const QueryClause& clause : clauses_) {
      if (clause.sign == Clause::Sign::kNone || clause.phrase.empty() == phrases) continue;
      if (!allowed_) allowed_ = candidates_ != nullptr ? *candidates_ : Bitmap(rows_, true);
      Bitmap found = matching(clause, texts, work);
      if (clause.sign == Clause::Sign::kExcluded) found.complement();
      allowed_->intersect(found);
    }
  }
}

std::vector<Scored> ExtendedSearch::search(std::size_t k) const {
  const Bitmap* const selected = allowed_ ? &*allowed_ : candidates_;
  TopK<HighestFirst> best(std::min<std::size_t>(k, rows_));
  for (std::uint32_t document = 0; document < rows_; ++document) {
    if (scores_[document] > 0 && (selected == nullptr || selected->test(document))) {
      best.push({scores_[document], document});
    }
  }
  return best.take_sorted();
}

void ExtendedSearch::score(std::span<const std::uint32_t> ordinals, std::span<float> scores) const noexcept {
  for (std::size_t i = 0; i < ordinals.size(); ++i) scores[i] = scores_[ordinals[i]];
}

}  // namespace lorekeep::text
