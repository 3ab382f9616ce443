// The filters of chat templates, as jinja2 defines them. Filters that are not here are those of the engine's types.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "lm/prompt/template_values.h"

namespace lorekeep::lm {
namespace {

using jinja::func_args;
using jinja::is_val;
using jinja::mk_val;
using jinja::value;
using Values = std::vector<value>;

value text_value(jinja::string text) {
  return mk_val<jinja::value_string>(std::move(text));
}

value list_value(Values items) {
  return mk_val<jinja::value_array>(std::move(items));
}

value undefined() {
  return mk_val<jinja::value_undefined>();
}

bool is_given(const value& any) {
  return !any->is_undefined() && !any->is_none();
}

/// An argument by its name or position (the input is 0), or undefined.
value argument(const func_args& args, const std::string& name, std::size_t position) {
  return args.get_kwarg_or_pos(name, position);
}

bool flag(const func_args& args, const std::string& name, std::size_t position) {
  return argument(args, name, position)->as_bool();
}

std::int64_t integer(const func_args& args, const std::string& name, std::size_t position, std::int64_t otherwise) {
  const value any = argument(args, name, position);
  return is_given(any) ? any->as_int() : otherwise;
}

value by_attribute(const value& item, const value& attribute) {
  return is_given(attribute) ? attribute_of(item, attribute, undefined()) : item;
}

value default_filter(const func_args& args) {
  const value& input = args.get_pos(0);
  const value otherwise = argument(args, "default_value", 1);
  const bool missing = input->is_undefined() || (flag(args, "boolean", 2) && !input->as_bool());
  if (!missing) return input;
  return otherwise->is_undefined() ? text_value(jinja::string("")) : otherwise;
}

value list_filter(const func_args& args) {
  return list_value(items_of(args.get_pos(0)));
}

value first_filter(const func_args& args) {
  const Values items = items_of(args.get_pos(0));
  return items.empty() ? undefined() : items.front();
}

value last_filter(const func_args& args) {
  const Values items = items_of(args.get_pos(0));
  return items.empty() ? undefined() : items.back();
}

value reverse_filter(const func_args& args) {
  Values items = items_of(args.get_pos(0));
  std::reverse(items.begin(), items.end());
  if (!is_val<jinja::value_string>(args.get_pos(0))) return list_value(std::move(items));
  jinja::string text("");
  for (const value& item : items) text.append(item->as_string());
  return text_value(text);
}

value joined(const Values& items, const jinja::string& between, const value& attribute) {
  jinja::string text("");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text.append(between);
    text.append(printed(by_attribute(items[i], attribute)));
  }
  return text_value(text);
}

value join_filter(const func_args& args) {
  return joined(items_of(args.get_pos(0)), printed(argument(args, "d", 1)), argument(args, "attribute", 2));
}

value length_filter(const func_args& args) {
  const value& input = args.get_pos(0);
  if (is_val<jinja::value_string>(input)) {
    return mk_val<jinja::value_int>(static_cast<std::int64_t>(input->as_string().character_count()));
  }
  return mk_val<jinja::value_int>(static_cast<std::int64_t>(items_of(input).size()));
}

value items_filter(const func_args& args) {
  Values pairs;
  if (args.get_pos(0)->is_undefined()) return list_value(pairs);
  for (const auto& pair : args.get_pos(0)->as_ordered_object()) pairs.push_back(mk_val<jinja::value_tuple>(pair));
  return list_value(std::move(pairs));
}

/// The attributes that a list is sorted by: "role,content" names two.
Values sort_keys(const value& attribute) {
  if (!is_val<jinja::value_string>(attribute)) return {attribute};
  Values keys;
  const std::string all = attribute->as_string().str();
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find(',', at), all.size());
    keys.push_back(text_value(jinja::string(all.substr(at, end - at))));
    at = end + 1;
  }
  return keys;
}

void sort(Values& items, bool reverse, const std::function<bool(const value&, const value&)>& less) {
  if (reverse) {
    std::stable_sort(items.begin(), items.end(), [&less](const value& a, const value& b) { return less(b, a); });
  } else {
    std::stable_sort(items.begin(), items.end(), less);
  }
}

value sort_filter(const func_args& args) {
  Values items = items_of(args.get_pos(0));
  const bool ignores_case = !flag(args, "case_sensitive", 2);
  const Values keys = sort_keys(argument(args, "attribute", 3));
  sort(items, flag(args, "reverse", 1), [&](const value& a, const value& b) {
    for (const value& key : keys) {
      const value left = by_attribute(a, key);
      const value right = by_attribute(b, key);
      if (is_less(left, right, ignores_case)) return true;
      if (is_less(right, left, ignores_case)) return false;
    }
    return false;
  });
  return list_value(std::move(items));
}

value dictsort_filter(const func_args& args) {
  Values pairs = items_filter(args)->as_array();
  const bool ignores_case = !flag(args, "case_sensitive", 1);
  const value by = argument(args, "by", 2);
  const int part = is_val<jinja::value_string>(by) && by->as_string().str() == "value" ? 1 : 0;
  sort(pairs, flag(args, "reverse", 3),
       [&](const value& a, const value& b) { return is_less(a->as_array()[part], b->as_array()[part], ignores_case); });
  return list_value(std::move(pairs));
}

value extreme(const func_args& args, bool greatest) {
  const bool ignores_case = !flag(args, "case_sensitive", 1);
  const value attribute = argument(args, "attribute", 2);
  value best = undefined();
  bool first = true;
  for (const value& item : items_of(args.get_pos(0))) {
    const value a = by_attribute(item, attribute);
    const value b = first ? a : by_attribute(best, attribute);
    if (first || (greatest ? is_less(b, a, ignores_case) : is_less(a, b, ignores_case))) best = item;
    first = false;
  }
  return best;
}

value unique_filter(const func_args& args) {
  const bool ignores_case = !flag(args, "case_sensitive", 1);
  const value attribute = argument(args, "attribute", 2);
  Values seen, kept;
  for (const value& item : items_of(args.get_pos(0))) {
    value key = by_attribute(item, attribute);
    if (ignores_case && is_val<jinja::value_string>(key)) key = text_value(key->as_string().lowercase());
    const auto same = [&key](const value& each) {
      jinja::charge_steps(1);
      return *each == *key;
    };
    if (std::any_of(seen.begin(), seen.end(), same)) continue;
    seen.push_back(key);
    kept.push_back(item);
  }
  return list_value(std::move(kept));
}

value sum_filter(const func_args& args) {
  const value attribute = argument(args, "attribute", 1);
  const value start = argument(args, "start", 2);
  value total = is_given(start) ? start : value(mk_val<jinja::value_int>(0));
  for (const value& item : items_of(args.get_pos(0))) total = jinja::added(total, by_attribute(item, attribute));
  return total;
}

value batch_filter(const func_args& args) {
  const std::int64_t size = integer(args, "linecount", 1, 0);
  const value fill = argument(args, "fill_with", 2);
  if (size < 1) throw jinja::raised_exception("batch: the size must be positive");
  Values rows, row;
  for (const value& item : items_of(args.get_pos(0))) {
    if (static_cast<std::int64_t>(row.size()) == size) rows.push_back(list_value(std::exchange(row, {})));
    row.push_back(item);
  }
  if (row.empty()) return list_value(std::move(rows));
  while (is_given(fill) && static_cast<std::int64_t>(row.size()) < size) {
    jinja::charge_steps(1);
    row.push_back(fill);
  }
  rows.push_back(list_value(std::move(row)));
  return list_value(std::move(rows));
}

/// Arguments of a filter or test that another filter calls: those from `first` on, after the item.
func_args for_item(const func_args& args, std::size_t first, const value& item) {
  func_args own(args.ctx);
  own.push_back(item);
  for (std::size_t i = first; i < args.count(); ++i) own.push_back(args.get_args()[i]);
  return own;
}

/// What map() and select() go through: nothing for a value that is false.
Values items_if_any(const value& any) {
  return any->as_bool() ? items_of(any) : Values{};
}

value map_filter(const func_args& args) {
  Values out;
  const value attribute = args.get_kwarg("attribute", undefined());
  const bool calls = attribute->is_undefined();
  const std::string filter = calls ? args.get_pos(1)->as_string().str() : "";
  const value missing = args.get_kwarg("default", undefined());
  for (const value& item : items_if_any(args.get_pos(0))) {
    out.push_back(calls ? jinja::call_filter(filter, for_item(args, 2, item)) : attribute_of(item, attribute, missing));
  }
  return list_value(std::move(out));
}

value selected(const func_args& args, bool by_attribute_first, bool keeps) {
  const std::size_t first = by_attribute_first ? 2 : 1;
  const std::string test = args.count() > first ? args.get_pos(first)->as_string().str() : "";
  Values kept;
  for (const value& item : items_if_any(args.get_pos(0))) {
    const value held = by_attribute_first ? attribute_of(item, args.get_pos(1), undefined()) : item;
    const bool holds = test.empty() ? held->as_bool() : jinja::call_test(test, for_item(args, first + 1, held));
    if (holds == keeps) kept.push_back(item);
  }
  return list_value(std::move(kept));
}

value int_filter(const func_args& args) {
  const value& input = args.get_pos(0);
  const value otherwise = argument(args, "default", 1);
  if (is_val<jinja::value_int>(input) || is_val<jinja::value_bool>(input)) {
    return mk_val<jinja::value_int>(input->as_int());
  }
  std::optional<double> number;
  if (is_val<jinja::value_string>(input)) {
    const std::int64_t base = integer(args, "base", 2, 10);
    if (base != 0 && (base < 2 || base > 36)) throw jinja::raised_exception("int: the base must be 0 or from 2 to 36");
    const auto whole = int_of(input->as_string().str(), static_cast<int>(base));
    if (whole) return mk_val<jinja::value_int>(*whole);
    number = float_of(input->as_string().str());
  } else if (is_val<jinja::value_float>(input)) {
    number = input->as_float();
  }
  if (number && std::fabs(*number) < 9.2e18) return mk_val<jinja::value_int>(static_cast<std::int64_t>(*number));
  if (number && std::isfinite(*number)) throw jinja::raised_exception("int: the number has more than 64 bits");
  return otherwise->is_undefined() ? value(mk_val<jinja::value_int>(0)) : otherwise;
}

value float_filter(const func_args& args) {
  const value& input = args.get_pos(0);
  const value otherwise = argument(args, "default", 1);
  if (is_val<jinja::value_float>(input)) return input;
  if (is_val<jinja::value_int>(input) || is_val<jinja::value_bool>(input)) {
    return mk_val<jinja::value_float>(static_cast<double>(input->as_int()));
  }
  const auto number = is_val<jinja::value_string>(input) ? float_of(input->as_string().str()) : std::nullopt;
  if (number) return mk_val<jinja::value_float>(*number);
  return otherwise->is_undefined() ? value(mk_val<jinja::value_float>(0.0)) : otherwise;
}

value round_filter(const func_args& args) {
  const value& input = args.get_pos(0);
  const std::int64_t digits = std::clamp<std::int64_t>(integer(args, "precision", 1, 0), -300, 300);
  const value method = argument(args, "method", 2);
  const std::string name = is_given(method) ? method->as_string().str() : "common";
  const bool is_float = is_val<jinja::value_float>(input);
  const double number = is_float ? input->as_float() : static_cast<double>(input->as_int());
  if (name == "ceil" || name == "floor") {
    const double scale = std::pow(10.0, static_cast<double>(digits));
    return mk_val<jinja::value_float>((name == "ceil" ? std::ceil(number * scale) : std::floor(number * scale)) /
                                      scale);
  }
  if (name != "common") throw jinja::raised_exception("round: the method must be common, ceil or floor");
  if (!is_float && digits >= 0) return mk_val<jinja::value_int>(input->as_int());
  if (digits < 0) {
    const double scale = std::pow(10.0, static_cast<double>(-digits));
    const double rounded = std::nearbyint(number / scale) * scale;
    if (is_float) return mk_val<jinja::value_float>(rounded);
    return mk_val<jinja::value_int>(static_cast<std::int64_t>(rounded));
  }
  char buffer[700];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), number);
  return mk_val<jinja::value_float>(std::strtod(buffer, nullptr));
}

value abs_filter(const func_args& args) {
  const value& input = args.get_pos(0);
  if (is_val<jinja::value_float>(input)) return mk_val<jinja::value_float>(std::fabs(input->as_float()));
  const std::int64_t number = input->as_int();
  if (number == INT64_MIN) throw jinja::raised_exception("abs: the number has more than 64 bits");
  return mk_val<jinja::value_int>(number < 0 ? -number : number);
}

value string_filter(const func_args& args) {
  return text_value(printed(args.get_pos(0)));
}

value format_filter(const func_args& args) {
  const jinja::string format = printed(args.get_pos(0));
  auto named = mk_val<jinja::value_object>();
  Values given;
  for (std::size_t i = 1; i < args.count(); ++i) {
    const value& each = args.get_args()[i];
    if (const auto* keyword = jinja::cast_val<jinja::value_kwarg>(each)) {
      named->insert(keyword->key, keyword->val);
    } else {
      given.push_back(each);
    }
  }
  if (given.empty() && !named->as_ordered_object().empty()) return text_value(percent_format(format, named));
  return text_value(percent_format(format, mk_val<jinja::value_tuple>(std::move(given))));
}

value indent_filter(const func_args& args) {
  const value width = argument(args, "width", 1);
  const bool blank = flag(args, "blank", 3);
  jinja::string margin("    ");
  if (is_val<jinja::value_string>(width)) margin = width->as_string();
  if (is_val<jinja::value_int>(width)) {
    margin =
        jinja::string(std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(width->as_int(), 0, 4096)), ' '));
  }
  jinja::string input = printed(args.get_pos(0));
  const std::vector<jinja::string> lines = lines_of(input.append(jinja::string("\n")), false);
  jinja::string out("");
  if (flag(args, "first", 2)) out.append(margin);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append(jinja::string("\n"));
    if (i > 0 && (blank || lines[i].length() > 0)) out.append(margin);
    out.append(lines[i]);
  }
  return text_value(out);
}

value truncate_filter(const func_args& args) {
  const jinja::string text = printed(args.get_pos(0));
  const std::int64_t length = integer(args, "length", 1, 255);
  const value end_value = argument(args, "end", 3);
  const jinja::string end = end_value->is_undefined() ? jinja::string("...") : end_value->as_string();
  const std::int64_t kept = length - static_cast<std::int64_t>(end.character_count());
  if (kept < 0) throw jinja::raised_exception("truncate: the length is less than that of the end");
  if (static_cast<std::int64_t>(text.character_count()) <= length + integer(args, "leeway", 4, 5))
    return text_value(text);
  jinja::string cut = text.characters(0, static_cast<std::size_t>(kept));
  if (!flag(args, "killwords", 2)) {
    const std::size_t space = cut.str().rfind(' ');
    if (space != std::string::npos) cut = cut.substr(0, space);
  }
  return text_value(cut.append(end));
}

}  // namespace
}  // namespace lorekeep::lm

namespace jinja {

const func_builtins& filters() {
  namespace lm = lorekeep::lm;
  static const func_builtins all = {
      {"abs", lm::abs_filter},
      {"batch", lm::batch_filter},
      {"default", lm::default_filter},
      {"dictsort", lm::dictsort_filter},
      {"first", lm::first_filter},
      {"float", lm::float_filter},
      {"format", lm::format_filter},
      {"indent", lm::indent_filter},
      {"int", lm::int_filter},
      {"items", lm::items_filter},
      {"join", lm::join_filter},
      {"last", lm::last_filter},
      {"length", lm::length_filter},
      {"list", lm::list_filter},
      {"map", lm::map_filter},
      {"max", [](const func_args& args) { return lm::extreme(args, true); }},
      {"min", [](const func_args& args) { return lm::extreme(args, false); }},
      {"reject", [](const func_args& args) { return lm::selected(args, false, false); }},
      {"rejectattr", [](const func_args& args) { return lm::selected(args, true, false); }},
      {"reverse", lm::reverse_filter},
      {"round", lm::round_filter},
      {"safe", lm::string_filter},
      {"select", [](const func_args& args) { return lm::selected(args, false, true); }},
      {"selectattr", [](const func_args& args) { return lm::selected(args, true, true); }},
      {"sort", lm::sort_filter},
      {"string", lm::string_filter},
      {"sum", lm::sum_filter},
      {"truncate", lm::truncate_filter},
      {"unique", lm::unique_filter},
  };
  return all;
}

}  // namespace jinja
