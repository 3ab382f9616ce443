#include "scan_filter.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace lorekeep::filter {
namespace {

using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64, "holds every int64 and every double");

std::optional<Value> resolve(const Value& operand, const Record& record, const Record& variables) {
  const auto* reference = operand.as<Object>();
  if (reference == nullptr) return operand;
  const std::string& name = *reference->front().value.as<std::string>();
  if (reference->front().key == "variable") return variables.at(name);
  const auto found = record.find(name);
  return found == record.end() ? std::nullopt : std::optional(found->second);
}

Number number(const Value& value) {
  const auto* integer = value.as<std::int64_t>();
  return integer != nullptr ? static_cast<Number>(*integer) : static_cast<Number>(std::get<double>(value.data));
}

/// Negative, zero or positive, as a is less than, equal to or greater than b.
int order(const Value& a, const Value& b) {
  if (const auto* text = a.as<std::string>()) return text->compare(std::get<std::string>(b.data));
  if (const auto* flag = a.as<bool>()) return *flag - std::get<bool>(b.data);
  return number(a) < number(b) ? -1 : number(a) > number(b) ? 1 : 0;
}

bool is_operator(const std::string& key) {
  static const std::vector<std::string> kOperators = {"==", "!=", "<", "<=", ">", ">=", "in", "starts_with"};
  return std::find(kOperators.begin(), kOperators.end(), key) != kOperators.end();
}

/// {"field": {operator: operand, ...}}, one operator after the other, in the long form.
bool meets(const Member& conditions, const Record& record, const Record& variables) {
  const Value field = Object{{"knowledge", conditions.key}};
  for (const Member& condition : *conditions.value.as<Object>()) {
    if (condition.key == "exists") {
      if (record.contains(conditions.key) != *condition.value.as<bool>()) return false;
    } else if (!matches(Object{{condition.key, Array{field, condition.value}}}, record, variables)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool matches(const Value& predicate, const Record& record, const Record& variables) {
  const Member& node = predicate.as<Object>()->front();
  const std::string& op = node.key;
  if (op == "not") return !matches(node.value, record, variables);
  if (op == "exists") return record.contains(*node.value.as<Object>()->front().value.as<std::string>());
  if (op != "and" && op != "or" && !is_operator(op)) return meets(node, record, variables);
  const Array& parts = *node.value.as<Array>();
  const auto holds = [&](const Value& part) { return matches(part, record, variables); };
  if (op == "and") return std::all_of(parts.begin(), parts.end(), holds);
  if (op == "or") return std::any_of(parts.begin(), parts.end(), holds);
  const auto a = resolve(parts[0], record, variables);
  const auto b = resolve(parts[1], record, variables);
  if (!a || !b) return false;
  if (op == "in") {
    const Array& haystack = *b->as<Array>();
    return std::any_of(haystack.begin(), haystack.end(), [&](const Value& element) { return order(*a, element) == 0; });
  }
  if (op == "starts_with") {
    const auto& text = std::get<std::string>(a->data);
    const auto& start = std::get<std::string>(b->data);
    return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin());
  }
  const int sign = order(*a, *b);
  return op == "=="   ? sign == 0
         : op == "!=" ? sign != 0
         : op == "<"  ? sign < 0
         : op == "<=" ? sign <= 0
         : op == ">"  ? sign > 0
                      : sign >= 0;
}

}  // namespace lorekeep::filter
