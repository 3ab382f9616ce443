#include "lm/grammar/grammar.h"

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "core/values/utf8.h"
#include "harness.h"
#include "lm/grammar/grammar_machine.h"

namespace lorekeep::lm {
namespace {

/// Whether the grammar accepts the whole text.
bool accepts(GrammarMachine& machine, const std::string& text) {
  Allowance work;
  GrammarMachine::State state = machine.start(work);
  for (const char byte : text) {
    if (!machine.step(state, static_cast<std::uint8_t>(byte), state, work)) return false;
  }
  return machine.may_end(state);
}

bool accepts(const std::string& grammar, const std::string& text) {
  GrammarMachine machine(Grammar::parse(grammar));
  return accepts(machine, text);
}

std::string refusal(const std::string& grammar) {
  try {
    Grammar::parse(grammar);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);
    return error.what();
  }
  return "";
}

void check_refused(const std::string& grammar, const std::string& reason) {
  const std::string got = refusal(grammar);
  if (got.find(reason) == std::string::npos) CHECK_EQ(got, reason);
}

const char* const kJson = R"(
root   ::= value
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws
ws     ::= | " " | "\n" [ \t]{0,20}  # white space
)";

TEST("literals, classes, groups, alternatives and repetitions") {
  CHECK(accepts(R"(root ::= "ab" | "c")", "ab"));
  CHECK(accepts(R"(root ::= "ab" | "c")", "c"));
  CHECK(!accepts(R"(root ::= "ab" | "c")", "a"));
  CHECK(!accepts(R"(root ::= "ab" | "c")", "abc"));
  CHECK(accepts(R"(root ::= [a-c]{2,3})", "abc"));
  CHECK(!accepts(R"(root ::= [a-c]{2,3})", "a"));
  CHECK(!accepts(R"(root ::= [a-c]{2,3})", "abca"));
  CHECK(accepts(R"(root ::= "x"{2,})", "xxxxx"));
  CHECK(accepts(R"(root ::= "x"{3})", "xxx"));
  CHECK(!accepts(R"(root ::= "x"{3})", "xx"));
  CHECK(accepts(R"(root ::= "x"{,2} "y")", "xxy"));
  CHECK(accepts(R"(root ::= ("a" "b")+ "c"?)", "ababc"));
  CHECK(accepts(R"(root ::= "\x41\u00e9\U0001F600\n\"\\")", "Aé😀\n\"\\"));
  CHECK(accepts(R"(root ::= [^a] .)", "é😀"));
  CHECK(!accepts(R"(root ::= [^a] .)", "a😀"));
  CHECK(!accepts(R"(root ::= .)", "\xC3"));
  CHECK(accepts("root ::= a b # comment\na ::= \"1\"\nb ::= (\n  \"2\" |\n  \"3\"\n)\n", "13"));
  CHECK(accepts(R"(root ::= ("a"? "b"?)* "c")", "abbac"));
  CHECK(accepts(R"(root ::= "")", ""));
}

TEST("JSON texts and others are told apart by the JSON grammar") {
  GrammarMachine machine(Grammar::parse(kJson));
  for (const char* text :
       {"1", "-0.5e+10", R"("a\u00e9\n")", R"({"a": [1, 2, {"b": null}], "c": "é😀"})", "[]", "[[[[[]]]]]"}) {
    CHECK(accepts(machine, text));
  }
  for (const char* text :
       {"", "01", "{", R"({"a" 1})", R"({"a": 1,})", "[1,]", "\"\n\"", "\"\\x\"", "tru", "1 2", "]"}) {
    CHECK(!accepts(machine, text));
  }
}

TEST("every character is in exactly one of a class and its complement") {
  GrammarMachine in(Grammar::parse(R"(root ::= [\x00-\x40a-zÀ-ÿ€\u4e00-\u9fff\U0001F600-\U0001F64F])"));
  GrammarMachine out(Grammar::parse(R"(root ::= [^\x00-\x40a-zÀ-ÿ€\u4e00-\u9fff\U0001F600-\U0001F64F])"));
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x300 ? 1 : 7) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    char bytes[kMaxUtf8Bytes];
    const std::string text(bytes, encode_utf8(c, bytes));
    const bool expected = c <= 0x40 || (c >= 'a' && c <= 'z') || (c >= 0xC0 && c <= 0xFF) || c == 0x20AC ||
                          (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x1F600 && c <= 0x1F64F);
    if (accepts(in, text) != expected || accepts(out, text) == expected) CHECK_EQ(static_cast<std::uint32_t>(c), 0u);
  }
}

TEST("errors name the place") {
  check_refused("root ::= a\nb ::= \"x\"", "line 1, column 10: the rule a is not defined");
  check_refused("a ::= \"x\"", "the rule root is missing");
  check_refused("root ::= \"x", "line 1, column 10: the closing `\"` is missing");
  check_refused("root ::= [a", "`]` is missing");
  check_refused("root ::= (\"a\"", "`)` is missing");
  check_refused("root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: the rule root is defined twice");
  check_refused("root = \"a\"", "`::=` is expected");
  check_refused("root ::= \"a\" )", "text after its end");
  check_refused("root ::= \"\\q\"", "unknown escape \\q");
  check_refused("root ::= [b-a]", "the range of characters is empty");
  check_refused("root ::= []", "no characters");
  check_refused("root ::= \"a\"{3,2}", "below the lower bound");
  check_refused("root ::= <think>", "tokens (<...>) are not supported");
  check_refused("root ::= \"\\uD800\"", "no such character");
  check_refused("", "the rule root is missing");
}

TEST("left recursion is refused, also through other rules and through what may be empty") {
  check_refused("root ::= root \"a\" | \"a\"", "left-recursive");
  check_refused("root ::= a\na ::= b \"x\"\nb ::= a \"y\" | \"z\"", "left-recursive");
  check_refused("root ::= e root \"a\" | \"a\"\ne ::= \"x\"?", "left-recursive");
  check_refused("root ::= (e)* root | \"a\"\ne ::= \"\"", "left-recursive");
  CHECK_EQ(refusal("root ::= \"a\" root | \"a\""), std::string());
}

TEST("a rule that never ends is refused") {
  check_refused("root ::= \"a\" root", "the rule root never ends");
  check_refused("root ::= \"a\" | b\nb ::= \"(\" b \")\"", "the rule b never ends");
}

TEST("exponential grammars are refused before use, or end the reply that they blow up") {
  check_refused("root ::= ((((\"a\"{1000}){1000}){1000}){1000})", "states after repetitions");
  check_refused("root ::= ((((\"a\"?){,1000}){,1000}){,1000})", "states after repetitions");
  CHECK_EQ(refusal("root ::= ((((\"\"){60000}){60000}){60000}) \"a\""), std::string());
  check_refused("root ::= \"a\"" + std::string(100'000, '*'), "too many repetitions");
  check_refused("root ::= " + std::string(100'000, '(') + "\"a\"" + std::string(100'000, ')'), "nested too deeply");
  check_refused("root ::= \"a\"{99999999999}", "repetitions");
  std::string chain = "root ::= r0\n";
  for (int i = 0; i < 10'000; ++i) chain += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + "\n";
  CHECK_EQ(refusal(chain + "r10000 ::= \"a\""), std::string());
  CHECK(accepts(chain + "r10000 ::= \"a\"", "a"));

  // 2^n stacks after n characters.
  GrammarMachine ambiguous(Grammar::parse("root ::= s\ns ::= \"a\" s \"b\" | \"a\" s \"c\" | \"a\"\n"));
  CHECK_FAILS(Code::kInvalidArgument, accepts(ambiguous, std::string(1'000, 'a')));
}

TEST("an enumeration may have thousands of values") {
  std::string values = "root ::= \"v0\"";
  for (int i = 1; i < 5'000; ++i) values += " | \"v" + std::to_string(i) + "\"";
  CHECK(accepts(values, "v4999"));
  CHECK(!accepts(values, "v5000"));
}

TEST("lists written by recursion and deep nesting stay cheap") {
  CHECK(accepts("root ::= \"a\" root | \"a\"", std::string(100'000, 'a')));
  GrammarMachine json(Grammar::parse(kJson));
  std::string deep = std::string(5'000, '[') + std::string(5'000, ']');
  CHECK(accepts(json, deep));
}

TEST("states survive compaction") {
  GrammarMachine machine(Grammar::parse(kJson));
  Allowance work;
  GrammarMachine::State state = machine.start(work);
  GrammarMachine::State* const live[] = {&state};
  const auto read = [&](char byte, int times) {
    for (int i = 0; i < times; ++i) {
      REQUIRE(machine.step(state, static_cast<std::uint8_t>(byte), state, work));
      if (i % 100 == 99) machine.compact(live);
    }
  };
  read('[', 20'000);
  read(']', 19'999);
  CHECK(!machine.may_end(state));
  read(']', 1);
  CHECK(machine.may_end(state));
}

TEST("reading and compiling a grammar end when they are cancelled") {
  CancelToken cancelled;
  cancelled.cancel();
  const auto ends = [&](const std::string& source) {
    try {
      Grammar::parse(source, &cancelled);
    } catch (const Error& error) {
      return error.code() == Code::kCancelled;
    }
    return false;
  };
  CHECK(ends("root ::= \"" + std::string(10'000, 'a') + "\""));
  CHECK(ends("root ::= " + std::string(10'000, '.')));
  std::string each;
  for (char32_t c = 0x4E00; c < 0x5E00; c += 2) {
    char bytes[kMaxUtf8Bytes];
    each.append(bytes, encode_utf8(c, bytes));
  }
  CHECK(ends("root ::= [" + each + "]"));
  // Read in no time.
  CHECK(ends("root ::= \"a\"{10000}"));
  CHECK(ends("root ::= (\"a\" | [bc] \"d\"){5000}"));
}

TEST("random grammars never crash") {
  std::mt19937_64 random(test::seed());
  const std::vector<std::string> words = {"root", "a",   "b",    "::=", "\n", "|",     "(",       ")",     "*",    "+",
                                          "?",    "{2}", "{,3}", "{1,", "}",  "\"x\"", "\"\\n\"", "[a-z]", "[^x]", "[",
                                          "]",    ".",   "\"",   "#",   "\\", " ",     "é",       "\xFF"};
  for (int round = 0; round < 20'000; ++round) {
    std::string source = random() % 2 == 0 ? "root ::= " : "";
    for (std::size_t left = random() % 20; left > 0; --left) source += words[random() % words.size()] + " ";
    try {
      GrammarMachine machine(Grammar::parse(source));
      Allowance work;
      GrammarMachine::State state = machine.start(work);
      for (int i = 0; i < 30; ++i) {
        GrammarMachine::State next = 0;
        if (machine.step(state, static_cast<std::uint8_t>(random() % 3 == 0 ? 'x' : random()), next, work))
          state = next;
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace lorekeep::lm
