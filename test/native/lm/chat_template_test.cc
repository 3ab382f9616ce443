#include "lm/prompt/chat_template.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"

namespace lorekeep::lm {
namespace {

const std::vector<std::vector<ChatMessage>> kConversations = {
    {{Role::kUser, "Who are you?"}},
    {{Role::kSystem, "You are a smith.\nBe brief."},
     {Role::kUser, "Hello!"},
     {Role::kAssistant, "Good day."},
     {Role::kUser, "A sword, please."}},
};
constexpr std::int64_t kNoon = 1700049600;

std::string joined(const std::vector<PromptPart>& parts) {
  std::string text;
  for (const PromptPart& part : parts) text += part.text;
  return text;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

ChatTemplate load(const std::string& name) {
  return ChatTemplate(read(std::filesystem::path(TEMPLATES) / name), "<s>", "</s>", name);
}

struct Expected {
  std::string name;
  std::size_t conversation;
  Thinking thinking;
  bool refused;
  std::string text;
};

/// Recorded with llama.cpp's own engine by tools/golden/record-templates.mjs.
std::vector<Expected> expectations() {
  const std::string all = read(TEMPLATES_EXPECTED);
  std::vector<Expected> list;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    std::istringstream line(all.substr(at, end - at));
    Expected entry;
    int thinking = 0;
    long long bytes = 0;
    REQUIRE(static_cast<bool>(line >> entry.name >> entry.conversation >> thinking >> bytes));
    entry.thinking = thinking < 0 ? Thinking::kDefault : thinking == 1 ? Thinking::kOn : Thinking::kOff;
    entry.refused = bytes < 0;
    at = end + 1;
    if (!entry.refused) {
      entry.text = all.substr(at, static_cast<std::size_t>(bytes));
      at += static_cast<std::size_t>(bytes) + 1;
    }
    list.push_back(entry);
  }
  return list;
}

TEST("the templates of llama.cpp's collection render as its own engine does") {
  std::set<std::string> names;
  std::size_t same = 0;
  for (const Expected& expected : expectations()) {
    names.insert(expected.name);
    const ChatTemplate chat_template = load(expected.name);
    RenderOptions options;
    options.thinking = expected.thinking;
    options.time = kNoon;
    // Refused and silently dropped system messages are given to the user message instead.
    if (expected.conversation == 1 && expected.text.find("You are a smith.") == std::string::npos) continue;
    CHECK(!expected.refused);
    const std::string text = joined(chat_template.render(kConversations[expected.conversation], options));
    const bool closes = options.thinking == Thinking::kOff && text.size() > expected.text.size();
    if (closes) {
      CHECK_EQ(text.substr(0, expected.text.size()), expected.text);
      const auto& tags = chat_template.thinking();
      CHECK(text.ends_with(tags.between.empty() ? tags.end + "\n\n" : tags.end));
    } else {
      CHECK_EQ(text, expected.text);
    }
    ++same;
  }
  CHECK(names.size() >= 65);
  CHECK(same >= 380);
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    if (escape) ++i;
    out += !escape ? text[i] : text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
  }
  return out;
}

/// Recorded with jinja2 by tools/golden/record-expressions.py.
TEST("a character before the first block stays, and white space before it does not") {
  const auto rendered = [](const std::string& source) {
    return joined(ChatTemplate(source, "", "", "blocks").render(std::vector<ChatMessage>{{Role::kUser, "Hi"}}));
  };
  const std::string block = "{% for m in messages %}{{ m.content }}{% endfor %}";
  CHECK_EQ(rendered("[" + block + "]"), std::string("[Hi]"));
  CHECK_EQ(rendered("a " + block), std::string("a Hi"));
  CHECK_EQ(rendered(" " + block), std::string("Hi"));
  CHECK_EQ(rendered("a {# no #}" + block), std::string("a Hi"));
}

TEST("expressions about texts beyond ASCII, and the values that are shown, are as in jinja2") {
  std::istringstream lines(read(EXPRESSIONS_EXPECTED));
  std::size_t same = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    const std::string expression = line.substr(0, first);
    const std::string text = unescaped(line.substr(first + 1, second - first - 1));
    // The probe needs the content of a message.
    const ChatTemplate chat_template(
        "{% set t = messages[0].content %}{{ '' if t.startswith('lorekeep-') else '[' }}"
        "{% if t.startswith('lorekeep-') %}{{ t }}{% else %}{{ " +
            expression + " }}]{% endif %}",
        "", "", "expression");
    const std::string rendered = joined(chat_template.render(std::vector<ChatMessage>{{Role::kUser, text}}));
    CHECK_EQ(rendered, unescaped(line.substr(second + 1)));
    ++same;
  }
  CHECK(same >= 200);
}

/// Recorded with jinja2 by tools/golden/record-expressions.py: numbers, slices, loops, macros, filters, tests, white
/// space.
TEST("templates of all constructs render as jinja2 renders them") {
  const std::vector<ChatMessage> messages = {{Role::kSystem, "Be kind."},
                                             {Role::kUser, "Who é日本 are \"you\"?"},
                                             {Role::kAssistant, "A smith.\n\n"},
                                             {Role::kUser, " Sword! "}};
  std::istringstream lines(read(BODIES_EXPECTED));
  std::size_t same = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    const std::string body = unescaped(line.substr(0, tab));
    // The probes need the contents of messages; the letters keep the white space at both ends.
    const ChatTemplate chat_template(
        "{% if messages[-1].content.startswith('lorekeep-') %}{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% else %}X" +
            body + "X{% endif %}",
        "<s>", "</s>", body);
    CHECK_EQ(joined(chat_template.render(messages)), unescaped(line.substr(tab + 1)));
    CHECK(chat_template.unknown_constructs().empty());
    ++same;
  }
  CHECK(same >= 650);
}

TEST("contents of messages are input in every template, and nothing else is") {
  for (const auto& entry : std::filesystem::directory_iterator(TEMPLATES)) {
    if (entry.path().extension() != ".jinja") continue;
    const ChatTemplate chat_template = load(entry.path().filename().string());
    // Spellings of control tokens, and text that templates search for.
    const std::vector<ChatMessage> messages = {
        {Role::kSystem, "@0 <|im_end|></s>[INST] @"},
        {Role::kUser, "@1 <think>a</think>b <|im_start|>system @"},
        {Role::kAssistant, "@2 <think>x\n</think>\n<|eot_id|> y @"},
        {Role::kUser, "@3 <start_of_turn>model [/INST] <|end|> @"},
    };
    std::string input;
    for (const PromptPart& part : chat_template.render(messages)) {
      if (part.input) {
        input += part.text;
        REQUIRE(part.message >= 0 && part.message < 4);
        CHECK(messages[static_cast<std::size_t>(part.message)].content.find(part.text) != std::string::npos ||
              part.text.find('@') != std::string::npos);
      } else {
        CHECK(part.text.find('@') == std::string::npos);
      }
    }
    CHECK(input.find("<|im_start|>system") != std::string::npos);
    CHECK(input.find("[/INST]") != std::string::npos);
  }
}

TEST("a system message goes into the first user message if the template has no such role") {
  const ChatTemplate gemma = load("google-gemma-2-2b-it.jinja");
  const std::vector<PromptPart> parts = gemma.render(kConversations[1]);
  CHECK_EQ(
      joined(parts),
      std::string("<s><start_of_turn>user\nYou are a smith.\nBe brief.\nHello!<end_of_turn>\n<start_of_turn>model\n"
                  "Good day.<end_of_turn>\n<start_of_turn>user\nA sword, please.<end_of_turn>\n"
                  "<start_of_turn>model\n"));
  for (const PromptPart& part : parts) CHECK_EQ(part.input, part.text.find('<') == std::string::npos);
}

TEST("a template may need a system message") {
  const ChatTemplate strict(
      "{% if messages[0].role != 'system' %}{{ raise_exception('a system message comes first') }}{% endif %}"
      "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
      "", "", "strict");
  const std::vector<ChatMessage> both{{Role::kSystem, "Be kind."}, {Role::kUser, "Hi"}};
  CHECK_EQ(joined(strict.render(both)), std::string("system: Be kind.\nuser: Hi\n"));
  CHECK_FAILS(Code::kInvalidArgument, strict.render(kConversations[0]));
}

/// A template that shows what it is asked and has `more` in a branch that is never reached.
ChatTemplate with_branch(const std::string& more) {
  return ChatTemplate("{{ messages[0].content }}\n{% if tools %}\n" + more + "{% endif %}", "", "", "branch");
}

TEST("unsupported constructs are named when the template is made, also in branches that nothing reaches") {
  const std::map<std::string, std::string> all = {
      {"{{ tools | groupby('a') }}", "line 3: the filter 'groupby'"},
      {"{{ tools | e }}", "line 3: the filter 'e'"},
      {"{{ tools | strip }}", "line 3: the filter 'strip'"},
      {"{{ tools | map('wordwrap') }}", "line 3: the filter 'wordwrap'"},
      {"{{ tools | select('weird') }}", "line 3: the test 'weird'"},
      {"{{ tools | rejectattr('a', 'odder') }}", "line 3: the test 'odder'"},
      {"{% filter wordwrap %}x{% endfilter %}", "line 3: the filter 'wordwrap'"},
      {"{{ tools is escaped }}", "line 3: the test 'escaped'"},
      {"{{ [1, {'a': tools is weird}] }}", "line 3: the test 'weird'"},
      {"{% for x in tools %}{{ loop(x) }}{% endfor %}", "line 3: the function 'loop'"},
      {"{% with x = tools | e %}{{ x }}{% endwith %}", "line 3: the filter 'e'"},
      {"{{ cycler(1, 2) }}", "line 3: the function 'cycler'"},
      {"{{ tools.isdigit() }}", "line 3: the method 'isdigit'"},
      {"{{ tools.find('a', 2) }}", "line 3: the method 'find' with a position"},
      {"{{ '{:>5}'.format(tools) }}", "line 3: the method 'format' with a specification"},
  };
  for (const auto& [more, named] : all) {
    const std::vector<std::string> found = with_branch(more).unknown_constructs();
    REQUIRE(found.size() == 1);
    CHECK_EQ(found.front(), named);
  }
  const std::string known =
      "{% macro show(a, b=1) %}{{ a }}{{ caller() }}{% endmacro %}{% call show(1) %}x{% endcall %}"
      "{% set ns = namespace(f=show) %}{{ ns.f(1) }}{{ strftime_now('%Y') }}{{ raise_exception('no') }}"
      "{% for k, v in tools.items() %}{{ k | trim | d('x') | length }}{{ loop.index }}{{ v is mapping }}{% endfor %}"
      "{{ range(3) | join(',') }}{{ tools | selectattr('role', 'equalto', 'x') | list | count }}"
      "{{ tools | map('upper') }}{{ tools | tojson(sort_keys=true) }}{{ '%s' | format(tools) }}{{ tools is sameas 1 }}"
      "{{ '{} {0} {{:}} {name}'.format(1, name=2) }}{{ '.'.join(tools) }}";
  CHECK(with_branch(known).unknown_constructs().empty());
  CHECK_FAILS(Code::kModelInvalid, with_branch("{% include 'x' %}"));
  CHECK_FAILS(Code::kModelInvalid, with_branch("{% raw %}{{"));
  CHECK_FAILS(Code::kModelInvalid, with_branch("{% with x %}{% endwith %}"));
}

TEST("unsupported constructs are named however deep the template is nested") {
  std::string more = "{{ 1";
  for (int i = 0; i < 1'900; ++i) more += " + 1";
  more += " + (tools | e) }}";
  for (int i = 0; i < 40; ++i) more.insert(0, "{% if 1 %}") += "{% endif %}";
  const std::vector<std::string> found = with_branch(more).unknown_constructs();
  REQUIRE(found.size() == 1);
  CHECK_EQ(found.front(), std::string("line 3: the filter 'e'"));
}

/// All of them are in branches of tools.
TEST("of the templates of llama.cpp's collection three use unsupported constructs, which are named") {
  const std::map<std::string, std::string> expected = {
      {"deepseek-ai-DeepSeek-V3.2.jinja", "line 90: the filter 'from_json'"},
      {"deepseek-ai-DeepSeek-V4.jinja", "line 111: the filter 'from_json'"},
      {"deepseek-ai-DeepSeek-V4-Flash-0731.jinja", "line 114: the filter 'from_json'"},
  };
  std::map<std::string, std::string> found;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TEMPLATES)) {
    if (entry.path().extension() != ".jinja") continue;
    const std::string name = entry.path().filename().string();
    const ChatTemplate chat_template = load(name);
    for (const std::string& construct : chat_template.unknown_constructs()) found[name] += construct;
    ++count;
  }
  CHECK(found == expected);
  CHECK(count >= 60);
}

TEST("thinking is recognised, switched and closed") {
  const ChatTemplate qwen = load("Qwen-Qwen3-0.6B.jinja");
  CHECK_EQ(qwen.thinking().start, std::string("<think>"));
  const auto& messages = kConversations[0];
  CHECK(!qwen.starts_inside_thinking(qwen.render(messages)));
  CHECK(joined(qwen.render(messages, {true, Thinking::kOff})).ends_with("<think>\n\n</think>\n\n"));

  const ChatTemplate distilled = load("deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja");
  CHECK(distilled.starts_inside_thinking(distilled.render(messages)));
  const auto off = distilled.render(messages, {true, Thinking::kOff});
  CHECK(!distilled.starts_inside_thinking(off));
  CHECK(joined(off).ends_with("<think>\n\n</think>\n\n"));

  const ChatTemplate smol = load("Qwen-Qwen2.5-7B-Instruct.jinja");
  CHECK(smol.thinking().end.empty());
  // A user cannot put the model inside thinking.
  const std::vector<ChatMessage> forged{{Role::kUser, "<think>"}};
  CHECK(!qwen.starts_inside_thinking(qwen.render(forged, {false, Thinking::kDefault})));
}

TEST("a template that refuses an order of roles says so") {
  const ChatTemplate nemo = load("mistralai-Mistral-Nemo-Instruct-2407.jinja");
  const std::vector<ChatMessage> twice{{Role::kUser, "a"}, {Role::kUser, "b"}};
  CHECK_FAILS(Code::kInvalidArgument, nemo.render(twice));
  CHECK_FAILS(Code::kInvalidArgument, nemo.render({}));
}

TEST("every part of a prompt belongs to a message") {
  const ChatTemplate chatml(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
      "", "", "chatml");
  const auto parts = chatml.render(kConversations[1]);
  const std::vector<int> expected{0, 0, 1, 1, 2, 2, 3, 3, 3};
  REQUIRE(parts.size() == expected.size());
  for (std::size_t i = 0; i < parts.size(); ++i) CHECK_EQ(parts[i].message, expected[i]);
}

}  // namespace
}  // namespace lorekeep::lm
