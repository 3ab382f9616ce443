// Python's two ways to format: `'%s' % x` and `'{}'.format(x)`.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lm/prompt/template_values.h"

namespace lorekeep::lm {
namespace {

using jinja::is_val;
using jinja::value;

constexpr int kMostWidth = 4096;

[[noreturn]] void unsupported(const std::string& what) {
  throw jinja::not_implemented_exception("the format '" + what + "' is not supported");
}

struct Conversion {
  std::string flags;
  int width = 0;
  int precision = -1;
  char type = 's';
};

/// `text` with spaces, or zeros after the sign, up to the width.
jinja::string padded(jinja::string text, const Conversion& to, bool is_number) {
  const int missing = to.width - static_cast<int>(text.character_count());
  if (missing <= 0) return text;
  const bool left = to.flags.find('-') != std::string::npos;
  if (!left && is_number && to.flags.find('0') != std::string::npos) {
    std::string digits = text.str();
    digits.insert(digits.find_first_of("-+ ") == 0 ? 1 : 0, static_cast<std::size_t>(missing), '0');
    return jinja::string(digits, text.any_part_is_input());
  }
  jinja::string spaces(std::string(static_cast<std::size_t>(missing), ' '));
  return left ? text.append(spaces) : spaces.append(text);
}

std::string number_text(const value& any, const Conversion& to) {
  std::string format = "%";
  for (const char flag : {'+', ' ', '#'}) {
    if (to.flags.find(flag) != std::string::npos) format += flag;
  }
  char buffer[512];
  const bool is_float = is_val<jinja::value_float>(any);
  if (std::string("diuxXo").find(to.type) != std::string::npos) {
    const std::int64_t number = is_float ? static_cast<std::int64_t>(any->as_float()) : any->as_int();
    const bool negative_hex = number < 0 && std::string("xXo").find(to.type) != std::string::npos;
    if (negative_hex || to.precision >= 0 || to.flags.find('#') != std::string::npos)
      unsupported("%" + std::string(1, to.type));
    format += std::string("ll") + (to.type == 'i' || to.type == 'u' ? 'd' : to.type);
    std::snprintf(buffer, sizeof buffer, format.c_str(), static_cast<long long>(number));
    return buffer;
  }
  const double number = is_float ? any->as_float() : static_cast<double>(any->as_int());
  format += ".*" + std::string(1, to.type);
  std::snprintf(buffer, sizeof buffer, format.c_str(), to.precision < 0 ? 6 : std::min(to.precision, 60), number);
  return buffer;
}

jinja::string converted(const value& any, const Conversion& to) {
  if (to.type == 's' || to.type == 'r') {
    jinja::string text =
        to.type == 's' ? printed(any) : jinja::string(jinja::value_to_string_repr(any), any->holds_input());
    if (to.precision >= 0) text = text.characters(0, static_cast<std::size_t>(to.precision));
    return padded(text, to, false);
  }
  if (std::string("diuxXofFeEgG").find(to.type) == std::string::npos) unsupported("%" + std::string(1, to.type));
  const bool is_number =
      is_val<jinja::value_int>(any) || is_val<jinja::value_float>(any) || is_val<jinja::value_bool>(any);
  if (!is_number) throw jinja::raised_exception("a number is required, not a value of type " + any->type());
  return padded(jinja::string(number_text(any, to)), to, true);
}

int digits_at(const std::string& text, std::size_t& at) {
  int number = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
    number = std::min(number * 10 + (text[at] - '0'), kMostWidth);
  }
  return number;
}

}  // namespace

jinja::string percent_format(const jinja::string& format, const value& arguments) {
  const std::string text = format.str();
  const bool several = is_val<jinja::value_tuple>(arguments);
  std::size_t next = 0;
  const auto take = [&]() -> value {
    const std::size_t count = several ? arguments->as_array().size() : 1;
    if (next >= count) throw jinja::raised_exception("not enough arguments for format string");
    return several ? arguments->as_array()[next++] : (++next, arguments);
  };
  jinja::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos;) {
    out.append(format.substr(begin, at - begin));
    Conversion to;
    value named = nullptr;
    if (++at < text.size() && text[at] == '(') {
      const std::size_t end = text.find(')', at);
      if (end == std::string::npos) throw jinja::raised_exception("incomplete format key");
      named = arguments->at(text.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    for (; at < text.size() && std::string("-+ 0#").find(text[at]) != std::string::npos; ++at) to.flags += text[at];
    to.width = digits_at(text, at);
    if (at < text.size() && text[at] == '.') to.precision = digits_at(text, ++at);
    if (at >= text.size()) throw jinja::raised_exception("incomplete format");
    to.type = text[at++];
    if (to.type == '%') {
      out.append(jinja::string("%"));
    } else {
      out.append(converted(named != nullptr ? named : take(), to));
    }
    begin = at;
  }
  if (several && next < arguments->as_array().size()) {
    throw jinja::raised_exception("not all arguments converted during string formatting");
  }
  return out.append(format.substr(begin));
}

jinja::string brace_format(const jinja::func_args& args) {
  const jinja::string format = args.get_pos(0)->as_string();
  const std::string text = format.str();
  jinja::string out;
  std::size_t next = 1;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find_first_of("{}", at)) != std::string::npos;) {
    out.append(format.substr(begin, at - begin));
    if (at + 1 < text.size() && text[at + 1] == text[at]) {
      out.append(format.substr(at, 1));
      begin = at += 2;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (text[at] == '}' || end == std::string::npos) throw jinja::raised_exception("a single brace in a format string");
    const std::string field = text.substr(at + 1, end - at - 1);
    const bool is_index = !field.empty() && field.find_first_not_of("0123456789") == std::string::npos;
    value chosen;
    if (field.empty()) {
      chosen = args.get_pos(next++);
    } else if (is_index) {
      chosen = args.get_pos(1 + static_cast<std::size_t>(int_of(field, 10).value_or(0)));
    } else if (field.find_first_of(".[!:") != std::string::npos) {
      unsupported("{" + field + "}");
    } else {
      chosen = args.get_kwarg(field, nullptr);
      if (chosen == nullptr) throw jinja::raised_exception("format() has no argument '" + field + "'");
    }
    if (is_val<jinja::value_kwarg>(chosen)) throw jinja::raised_exception("not enough arguments for format()");
    out.append(chosen->is_undefined() ? jinja::string("") : chosen->as_string());
    begin = at = end + 1;
  }
  return out.append(format.substr(begin));
}

}  // namespace lorekeep::lm
