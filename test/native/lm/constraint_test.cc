#include "lm/grammar/constraint.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "harness.h"

namespace lorekeep::lm {
namespace {

constexpr Token kEndToken = 0;
constexpr Token kControlToken = 1;

/// All bytes as tokens, and some longer ones that begin or end inside quotations, tags and characters.
std::shared_ptr<const TokenTable> table(std::vector<std::string> more = {}) {
  std::vector<TokenEntry> entries{{"", TokenKind::kEnd}, {"", TokenKind::kControl}};
  for (int byte = 0; byte < 256; ++byte) entries.push_back({std::string(1, static_cast<char>(byte)), TokenKind::kText});
  for (std::string& text : more) entries.push_back({std::move(text), TokenKind::kText});
  entries.push_back({"", TokenKind::kText});
  return std::make_shared<const TokenTable>(entries);
}

Token find(const TokenTable& tokens, const std::string& text) {
  for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
    if (tokens.kind(token) == TokenKind::kText && tokens.bytes(token) == text) return token;
  }
  throw std::runtime_error("no token " + text);
}

bool allows(TokenConstraint& constraint, Token token) {
  Allowance work;
  return constraint.allows(token, work).value();
}

std::vector<Token> allowed_by_mask(TokenConstraint& constraint, const TokenTable& tokens) {
  std::vector<float> logits(tokens.size(), 1.0f);
  Allowance work;
  CHECK(constraint.prepare(work));
  constraint.mask(logits);
  std::vector<Token> allowed;
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if (!std::isinf(logits[token])) allowed.push_back(static_cast<Token>(token));
  }
  return allowed;
}

/// Generates random allowed tokens and checks on the way that allows() and mask() agree. Empty if it did not end.
std::string generate(TokenConstraint& constraint, const TokenTable& tokens, std::mt19937_64& random, int most,
                     bool& ended) {
  std::string text;
  ended = false;
  for (int i = 0; i < most; ++i) {
    const std::vector<Token> allowed = allowed_by_mask(constraint, tokens);
    REQUIRE(!allowed.empty());
    for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
      const bool masked = !std::binary_search(allowed.begin(), allowed.end(), token);
      if (allows(constraint, token) == masked) CHECK_EQ(std::to_string(token) + " after " + text, std::string());
    }
    Token token = allowed[random() % allowed.size()];
    if (random() % 3 == 0) token = allowed.back();  // long tokens are last
    if (constraint.may_end() && random() % 8 == 0) token = kEndToken;
    CHECK_EQ(constraint.may_end(), allows(constraint, kEndToken));
    if (token == kEndToken) {
      ended = true;
      return text;
    }
    text += tokens.bytes(token);
    constraint.accept(token);
  }
  return text;
}

const std::vector<std::string> kTexts = {
    "The smith, Aldous Grey, forges blades of \"star iron\" at dawn.\nHe sells them dear.",
    "Zoë's café — it's open until 10.30; bring 3½ crowns.",
    "龙在山里。It sleeps. He calls it “the «old» worm”, and the boys' „Pest“ is 'gone'.",
    "",
    "”“",
};
const std::string kPairs = "\"\"“”„“„”«»";
const QuoteRule kRule{kPairs, "'’", kTexts};

bool is_word(unsigned char c) {
  return std::isalnum(c) != 0 || c == '_' || c == 0xC3;
}

/// Whether the quotation is a span of one text that begins and ends at borders of words.
bool is_span(const std::string& quotation) {
  for (const std::string& text : kTexts) {
    for (std::size_t at = text.find(quotation); at != std::string::npos; at = text.find(quotation, at + 1)) {
      const std::size_t end = at + quotation.size();
      const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
      const bool whole = (end == text.size() || (byte(end) & 0xC0) != 0x80) && (byte(at) & 0xC0) != 0x80;
      const bool begins = at == 0 || !is_word(byte(at - 1)) || !is_word(byte(at));
      const bool ends = end == text.size() || !is_word(byte(end - 1)) || !is_word(byte(end));
      if (whole && begins && ends) return true;
    }
  }
  return false;
}

/// Reads a reply as one who knows only this pair of marks does. Returns the number of quotations.
std::size_t check_quotations(const std::string& reply, const std::string& open, const std::string& close) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = reply.find(open, at)) != std::string::npos; ++count) {
    const std::size_t begin = at + open.size();
    const std::size_t end = reply.find(close, begin);
    if (end == std::string::npos) break;
    const std::string quotation = reply.substr(begin, end - begin);
    if (!is_span(quotation)) CHECK_EQ(quotation + " in " + reply, std::string("a span of a text"));
    at = end + close.size();
  }
  return count;
}

TEST("quotations are spans of one text for readers of all marks, whatever tokens are drawn") {
  const auto tokens = table({"“",
                             "”",
                             "“The",
                             " smith",
                             "smith,",
                             "” said",
                             " “He",
                             "é”",
                             "\xE2\x80",
                             "\x9C",
                             "\x9C"
                             "It",
                             "its “",
                             "” “",
                             "star iron",
                             "„",
                             "„The",
                             " «",
                             "»",
                             " »",
                             "'",
                             "'s",
                             " '",
                             "the boys"});
  std::mt19937_64 random(test::seed());
  for (const std::string begin : {"\"", "“", "„", " «"}) {
    std::size_t quotations = 0;
    for (int round = 0; round < 60; ++round) {
      ReplyRules rules;
      rules.quotes = kRule;
      const auto constraint = constrain_reply(rules, tokens);
      // Most steps would stay outside for long: begin inside.
      std::string text = begin;
      constraint->accept(find(*tokens, begin));
      bool ended = false;
      text += generate(*constraint, *tokens, random, 60, ended);
      quotations += check_quotations(text, "\"", "\"") + check_quotations(text, "“", "”") +
                    check_quotations(text, "„", "“") + check_quotations(text, "„", "”") +
                    check_quotations(text, "«", "»");
      for (std::size_t at = 0; (at = text.find_first_of('\'', at)) != std::string::npos; ++at)
        CHECK(at > 0 && (is_word(static_cast<unsigned char>(text[at - 1])) || (text[at - 1] & 0x80) != 0));
    }
    CHECK(quotations >= 20);
  }
}

/// Takes the bytes of a text. Returns whether all of them are allowed.
bool takes(TokenConstraint& constraint, const TokenTable& tokens, const std::string& text) {
  for (const char byte : text) {
    const Token token = find(tokens, std::string(1, byte));
    if (!allows(constraint, token)) return false;
    constraint.accept(token);
  }
  return true;
}

TEST("a quotation can neither begin in a word nor end in one nor be empty") {
  const auto tokens = table();
  ReplyRules rules;
  rules.quotes = QuoteRule{"\"\"", "'", {"one two"}};
  const auto constraint = constrain_reply(rules, tokens);
  const auto byte = [&](char c) { return find(*tokens, std::string(1, c)); };
  CHECK(constraint->may_end());
  constraint->accept(byte('"'));
  CHECK(!constraint->may_end());
  CHECK(!allows(*constraint, byte('"')));
  CHECK(!allows(*constraint, byte('n')));
  CHECK(!allows(*constraint, byte(' ')));
  CHECK(allows(*constraint, byte('t')));
  constraint->accept(byte('o'));
  CHECK(!allows(*constraint, byte('"')));
  constraint->accept(byte('n'));
  constraint->accept(byte('e'));
  CHECK(allows(*constraint, byte('"')));
  CHECK(allows(*constraint, byte(' ')));
  CHECK(!allows(*constraint, kEndToken));
  constraint->accept(byte('"'));
  CHECK(constraint->may_end());
}

TEST("a reply keeps to one pair of marks, and single marks are apostrophes only") {
  const auto tokens = table();
  const auto allowed = [&](const std::string& text) {
    ReplyRules rules;
    rules.quotes = QuoteRule{kPairs, "'’", {"The dogs' bone isn't “red” or 'blue', he's sure."}};
    return takes(*constrain_reply(rules, tokens), *tokens, text);
  };
  for (const char* text : {"It’s the dogs' “red” and “sure”", "„red“ „sure“ é'a ж’Я", "„red” „sure”",
                           "«isn't» «he's sure»", "\"The dogs' bone isn't\"", "\xE2\x80\"red\"", "\"dogs\""})
    CHECK(allowed(text));
  for (const char* text : {"“red” \"",
                           "\"red\" “",
                           "„red“ „sure”",
                           "„red” „sure“",
                           "„red” “",
                           "«red”",
                           "“red\"",
                           "»",
                           "”",
                           "'",
                           " 'tis",
                           "×'",
                           "_'",
                           "،'",
                           "\xE2\x80\x8B'",
                           "。'",
                           "''",
                           "isn''",
                           "’",
                           "“isn't “",
                           "“isn't \"",
                           "\"or 'blue\"",
                           "“'t",
                           "“t ",
                           "\"bone isn't “red",
                           "\xE2\x80\"rod"})
    CHECK_EQ(std::string(allowed(text) ? text : ""), std::string());
}

TEST("without texts nothing can be quoted, and marks that cannot work are refused") {
  const auto tokens = table();
  for (const char* open : {"\"", "“", "«", "„"}) {
    ReplyRules rules;
    rules.quotes = QuoteRule{kPairs, "", {"“”", ""}};
    CHECK(!takes(*constrain_reply(rules, tokens), *tokens, open));
  }
  std::string many;
  for (int i = 0; i < 33; ++i) many += "<>";
  for (const QuoteRule& rule : {QuoteRule{"\"", "", {}}, QuoteRule{"<\xFF", "", {}}, QuoteRule{"<=>", "", {}},
                                QuoteRule{"<😀", "", {}}, QuoteRule{"", "\xFF", {}}, QuoteRule{many, "", {}},
                                QuoteRule{"<>", "", {std::string(kMaxQuotedBytes + 1, 'x')}}}) {
    CHECK_FAILS(Code::kInvalidArgument, check_quotes(rule));
  }
}

TEST("a grammar's mask allows what the grammar allows, and every finished reply conforms") {
  const auto grammar = Grammar::parse(
      "root ::= \"{\" pair (\",\" pair){0,2} \"}\"\npair ::= \"\\\"\" [a-cé😀]{1,3} \"\\\":\" value\n"
      "value ::= [0-9]{1,2} | \"[\" (value (\",\" value)*)? \"]\" | \"true\"\n");
  const auto tokens = table({"{\"", "\":", "tr", "ue}", "é\"", "é😀", "],[", "a\":1", "}", "xyz", "\xF0\x9F"});
  std::mt19937_64 random(test::seed());
  int ends = 0;
  for (int round = 0; round < 60; ++round) {
    ReplyRules rules;
    rules.grammar = grammar;
    const auto constraint = constrain_reply(rules, tokens);
    bool ended = false;
    const std::string text = generate(*constraint, *tokens, random, 120, ended);
    if (!ended) continue;
    ++ends;
    CHECK(text.front() == '{' && text.back() == '}');
    CHECK_EQ(std::count(text.begin(), text.end(), '['), std::count(text.begin(), text.end(), ']'));
  }
  CHECK(ends >= 10);
}

ReplyRules thinking_rules(const TokenTable& tokens, std::optional<std::uint32_t> budget) {
  ReplyRules rules;
  rules.thinking = {"<think>", "</think>"};
  rules.thinking_budget = budget;
  rules.end_tag = {find(tokens, "\n"), find(tokens, "</think>"), find(tokens, "\n")};
  return rules;
}

TEST("at the budget the end of thinking is forced, and the reply is constrained after it") {
  const auto tokens = table({"<think>", "</think>", "hm", "\n\n"});
  for (const bool inside : {false, true}) {
    ReplyRules rules = thinking_rules(*tokens, 3);
    rules.starts_inside = inside;
    rules.grammar = Grammar::parse("root ::= \"yes\" | \"no\"");
    const auto constraint = constrain_reply(rules, tokens);
    if (!inside) {
      CHECK(allows(*constraint, find(*tokens, "<think>")));
      CHECK(allows(*constraint, find(*tokens, "y")));
      CHECK(!allows(*constraint, find(*tokens, "hm")));
      constraint->accept(find(*tokens, "<think>"));
    }
    for (int i = 0; i < 3; ++i) {
      CHECK(!constraint->may_end());
      CHECK(!allows(*constraint, kEndToken));
      CHECK(allows(*constraint, find(*tokens, "hm")));
      constraint->accept(find(*tokens, "hm"));
    }
    for (const char* forced : {"\n", "</think>", "\n"}) {
      const std::vector<Token> allowed = allowed_by_mask(*constraint, *tokens);
      REQUIRE(allowed.size() == 1);
      CHECK_EQ(tokens->bytes(allowed[0]), std::string_view(forced));
      constraint->accept(allowed[0]);
    }
    CHECK(allows(*constraint, find(*tokens, "\n\n")));
    constraint->accept(find(*tokens, "\n\n"));
    CHECK(!constraint->may_end());
    CHECK(!allows(*constraint, find(*tokens, "hm")));
    for (const char* letter : {"n", "o"}) constraint->accept(find(*tokens, letter));
    CHECK(constraint->may_end());
    CHECK_EQ(allowed_by_mask(*constraint, *tokens).size(), std::size_t{1});
  }
}

TEST("thinking that ends by itself hands over to the reply, at any token border") {
  const auto tokens = table({"</", "think", ">\n\n", ">{", "hm"});
  ReplyRules rules = thinking_rules(*table({"<think>", "</think>"}), std::nullopt);
  rules.starts_inside = true;
  rules.grammar = Grammar::parse("root ::= \"{}\"");
  const auto constraint = constrain_reply(rules, tokens);
  for (const char* text : {"hm", "</", "think"}) constraint->accept(find(*tokens, text));
  CHECK(!allows(*constraint, find(*tokens, ">{")));  // would hide a part of the reply from the grammar
  CHECK(allows(*constraint, find(*tokens, ">\n\n")));
  constraint->accept(find(*tokens, ">\n\n"));
  CHECK(allows(*constraint, find(*tokens, "{")));
  CHECK(!allows(*constraint, find(*tokens, "}")));
}

TEST("a model that does not begin to think is only constrained by the rule of its reply") {
  const auto tokens = table({"<think>", "</think>", "hello"});
  ReplyRules rules = thinking_rules(*tokens, 5);
  const auto free = constrain_reply(rules, tokens);
  CHECK(allows(*free, find(*tokens, "hello")));
  free->accept(find(*tokens, "hello"));
  CHECK(free->may_end());
  for (int i = 0; i < 20; ++i) free->accept(find(*tokens, "hello"));
  CHECK(allows(*free, find(*tokens, "hello")));
  CHECK(constrain_reply({}, tokens) == nullptr);
}

TEST("a model with channels opens the one of its reply, whatever the constraint") {
  const auto tokens = table({"<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|start|>", "assistant"});
  for (const std::uint32_t budget : {0u, 5u}) {
    ReplyRules rules;
    rules.thinking = {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|><|start|>assistant"};
    rules.thinking_budget = budget;
    rules.grammar = Grammar::parse("root ::= \"yes\"");
    const auto constraint = constrain_reply(rules, tokens);
    CHECK(allows(*constraint, find(*tokens, "y")));
    CHECK(allows(*constraint, find(*tokens, "<|channel|>")));
    constraint->accept(find(*tokens, "<|channel|>"));
    CHECK_EQ(allows(*constraint, find(*tokens, "analysis")), budget > 0);
    CHECK(allows(*constraint, find(*tokens, "final")));
    CHECK(!allows(*constraint, find(*tokens, "y")));
    constraint->accept(find(*tokens, "final"));
    constraint->accept(find(*tokens, "<|message|>"));
    CHECK(!allows(*constraint, find(*tokens, "<|channel|>")));
    for (const char* letter : {"y", "e", "s"}) {
      CHECK(allows(*constraint, find(*tokens, letter)));
      constraint->accept(find(*tokens, letter));
    }
    CHECK(constraint->may_end());
  }
}

TEST("a model with channels that begins one names its thinking or its reply, and no other") {
  const auto tokens = table({"<|channel|>", "analysis", "final", "commentary", "<|message|>", "<b>"});
  ReplyRules rules;
  rules.thinking = {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|><|start|>assistant"};
  const auto constraint = constrain_reply(rules, tokens);
  REQUIRE(constraint != nullptr);
  CHECK(allows(*constraint, find(*tokens, "<b>")));
  constraint->accept(find(*tokens, "<|channel|>"));
  CHECK(!allows(*constraint, find(*tokens, "commentary")));
  CHECK(!allows(*constraint, find(*tokens, "<b>")));
  CHECK(allows(*constraint, find(*tokens, "analysis")));
  constraint->accept(find(*tokens, "final"));
  CHECK(!allows(*constraint, find(*tokens, "<b>")));
  constraint->accept(find(*tokens, "<|message|>"));
  CHECK(allows(*constraint, find(*tokens, "<b>")));
  const auto plain = constrain_reply(rules, tokens);
  plain->accept(find(*tokens, "<"));
  CHECK(allows(*plain, find(*tokens, "b")));  // a reply that begins as the tag does
}

TEST("thinking leaves the reply its tokens, and the end tag its own") {
  CHECK_EQ(limit_thinking(std::nullopt, 1000, 250, 4), 746u);
  CHECK_EQ(limit_thinking(100, 1000, 250, 4), 100u);
  CHECK_EQ(limit_thinking(5000, 1000, 250, 4), 746u);
  CHECK_EQ(limit_thinking(5000, 4, 1, 4), 0u);
  CHECK_EQ(limit_thinking(5000, 64, 0xFFFF'FFFFu, 4), 0u);
}

TEST("a reply after thinking has text and no tags, whatever is likely") {
  const auto tokens = table({"<think>", "</think>", "hm", "\n\n", "</th", "ink>", "Yes"});
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 200; ++round) {
    ReplyRules rules = thinking_rules(*tokens, random() % 4);
    rules.starts_inside = random() % 2 == 0;
    if (random() % 2 == 0) rules.grammar = Grammar::parse("root ::= [^{]* (\"{}\")?");
    const auto constraint = constrain_reply(rules, tokens);
    TextFilter filter({{}, rules.thinking, rules.starts_inside});
    FilteredText seen;
    const auto take = [&seen](const FilteredText& text) {
      seen.text += text.text;
      seen.thinking += text.thinking;
    };
    // Likely here: to end, tags, parts of tags and white space.
    const std::vector<Token> likely{kEndToken,
                                    find(*tokens, "<think>"),
                                    find(*tokens, "</think>"),
                                    find(*tokens, "</th"),
                                    find(*tokens, "ink>"),
                                    find(*tokens, "\n\n")};
    bool ended = false;
    for (int i = 0; i < 60 && !ended; ++i) {
      Token token = likely[random() % likely.size()];
      if (!allows(*constraint, token)) {
        const std::vector<Token> allowed = allowed_by_mask(*constraint, *tokens);
        REQUIRE(!allowed.empty());
        CHECK(!std::binary_search(allowed.begin(), allowed.end(), token));
        // Parts of characters may be left out at the end.
        do {
          token = random() % 2 == 0 ? allowed.back() : allowed[random() % allowed.size()];
        } while (tokens->bytes(token) >= "\x80");
      }
      constraint->accept(token);
      ended = token == kEndToken;
      if (!ended) take(filter.push(tokens->bytes(token)));
    }
    CHECK(!filter.inside_thinking());
    take(filter.finish());
    for (const char* tag : {"<think>", "</think>"}) CHECK(seen.text.find(tag) == std::string::npos);
    if (rules.starts_inside || !seen.thinking.empty()) CHECK(seen.text.find_first_not_of(" \n") != std::string::npos);
    if (rules.thinking_budget == 0u) CHECK(seen.thinking.find_first_not_of("\n") == std::string::npos);
  }
}

TEST("a reply that can only be a tag, or nothing, is what its grammar says") {
  const auto tokens = table({"</think>"});
  for (const char* reply : {"", "</think>"}) {
    ReplyRules rules = thinking_rules(*table({"<think>", "</think>"}), std::nullopt);
    rules.starts_inside = true;
    rules.grammar = Grammar::parse("root ::= \"" + std::string(reply) + "\"");
    const auto constraint = constrain_reply(rules, tokens);
    constraint->accept(find(*tokens, "</think>"));
    for (int i = 0; i < 8; ++i) constraint->accept(find(*tokens, "\n"));
    std::mt19937_64 random(test::seed());
    std::string text;
    for (std::vector<Token> allowed; (allowed = allowed_by_mask(*constraint, *tokens)).front() != kEndToken;) {
      text += tokens->bytes(allowed.front());
      constraint->accept(allowed.front());
    }
    CHECK_EQ(text, std::string(reply));
  }
}

TEST("a mask of a large vocabulary follows its trie") {
  std::vector<std::string> more;
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 3'000; ++i) {
    std::string text;
    for (std::size_t left = 1 + random() % 6; left > 0; --left) text += static_cast<char>('a' + random() % 3);
    more.push_back(text);
  }
  const auto tokens = table(more);
  ReplyRules rules;
  rules.grammar = Grammar::parse("root ::= (\"abc\" | \"ca\" | \"b\"{3})*");
  const auto constraint = constrain_reply(rules, tokens);
  bool ended = false;
  generate(*constraint, *tokens, random, 20, ended);
}

}  // namespace
}  // namespace lorekeep::lm
