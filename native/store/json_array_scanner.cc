#include "store/json_array_scanner.h"

#include "filter/value.h"

namespace lorekeep::store {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kBeginningBytes = 16;

constexpr const char* kArray = "an array of records, which begins with [";
constexpr const char* kArrayNotObject =
    "an array of records, which begins with [ (if this is JSON Lines: jq --slurp . makes an array of it, and lorekeep "
    "index reads it as it is)";

constexpr bool is_blank(char byte) noexcept {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/// Formats the beginning of `rest` for an error: printable ASCII as is, other bytes by number.
std::string beginning_of(std::string_view rest) {
  if (rest.empty()) return "the end of the file";
  std::string text;
  for (const char byte : rest.substr(0, kBeginningBytes)) {
    if (byte < 0x20 || byte > 0x7e) break;
    text += byte;
  }
  if (!text.empty()) return filter::quoted(text);
  return "the byte " + std::to_string(static_cast<unsigned char>(rest.front()));
}

}  // namespace

std::optional<JsonSlice> JsonArrayScanner::next() {
  if (state_ == State::kBefore) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    skip_blanks();
    if (!take('[')) refuse(at_, at_ < text_.size() && text_[at_] == '{' ? kArrayNotObject : kArray);
    state_ = State::kFirst;
  }
  if (state_ == State::kAfter) return std::nullopt;
  skip_blanks();
  if (take(']')) {
    finish();
    return std::nullopt;
  }
  if (state_ == State::kBetween) {
    if (!take(',')) refuse(at_, "a comma or ] after a record");
    skip_blanks();
  }
  state_ = State::kBetween;
  if (text_.size() - at_ <= longest_) read_on();
  const JsonSlice slice{text_.substr(at_, end_of_element() - at_), at_};
  at_ += slice.json.size();
  return slice;
}

/// Moves the window to the scanner's position. Returns false if the window already reaches the end of the file.
bool JsonArrayScanner::read_on() {
  if (window_.complete()) return false;
  window_.advance(at_);
  text_ = window_.text();
  at_ = 0;
  return true;
}

void JsonArrayScanner::skip_blanks() {
  do {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  } while (at_ == text_.size() && read_on());
}

bool JsonArrayScanner::take(char wanted) noexcept {
  if (at_ >= text_.size() || text_[at_] != wanted) return false;
  ++at_;
  return true;
}

std::size_t JsonArrayScanner::end_of_element() const {
  std::size_t at = at_;
  std::size_t depth = 0;
  while (at < text_.size()) {
    const char byte = text_[at];
    if (at - at_ >= longest_) refuse_length();
    if (byte == '"') {
      at = end_of_string(at);
      if (depth == 0) return at;
      continue;
    }
    if (byte == '{' || byte == '[') ++depth;
    if (depth == 0 && (byte == ',' || byte == ']' || byte == '}' || is_blank(byte))) break;
    ++at;
    if ((byte == '}' || byte == ']') && --depth == 0) return at;
  }
  if (depth > 0) refuse(text_.size(), "the end of the record");
  if (at == at_) refuse(at, "a record");
  return at;
}

/// Returns the position after the closing quote of the string that begins at `at`.
std::size_t JsonArrayScanner::end_of_string(std::size_t at) const {
  for (++at; at < text_.size() && at - at_ < longest_; ++at) {
    if (text_[at] == '"') return at + 1;
    if (text_[at] == '\\') ++at;
  }
  if (at < text_.size()) refuse_length();
  refuse(text_.size(), "the closing quote of a string");
}

void JsonArrayScanner::finish() {
  skip_blanks();
  if (at_ != text_.size()) refuse(at_, "nothing after the array");
  state_ = State::kAfter;
}

void JsonArrayScanner::refuse(std::size_t at, const std::string& expected) const {
  throw JsonSyntaxError{window_.line_of(at), state_ != State::kBefore, expected, beginning_of(text_.substr(at))};
}

void JsonArrayScanner::refuse_length() const {
  throw JsonSyntaxError{window_.line_of(at_), true, "a record of at most " + std::to_string(longest_) + " bytes",
                        "a longer one"};
}

}  // namespace lorekeep::store
