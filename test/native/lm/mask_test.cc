// Masks against the slow twin, on the vocabularies of real models, computed in parts of any size.
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "harness.h"
#include "lm/grammar/constraint.h"
#include "lm/grammar/grammar_constraint.h"
#include "model_vocabulary.h"
#include "scan_grammar.h"

namespace lorekeep::lm {
namespace {

constexpr const char* kVocabularies[] = {"stories260K.gguf", "SmolLM2-135M-Instruct.Q4_1.gguf"};

const std::vector<std::string> kGrammars = {
    R"(root ::= "{" ws pair ("," ws pair)* "}"
pair ::= string ":" ws value
value ::= object | "[" (value ("," ws value)*)? "]" | string | number | "true" | "null"
object ::= "{" (pair ("," ws pair)*)? "}"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\/bfnrt])* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,5}) ("." [0-9]+)?
ws ::= | " " | "\n" [ \t]{0,4})",
    R"G(root ::= ([!-@]?){40} [!-@]*)G",
    R"(root ::= item item item* "." | word
item ::= . | "the " | [é-ÿ龙]{1,2}
word ::= ("the" | "then" | "there" | "they" | " th" | " the")+ "!")",
    R"(root ::= s
s ::= "a" s "b" | " the" s "b" | [0-9] s "c" | "a" | "")",
    R"G(root ::= "(" root ")" root | "[" root "]" | [^()\[\]]{0,3})G",
};

/// A random grammar; it may be refused.
std::string random_grammar(std::mt19937_64& random) {
  const std::vector<std::string> atoms = {"\"a\"", "\" the\"", "[a-z]", "[^\"é]",  "\"é\"",
                                          "x",     "y",        ".",     "\"\\n\"", "[0-9 ]"};
  const std::vector<std::string> suffixes = {"", "", "", "*", "?", "+", "{2}", "{0,3}"};
  std::string text;
  for (const char* rule : {"root", "x", "y"}) {
    text += std::string(rule) + " ::= ";
    for (std::size_t left = 1 + random() % 6; left > 0; --left) {
      if (random() % 4 == 0 && left > 1) text += "| ";
      const std::string& atom = atoms[random() % atoms.size()];
      text += (random() % 4 == 0 ? "(" + atom + " \"t\" | " + atoms[random() % atoms.size()] + ")" : atom) +
              suffixes[random() % suffixes.size()] + " ";
    }
    text += "\n";
  }
  return text;
}

/// Computes the mask in parts, with some states forgotten in between.
std::vector<bool> mask_of(GrammarConstraint& constraint, GrammarMasks& masks, std::mt19937_64& random) {
  const bool whole = random() % 2 == 0;
  for (;;) {
    Allowance work(whole ? 1'000'000 : 1 + random() % 20'000);
    if (constraint.prepare(work)) break;
    if (random() % 8 == 0) masks.forget(nullptr);
  }
  std::vector<float> logits(masks.tokens().size(), 1.0f);
  constraint.mask(logits);
  std::vector<bool> allowed(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) allowed[i] = !std::isinf(logits[i]);
  return allowed;
}

/// Generates a reply and compares every step. `checks`: tokens to compare, about, at random; 0: all.
void compare(const std::string& source, const std::shared_ptr<const TokenTable>& tokens, std::size_t checks, int steps,
             std::mt19937_64& random) {
  const auto grammar = Grammar::parse(source);
  const auto masks = std::make_shared<GrammarMasks>(grammar, tokens);
  GrammarConstraint constraint(masks, nullptr);
  GrammarConstraint other(masks, nullptr);
  ScanGrammar slow(grammar);
  std::string text;
  const auto size = static_cast<Token>(tokens->size());
  for (int step = 0; step < steps; ++step) {
    const std::vector<bool> allowed = mask_of(constraint, *masks, random);
    if (random() % 4 == 0) mask_of(other, *masks, random);
    std::vector<Token> choices;
    for (Token token = 0; token < size; ++token) {
      const bool masked = allowed[static_cast<std::size_t>(token)];
      if (masked) choices.push_back(token);
      if (checks != 0 && random() % tokens->size() >= checks && !(masked && choices.size() < 200)) continue;
      const TokenKind kind = tokens->kind(token);
      const bool expected = kind == TokenKind::kText  ? slow.allows(tokens->bytes(token))
                            : kind == TokenKind::kEnd ? slow.may_end()
                                                      : false;
      Allowance work;
      const bool checked = constraint.allows(token, work).value();
      if (masked != expected || checked != expected) {
        CHECK_EQ("token " + std::to_string(token) + " after " + text + " of " + source, std::string());
        return;
      }
    }
    if (choices.empty()) return;
    const Token token = choices[random() % choices.size()];
    if (tokens->kind(token) == TokenKind::kEnd) return;
    constraint.accept(token);
    REQUIRE(slow.read(tokens->bytes(token)));
    text += tokens->bytes(token);
    CHECK_EQ(constraint.may_end(), slow.may_end());
  }
}

TEST("masks equal the slow twin's with real vocabularies") {
  std::mt19937_64 random(test::seed());
  for (const char* name : kVocabularies) {
    const auto tokens = model_vocabulary(name);
    if (!tokens) {
      std::printf("  skipped: LOREKEEP_MODELS has no %s\n", name);
      continue;
    }
    const bool small = tokens->size() < 1'000;
    for (const std::string& grammar : kGrammars) compare(grammar, tokens, small ? 0 : 200, small ? 16 : 4, random);
  }
}

TEST("masks of random grammars equal the slow twin's") {
  std::mt19937_64 random(test::seed());
  const auto small = model_vocabulary(kVocabularies[0]);
  const auto large = model_vocabulary(kVocabularies[1]);
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string grammar = random_grammar(random);
    try {
      if (small) compare(grammar, small, 0, 6, random);
      if (large && round % 20 == 0) compare(grammar, large, 200, 3, random);
      ++compared;
    } catch (const Error& error) {  // left-recursive, or too ambiguous
      CHECK(error.code() == Code::kInvalidArgument);
    }
  }
  CHECK(compared >= 10);
}

}  // namespace
}  // namespace lorekeep::lm
