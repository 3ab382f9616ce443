// A query with operators, stop words, synonyms and corrections, resolved to terms of text indexes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "text/extended_syntax.h"

namespace lorekeep::text {

class TextCollection;
class TextIndex;

/// Fuzziness corrects words without digits of at least this many letters, in at most one of kRareShare documents.
inline constexpr std::size_t kMinFuzzyLetters = 4;
inline constexpr std::uint32_t kRareShare = 10'000;
/// Corrections of a word: the most frequent ones, ties in byte order.
inline constexpr std::size_t kMaxCorrections = 32;

struct QueryOptions {
  bool syntax = false;     // operators count (extended_syntax.h); otherwise all text is words
  bool fuzziness = false;  // rare words also match words one edit away
  std::vector<std::string> stopwords = {};
  std::vector<std::vector<std::string>> synonyms = {};  // groups of single words
};

/// Terms that count as one: their frequencies in a document add up.
struct TermUnion {
  std::vector<std::string> terms;
  float share = 1;      // of bm25_weight()
  bool binding = true;  // applies to required and excluded clauses
  /// For a prefix: words that begin with `beginning` also count if their stem is in `stems`. No stem begins with it.
  std::string beginning = {};
  std::vector<std::string> stems = {};
};

/// A clause of the query.
struct QueryClause {
  Clause::Sign sign = Clause::Sign::kNone;
  std::uint32_t occurrences = 1;
  std::vector<TermUnion> unions = {};
  std::vector<std::string> phrase = {};  // tokens that must follow each other; empty: any occurrence counts
  bool compound = false;                 // of words that are clauses, too
  bool open = false;                     // the phrase's last word is a prefix: any word of the last union counts
};

/// Returns the clauses of a query. `searched`: at least one, of one tokenizer; prefixes and corrections are terms of
/// any. A phrase without a sign is required. Clauses without tokens are dropped. Throws Error(kInvalidArgument) for too
/// many clauses, or a synonym that is not one token; kCancelled, kCorrupt as TextIndex::find().
std::vector<QueryClause> analyse_query(std::span<const TextCollection* const> searched, std::string_view query,
                                       const QueryOptions& options, const CancelToken* cancel);

}  // namespace lorekeep::text
