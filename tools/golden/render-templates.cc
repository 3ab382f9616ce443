// Renders chat templates with the engine of llama.cpp as it comes, without lorekeep's patch, and writes what the tests
// of native/lm compare with. record-templates.mjs builds and runs it.
// render-templates TEMPLATE... > FILE
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"

// The JSON adapter of llama.cpp wants it; no rendering calls it.
extern "C" void ggml_abort(const char*, int, const char*, ...) { std::abort(); }

namespace {

struct Message {
  const char* role;
  const char* content;
};

const std::vector<std::vector<Message>> kConversations = {
    {{"user", "Who are you?"}},
    {{"system", "You are a smith.\nBe brief."}, {"user", "Hello!"}, {"assistant", "Good day."}, {"user", "A sword, please."}},
};

std::string render(const std::string& source, const std::vector<Message>& messages, int thinking) {
  jinja::lexer lexer;
  jinja::program program = jinja::parse_from_tokens(lexer.tokenize(source));
  jinja::context context(source);
  context.current_time = 1700049600;  // noon in Greenwich, so that the date is the same in nearly every time zone
  auto list = jinja::mk_val<jinja::value_array>();
  for (const Message& message : messages) {
    auto object = jinja::mk_val<jinja::value_object>();
    object->insert("role", jinja::mk_val<jinja::value_string>(message.role));
    object->insert("content", jinja::mk_val<jinja::value_string>(message.content));
    list->push_back(object);
  }
  context.set_val("messages", list);
  context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(true));
  context.set_val("bos_token", jinja::mk_val<jinja::value_string>("<s>"));
  context.set_val("eos_token", jinja::mk_val<jinja::value_string>("</s>"));
  if (thinking >= 0) context.set_val("enable_thinking", jinja::mk_val<jinja::value_bool>(thinking == 1));
  jinja::runtime runtime(context);
  std::string text;
  const jinja::value_string parts = jinja::runtime::gather_string_parts(runtime.execute(program));
  for (const auto& part : parts->val_str.parts) text += part.val;
  return text;
}

}  // namespace

// One entry per rendering: a line "NAME CONVERSATION THINKING BYTES" (BYTES is -1 if the template refused), then the
// bytes and a line feed. THINKING: -1 not given, 0 off, 1 on.
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    const std::string source((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string path = arguments[i];
    const std::string name = path.substr(path.rfind('/') + 1);
    for (std::size_t conversation = 0; conversation < kConversations.size(); ++conversation) {
      for (int thinking = -1; thinking <= 1; ++thinking) {
        try {
          const std::string text = render(source, kConversations[conversation], thinking);
          std::printf("%s %zu %d %zu\n", name.c_str(), conversation, thinking, text.size());
          std::fwrite(text.data(), 1, text.size(), stdout);
          std::printf("\n");
        } catch (const std::exception&) {
          std::printf("%s %zu %d -1\n", name.c_str(), conversation, thinking);
        }
      }
    }
  }
}
