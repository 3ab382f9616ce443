#include "text/highlight.h"

#include <algorithm>

#include "core/utf8.h"
#include "text/casefold.h"
#include "text/english.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

struct Character {
  const char* at;
  std::uint32_t unit;  // position in UTF-16
  char32_t code_point;
};

bool is_word(char32_t code_point) noexcept {
  FoldedCodePoint parts[kMaxFolding];
  const std::size_t count = fold(code_point, parts);
  return std::any_of(parts, parts + count, [](const FoldedCodePoint& part) { return part.is_word; });
}

struct Range {
  char32_t first;
  char32_t last;
};
// Spaces and punctuation of scripts whose words may contain marks and joiners. Whatever else stands between letters
// stays in the run, and the tokenizer separates it.
constexpr Range kSeparators[] = {{0x80, 0xA9},
                                 {0xAB, 0xB1},
                                 {0xB4, 0xB4},
                                 {0xB6, 0xB8},
                                 {0xBB, 0xBB},
                                 {0xBF, 0xBF},
                                 {0x37E, 0x37E},
                                 {0x387, 0x387},
                                 {0x589, 0x58A},
                                 {0x5BE, 0x5BE},
                                 {0x60C, 0x60C},
                                 {0x61B, 0x61B},
                                 {0x61F, 0x61F},
                                 {0x6D4, 0x6D4},
                                 {0x964, 0x965},
                                 {0xE5A, 0xE5B},
                                 {0x104A, 0x104F},
                                 {0x17D4, 0x17D6},
                                 {0x17D8, 0x17DA},
                                 {0x2000, 0x200B},
                                 {0x200E, 0x206F},
                                 {0x3000, 0x3004},
                                 {0x3008, 0x3020},
                                 {0x30FB, 0x30FB},
                                 {0xFF01, 0xFF0F},
                                 {0xFF1A, 0xFF20},
                                 {0xFF3B, 0xFF40},
                                 {0xFF5B, 0xFF65},
                                 {kReplacement, kReplacement}};

bool in_run(char32_t code_point, Tokenizer tokenizer) noexcept {
  if (code_point < 0x80 || tokenizer != Tokenizer::kMultilingual) return is_word(code_point);
  return std::none_of(std::begin(kSeparators), std::end(kSeparators), [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

/// Returns whether words end between the two, in a run of several tokens: at the edge of a script without spaces.
bool is_edge(char32_t a, char32_t b) noexcept {
  constexpr char32_t kFirstIdeographic = 0x2E80;
  return (a < kFirstIdeographic) != (b < kFirstIdeographic);
}

}  // namespace

/// Characters without a separator between them. The last one is the end.
struct Highlighter::Run {
  std::span<const Character> characters;

  std::string_view text(std::size_t first, std::size_t last) const noexcept {
    return {characters[first].at, static_cast<std::size_t>(characters[last].at - characters[first].at)};
  }
  std::size_t size() const noexcept { return characters.size() - 1; }
};

Highlighter::Highlighter(std::span<const TextIndex* const> indexes, std::string_view query, const QueryOptions& options,
                         const CancelToken* cancel)
    : tokenizer_(indexes.front()->tokenizer()) {
  const auto clauses = analyse_query(indexes, query, options, cancel);
  for (std::uint32_t i = 0; i < clauses.size(); ++i) {
    if (clauses[i].sign == Clause::Sign::kExcluded) continue;
    for (const TermUnion& any : clauses[i].unions) {
      for (const std::string& term : any.terms) clauses_.try_emplace(term, i);
      if (!any.stems.empty()) beginnings_.emplace_back(any.beginning, i);
    }
  }
}

std::vector<Highlight> Highlighter::find(std::string_view utf8) const {
  std::vector<Highlight> found;
  std::vector<Character> run;
  std::uint32_t unit = 0;
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  while (at < end) {
    const char* const begin = at;
    const char32_t code_point = decode_utf8(at, end);
    if (in_run(code_point, tokenizer_)) {
      run.push_back({begin, unit, code_point});
    } else if (!run.empty()) {
      run.push_back({begin, unit, 0});
      match({run}, found);
      run.clear();
    }
    unit += code_point > 0xFFFF ? 2 : 1;
  }
  if (!run.empty()) {
    run.push_back({end, unit, 0});
    match({run}, found);
  }
  return found;
}

void Highlighter::match(const Run& run, std::vector<Highlight>& found) const {
  const bool several =
      tokenizer_ == Tokenizer::kMultilingual && tokenize(run.text(0, run.size()), tokenizer_).size() > 1;
  if (several) return match_pairs(run, found);
  const std::uint32_t clause = clause_of(run.text(0, run.size()));
  if (clause != kNone) found.push_back({run.characters.front().unit, run.characters.back().unit, clause});
}

void Highlighter::match_pairs(const Run& run, std::vector<Highlight>& found) const {
  const auto& characters = run.characters;
  const std::size_t before = found.size();
  const auto add = [&](std::size_t first, std::size_t last, std::uint32_t clause) {
    if (clause == kNone) return;
    const std::uint32_t begin = characters[first].unit;
    if (found.size() > before && found.back().end >= begin) {
      found.back().end = std::max(found.back().end, characters[last].unit);
    } else {
      found.push_back({begin, characters[last].unit, clause});
    }
  };
  for (std::size_t first = 0; first < run.size();) {
    std::size_t last = first + 1;
    while (last < run.size() && !is_edge(characters[last - 1].code_point, characters[last].code_point)) ++last;
    if (tokenize(run.text(first, last), tokenizer_).size() <= 1) {
      add(first, last, clause_of(run.text(first, last)));
    } else {
      for (std::size_t i = first; i < last; ++i) {
        add(i, i + 1, clause_of(run.text(i, i + 1)));
        // A pair, whose characters may have marks.
        for (std::size_t to = i + 2; to <= std::min(last, i + 5); ++to) {
          if (tokenize(run.text(i, to), tokenizer_).size() == 1) add(i, to, clause_of(run.text(i, to)));
        }
      }
    }
    first = last;
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
    for (const auto& [beginning, number] : beginnings_) {
      if (clause == kNone && word.starts_with(beginning) && !is_english_stopword(word)) clause = number;
    }
  });
  return clause;
}

}  // namespace lorekeep::text
