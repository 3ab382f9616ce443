// The methods of texts, lists and objects in chat templates, as Python's str, list and dict have them. Methods that are
// not here are those of the engine's types.
#include <algorithm>
#include <set>

#include "lm/prompt/template_values.h"

namespace lorekeep::lm {
namespace {

using jinja::func_args;
using jinja::is_val;
using jinja::mk_val;
using jinja::value;

value text_value(jinja::string text) {
  return mk_val<jinja::value_string>(std::move(text));
}

jinja::string self(const func_args& args) {
  return args.get_pos(0)->as_string();
}

std::string pattern(const func_args& args, std::size_t position) {
  return args.get_pos(position)->as_string().str();
}

value join_method(const func_args& args) {
  const std::vector<value> items = items_of(args.get_pos(1));
  jinja::string text("");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!is_val<jinja::value_string>(items[i])) throw jinja::raised_exception("join() joins texts only");
    if (i > 0) text.append(self(args));
    text.append(items[i]->as_string());
  }
  return text_value(text);
}

value replace_method(const func_args& args) {
  const jinja::string input = self(args);
  const std::string text = input.str();
  const std::string old = printed(args.get_pos(1)).str();
  const jinja::string fresh = printed(args.get_pos(2));
  const value count = args.get_kwarg_or_pos("count", 3);
  const bool all = count->is_undefined() || count->is_none() || count->as_int() < 0;
  std::int64_t left = all ? INT64_MAX : count->as_int();
  jinja::charge_search(text.size(), old.size());
  jinja::string out("");
  std::size_t begin = 0;
  if (old.empty()) {
    const std::vector<std::size_t> offsets = input.offsets();
    for (std::size_t i = 0; i < offsets.size() && left-- > 0; ++i) {
      out.append(input.substr(begin, offsets[i] - begin)).append(fresh);
      begin = offsets[i];
    }
    return text_value(out.append(input.substr(begin)));
  }
  for (std::size_t at = 0; left-- > 0 && (at = text.find(old, begin)) != std::string::npos;) {
    out.append(input.substr(begin, at - begin)).append(fresh);
    begin = at + old.size();
  }
  return text_value(out.append(input.substr(begin)));
}

value find_method(const func_args& args, bool from_end) {
  const jinja::string input = self(args);
  args.ensure_count(2, 2);
  const std::string text = input.str();
  const std::string sought = pattern(args, 1);
  jinja::charge_search(text.size(), sought.size());
  const std::size_t at = from_end ? text.rfind(sought) : text.find(sought);
  const auto position = at == std::string::npos ? -1 : static_cast<std::int64_t>(input.substr(0, at).character_count());
  return mk_val<jinja::value_int>(position);
}

value count_method(const func_args& args) {
  args.ensure_count(2, 2);
  const std::string text = self(args).str();
  const std::string sought = pattern(args, 1);
  jinja::charge_search(text.size(), sought.size());
  if (sought.empty()) return mk_val<jinja::value_int>(static_cast<std::int64_t>(self(args).character_count()) + 1);
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = text.find(sought, at)) != std::string::npos; at += sought.size()) ++count;
  return mk_val<jinja::value_int>(count);
}

value partition_method(const func_args& args, bool from_end) {
  const jinja::string input = self(args);
  const std::string text = input.str();
  const std::string between = pattern(args, 1);
  if (between.empty()) throw jinja::raised_exception("empty separator");
  jinja::charge_search(text.size(), between.size());
  const std::size_t at = from_end ? text.rfind(between) : text.find(between);
  std::vector<value> parts;
  if (at != std::string::npos) {
    parts = {text_value(input.substr(0, at)), text_value(input.substr(at, between.size())),
             text_value(input.substr(at + between.size()))};
  } else {
    const value whole = text_value(input);
    const value none = text_value(jinja::string(""));
    parts = from_end ? std::vector<value>{none, none, whole} : std::vector<value>{whole, none, none};
  }
  return mk_val<jinja::value_tuple>(std::move(parts));
}

/// Whether the text begins or ends so; a tuple names several beginnings.
value affix_method(const func_args& args, bool at_end) {
  args.ensure_count(2, 2);
  const std::string text = self(args).str();
  const value& sought = args.get_pos(1);
  bool found = false;
  for (const value& each : is_val<jinja::value_tuple>(sought) ? sought->as_array() : std::vector<value>{sought}) {
    if (!is_val<jinja::value_string>(each)) throw jinja::raised_exception("startswith() and endswith() take texts");
    const std::string affix = each->as_string().str();
    found = found || (at_end ? text.ends_with(affix) : text.starts_with(affix));
  }
  return mk_val<jinja::value_bool>(found);
}

value removed_affix(const func_args& args, bool at_end) {
  const jinja::string input = self(args);
  const std::string text = input.str();
  const std::string affix = pattern(args, 1);
  if (!(at_end ? text.ends_with(affix) : text.starts_with(affix))) return text_value(input);
  return text_value(at_end ? input.substr(0, text.size() - affix.size()) : input.substr(affix.size()));
}

value splitlines_method(const func_args& args) {
  std::vector<value> lines;
  for (jinja::string& line : lines_of(self(args), args.get_kwarg_or_pos("keepends", 1)->as_bool())) {
    lines.push_back(text_value(std::move(line)));
  }
  return mk_val<jinja::value_array>(std::move(lines));
}

/// A letter after anything but a letter is a capital; the others are small.
value title_method(const func_args& args) {
  const jinja::string input = self(args);
  const std::vector<std::size_t> offsets = input.offsets();
  jinja::string out("");
  bool inside = false;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    jinja::string one = input.substr(offsets[i], offsets[i + 1] - offsets[i]);
    const std::string text = one.str();
    const std::string low = jinja::in_case(text, jinja::letter_case::lower);
    const std::string high = jinja::in_case(text, jinja::letter_case::title);
    jinja::string fresh(inside ? low : high, one.any_part_is_input(), one.parts.front().origin);
    out.append(fresh);
    inside = low != high;
  }
  return text_value(out);
}

value get_method(const func_args& args) {
  args.ensure_count(2, 3);
  value none = nullptr;
  const value found = args.get_pos(0)->at(args.get_pos(1), none);
  if (found != nullptr) return found;
  return args.get_pos(2, mk_val<jinja::value_none>());
}

value list_count(const func_args& args) {
  std::int64_t count = 0;
  for (const value& item : args.get_pos(0)->as_array()) count += *item == *args.get_pos(1) ? 1 : 0;
  return mk_val<jinja::value_int>(count);
}

value list_index(const func_args& args) {
  const auto& items = args.get_pos(0)->as_array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (*items[i] == *args.get_pos(1)) return mk_val<jinja::value_int>(static_cast<std::int64_t>(i));
  }
  throw jinja::raised_exception("index() of a value that is not in the list");
}

const jinja::func_builtins& own_text_methods() {
  static const jinja::func_builtins all = {
      {"count", count_method},
      {"endswith", [](const func_args& args) { return affix_method(args, true); }},
      {"find", [](const func_args& args) { return find_method(args, false); }},
      {"format", [](const func_args& args) { return text_value(brace_format(args)); }},
      {"join", join_method},
      {"partition", [](const func_args& args) { return partition_method(args, false); }},
      {"removeprefix", [](const func_args& args) { return removed_affix(args, false); }},
      {"removesuffix", [](const func_args& args) { return removed_affix(args, true); }},
      {"replace", replace_method},
      {"rfind", [](const func_args& args) { return find_method(args, true); }},
      {"rpartition", [](const func_args& args) { return partition_method(args, true); }},
      {"splitlines", splitlines_method},
      {"title", title_method},
      {"startswith", [](const func_args& args) { return affix_method(args, false); }},
  };
  return all;
}

jinja::func_builtins with_engine(const jinja::func_builtins& own, const value& example,
                                 const std::set<std::string>& names) {
  jinja::func_builtins all = own;
  for (const auto& [name, handler] : example->get_builtins()) {
    if (names.contains(name)) all.emplace(name, handler);
  }
  return all;
}

}  // namespace
}  // namespace lorekeep::lm

namespace jinja {

const func_builtins& text_methods() {
  static const func_builtins all =
      lorekeep::lm::with_engine(lorekeep::lm::own_text_methods(), mk_val<value_string>(std::string("")),
                                {"capitalize", "lower", "lstrip", "rsplit", "rstrip", "split", "strip", "upper"});
  return all;
}

const func_builtins& list_methods() {
  static const func_builtins all =
      lorekeep::lm::with_engine({{"count", lorekeep::lm::list_count}, {"index", lorekeep::lm::list_index}},
                                mk_val<value_array>(), {"append", "pop"});
  return all;
}

const func_builtins& object_methods() {
  static const func_builtins all = lorekeep::lm::with_engine({{"get", lorekeep::lm::get_method}},
                                                             mk_val<value_object>(), {"items", "keys", "values"});
  return all;
}

}  // namespace jinja
