#include "lm/text/text_filter.h"

#include <algorithm>
#include <utility>

#include "core/values/error.h"
#include "core/values/utf8.h"

namespace lorekeep::lm {
namespace {

bool is_space(char byte) noexcept {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

void check_stops(const std::vector<std::string>& stops) {
  if (stops.size() > kMaxStopStrings) {
    fail(Code::kInvalidArgument, "stop: at most " + std::to_string(kMaxStopStrings) +
                                     " stop strings are allowed, not " + std::to_string(stops.size()));
  }
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const std::string name = "stop[" + std::to_string(i) + "]";
    if (stops[i].empty()) fail(Code::kInvalidArgument, name + " is empty");
    if (stops[i].size() > kMaxStopBytes) {
      fail(Code::kInvalidArgument, name + " is longer than " + std::to_string(kMaxStopBytes) + " bytes");
    }
    if (!is_valid_utf8(stops[i])) fail(Code::kInvalidArgument, name + " is not well-formed UTF-8");
  }
}

/// Length of the well-formed but incomplete character at the end of `bytes`; 0 if there is none.
std::size_t incomplete_tail(std::string_view bytes) noexcept {
  for (std::size_t length = 1; length < kMaxUtf8Bytes && length <= bytes.size(); ++length) {
    const auto lead = static_cast<unsigned char>(bytes[bytes.size() - length]);
    if ((lead & 0xC0u) == 0x80u) continue;
    if (lead < 0xC2u || lead > 0xF4u) return 0;  // begins no well-formed sequence
    // An unfinished sequence that is well-formed so far: one replacement for all of it.
    const std::size_t expected = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : 2;
    if (length >= expected) return 0;
    const char* at = bytes.data() + bytes.size() - length;
    const char* const end = bytes.data() + bytes.size();
    return decode_utf8(at, end) == kReplacement && at == end ? length : 0;
  }
  return 0;
}

}  // namespace

void move_characters(std::string& bytes, std::size_t held, bool last, std::string& out) {
  const std::size_t free = bytes.size() - std::min(held, bytes.size());
  const std::string_view ready = std::string_view(bytes).substr(0, free);
  // Bytes that are held back may complete the character, unless they begin another one: then it is ill-formed.
  const std::size_t tail = free == bytes.size() ? incomplete_tail(ready) : 0;
  out += repair_utf8(ready.substr(0, ready.size() - tail));
  bytes.erase(0, last ? bytes.size() : free - tail);
}

TextFilter::TextFilter(TextFilterOptions options) {
  check_stops(options.stops);
  for (std::string& stop : options.stops) stops_.emplace_back(std::move(stop));
  tags_ = std::move(options.thinking);
  if (!tags_.end.empty()) end_tag_.emplace_back(tags_.end);
  if (!tags_.between.empty()) {
    message_.emplace_back(tags_.between + tags_.end);
    message_.emplace_back(tags_.between + tags_.start);
  }
  if (options.starts_inside && !end_tag_.empty()) {
    place_ = Place::kThinking;
  } else if (tags_.start.empty()) {
    place_ = Place::kReply;
  }
}

FilteredText TextFilter::push(std::string_view bytes) {
  for (const char byte : bytes) {
    if (stopped_) break;
    take(byte);
  }
  return emit(false);
}

FilteredText TextFilter::finish() {
  if (place_ == Place::kHead) {
    place_ = Place::kReply;
    for (const char byte : std::exchange(head_, {})) {
      if (!stopped_) take_reply(byte);
    }
  }
  return emit(true);
}

void TextFilter::take(char byte) {
  switch (place_) {
    case Place::kHead: return take_head(byte);
    case Place::kThinking: return take_thinking(byte);
    case Place::kReply: return take_reply(byte);
  }
}

void TextFilter::take_head(char byte) {
  if (head_.empty() && is_space(byte)) {
    if (!after_thinking_) take_reply(byte);
    return;
  }
  head_ += byte;
  const bool reply = !tags_.between.empty() && head_ == tags_.end;
  if (reply || head_ == tags_.start) {
    head_.clear();
    reply_.clear();  // white space before the tag
    for (StringMatcher& stop : stops_) stop.reset();
    place_ = reply || end_tag_.empty() ? Place::kReply : Place::kThinking;
    return;
  }
  if (tags_.start.starts_with(head_) || (!tags_.between.empty() && tags_.end.starts_with(head_))) return;
  place_ = Place::kReply;
  for (const char held : std::exchange(head_, {})) {
    if (!stopped_) take_reply(held);
  }
}

void TextFilter::take_thinking(char byte) {
  thinking_ += byte;
  std::size_t tag = end_tag_[0].push(byte) ? end_tag_[0].pattern().size() : 0;
  const bool ends = tag > 0;
  for (StringMatcher& message : message_) {
    if (message.push(byte)) tag = message.pattern().size();
  }
  if (tag == 0) return;
  thinking_.resize(thinking_.size() - std::min(tag, thinking_.size()));
  end_tag_[0].reset();
  for (StringMatcher& message : message_) message.reset();
  if (!ends) {
    thinking_ += '\n';  // another message of thinking
    return;
  }
  out_.thinking += repair_utf8(std::exchange(thinking_, {}));
  after_thinking_ = true;
  place_ = Place::kHead;
}

void TextFilter::take_reply(char byte) {
  reply_ += byte;
  std::size_t found = 0;
  for (StringMatcher& stop : stops_) {
    if (stop.push(byte)) found = std::max(found, stop.pattern().size());
  }
  if (found == 0) return;
  reply_.resize(reply_.size() - found);
  stopped_ = true;
}

FilteredText TextFilter::emit(bool last) {
  if (place_ == Place::kThinking) {
    std::size_t held = last ? 0 : end_tag_[0].progress();
    for (const StringMatcher& message : message_) held = std::max(held, last ? 0 : message.progress());
    move_characters(thinking_, held, last, out_.thinking);
  } else if (stopped_) {
    out_.text = repair_utf8(std::exchange(reply_, {}));
  } else if (place_ == Place::kReply) {
    std::size_t held = 0;
    for (const StringMatcher& stop : stops_) held = std::max(held, last ? 0 : stop.progress());
    move_characters(reply_, held, last, out_.text);
  }
  out_.stopped = stopped_;
  return std::exchange(out_, {});
}

}  // namespace lorekeep::lm
