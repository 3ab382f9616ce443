#include "filter/predicate.h"

#include <algorithm>
#include <cmath>

#include "core/values/error.h"
#include "filter/predicate_parser.h"

namespace lorekeep::filter {
namespace {

[[noreturn]] void refuse(const VariableUse& use, const std::string& expected, const std::string& found) {
  const std::string reason =
      use.path + ": variable " + quoted(use.name) + ": expected " + expected + ", found " + found;
  fail(Code::kInvalidArgument, "filter: " + reason,
       {{"field", "filter"},
        {"reason", reason},
        {"path", use.path},
        {"variable", use.name},
        {"expected", expected},
        {"found", found}});
}

Scalar checked_scalar(const VariableUse& use, const Value& value) {
  const auto scalar = to_scalar(value, use.format);
  if (!scalar || type_class(*scalar) != use.type) {
    refuse(use, comparable_values(use.type, use.format) + (use.list ? " in its array" : ""), describe(value));
  }
  return *scalar;
}

Constant checked_constant(const VariableUse& use, const Value& value) {
  if (!use.list) return checked_scalar(use, value);
  const auto* array = value.as<Array>();
  const std::string expected = "an array of " + std::string(type_class_name(use.type)) + "s";
  if (array == nullptr) refuse(use, expected, describe(value));
  if (array->size() > kMaxPredicateElements) {
    refuse(use, "at most " + std::to_string(kMaxPredicateElements) + " elements", std::to_string(array->size()));
  }
  ScalarList list;
  list.reserve(array->size());
  for (const Value& element : *array) list.push_back(checked_scalar(use, element));
  return list;
}

}  // namespace

std::string_view type_class_name(TypeClass type) noexcept {
  switch (type) {
    case TypeClass::kNumber: return "number";
    case TypeClass::kString: return "string";
    case TypeClass::kBool: return "bool";
  }
  return "";
}

TypeClass type_class(FieldType type) noexcept {
  return type == FieldType::kBool                               ? TypeClass::kBool
         : type == FieldType::kInt || type == FieldType::kFloat ? TypeClass::kNumber
                                                                : TypeClass::kString;
}

TypeClass type_class(const Scalar& scalar) noexcept {
  return type_class(static_cast<FieldType>(scalar.index()));
}

std::optional<Scalar> to_scalar(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (const auto* real = value.as<double>(); real != nullptr && std::isfinite(*real)) return *real;
  if (const auto* text = value.as<std::string>()) return *text;
  if (const auto* flag = value.as<bool>()) return *flag;
  return std::nullopt;
}

std::optional<Scalar> to_scalar(const Value& value, IntFormat format) {
  const auto* text = format == IntFormat::kNone ? nullptr : value.as<std::string>();
  if (text == nullptr) return to_scalar(value);
  if (const auto parsed = parse_iso(*text, format)) return *parsed;
  return *text;
}

std::string comparable_values(TypeClass type, IntFormat format) {
  return format == IntFormat::kNone ? "a " + std::string(type_class_name(type)) : std::string(format_values(format));
}

std::shared_ptr<const Predicate> Predicate::compile(const Value& json, std::shared_ptr<const Schema> schema) {
  return PredicateParser(std::move(schema)).parse(json);
}

BoundPredicate Predicate::bind(const std::vector<Variable>& variables) const {
  BoundPredicate bound(shared_from_this());
  if (variables_.empty()) return bound;
  bound.bound_ = constants_;
  for (const VariableUse& use : variables_) {
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&use](const Variable& variable) { return variable.name == use.name; });
    if (found == variables.end()) refuse(use, "a value", "none");
    bound.bound_[use.constant] = checked_constant(use, found->value);
  }
  return bound;
}

}  // namespace lorekeep::filter
