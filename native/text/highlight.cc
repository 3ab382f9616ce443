#include "text/highlight.h"

#include <algorithm>

#include "core/values/utf8.h"
#include "text/casefold.h"
#include "text/english.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

/// Each is looked up alone and with its neighbours.
constexpr std::size_t kCharactersPerPoll = 4096;
constexpr std::size_t kMatchesPerPoll = 4096;
/// Longer runs are read in parts; a match across two parts is not shown.
constexpr std::size_t kLongestRun = 65536;

enum class Script : std::uint8_t {
  kWords,     // one token per run
  kPairs,     // Han, Kana, Bopomofo: overlapping pairs
  kHangul,    // the same
  kComplex,   // South East Asia: the same
  kAttached,  // marks and invisible code points: part of the run before them
  kSeparator,
};

struct Character {
  const char* at;
  std::uint32_t offset;  // in bytes
  Script script;
};

bool begins_first(const Highlight& a, const Highlight& b) noexcept {
  return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
}

/// Joins overlapping matches; the first one's clause stays. Sorts them.
void join_overlapping(std::vector<Highlight>& found) {
  std::sort(found.begin(), found.end(), begins_first);
  std::size_t kept = 0;
  for (const Highlight& match : found) {
    if (kept > 0 && match.begin < found[kept - 1].end) {
      found[kept - 1].end = std::max(found[kept - 1].end, match.end);
    } else {
      found[kept++] = match;
    }
  }
  found.resize(kept);
}

/// Turns the bounds, which are bytes in order and between code points, into UTF-16 code units. Returns those of the
/// text.
std::uint32_t to_utf16(std::vector<Highlight>& found, std::string_view utf8, const CancelToken* cancel) {
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  std::uint32_t unit = 0;
  const auto unit_at = [&](std::uint32_t offset) {
    const char* const wanted = std::min(utf8.data() + offset, end);
    while (at < wanted) {
      const char* const stop = at + std::min<std::ptrdiff_t>(kTextBytesPerPoll, wanted - at);
      while (at < stop) unit += decode_utf8(at, end) > 0xFFFF ? 2 : 1;
      if (cancel != nullptr) cancel->check();
    }
    return unit;
  };
  for (Highlight& match : found) {
    match.begin = unit_at(match.begin);
    match.end = unit_at(match.end);
  }
  return unit_at(static_cast<std::uint32_t>(utf8.size()));
}

/// Finds the best part of a text with `units` UTF-16 code units: the most clauses, then the most matches. It starts
/// kSnippetLeadIn before its first match.
void find_best_part(Highlights& of, std::uint32_t units, const CancelToken* cancel) {
  const std::vector<Highlight>& matches = of.matches;
  of.begin = 0;
  of.end = std::min(units, kSnippetLength);
  if (units <= kSnippetLength) return;
  std::unordered_map<std::uint32_t, std::uint32_t> inside;  // by clause, its matches among [first, next)
  std::size_t next = 0;
  std::size_t most = 0;
  for (std::size_t first = 0; first < matches.size(); ++first) {
    if (first % kMatchesPerPoll == 0 && cancel != nullptr) cancel->check();
    const std::uint32_t wanted = matches[first].begin - std::min(matches[first].begin, kSnippetLeadIn);
    const std::uint32_t begin = std::min(wanted, units - kSnippetLength);
    for (; next < matches.size() && matches[next].end <= begin + kSnippetLength; ++next) ++inside[matches[next].clause];
    if (next <= first) {
      next = first + 1;  // the match alone is longer
      continue;
    }
    const std::size_t value = inside.size() * kSnippetLength + (next - first);
    if (value > most) {
      most = value;
      of.begin = begin;
      of.end = begin + kSnippetLength;
    }
    const auto left = inside.find(matches[first].clause);
    if (--left->second == 0) inside.erase(left);
  }
}

/// Keeps the matches within the best part.
void keep_best_part(Highlights& of) {
  std::erase_if(of.matches, [&](const Highlight& match) { return match.begin < of.begin || match.end > of.end; });
  of.matches.shrink_to_fit();
}

bool is_word(char32_t code_point) noexcept {
  FoldedCodePoint parts[kMaxFolding];
  const std::size_t count = fold(code_point, parts);
  return std::any_of(parts, parts + count, [](const FoldedCodePoint& part) { return part.is_word; });
}

/// Classifies the code points of a text, in order, by the runs that MultilingualScanner makes of them.
class ScriptReader {
 public:
  Script next(char32_t code_point) noexcept {
    FoldedPart parts[multilingual::kMaxExpansion];
    const std::size_t count = fold_multilingual(code_point, parts);
    Script script = Script::kAttached;
    for (std::size_t i = 0; i < count; ++i) script = std::min(script_of(parts[i].kind), script);
    const bool separates = count > 0 && script == Script::kAttached && parts[0].kind == CodePointClass::kSeparator;
    if (separates && !is_ignored(code_point)) script = Script::kSeparator;
    if (script == Script::kAttached) return script;
    run_ = script;
    last_ = parts[count - 1].code_point;
    return script;
  }

 private:
  /// Separators next to other parts, as in U+2103 (degree Celsius), are ignored.
  static Script script_of(CodePointClass kind) noexcept {
    switch (kind) {
      case CodePointClass::kWord: return Script::kWords;
      case CodePointClass::kIdeograph: return Script::kPairs;
      case CodePointClass::kHangul: return Script::kHangul;
      case CodePointClass::kComplexBase:
      case CodePointClass::kComplexMark: return Script::kComplex;
      default: return Script::kAttached;
    }
  }

  bool is_ignored(char32_t separator) const noexcept {
    const bool in_pairs = run_ != Script::kSeparator && run_ != Script::kWords;
    return (separator == kZeroWidthSpace && in_pairs) || (separator == kZeroWidthNonJoiner && !is_arabic(last_));
  }

  Script run_ = Script::kSeparator;
  char32_t last_ = 0;  // folded
};

std::vector<const TextCollection*> collections_of(std::span<const TextIndex* const> indexes) {
  std::vector<const TextCollection*> collections;
  for (const TextIndex* const index : indexes) collections.push_back(&index->alone());
  return collections;
}

}  // namespace

/// Characters of one script without a separator between them. The last one is the end.
struct Highlighter::Run {
  std::span<const Character> characters;

  std::string_view text(std::size_t first, std::size_t last) const noexcept {
    return {characters[first].at, static_cast<std::size_t>(characters[last].at - characters[first].at)};
  }
  std::size_t size() const noexcept { return characters.size() - 1; }
};

Highlighter::Highlighter(std::span<const TextIndex* const> indexes, std::string_view query, const QueryOptions& options,
                         const CancelToken* cancel)
    : Highlighter(collections_of(indexes), query, options, cancel) {}

Highlighter::Highlighter(std::span<const TextCollection* const> searched, std::string_view query,
                         const QueryOptions& options, const CancelToken* cancel)
    : tokenizer_(searched.front()->tokenizer()) {
  const auto clauses = analyse_query(searched, query, options, cancel);
  std::vector<std::pair<std::string, std::uint32_t>> beginnings;
  for (std::uint32_t i = 0; i < clauses.size(); ++i) {
    if (clauses[i].sign == Clause::Sign::kExcluded) continue;
    for (const TermUnion& any : clauses[i].unions) {
      for (const std::string& term : any.terms) clauses_.try_emplace(term, i);
      if (!any.stems.empty()) beginnings.emplace_back(any.beginning, i);
    }
  }
  std::vector<std::string> prefixes;
  for (const auto& [prefix, clause] : beginnings) prefixes.push_back(prefix);
  beginnings_ = PrefixSet(std::move(prefixes));
  clauses_of_beginnings_.resize(beginnings_.size(), kNone);
  for (const auto& [prefix, clause] : beginnings) {
    std::uint32_t& first = clauses_of_beginnings_[beginnings_.position_of(prefix)];
    first = std::min(first, clause);
  }
}

Highlights Highlighter::find(std::string_view utf8, Shown shown, const CancelToken* cancel) const {
  Highlights found{find_bytes(utf8, cancel), 0, 0};
  const std::uint32_t units = to_utf16(found.matches, utf8, cancel);
  find_best_part(found, units, cancel);
  if (shown == Shown::kBestPart) keep_best_part(found);
  return found;
}

std::vector<Highlight> Highlighter::find_bytes(std::string_view utf8, const CancelToken* cancel) const {
  std::vector<Highlight> found;
  std::vector<Character> run;
  ScriptReader scripts;
  const auto end_run = [&](const char* at) {
    if (run.empty()) return;
    run.push_back({at, static_cast<std::uint32_t>(at - utf8.data()), Script::kSeparator});
    match({run}, found, cancel);
    run.clear();
  };
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  const char* poll = cancel == nullptr ? end : at;
  while (at < end) {
    const char* const begin = at;
    if (at >= poll) {
      cancel->check();
      poll = at + std::min<std::ptrdiff_t>(kTextBytesPerPoll, end - at);
    }
    const char32_t code_point = decode_utf8(at, end);
    const Script script = tokenizer_ == Tokenizer::kMultilingual ? scripts.next(code_point)
                          : is_word(code_point)                  ? Script::kWords
                                                                 : Script::kSeparator;
    if (script != Script::kAttached && !run.empty() && (script != run.front().script || run.size() >= kLongestRun)) {
      end_run(begin);
    }
    const bool continues = script == Script::kAttached ? !run.empty() : script != Script::kSeparator;
    if (continues) run.push_back({begin, static_cast<std::uint32_t>(begin - utf8.data()), script});
  }
  end_run(end);
  if (tokenizer_ == Tokenizer::kMultilingual) {
    match_words(utf8, found, cancel);
    join_overlapping(found);
  }
  return found;
}

/// Appends the words and compounds of the multilingual tokenizer that match.
void Highlighter::match_words(std::string_view utf8, std::vector<Highlight>& found, const CancelToken* cancel) const {
  const MultilingualScanner* reading = nullptr;
  const TokenVisitor visitor = [&](std::string_view token, TokenKind) {
    const auto [begin, end] = reading->place();
    if (begin == end) return;
    const auto clause = clauses_.find(std::string(token));
    if (clause == clauses_.end()) return;
    found.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), clause->second});
  };
  MultilingualScanner scanner(visitor, cancel);
  reading = &scanner;
  scanner.scan(utf8);
}

void Highlighter::match(const Run& run, std::vector<Highlight>& found, const CancelToken* cancel) const {
  if (run.characters.front().script != Script::kWords) return match_pairs(run, found, cancel);
  if (tokenizer_ == Tokenizer::kMultilingual) return;  // see match_words()
  const std::uint32_t clause = clause_of(run.text(0, run.size()));
  if (clause != kNone) found.push_back({run.characters.front().offset, run.characters.back().offset, clause});
}

void Highlighter::match_pairs(const Run& run, std::vector<Highlight>& found, const CancelToken* cancel) const {
  const auto& characters = run.characters;
  const std::size_t before = found.size();
  const auto add = [&](std::size_t first, std::size_t last, std::uint32_t clause) {
    if (clause == kNone) return;
    const std::uint32_t begin = characters[first].offset;
    if (found.size() > before && found.back().end >= begin) {
      found.back().end = std::max(found.back().end, characters[last].offset);
    } else {
      found.push_back({begin, characters[last].offset, clause});
    }
  };
  std::size_t words = 0;
  for_each_token(
      run.text(0, run.size()), tokenizer_,
      [&](std::string_view, TokenKind kind) { words += kind == TokenKind::kWord ? 1 : 0; }, cancel);
  if (words <= 1) {
    return add(0, run.size(), clause_of(run.text(0, run.size())));
  }
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (i % kCharactersPerPoll == 0 && cancel != nullptr) cancel->check();
    add(i, i + 1, clause_of(run.text(i, i + 1)));
    // A pair, whose characters may have marks.
    for (std::size_t to = i + 2; to <= std::min(run.size(), i + 5); ++to) {
      if (tokenize(run.text(i, to), tokenizer_).size() == 1) add(i, to, clause_of(run.text(i, to)));
    }
  }
}

std::uint32_t Highlighter::clause_of(std::string_view piece) const {
  std::uint32_t clause = kNone;
  for_each_token(piece, tokenizer_, [&](std::string_view token, TokenKind) {
    if (clause != kNone) return;
    const auto found = clauses_.find(std::string(token));
    if (found != clauses_.end()) clause = found->second;
  });
  if (clause != kNone || beginnings_.empty()) return clause;
  for_each_token(piece, Tokenizer::kBasic, [&](std::string_view word, TokenKind) {
    if (clause != kNone || is_english_stopword(word)) return;
    std::uint32_t at = beginnings_.longest_of(word);
    for (; at != PrefixSet::kNone; at = beginnings_.shorter_than(at)) {
      clause = std::min(clause, clauses_of_beginnings_[at]);
    }
  });
  return clause;
}

}  // namespace lorekeep::text
