// Finds the words of a query in a text, for showing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/values/seeded_hash.h"
#include "text/prefix_set.h"
#include "text/query_analysis.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

/// A matching part of a text, in UTF-16 code units: [begin, end).
struct Highlight {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t clause;  // number of the query's clause
  friend bool operator==(const Highlight&, const Highlight&) = default;
};

/// The words of a query in one text.
struct Highlights {
  std::vector<Highlight> matches;  // in order and without overlap
  std::uint32_t begin;             // of the part of at most kSnippetLength with the most clauses, then the most matches
  std::uint32_t end;

  friend bool operator==(const Highlights&, const Highlights&) = default;
};

/// Longest part of a text that is shown, in UTF-16 code units, and its text before the first match.
inline constexpr std::uint32_t kSnippetLength = 240;
inline constexpr std::uint32_t kSnippetLeadIn = 40;

/// Which matches are returned. A long text may have a million.
enum class Shown { kAll, kBestPart };

/// Immutable; may be shared between threads.
class Highlighter {
 public:
  /// Throws as analyse_query().
  Highlighter(std::span<const TextCollection* const> searched, std::string_view query, const QueryOptions& options,
              const CancelToken* cancel);
  Highlighter(std::span<const TextIndex* const> indexes, std::string_view query, const QueryOptions& options,
              const CancelToken* cancel);

  /// Returns the words that match a clause that is not excluded. Adjacent pairs of characters, in scripts without
  /// spaces, are joined. Polls `cancel` every kTextBytesPerPoll.
  Highlights find(std::string_view utf8, Shown shown, const CancelToken* cancel = nullptr) const;

 private:
  struct Run;

  /// The same, with bounds in bytes.
  std::vector<Highlight> find_bytes(std::string_view utf8, const CancelToken* cancel) const;

  void match(const Run& run, std::vector<Highlight>& found, const CancelToken* cancel) const;
  void match_words(std::string_view utf8, std::vector<Highlight>& found, const CancelToken* cancel) const;
  void match_pairs(const Run& run, std::vector<Highlight>& found, const CancelToken* cancel) const;
  /// Returns the clause that a piece of text matches by any of its tokens, or kNone.
  std::uint32_t clause_of(std::string_view piece) const;

  static constexpr std::uint32_t kNone = 0xffffffffu;

  Tokenizer tokenizer_;
  std::unordered_map<std::string, std::uint32_t, SeededHash> clauses_;  // by term
  PrefixSet beginnings_;                                                // prefixes whose words may have other stems
  std::vector<std::uint32_t> clauses_of_beginnings_;                    // the first one with each
};

}  // namespace lorekeep::text
