#include "store/json_culprit.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "store/json_record.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kShownBytes = 40;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.' ||
         c == '_';
}

std::string shown(std::string_view token) {
  return token.size() <= kShownBytes ? std::string(token) : std::string(token.substr(0, kShownBytes)) + "...";
}

/// Returns the number of digits from `at` on and moves past them.
std::size_t digits(std::string_view token, std::size_t& at) {
  const std::size_t begin = at;
  while (at < token.size() && is_digit(token[at])) ++at;
  return at - begin;
}

/// Returns whether a token is a JSON number.
bool is_number(std::string_view token) {
  std::size_t at = token.starts_with('-') ? 1 : 0;
  const std::size_t first = at;
  if (digits(token, at) == 0 || (token[first] == '0' && at > first + 1)) return false;
  if (at < token.size() && token[at] == '.' && digits(token, ++at) == 0) return false;
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    if (digits(token, at) == 0) return false;
  }
  return at == token.size();
}

/// Returns the expected text for a wrong number or word; null if the token is right.
const char* wrong_word(std::string_view token) {
  if (token == "true" || token == "false" || token == "null") return nullptr;
  if (is_number(token)) {
    return std::isfinite(std::strtod(std::string(token).c_str(), nullptr)) ? nullptr : "a number that a double holds";
  }
  return is_digit(token[0]) || token[0] == '-' || token[0] == '+' || token[0] == '.' ? "a number as JSON writes it"
                                                                                     : "a JSON value";
}

/// Returns the code unit of \uXXXX at `at`, if there is one.
std::optional<unsigned> code_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  const char* const end = text.data() + at + 6;
  const auto read = std::from_chars(text.data() + at + 2, end, value, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

class Finder {
 public:
  explicit Finder(std::string_view json) : json_(json) {}

  std::optional<JsonCulprit> run() {
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (c == '"') {
        if (!read_string()) break;
      } else if (is_word(c)) {
        if (!read_word()) break;
      } else if (!read_punctuation(c)) {
        break;
      }
    }
    return std::move(culprit_);
  }

 private:
  bool read_punctuation(char c) {
    ++at_;
    if (c == '{' || c == '[') keys_.emplace_back();
    if ((c == '}' || c == ']') && !keys_.empty()) keys_.pop_back();
    return keys_.size() <= kMaxRecordDepth;
  }

  bool read_word() {
    const std::size_t begin = at_;
    while (at_ < json_.size() && is_word(json_[at_])) ++at_;
    const std::string_view token = json_.substr(begin, at_ - begin);
    const char* const expected = wrong_word(token);
    return expected == nullptr || refuse(expected, shown(token));
  }

  bool read_string() {
    const std::size_t begin = ++at_;
    while (at_ < json_.size() && json_[at_] != '"') {
      if (static_cast<unsigned char>(json_[at_]) < 0x20) {
        return refuse("a string without control characters", "the byte " + std::to_string(json_[at_]));
      }
      if (json_[at_] != '\\') {
        ++at_;
      } else if (!read_escape()) {
        return false;
      }
    }
    const std::string_view text = json_.substr(begin, at_ - begin);
    if (at_ == json_.size()) return refuse("the closing quote of a string", "the end of the record");
    ++at_;
    std::size_t next = at_;
    while (next < json_.size() && static_cast<unsigned char>(json_[next]) <= 0x20) ++next;
    if (next < json_.size() && json_[next] == ':' && !keys_.empty()) keys_.back() = shown(text);
    return true;
  }

  bool read_escape() {
    const auto unit = code_unit(json_, at_);
    const auto written = json_.substr(at_, unit ? 6 : 2);
    if (unit && *unit >= 0xD800 && *unit <= 0xDFFF) {
      const auto other = code_unit(json_, at_ + 6);
      const bool paired = *unit < 0xDC00 && other && *other >= 0xDC00 && *other <= 0xDFFF;
      if (!paired) return refuse("characters", std::string(written) + ", half of a surrogate pair");
      at_ += 12;
      return true;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    const bool known = unit || (written.size() == 2 && kEscapes.find(written[1]) != std::string_view::npos);
    if (!known) return refuse("an escape sequence of JSON", std::string(written));
    at_ += written.size();
    return true;
  }

  bool refuse(const char* expected, std::string found) {
    std::string field;
    for (const std::string& key : keys_) {
      if (key.empty()) continue;
      if (!field.empty()) field += '.';
      field += key;
    }
    culprit_ = JsonCulprit{std::move(field), expected, std::move(found)};
    return false;
  }

  std::string_view json_;
  std::size_t at_ = 0;
  std::vector<std::string> keys_;  // the current key of each open object; empty for arrays
  std::optional<JsonCulprit> culprit_;
};

}  // namespace

std::optional<JsonCulprit> find_culprit(std::string_view json) {
  return Finder(json).run();
}

}  // namespace lorekeep::store
