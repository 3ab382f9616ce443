#include "lm/prompt/template_values.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace lorekeep::lm {
namespace {

using jinja::is_val;
using jinja::mk_val;
using jinja::value;

bool is_number(const value& any) {
  return is_val<jinja::value_int>(any) || is_val<jinja::value_float>(any) || is_val<jinja::value_bool>(any);
}

double number_of(const value& any) {
  return is_val<jinja::value_float>(any) ? any->as_float() : static_cast<double>(any->as_int());
}

std::string stripped(const std::string& text) {
  return jinja::string(text).strip(true, true).str();
}

/// Drops underscores between digits; none if there is one elsewhere.
std::optional<std::string> without_underscores(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !std::isalnum(static_cast<unsigned char>(text[i - 1])) ||
               !std::isalnum(static_cast<unsigned char>(text[i + 1]))) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

std::vector<value> items_of(const value& any) {
  std::vector<value> items;
  if (is_val<jinja::value_array>(any)) {
    items = any->as_array();
  } else if (is_val<jinja::value_object>(any)) {
    for (const auto& [key, held] : any->as_ordered_object()) items.push_back(key);
  } else if (is_val<jinja::value_string>(any)) {
    const jinja::string text = any->as_string();
    const std::vector<std::size_t> offsets = text.offsets();
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      items.push_back(mk_val<jinja::value_string>(text.substr(offsets[i], offsets[i + 1] - offsets[i])));
    }
  } else if (!any->is_undefined()) {
    throw jinja::raised_exception("a value of type " + any->type() + " cannot be iterated over");
  }
  return items;
}

jinja::string printed(const value& any) {
  return any->is_undefined() ? jinja::string("") : any->as_string();
}

value attribute_of(const value& item, const value& attribute, const value& missing) {
  value held = item;
  const auto step = [&held, &missing](const value& key) {
    const bool by_position = is_val<jinja::value_int>(key);
    value none = nullptr;
    if (is_val<jinja::value_object>(held)) {
      held = held->at(key, none);
    } else if (by_position && is_val<jinja::value_array>(held)) {
      held = held->at(key->as_int(), none);
    } else if (by_position && is_val<jinja::value_string>(held)) {
      const std::vector<value> characters = items_of(held);
      const auto at = key->as_int() + (key->as_int() < 0 ? static_cast<std::int64_t>(characters.size()) : 0);
      held = at >= 0 && at < static_cast<std::int64_t>(characters.size()) ? characters[at] : nullptr;
    } else {
      held = nullptr;
    }
    if (held == nullptr) held = missing;
    return held != missing;
  };
  if (!is_val<jinja::value_string>(attribute)) {
    step(attribute);
    return held;
  }
  const std::string path = attribute->as_string().str();
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('.', at), path.size());
    const std::string part = path.substr(at, end - at);
    const bool digits = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    const auto index = digits ? int_of(part, 10) : std::nullopt;
    const value key = index ? value(mk_val<jinja::value_int>(*index)) : value(mk_val<jinja::value_string>(part));
    if (!step(key)) break;
    at = end + 1;
  }
  return held;
}

bool is_less(const value& a, const value& b, bool ignores_case) {
  jinja::depth_guard guard;
  jinja::charge_steps(1);
  if (is_val<jinja::value_string>(a) && is_val<jinja::value_string>(b)) {
    if (ignores_case) return a->as_string().lowercase().str() < b->as_string().lowercase().str();
    return a->as_string().str() < b->as_string().str();
  }
  if (is_number(a) && is_number(b)) {
    const bool exact = !is_val<jinja::value_float>(a) && !is_val<jinja::value_float>(b);
    return exact ? a->as_int() < b->as_int() : number_of(a) < number_of(b);
  }
  if (is_val<jinja::value_array>(a) && is_val<jinja::value_array>(b)) {
    const auto& left = a->as_array();
    const auto& right = b->as_array();
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (!(*left[i] == *right[i])) return is_less(left[i], right[i], ignores_case);
    }
    return left.size() < right.size();
  }
  throw jinja::raised_exception("values of types " + a->type() + " and " + b->type() + " have no order");
}

std::optional<std::int64_t> int_of(const std::string& text, int base) {
  const std::optional<std::string> digits = without_underscores(stripped(text));
  if (!digits || digits->empty()) return std::nullopt;
  const std::size_t sign = (*digits)[0] == '-' || (*digits)[0] == '+' ? 1 : 0;
  std::string rest = digits->substr(sign);
  const auto prefix = [&rest](char letter) { return rest.size() > 2 && rest[0] == '0' && (rest[1] | 0x20) == letter; };
  if ((base == 16 && prefix('x')) || (base == 8 && prefix('o')) || (base == 2 && prefix('b'))) {
    rest = rest.substr(2);
  } else if (base == 0) {
    base = prefix('x') ? 16 : prefix('o') ? 8 : prefix('b') ? 2 : 10;
    if (base != 10) rest = rest.substr(2);
  }
  if (rest.empty() || !std::isalnum(static_cast<unsigned char>(rest[0]))) return std::nullopt;
  if (sign == 1) rest.insert(0, 1, (*digits)[0]);
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(rest.c_str(), &end, base);
  if (*end != '\0') return std::nullopt;
  if (errno == ERANGE) throw jinja::raised_exception("the integer " + rest.substr(0, 40) + " has more than 64 bits");
  return number;
}

std::optional<double> float_of(const std::string& text) {
  std::optional<std::string> digits = without_underscores(stripped(text));
  if (!digits || digits->empty()) return std::nullopt;
  std::string low = *digits;
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string word = low.substr(low[0] == '-' || low[0] == '+' ? 1 : 0);
  const bool is_word = word == "inf" || word == "infinity" || word == "nan";
  if (!is_word && low.find_first_not_of("0123456789+-.e") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(low.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return number;
}

std::vector<jinja::string> lines_of(const jinja::string& text, bool keeps_ends) {
  const std::string bytes = text.str();
  std::vector<jinja::string> lines;
  const auto break_at = [&bytes](std::size_t at) -> std::size_t {
    const auto c = static_cast<unsigned char>(bytes[at]);
    if (c == '\r') return at + 1 < bytes.size() && bytes[at + 1] == '\n' ? 2 : 1;
    if ((c >= 0x0A && c <= 0x0C) || (c >= 0x1C && c <= 0x1E)) return 1;
    if (bytes.compare(at, 2, "\xC2\x85") == 0) return 2;
    return bytes.compare(at, 3, "\xE2\x80\xA8") == 0 || bytes.compare(at, 3, "\xE2\x80\xA9") == 0 ? 3 : 0;
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = break_at(at);
    if (length > 0) {
      lines.push_back(text.substr(begin, at - begin + (keeps_ends ? length : 0)));
      begin = at + length;
    }
    at += std::max<std::size_t>(length, 1);
  }
  if (begin < bytes.size()) lines.push_back(text.substr(begin));
  return lines;
}

}  // namespace lorekeep::lm

namespace jinja {

bool value_less(const value& a, const value& b) {
  return lorekeep::lm::is_less(a, b);
}

string percent_formatted(const string& format, const value& arguments) {
  return lorekeep::lm::percent_format(format, arguments);
}

}  // namespace jinja
