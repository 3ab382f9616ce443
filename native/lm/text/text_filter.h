// Turns the bytes of generated tokens into the text that a user sees: whole characters only, thinking apart from the
// reply, cut before the first stop string. Text that may still become part of a stop string or of a tag is held back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lm/text/string_matcher.h"

namespace lorekeep::lm {

/// The texts that enclose a model's thinking. Both empty: the model does not think.
struct ThinkingTags {
  std::string start;
  std::string end;
  /// Of models whose messages have channels, as gpt-oss: the text between two messages of a reply. It may stand before
  /// `end` and is then part of it, and `end` may begin a reply without thinking.
  std::string between = {};
};

inline constexpr std::size_t kMaxStopStrings = 64;
inline constexpr std::size_t kMaxStopBytes = 1024;  // of one stop string

struct TextFilterOptions {
  /// Stop strings, well-formed UTF-8. They apply to the reply, not to thinking.
  std::vector<std::string> stops;
  ThinkingTags thinking;
  /// Whether the prompt ends inside thinking.
  bool starts_inside = false;
};

struct FilteredText {
  std::string text;      // of the reply
  std::string thinking;  // between the tags
  bool stopped = false;  // a stop string was found; everything after it is ignored
};

/// Thinking begins where the prompt says so, or at a start tag before the first character of the reply that is not
/// white space, also after an earlier block. White space after an end tag is left out. The concatenated pieces do not
/// depend on where the pushed bytes are split.
class TextFilter {
 public:
  /// Throws Error(kInvalidArgument) for an empty, too long or ill-formed stop string, or too many.
  explicit TextFilter(TextFilterOptions options);

  /// Takes the bytes of the next token, which may end inside a character. Ill-formed bytes become U+FFFD.
  FilteredText push(std::string_view bytes);
  /// Returns everything that was held back. A character that is cut off at the end is left out.
  FilteredText finish();

  bool stopped() const noexcept { return stopped_; }
  bool inside_thinking() const noexcept { return place_ == Place::kThinking; }
  /// Whether held bytes may become part of the reply or of a tag of thinking.
  bool undecided() const noexcept { return place_ == Place::kHead && !(head_.empty() && reply_.empty()); }
  /// Whether the last byte belongs to the reply.
  bool inside_reply() const noexcept { return place_ == Place::kReply; }

 private:
  enum class Place { kHead, kThinking, kReply };

  void take(char byte);
  void take_head(char byte);
  void take_thinking(char byte);
  void take_reply(char byte);
  FilteredText emit(bool last);

  std::vector<StringMatcher> stops_;
  ThinkingTags tags_;
  std::vector<StringMatcher> end_tag_;  // one or none
  std::vector<StringMatcher> message_;  // of channels: the end of a message with the tag of the next one, end and start
  Place place_ = Place::kHead;
  bool after_thinking_ = false;  // white space is left out
  bool stopped_ = false;
  std::string head_;      // bytes that may still become a tag that opens thinking or a reply
  std::string reply_;     // bytes not emitted yet
  std::string thinking_;  // bytes of the current block, not emitted yet
  FilteredText out_;      // of the current call
};

/// Moves the whole characters of `bytes`, but for its last `held` bytes, to `out`. Ill-formed parts become U+FFFD.
/// `last`: an incomplete character at the end is dropped instead of kept.
void move_characters(std::string& bytes, std::size_t held, bool last, std::string& out);

}  // namespace lorekeep::lm
