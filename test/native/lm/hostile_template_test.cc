// Templates come from model files. Each of these would run for ever, exhaust memory or the stack, or let text of a user
// pass as text of the template.
#include <random>
#include <string>
#include <vector>

#include "harness.h"
#include "lm/prompt/chat_template.h"

namespace lorekeep::lm {
namespace {

const std::string kPrint = "{{ messages[0].content }}";

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// The error of loading the template, or of rendering one message with it.
std::string failure(const std::string& source) {
  try {
    ChatTemplate(source, "", "", "hostile.gguf").render(std::vector<ChatMessage>{{Role::kUser, "hello"}});
  } catch (const Error& error) {
    CHECK(error.code() == Code::kModelInvalid);
    return error.what();
  }
  return "";
}

void check_fails(const std::string& source, const std::string& reason) {
  const std::string got = failure(source);
  CHECK(got.find("hostile.gguf") != std::string::npos);
  if (got.find(reason) == std::string::npos) CHECK_EQ(got, reason);
}

TEST("rendering stops soon after it is cancelled, and at its deadline") {
  const ChatTemplate chat("{% for i in range(2000) %}{% endfor %}" + kPrint, "", "", "long.gguf");
  const std::vector<ChatMessage> messages{{Role::kUser, "hello"}};
  CHECK_EQ(chat.render(messages).size(), std::size_t{1});
  CancelToken cancelled;
  cancelled.cancel();
  CHECK_FAILS(Code::kCancelled, chat.render(messages, {}, &cancelled));
  const CancelToken late(CancelToken::Clock::now());
  bool out_of_time = false;
  try {
    chat.render(messages, {}, &late);
  } catch (const OutOfTime&) {
    out_of_time = true;
  }
  CHECK(out_of_time);
}

TEST("a template that takes too many steps is stopped") {
  const std::vector<std::string> loops = {
      "{% for i in range(10**12) %}{% endfor %}",
      "{% for i in range(1000000000000) %}x{% endfor %}",
      "{% for i in range(0, -1000000000000, -1) %}x{% endfor %}",
      "{% for a in range(3000) %}{% for b in range(3000) %}{% for c in range(3000) %}{% endfor %}{% endfor %}{% endfor "
      "%}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
      "{% set a = [1] %}{% for i in range(100000) %}{% set _ = a.append(a|length) %}{% set b = a|sort %}{% endfor %}",
      "{% set a = range(60000) %}{% for i in range(100000) %}{% set b = a|list %}{% endfor %}",
      "{% set a = range(60000) %}{% for i in range(100000) %}{{ -1 in a }}{% endfor %}",
      "{% for i in [1, 2] recursive %}{% if loop.depth < 40 %}{{ loop([1, 2]) }}{% endif %}{% endfor %}",
  };
  for (const std::string& loop : loops) CHECK(!failure(loop + kPrint).empty());
  check_fails(loops[1] + kPrint, "it takes too many steps");
}

TEST("a template that makes too much text is stopped") {
  const std::vector<std::string> bombs = {
      "{{ 'x' * 1000000000000 }}",
      "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
      "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s|replace('x', 'xxxx') %}{% endfor %}",
      "{% set ns = namespace(s='x\\n') %}{% for i in range(60) %}{% set ns.s = ns.s|indent(4000) ~ ns.s %}{% endfor %}",
      "{{ [1, 2, 3]|tojson(indent=1000000000) }}{{ 'x'|indent(1000000000000) }}{{ 'x' * 100000000000 }}",
      "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(18) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
      "{% for i in range(10000) %}{{ (ns.s ~ 'b') in ns.s }}{% endfor %}",
  };
  for (const std::string& bomb : bombs) CHECK(!failure(bomb + kPrint).empty());
}

TEST("a template that is nested too deeply is refused") {
  check_fails("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}" + kPrint, "it is nested too deeply");
  check_fails("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}" + kPrint, "it is nested too deeply");
  check_fails(repeated("{% with %}", 5'000) + repeated("{% endwith %}", 5'000) + kPrint, "nested too deeply");
  check_fails("{{ " + repeated("(", 100'000) + "1" + repeated(")", 100'000) + " }}" + kPrint,
              "the expression is too long");
  check_fails("{{ " + repeated("(", 1'000) + "1" + repeated(")", 1'000) + " }}" + kPrint, "nested too deeply");
  check_fails("{{ " + repeated("not ", 1'000) + "1 }}" + kPrint, "nested too deeply");
  check_fails("{{ " + repeated("- ", 1'000) + "1 }}" + kPrint, "nested too deeply");
  check_fails("{{ f" + repeated("()", 1'000) + " }}" + kPrint, "nested too deeply");
  check_fails("{{ 1" + repeated(" + 1", 50'000) + " }}" + kPrint, "the expression is too long");
  check_fails("{{ 1" + repeated(" + 1", 1'900) + " }}" + kPrint, "nested too deeply");
  check_fails(repeated("{% if 1 %}", 5'000) + repeated("{% endif %}", 5'000) + kPrint, "nested too deeply");
  check_fails("{% if 1 %}" + repeated("{% elif 1 %}", 5'000) + "{% endif %}" + kPrint, "nested too deeply");
  check_fails(repeated("x", kMaxTemplateBytes + 1), "more than");
}

TEST("values nested deeper than the stack, and values that contain themselves, are freed") {
  const std::vector<std::string> deep = {
      "{% set ns = namespace(l=[]) %}{% for i in range(2000) %}{% set ns.l = [ns.l] %}{% endfor %}",
      "{% set ns = namespace(l=namespace()) %}{% for i in range(2000) %}{% set ns.l = namespace(l=ns.l) %}{% endfor %}",
      "{% set a = [] %}{% set _ = a.append(a) %}",
      "{% set ns = namespace() %}{% set ns.self = ns %}",
      "{% macro m(x) %}{% endmacro %}{% set ns = namespace() %}{% set ns.f = m %}{% set ns.g = [].append %}",
  };
  for (const std::string& source : deep) CHECK_EQ(failure(source + kPrint), std::string());
  check_fails("{% set a = [] %}{% set _ = a.append(a) %}{{ a }}" + kPrint, "nested too deeply");
  check_fails("{% set a = [] %}{% set _ = a.append(a) %}{{ a|tojson }}" + kPrint, "nested too deeply");
  check_fails("{% set a = [] %}{% set _ = a.append(a) %}{{ a|string }}" + kPrint, "nested too deeply");
  check_fails("{% set ns = namespace() %}{% set ns.self = ns %}{{ ns|string }}" + kPrint, "nested too deeply");
  check_fails(
      "{% set ns = namespace(t=(1, 2)) %}{% for i in range(2000) %}{% set ns.t = (ns.t, 1) %}{% endfor %}"
      "{% set d = {ns.t: 1} %}" +
          kPrint,
      "nested too deeply");
  check_fails("{% set a = [] %}{% set _ = a.append(x=a) %}{% set d = {a[0]: 1} %}" + kPrint, "");
}

TEST("what the engine does not know is an error that names it") {
  check_fails("{{ messages|frobnicate }}", "Unknown filter 'frobnicate'");
  check_fails("{{ 1 is frobnicated }}" + kPrint, "Unknown test 'frobnicated'");
  check_fails("{% frobnicate %}" + kPrint, "Unknown statement: frobnicate");
  check_fails("{{ 'abc", "unexpected end of input");
  check_fails("{% for x in messages %}" + kPrint, "Unexpected token");
  check_fails("nothing of a message", "does not print the content");
  check_fails("", "does not print the content");
  check_fails("{{ 1 % 0 }}" + kPrint, "Division by zero");
  check_fails("{{ 1 is divisibleby(0) }}" + kPrint, "division by zero");
  check_fails("{% break %}" + kPrint, "Break statement executed");
}

TEST("input stays input in whatever a template does with it") {
  const std::string m = "messages[0].content";
  const std::vector<std::string> uses = {
      m + ".split('b')[0]",
      m + ".split('b')[1]",
      m + ".split('b', 1)[0]",
      m + ".rsplit('b')[0]",
      m + "|replace('b', 'c')",
      m + "|replace('', '-')",
      "'xbx'|replace('b', " + m + ")",
      m + "[0]",
      m + "[1:3]",
      m + "[::-1]",
      m + "[::2]",
      m + "|upper",
      m + "|lower",
      m + "|title",
      m + "|capitalize",
      m + "|trim",
      m + ".strip('x')",
      m + "|indent(2)",
      "'a\\nb'|indent(" + m + ", first=true)",
      m + "|tojson",
      m + "|string",
      m + "|safe",
      m + "|default('x')",
      "[" + m + "]|join(',')",
      "['a', 'b']|join(" + m + ")",
      "[" + m + "]|string",
      "[" + m + "]|tojson",
      "({" + m + ": 1})|tojson",
      "({" + m + ": 1})|string",
      "({'a': " + m + "})|string",
      "['a', " + m + "] ~ ''",
      m + " ~ 'x'",
      "'x' + " + m,
      m + " * 2",
      "'{}-{}'.format(" + m + ", 1)",
      m + ".format(1)",
      "[" + m + "]|first",
      "[" + m + "]|last",
      "[" + m + "]|sort|first",
      "[" + m + "]|min",
      "[" + m + "]|reverse|first",
      "(" + m + ", 1)|string",
      "[[" + m + "]]|string",
      "messages|tojson",
      "messages|string",
      "messages|map(attribute='content')|list|join",
      "({" + m + ": 1}).keys()|first",
      "({" + m + ": 1}).items()|string",
      "strftime_now(" + m + ")",
      "[1]|tojson(separators=[" + m + ", ':'])",
      "(" + m + "|tojson)[1]",
      "((" + m + "|tojson) ~ 'q').split('b')[0]",
      "namespace(x=" + m + ").x",
      "({'a': " + m + "})['a']",
  };
  for (const std::string& use : uses) {
    const std::vector<std::string> ways = {
        "{{ " + use + " }}",
        "{% set x = " + use + " %}{{ x }}",
        "{% set x %}{{ " + use + " }}{% endset %}{{ x }}",
        "{% macro f(v) %}{{ v }}{% endmacro %}{{ f(" + use + ") }}",
        "{% filter upper %}{{ " + use + " }}{% endfilter %}",
        "{% for i in [1] %}{{ " + use + " }}{% endfor %}",
    };
    for (const std::string& way : ways) {
      // The first print makes the template acceptable; the message has characters that no template here has.
      const ChatTemplate hostile("\x01{{ messages[0].content }}\x02" + way, "", "", "hostile");
      std::string after;
      bool behind = false;
      for (const PromptPart& part : hostile.render(std::vector<ChatMessage>{{Role::kUser,
                                                                             "Z\xC2\xA7"
                                                                             "b"
                                                                             "\xC2\xA7Zb Z"}})) {
        if (part.input) continue;
        if (part.text.find_first_of("Zz\xC2\xA7") != std::string::npos) CHECK_EQ(way, part.text);
        behind = behind || part.text.find('\x02') != std::string::npos;
      }
      CHECK(behind);
    }
  }
}

TEST("random templates never crash") {
  std::mt19937_64 random(test::seed());
  const std::vector<std::string> words = {
      "{{",     "}}",      "{%",       "%}",     "{#",       "#}",     "-",         " ",
      "for",    "in",      "if",       "elif",   "else",     "endif",  "endfor",    "set",
      "endset", "macro",   "endmacro", "call",   "endcall",  "filter", "endfilter", "is",
      "not",    "and",     "or",       "x",      "messages", "loop",   "ns",        "namespace",
      "range",  "content", "'a'",      "\"b\"",  "1",        "0",      "-1",        "9223372036854775807",
      "1.5",    "(",       ")",        "[",      "]",        "{",      "}",         ".",
      ",",      ":",       "|",        "~",      "+",        "*",      "/",         "%",
      "==",     "<",       "=",        "split",  "replace",  "join",   "tojson",    "length",
      "slice",  "sort",    "first",    "string", "items",    "append", "pop",       "format",
      "indent", "break",   "continue", "\n",     "defined",  "odd"};
  for (int round = 0; round < 4'000; ++round) {
    std::string source = random() % 2 == 0 ? kPrint : "";
    for (std::size_t left = random() % 40; left > 0; --left) {
      source += words[random() % words.size()];
      if (random() % 3 == 0) source += ' ';
    }
    try {
      ChatTemplate(source + kPrint, "<s>", "</s>", "random").render(std::vector<ChatMessage>{{Role::kUser, "hello"}});
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace lorekeep::lm
