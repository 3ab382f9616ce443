// GBNF grammars, compiled to an automaton with a stack over bytes. A grammar comes from a client, so its size is
// bounded before use and its work per byte while it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/threads/cancel_token.h"

namespace lorekeep::lm {

inline constexpr std::size_t kMaxGrammarBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxGrammarStates = std::size_t{1} << 18;

struct GrammarProgram;

/// An immutable compiled grammar, shared by generations.
class Grammar {
 public:
  /// Compiles llama.cpp's GBNF: rules `name ::= ...`, literals, character classes, `.`, groups, alternatives, `* + ?
  /// {m,n}` and comments; the start rule is `root`. Throws Error(kInvalidArgument) that names line and column: syntax,
  /// an undefined rule, left recursion, a rule that can never end, more than kMaxGrammarStates states after
  /// repetitions. Polls `cancel`, if given, at each 1,024 characters, parts or states.
  static std::shared_ptr<const Grammar> parse(std::string_view text, const CancelToken* cancel = nullptr);
  ~Grammar();

  const GrammarProgram& program() const noexcept { return *program_; }
  std::size_t bytes() const noexcept;

 private:
  explicit Grammar(std::unique_ptr<GrammarProgram> program);
  std::unique_ptr<GrammarProgram> program_;
};

/// Whether a text conforms to a grammar.
enum class GrammarMatch { kRefused, kBeginning, kConforms };

/// Work of check_grammar() (allowance.h): some 50 ms.
inline constexpr std::uint64_t kMaxCheckWork = 3'000'000;

/// Throws Error(kInvalidArgument) for a grammar that every model would find too dear: reading the first byte takes
/// kMaxCheckWork, or one of the shortest replies can be read in too many ways. It counts work and not time, so the
/// answer is the same on every machine. Polls `cancel` at each byte.
void check_grammar(std::shared_ptr<const Grammar> grammar, const CancelToken& cancel);

/// Work of a whole text (allowance.h): some 30 ms.
inline constexpr std::uint64_t kMaxMatchWork = 1'000'000;

/// Throws Error(kInvalidArgument) if the grammar is too ambiguous for the text: reading the whole text may take
/// kMaxMatchWork. Polls `cancel` at each byte.
GrammarMatch match_grammar(std::shared_ptr<const Grammar> grammar, std::string_view text, const CancelToken& cancel);

}  // namespace lorekeep::lm
