#include "lm/prompt/chat_template.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <exception>
#include <optional>
#include <utility>

#include "core/values/error.h"
#include "core/values/utf8.h"
#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "lm/prompt/template_check.h"

namespace lorekeep::lm {
namespace {

// Some 0.2 microseconds per step: a template without end is stopped after about 100 milliseconds. The largest template
// of llama.cpp's collection needs 40,000 steps for a short conversation.
constexpr std::uint64_t kSteps = 400'000;
constexpr std::uint64_t kStepsPerMessage = 4'000;
constexpr std::uint64_t kBytes = std::uint64_t{96} << 20;
constexpr std::uint64_t kBytesPerMessage = std::uint64_t{32} << 10;  // for its values, most of them freed at once
constexpr std::uint64_t kBytesPerInputByte = 100;  // templates copy a message's content some dozen times
constexpr int kDepth = 400;

struct KnownTags {
  const char* start;
  const char* end;
  const char* between = "";
};

constexpr std::array<KnownTags, 8> kKnownTags{{
    {"<think>", "</think>"},
    {"[THINK]", "[/THINK]"},
    {"<seed:think>", "</seed:think>"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},
    {"<|inner_prefix|>", "<|inner_suffix|>"},
    {"<thought>", "</thought>"},
    {"<|channel>", "<channel|>"},
    {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|><|start|>assistant"},
}};

const char* role_name(Role role) noexcept {
  switch (role) {
    case Role::kSystem: return "system";
    case Role::kUser: return "user";
    case Role::kAssistant: return "assistant";
  }
  return "user";
}

std::string with_line_feeds(const std::string& source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

/// From the engine's report: its first place ("line 3, column 5") and its last sentence.
std::string first_line(std::string_view text) {
  return repair_utf8(utf8_prefix(text.substr(0, text.find('\n')), 200));
}

std::string short_report(std::string_view report) {
  std::string place;
  if (const std::size_t at = report.find(" at line "); at != std::string_view::npos) {
    place = std::string(report.substr(at + 4, report.find(" in source", at) - at - 4)) + ": ";
  }
  if (const std::size_t error = report.rfind("Error: "); error != std::string_view::npos) {
    report.remove_prefix(error + 7);
  }
  return place + first_line(report);
}

/// One message as the template sees it: contents of messages that were joined keep their origin.
struct View {
  Role role;
  jinja::string content;
};

}  // namespace

struct ChatTemplate::Impl {
  std::string source;
  std::string bos;
  std::string eos;
  std::string name;
  jinja::program program;
  std::vector<std::string> unknown;
  ThinkingTags tags;
  bool has_switch = false;
  bool has_system = true;
  bool typed_content = false;  // the template takes a list of { type, text } only

  [[noreturn]] void fail_template(Code code, const std::string& reason) const {
    fail(code, "the chat template of " + name + " failed: " + reason, {{"model", name}});
  }

  void parse();
  void probe();
  bool shows(std::span<const ChatMessage> messages, std::string_view text) const;
  std::vector<View> views(std::span<const ChatMessage> messages) const;
  jinja::value message_value(const View& view) const;
  std::vector<PromptPart> execute(std::span<const ChatMessage> messages, const RenderOptions& options,
                                  const CancelToken* cancel = nullptr) const;
  void close_thinking(std::vector<PromptPart>& parts) const;
  bool inside_thinking(std::span<const PromptPart> parts) const;
};

void ChatTemplate::Impl::parse() {
  if (source.size() > kMaxTemplateBytes) {
    fail_template(Code::kModelInvalid,
                  "it has " + std::to_string(source.size()) + " bytes, more than " + std::to_string(kMaxTemplateBytes));
  }
  source = with_line_feeds(source);
  try {
    jinja::lexer lexer;
    program = jinja::parse_from_tokens(lexer.tokenize(source));
    unknown = lm::unknown_constructs(program, source);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail_template(Code::kModelInvalid, first_line(error.what()));
  }
}

void ChatTemplate::Impl::probe() {
  for (const auto& [start, end, between] : kKnownTags) {
    if (source.find(end) == std::string::npos) continue;
    tags = {start, end, between};
    break;
  }
  const ChatMessage user{Role::kUser, "lorekeep-user-probe"};
  const ChatMessage system{Role::kSystem, "lorekeep-system-probe"};
  const std::array<ChatMessage, 2> both{system, user};
  const std::span<const ChatMessage> alone = std::span(both).subspan(1);
  // The shortest conversation that the template takes: some want a system message first, some a list as content.
  std::span<const ChatMessage> least;
  for (const bool typed : {false, true}) {
    for (const std::span<const ChatMessage> messages : {alone, std::span<const ChatMessage>(both)}) {
      if (!least.empty()) break;
      typed_content = typed;
      if (shows(messages, user.content)) least = messages;
    }
  }
  if (least.empty()) {
    typed_content = false;
    execute(alone, {});  // throws the reason, unless the template ignores contents
    fail_template(Code::kModelInvalid, "it does not print the content of a message");
  }
  has_system = least.size() == both.size() || (shows(both, system.content) && shows(both, user.content));
  if (tags.end.empty()) return;
  RenderOptions on, off;
  on.thinking = Thinking::kOn;
  off.thinking = Thinking::kOff;
  on.time = off.time = 1;
  const auto texts = [](const std::vector<PromptPart>& parts) {
    std::string all;
    for (const PromptPart& part : parts) all += part.text;
    return all;
  };
  has_switch = texts(execute(least, on)) != texts(execute(least, off));
}

/// Whether the rendered messages contain the text.
bool ChatTemplate::Impl::shows(std::span<const ChatMessage> messages, std::string_view text) const {
  try {
    for (const PromptPart& part : execute(messages, {})) {
      if (part.text.find(text) != std::string::npos) return true;
    }
  } catch (const Error&) {
  }
  return false;
}

std::vector<View> ChatTemplate::Impl::views(std::span<const ChatMessage> messages) const {
  std::vector<View> all;
  std::optional<jinja::string> system;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    jinja::string content(repair_utf8(messages[i].content), true, static_cast<int>(i));
    if (!has_system && messages[i].role == Role::kSystem) {
      if (system) system->append(jinja::string("\n", true, static_cast<int>(i)));
      system = system ? system->append(content) : content;
      continue;
    }
    if (system && messages[i].role == Role::kUser) {
      const int origin = system->parts.back().origin;
      system->append(jinja::string("\n", true, origin)).append(content);
      content = *std::exchange(system, std::nullopt);
    }
    all.push_back({messages[i].role, std::move(content)});
  }
  if (system) all.push_back({Role::kUser, *system});
  return all;
}

jinja::value ChatTemplate::Impl::message_value(const View& view) const {
  auto message = jinja::mk_val<jinja::value_object>();
  message->insert("role", jinja::mk_val<jinja::value_string>(std::string(role_name(view.role))));
  jinja::value content = jinja::mk_val<jinja::value_string>(view.content);
  if (typed_content) {
    auto part = jinja::mk_val<jinja::value_object>();
    part->insert("type", jinja::mk_val<jinja::value_string>(std::string("text")));
    part->insert("text", content);
    auto list = jinja::mk_val<jinja::value_array>();
    list->push_back(part);
    content = list;
  }
  message->insert("content", content);
  return message;
}

std::vector<PromptPart> ChatTemplate::Impl::execute(std::span<const ChatMessage> messages, const RenderOptions& options,
                                                    const CancelToken* cancel) const {
  std::uint64_t input = 0;
  for (const ChatMessage& message : messages) input += message.content.size();
  const std::uint64_t count = messages.size();
  jinja::budget budget(kSteps + count * (kStepsPerMessage + count),
                       kBytes + count * kBytesPerMessage + kBytesPerInputByte * input, kDepth);
  std::vector<PromptPart> parts;
  std::optional<std::string> refusal;  // of the template, by raise_exception()
  std::exception_ptr stop;             // what the cancel token threw: the interpreter would wrap it
  budget.stopped = [cancel, &stop] {
    try {
      if (cancel != nullptr) cancel->check();
    } catch (...) {
      stop = std::current_exception();
    }
    return stop != nullptr;
  };
  try {
    jinja::context context(source);
    if (options.time != 0) context.current_time = static_cast<std::time_t>(options.time);
    auto list = jinja::mk_val<jinja::value_array>();
    for (const View& view : views(messages)) list->push_back(message_value(view));
    context.set_val("messages", list);
    const auto raise = [&refusal](const jinja::func_args& args) -> jinja::value {
      args.ensure_vals<jinja::value_string>();
      refusal = args.get_pos(0)->as_string().str();
      throw jinja::raised_exception(*refusal);
    };
    context.set_val("raise_exception", jinja::mk_val<jinja::value_func>("raise_exception", raise));
    context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(options.add_generation_prompt));
    context.set_val("bos_token", jinja::mk_val<jinja::value_string>(bos));
    context.set_val("eos_token", jinja::mk_val<jinja::value_string>(eos));
    if (options.thinking != Thinking::kDefault) {
      context.set_val("enable_thinking", jinja::mk_val<jinja::value_bool>(options.thinking == Thinking::kOn));
    }
    jinja::runtime runtime(context);
    const jinja::value_string text = jinja::runtime::gather_string_parts(runtime.execute(program));
    for (const jinja::string_part& part : text->val_str.parts) {
      if (part.val.empty()) continue;
      parts.push_back({part.val, part.is_input, part.origin});
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    if (stop) std::rethrow_exception(stop);
    if (budget.exceeded != nullptr) fail_template(Code::kModelInvalid, budget.exceeded);
    if (!refusal) fail_template(Code::kModelInvalid, short_report(error.what()));
    fail(Code::kInvalidArgument, "the chat template of " + name + " refuses these messages: " + first_line(*refusal),
         {{"model", name}});
  }
  return parts;
}

bool ChatTemplate::Impl::inside_thinking(std::span<const PromptPart> parts) const {
  if (tags.start.empty()) return false;
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (parts[i].input) return false;
    const std::size_t start = parts[i].text.rfind(tags.start);
    const std::size_t end = parts[i].text.rfind(tags.end);
    if (start == std::string::npos && end == std::string::npos) continue;
    return start != std::string::npos && (end == std::string::npos || end < start);
  }
  return false;
}

/// Ends thinking that the prompt began, or gives an empty block to a model that would begin one by itself.
void ChatTemplate::Impl::close_thinking(std::vector<PromptPart>& parts) const {
  if (tags.end.empty() || parts.empty()) return;
  std::string closing;
  if (!tags.between.empty()) {
    closing = inside_thinking(parts) ? tags.between + tags.end : tags.end;
  } else if (inside_thinking(parts)) {
    closing = "\n" + tags.end + "\n\n";
  } else if (!has_switch) {
    closing = tags.start + "\n\n" + tags.end + "\n\n";
  }
  if (closing.empty()) return;
  if (parts.back().input) parts.push_back({"", false, -1});
  parts.back().text += closing;
}

ChatTemplate::ChatTemplate(std::string source, std::string bos, std::string eos, std::string name)
    : impl_(std::make_unique<Impl>()) {
  impl_->source = std::move(source);
  impl_->bos = std::move(bos);
  impl_->eos = std::move(eos);
  impl_->name = std::move(name);
  impl_->parse();
  impl_->probe();
}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

std::vector<PromptPart> ChatTemplate::render(std::span<const ChatMessage> messages, const RenderOptions& options,
                                             const CancelToken* cancel) const {
  if (messages.empty()) fail(Code::kInvalidArgument, "messages is empty");
  std::vector<PromptPart> parts = impl_->execute(messages, options, cancel);
  if (options.thinking == Thinking::kOff && options.add_generation_prompt) impl_->close_thinking(parts);
  // Template text belongs to the message after it, and after the last message to the last.
  int last = -1;
  for (const PromptPart& part : parts) last = std::max(last, part.message);
  int next = last;
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (parts[i].message >= 0)
      next = parts[i].message;
    else
      parts[i].message = next;
  }
  return parts;
}

const std::vector<std::string>& ChatTemplate::unknown_constructs() const noexcept {
  return impl_->unknown;
}

const ThinkingTags& ChatTemplate::thinking() const noexcept {
  return impl_->tags;
}

bool ChatTemplate::starts_inside_thinking(std::span<const PromptPart> prompt) const {
  return impl_->inside_thinking(prompt);
}

}  // namespace lorekeep::lm
