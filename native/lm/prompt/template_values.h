// Values of chat templates as Python and jinja2 treat them: iteration, attributes, order, and conversions to numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace lorekeep::lm {

/// The items of a list, the keys of an object, or the characters of a text. Throws for other values.
std::vector<jinja::value> items_of(const jinja::value& value);

/// The text that a value prints; empty for undefined.
jinja::string printed(const jinja::value& value);

/// item[attribute] of a dotted path ("a.b.0") or a number; `missing` if a step has no such item.
jinja::value attribute_of(const jinja::value& item, const jinja::value& attribute, const jinja::value& missing);

/// Whether a < b, of numbers, texts and lists. Throws for values without an order. Ignores the case of texts on demand.
bool is_less(const jinja::value& a, const jinja::value& b, bool ignores_case = false);

/// The number that Python's int(), with `base`, or float() reads in a text; none if it reads none.
std::optional<std::int64_t> int_of(const std::string& text, int base);
std::optional<double> float_of(const std::string& text);

/// The lines of a text as str.splitlines() gives them.
std::vector<jinja::string> lines_of(const jinja::string& text, bool keeps_ends);

/// `format % arguments`; a tuple holds several arguments, an object named ones. Throws for a conversion that is
/// unknown.
jinja::string percent_format(const jinja::string& format, const jinja::value& arguments);
/// `format.format(...)` without attributes, items or format specifications. The first argument of `args` is the format.
jinja::string brace_format(const jinja::func_args& args);

}  // namespace lorekeep::lm
