#include "lm/grammar/grammar.h"

#include <string>
#include <utility>

#include "core/values/error.h"
#include "lm/grammar/grammar_program.h"
#include "lm/grammar/grammar_rules.h"

namespace lorekeep::lm {

std::shared_ptr<const Grammar> Grammar::parse(std::string_view text, const CancelToken* cancel) {
  if (text.size() > kMaxGrammarBytes) {
    fail(Code::kInvalidArgument,
         "grammar: it has " + std::to_string(text.size()) + " bytes, more than " + std::to_string(kMaxGrammarBytes));
  }
  auto program = std::make_unique<GrammarProgram>();
  compile_rules(text, parse_rules(text, *program, cancel), *program, cancel);
  return std::shared_ptr<const Grammar>(new Grammar(std::move(program)));
}

Grammar::Grammar(std::unique_ptr<GrammarProgram> program) : program_(std::move(program)) {}
Grammar::~Grammar() = default;

std::size_t Grammar::bytes() const noexcept {
  return program_->bytes();
}

}  // namespace lorekeep::lm
