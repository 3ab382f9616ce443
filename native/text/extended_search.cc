#include "text/extended_search.h"

#include <algorithm>
#include <utility>

#include "core/threads/step_watch.h"
#include "text/english_words.h"
#include "text/phrase_set.h"
#include "text/query_term_postings.h"
#include "text/stemmed_prefixes.h"

namespace lorekeep::text {
namespace {

constexpr std::size_t kBlocksPerPoll = 64;
constexpr std::size_t kPostingsPerPoll = 65536;
constexpr std::size_t kDocumentsPerPiece = 64;

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

/// Sets the bits of the documents with a term.
void mark(const TextCollection& collection, std::string_view term, const Work& work, Bitmap& documents) {
  work.check();
  for_each_posting_of(collection, term, work, [&](std::uint32_t document, std::uint32_t) { documents.set(document); });
}

void mark(const TextCollection& collection, std::span<const std::string> terms, const Work& work, Bitmap& documents) {
  for (const std::string& term : terms) mark(collection, term, work, documents);
}

/// Returns the members in ascending order.
std::vector<std::uint32_t> members_of(const Bitmap& documents) {
  std::vector<std::uint32_t> members;
  documents.for_each([&](std::uint32_t document) { members.push_back(document); });
  return members;
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
  const StemmedPrefixes prefixes(clauses_);
  std::vector<ReadText> read;
  for (const SearchedTexts& text : texts) read.push_back({text, prefixes, count_stemmed(text, prefixes, work)});
  for (const QueryClause& clause : clauses_) add(clause, read, work);
  add_scores(work);
  constrain(read, work);
  frequencies_ = {};
}

std::span<const ExtendedSearch::Posting> ExtendedSearch::ReadText::stemmed_of(const TermUnion& any) const {
  if (any.stems.empty()) return {};
  return stemmed[prefixes.position_of(any)];
}

/// Returns, by prefix, the documents with words that match it by their stem alone. Each text with a stem is read once.
std::vector<std::vector<ExtendedSearch::Posting>> ExtendedSearch::count_stemmed(const SearchedTexts& texts,
                                                                                const StemmedPrefixes& prefixes,
                                                                                const Work& work) const {
  std::vector<std::vector<Posting>> counted(prefixes.size());
  if (counted.empty()) return counted;
  Bitmap with_stem(rows_);
  for (std::uint32_t stem = 0; stem < prefixes.stems().size(); ++stem) {
    mark(*texts.collection, prefixes.stems()[stem], work, with_stem);
  }
  const std::vector<std::uint32_t> documents = members_of(with_stem);
  std::vector<std::vector<std::pair<std::uint32_t, Posting>>> by_worker(std::max<std::size_t>(work.workers, 1));
  parallel_for(work, documents.size(), kDocumentsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    std::vector<std::uint32_t> frequencies(prefixes.size());
    std::vector<std::uint32_t> found;
    for (std::size_t i = begin; i < end; ++i) {
      for_each_english_word(texts.text_of(documents[i]), work.cancel,
                            [&](std::string_view word, std::string_view stem) {
                              prefixes.for_each_match(word, stem, [&](std::uint32_t prefix) {
                                if (frequencies[prefix]++ == 0) found.push_back(prefix);
                              });
                            });
      for (const std::uint32_t prefix : found) {
        by_worker[worker].emplace_back(prefix, Posting{documents[i], std::exchange(frequencies[prefix], 0)});
      }
      found.clear();
    }
  });
  for (const auto& found : by_worker) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i % kPostingsPerPoll == 0) work.check();
      counted[found[i].first].push_back(found[i].second);
    }
  }
  return counted;
}

void ExtendedSearch::add(const QueryClause& clause, std::span<const ReadText> texts, const Work& work) {
  if (clause.sign == Clause::Sign::kExcluded) return;
  if (!clause.compound) tokens_ += clause.occurrences * std::max<std::size_t>(clause.phrase.size(), 1);
  bool known = false;
  for (const TermUnion& all : clause.unions) {
    bool found = false;
    for (const ReadText& text : texts) {
      Part part{0, all.terms.front(), text.searched.collection, postings_of(text, all, work)};
      if (part.postings.empty()) continue;
      found = true;
      const std::uint32_t documents = part.collection->documents();
      part.weight =
          text.searched.boost * (all.share * bm25_weight(documents, part.postings.size(), clause.occurrences));
      parts_.push_back(std::move(part));
    }
    if (!clause.phrase.empty()) terms_ += found ? 1 : 0;
    known = known || found;
  }
  if (clause.phrase.empty() && !clause.compound) terms_ += known ? 1 : 0;
}

/// Returns the documents that match any of the terms, ascending, and how often these occur together.
std::vector<ExtendedSearch::Posting> ExtendedSearch::postings_of(const ReadText& text, const TermUnion& any,
                                                                 const Work& work) {
  std::vector<Posting> postings;
  for (const std::string& term : any.terms) {
    work.check();
    for_each_posting_of(*text.searched.collection, term, work,
                        [&](std::uint32_t document, std::uint32_t frequency) { count(document, frequency, postings); });
  }
  for (const Posting& stemmed : text.stemmed_of(any)) count(stemmed.document, stemmed.frequency, postings);
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

/// Sets allowed_. Phrases come last, because they read texts.
void ExtendedSearch::constrain(std::span<const ReadText> texts, const Work& work) {
  std::vector<const QueryClause*> phrases;
  for (const QueryClause& clause : clauses_) {
    if (clause.sign == Clause::Sign::kNone) continue;
    if (!allowed_) allowed_ = candidates_ != nullptr ? *candidates_ : Bitmap(rows_, true);
    if (!clause.phrase.empty()) {
      phrases.push_back(&clause);
      continue;
    }
    Bitmap found = matching(clause, texts, work);
    if (clause.sign == Clause::Sign::kExcluded) found.complement();
    allowed_->intersect(found);
  }
  if (!phrases.empty()) constrain_by_phrases(phrases, texts, work);
}

/// Returns the documents with a word or prefix.
Bitmap ExtendedSearch::matching(const QueryClause& clause, std::span<const ReadText> texts, const Work& work) const {
  Bitmap found(rows_);
  for (const ReadText& text : texts) {
    for (const TermUnion& any : clause.unions) {
      if (!any.binding) continue;
      mark(*text.searched.collection, any.terms, work, found);
      for (const Posting& stemmed : text.stemmed_of(any)) found.set(stemmed.document);
    }
  }
  return found;
}

/// Reads each text that may decide about a phrase once, for all phrases.
void ExtendedSearch::constrain_by_phrases(std::span<const QueryClause* const> phrases, std::span<const ReadText> texts,
                                          const Work& work) {
  std::vector<Bitmap> decisive(texts.size(), Bitmap(rows_));
  for (const QueryClause* const phrase : phrases) {
    Bitmap anywhere(rows_);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Bitmap with_words = with_words_of(*phrase, texts[i].searched, work);
      decisive[i].unite(with_words);
      anywhere.unite(with_words);
    }
    if (phrase->sign == Clause::Sign::kRequired) allowed_->intersect(anywhere);
  }
  Bitmap in_any_text = decisive.front();
  for (const Bitmap& more : decisive) in_any_text.unite(more);
  in_any_text.intersect(*allowed_);
  const std::vector<std::uint32_t> documents = members_of(in_any_text);
  std::vector<std::uint8_t> allowed(documents.size());
  const PhraseSet set(phrases, texts.front().searched.collection->tokenizer());
  parallel_for(work, documents.size(), kDocumentsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t) {
    PhraseReader reader(set);
    for (std::size_t i = begin; i < end; ++i) {
      reader.begin();
      for (std::size_t t = 0; t < texts.size(); ++t) {
        if (decisive[t].test(documents[i])) reader.read(texts[t].searched.text_of(documents[i]), work.cancel);
      }
      allowed[i] = reader.allowed() ? 1 : 0;
    }
  });
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (allowed[i] == 0) allowed_->reset(documents[i]);
  }
}

/// Returns the documents with all words of a phrase. For a prefix, those with one of its stems are among them.
Bitmap ExtendedSearch::with_words_of(const QueryClause& phrase, const SearchedTexts& texts, const Work& work) const {
  Bitmap all(rows_, true);
  for (const TermUnion& any : phrase.unions) {
    Bitmap with_word(rows_);
    mark(*texts.collection, any.terms, work, with_word);
    mark(*texts.collection, any.stems, work, with_word);
    all.intersect(with_word);
  }
  return all;
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
