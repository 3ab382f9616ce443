// The rules of a grammar as they are written. Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "lm/grammar/grammar_program.h"

namespace lorekeep::lm {

/// A part of a rule. Parts are kept as a tree, because repetitions compile them more than once.
struct GrammarPart {
  enum class Type { kSet, kRule, kSequence, kChoice, kRepeat } type;
  std::uint32_t index = 0;  // of the rule, or the first node of the set
  std::uint32_t least = 0;
  std::optional<std::uint32_t> most = {};
  std::vector<GrammarPart> parts = {};
};

struct GrammarRule {
  std::string name;
  std::optional<GrammarPart> body;  // nullopt: never defined
  std::size_t mentioned;            // offset in the text
};

/// Polls a cancel token, which may be null, at each kGrain characters, parts or states: some 0.1 ms.
class GrammarPoll {
 public:
  explicit GrammarPoll(const CancelToken* cancel) : cancel_(cancel) {}
  /// Throws Error(kCancelled).
  void count() {
    if (++counted_ % kGrain == 0 && cancel_ != nullptr) cancel_->check();
  }

 private:
  static constexpr std::uint32_t kGrain = 1024;

  const CancelToken* const cancel_;
  std::uint32_t counted_ = 0;
};

/// Reads the rules and adds their character classes to the program. Throws Error(kInvalidArgument) that names line and
/// column, Error(kCancelled).
std::vector<GrammarRule> parse_rules(std::string_view text, GrammarProgram& program, const CancelToken* cancel);

/// Adds the states of the rules to the program. Throws Error(kInvalidArgument): an undefined rule, left recursion, a
/// rule that never ends, too many states; Error(kCancelled).
void compile_rules(std::string_view text, const std::vector<GrammarRule>& rules, GrammarProgram& program,
                   const CancelToken* cancel);

/// Throws Error(kInvalidArgument) with the line and the column of an offset.
[[noreturn]] void refuse_grammar(std::string_view text, std::size_t at, const std::string& reason);

}  // namespace lorekeep::lm
