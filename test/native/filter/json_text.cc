#include "json_text.h"

#include <charconv>
#include <stdexcept>

namespace lorekeep::filter {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Value document() {
    Value value = next();
    skip_space();
    if (!text_.empty()) refuse();
    return value;
  }

 private:
  [[noreturn]] void refuse() const { throw std::invalid_argument("bad JSON at: " + std::string(text_)); }

  void skip_space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }

  bool take(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  Value next() {
    if (take("null")) return nullptr;
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("[")) return array();
    if (take("{")) return object();
    if (take("\"")) return string();
    return number();
  }

  Array array() {
    Array values;
    if (take("]")) return values;
    do values.push_back(next());
    while (take(","));
    if (!take("]")) refuse();
    return values;
  }

  Object object() {
    Object members;
    if (take("}")) return members;
    do {
      if (!take("\"")) refuse();
      std::string key = string();
      if (!take(":")) refuse();
      members.push_back({std::move(key), next()});
    } while (take(","));
    if (!take("}")) refuse();
    return members;
  }

  std::string string() {
    std::string value;
    while (!text_.empty() && text_[0] != '"') {
      if (text_[0] == '\\') text_.remove_prefix(1);
      if (text_.empty()) refuse();
      value += text_[0];
      text_.remove_prefix(1);
    }
    if (text_.empty()) refuse();
    text_.remove_prefix(1);
    return value;
  }

  Value number() {
    const std::size_t length = std::min(text_.find_first_not_of("+-.eE0123456789"), text_.size());
    const std::string_view digits = text_.substr(0, length);
    text_.remove_prefix(length);
    std::int64_t integer = 0;
    const auto whole = std::from_chars(digits.data(), digits.data() + length, integer);
    if (whole.ec == std::errc() && whole.ptr == digits.data() + length && length > 0) return integer;
    double real = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + length, real);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + length) refuse();
    return real;
  }

  std::string_view text_;
};

}  // namespace

Value json(std::string_view text) {
  return Reader(text).document();
}

}  // namespace lorekeep::filter
