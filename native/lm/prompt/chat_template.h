// Renders a model's chat template (Jinja) and remembers which bytes of the prompt came from messages, so that these are
// tokenised as plain text. Templates come from model files, so they are hostile: steps, memory and depth are bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "lm/text/text_filter.h"

namespace lorekeep::lm {

inline constexpr std::size_t kMaxTemplateBytes = 256 * 1024;

enum class Role { kSystem, kUser, kAssistant };

struct ChatMessage {
  Role role;
  std::string content;  // UTF-8; ill-formed parts are read as U+FFFD
};

/// A run of a prompt's text.
struct PromptPart {
  std::string text;
  bool input;   // came from a message (or from the caller): spellings of control tokens in it are plain text
  int message;  // index of the message that the run belongs to: its content, or template text around it; -1: none
};

/// A model's switch for thinking. kDefault leaves it as the template has it. Without a switch, kOff closes an empty
/// thinking block in the prompt.
enum class Thinking { kDefault, kOn, kOff };

struct RenderOptions {
  /// Whether the prompt ends with the beginning of the assistant's reply.
  bool add_generation_prompt = true;
  Thinking thinking = Thinking::kDefault;
  /// The template's current time, in seconds since 1970. 0: now.
  std::int64_t time = 0;
};

class ChatTemplate {
 public:
  /// `name` is the model's, for error messages; `bos` and `eos` are the texts of these tokens, or empty. Parses the
  /// template and renders probes to learn its features. Throws Error(kModelInvalid) that names the model and the
  /// place in the template.
  ChatTemplate(std::string source, std::string bos, std::string eos, std::string name);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  /// Renders a conversation. Neighbouring parts of the same origin are joined. The text of all parts is what
  /// llama.cpp's template engine gives. A system message goes into the first user message if the template knows no such
  /// role. Throws Error(kModelInvalid): the template fails or exceeds its budget, which grows with the messages' bytes.
  /// Error(kInvalidArgument): the template refuses this order of roles. Polls `cancel` about every millisecond.
  /// Thread-safe.
  std::vector<PromptPart> render(std::span<const ChatMessage> messages, const RenderOptions& options = {},
                                 const CancelToken* cancel = nullptr) const;

  /// The filters, tests, functions and methods that the template uses and the engine has not, with their lines, also
  /// where no probe came by. A conversation that reaches one fails to render.
  const std::vector<std::string>& unknown_constructs() const noexcept;

  /// The tags around the model's thinking; empty if the template mentions none.
  const ThinkingTags& thinking() const noexcept;
  /// Whether generation begins inside thinking after this prompt.
  bool starts_inside_thinking(std::span<const PromptPart> prompt) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Says which constructs of a template are not supported, or why it cannot be read; empty: all of it is known.
std::string template_note(const std::string& source);

/// The same of ChatTemplate::unknown_constructs().
std::string note_of(const std::vector<std::string>& constructs);

}  // namespace lorekeep::lm
