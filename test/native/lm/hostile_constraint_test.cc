// No constraint takes more work at a time than it is given, whatever its grammar, its texts and the tokens drawn; and
// what it keeps is bounded. Work is counted, not timed.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "harness.h"
#include "lm/grammar/constraint.h"
#include "lm/grammar/grammar_machine.h"
#include "lm/grammar/mask_store.h"

namespace lorekeep::lm {
namespace {

constexpr std::uint64_t kPart = 20'000;
/// A step of a machine is not divided: it looks at each position at most four times.
constexpr std::uint64_t kOneStep = 4 * GrammarMachine::kMaxPositions;

/// Bytes, and words of up to 16 letters, signs and digits.
std::shared_ptr<const TokenTable> vocabulary(std::mt19937_64& random) {
  std::vector<TokenEntry> entries{{"", TokenKind::kEnd}};
  for (int byte = 0; byte < 256; ++byte) entries.push_back({std::string(1, static_cast<char>(byte)), TokenKind::kText});
  for (int i = 0; i < 4'000; ++i) {
    std::string text;
    const char* const from = i % 3 == 0 ? "!-.0123456789@\"" : i % 3 == 1 ? "abcdeft h" : "aé龙 w1";
    const std::size_t size = std::string(from).size();
    for (std::size_t left = 1 + random() % 16; left > 0; --left) text += from[random() % size];
    entries.push_back({text, TokenKind::kText});
  }
  return std::make_shared<const TokenTable>(entries);
}

std::string words(int count, const std::string& join) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : join) + "\"w" + std::to_string(i * 7919 % 100'003) + "\"";
  return text;
}

std::string every_other_character() {
  std::string text = "root ::= ([";
  for (int c = 0x4e00; c < 0x9000; c += 2) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
    text += escape;
  }
  return text + "a-z] [^a])*";
}

std::vector<std::string> grammars() {
  std::string letters;
  for (char c = 'a'; c <= 'z'; ++c) letters += std::string(c == 'a' ? "" : " | ") + "\"" + c + "\"";
  return {
      "root ::= ([!-@]?){7000} [!-@]*",
      "root ::= ((" + letters + ")?){290} [a-z]*",
      "root ::= (((\"a\"?){20}){20}){20} [!-~]*",
      "root ::= (" + words(10'000, " | ") + ")*",
      "root ::= (" + words(10'000, " | ") + " | [w0-9]{0,4000})*",
      "root ::= s\ns ::= \"a\" s \"b\" | \"a\" s \"c\" | [!-~]",
      "root ::= \"(\" root \")\" | \"a\" root? \"b\"? | [0-9]*",
      "root ::= [a-h ]* \"e\" [a-h ]{0,6000}",
      "root ::= x{3000}\nx ::= y y? y?\ny ::= [!-~]?",
      "root ::= .*  [é-\\U0010FFFF]* ([^a-z]? | .){900}",
      every_other_character(),
  };
}

/// Generates with parts of kPart, and checks each.
void spend_in_parts(TokenConstraint& constraint, const TokenTable& tokens, std::uint64_t most,
                    std::mt19937_64& random) {
  std::vector<float> logits(tokens.size());
  const auto in_parts = [&](auto call) {
    for (int calls = 0;; ++calls) {
      REQUIRE(calls < 100'000);
      Allowance work(kPart);
      const bool done = call(work);
      if (work.spent() > most) CHECK_EQ(work.spent(), most);
      if (done) return;
    }
  };
  try {
    for (int step = 0; step < 4; ++step) {
      in_parts([&](Allowance& work) { return constraint.prepare(work); });
      std::fill(logits.begin(), logits.end(), 1.0f);
      constraint.mask(logits);
      std::vector<Token> allowed;
      for (Token token = 0; token < static_cast<Token>(logits.size()); ++token) {
        if (!std::isinf(logits[static_cast<std::size_t>(token)])) allowed.push_back(token);
      }
      if (allowed.empty()) return;
      const Token token = std::max(allowed[random() % allowed.size()], allowed[random() % allowed.size()]);
      std::optional<bool> allows;
      in_parts([&](Allowance& work) { return (allows = constraint.allows(token, work)).has_value(); });
      CHECK(allows.value());
      if (tokens.kind(token) == TokenKind::kEnd) return;
      constraint.accept(token);
    }
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);  // this reply ends
  }
}

TEST("a hostile grammar takes work in small parts, and its memory stays bounded") {
  std::mt19937_64 random(test::seed());
  const auto tokens = vocabulary(random);
  const auto store = std::make_shared<MaskStore>(tokens);
  for (const std::string& text : grammars()) {
    ReplyRules rules;
    rules.grammar = store->grammar(text);
    const auto constraint = constrain_reply(rules, tokens, store);
    spend_in_parts(*constraint, *tokens, kPart + kOneStep + 65'536, random);
    store->trim(nullptr);
    if (store->bytes() > MaskStore::kMaxBytes) CHECK_EQ(store->bytes(), MaskStore::kMaxBytes);
  }
}

TEST("quotations of long records take work in small parts") {
  std::mt19937_64 random(test::seed());
  const auto tokens = vocabulary(random);
  std::string repeated;
  while (repeated.size() < 200'000) repeated += "the thaw ";
  std::string letters;
  while (letters.size() < 200'000) letters += "龙";
  for (const std::string& text : {std::string(200'000, 'a'), repeated, letters, std::string(200'000, '"')}) {
    ReplyRules rules;
    rules.quotes = QuoteRule{"\"\"", "'", {text}};
    const auto constraint = constrain_reply(rules, tokens);
    constraint->accept(static_cast<Token>(1 + '"'));
    spend_in_parts(*constraint, *tokens, kPart + text.size() + 64, random);
  }
}

TEST("a store drops the grammars that nobody uses") {
  std::mt19937_64 random(test::seed());
  const auto tokens = vocabulary(random);
  MaskStore store(tokens);
  for (int i = 0; i < 200; ++i) {
    store.grammar("root ::= \"" + std::to_string(i) + std::string(100'000, 'x') + "\"");
    CHECK(store.bytes() <= MaskStore::kMaxBytes + 2'000'000);
  }
  const auto first = store.grammar("root ::= \"a\"");
  CHECK(store.grammar("root ::= \"a\"") == first);
  CHECK(store.masks(first) == store.masks(first));
}

TEST("a grammar that must be too dear is refused by counting") {
  const CancelToken never;
  const auto reason = [&](const std::string& text) -> std::string {
    try {
      check_grammar(Grammar::parse(text), never);
      return "";
    } catch (const Error& error) {
      CHECK(error.code() == Code::kInvalidArgument);
      return error.what();
    }
  };
  CHECK(reason("root ::= (\"a\"?){9000} \"b\"").find("more than 16384 ways") != std::string::npos);
  CHECK(reason("root ::= s\ns ::= \"a\" s \"b\" | \"a\" s \"c\" | \"a\"").find("(a reply of ") != std::string::npos);
  for (const std::string& text : grammars()) {
    const std::string got = reason(text);
    CHECK(got == reason(text));
  }
  CHECK_FAILS(Code::kCancelled, [] {
    CancelToken gone;
    gone.cancel();
    check_grammar(Grammar::parse("root ::= [a-z]*"), gone);
  }());
}

}  // namespace
}  // namespace lorekeep::lm
