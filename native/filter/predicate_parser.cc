#include "filter/predicate_parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
#include "filter/nearest_name.h"

namespace lorekeep::filter {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& expected, const std::string& found,
                         const std::string& nearest = {}) {
  std::string reason = path + ": expected " + expected + ", found " + found;
  if (!nearest.empty()) reason += "; did you mean " + quoted(nearest) + "?";
  Details details = {{"field", "filter"}, {"reason", reason}, {"path", path}, {"expected", expected}, {"found", found}};
  if (!nearest.empty()) details.emplace_back("nearest", nearest);
  fail(Code::kInvalidArgument, "filter: " + reason, std::move(details));
}

const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> names = {"and", "or", "not", "==", "!=", "<", "<=", ">", ">=", "in"};
  return names;
}

std::optional<Comparison> comparison_named(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons = {{
      {"==", Comparison::kEqual},
      {"!=", Comparison::kNotEqual},
      {"<", Comparison::kLess},
      {"<=", Comparison::kLessOrEqual},
      {">", Comparison::kGreater},
      {">=", Comparison::kGreaterOrEqual},
  }};
  for (const auto& [spelling, comparison] : kComparisons) {
    if (spelling == name) return comparison;
  }
  return std::nullopt;
}

/// Returns the comparison for swapped operands.
Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess: return Comparison::kGreater;
    case Comparison::kLessOrEqual: return Comparison::kGreaterOrEqual;
    case Comparison::kGreater: return Comparison::kLess;
    case Comparison::kGreaterOrEqual: return Comparison::kLessOrEqual;
    default: return comparison;
  }
}

bool is_order(Comparison comparison) {
  return comparison != Comparison::kEqual && comparison != Comparison::kNotEqual;
}

std::string a_value(TypeClass type) {
  return "a " + std::string(type_class_name(type));
}

}  // namespace

PredicateParser::PredicateParser(std::shared_ptr<const Schema> schema)
    : schema_(std::move(schema)), predicate_(new Predicate()) {
  predicate_->schema_ = schema_;
}

std::shared_ptr<const Predicate> PredicateParser::parse(const Value& json) && {
  parse_node(json, JsonPath(), 1);
  return std::move(predicate_);
}

std::size_t PredicateParser::parse_node(const Value& json, const JsonPath& path, std::size_t depth) {
  const auto* object = json.as<Object>();
  if (object == nullptr || object->size() != 1) refuse(path.text(), "an object with one operator", describe(json));
  if (depth > kMaxPredicateDepth) {
    refuse(path.text(), "at most " + std::to_string(kMaxPredicateDepth) + " nested operators", "more");
  }
  if (++operators_ > kMaxPredicateOperators) {
    refuse(path.text(), "at most " + std::to_string(kMaxPredicateOperators) + " operators in all", "more");
  }
  const auto& [name, content] = object->front();
  const JsonPath below(path, name);
  Node node{};
  if (name == "and" || name == "or") {
    node.kind = name == "and" ? Node::Kind::kAnd : Node::Kind::kOr;
    node.children = parse_children(content, below, depth);
  } else if (name == "not") {
    node.kind = Node::Kind::kNot;
    node.children = {parse_node(content, below, depth + 1)};
  } else if (name == "in") {
    node = parse_in(content, below);
  } else if (const auto comparison = comparison_named(name)) {
    node = parse_comparison(*comparison, content, below);
  } else {
    refuse(path.text(), "an operator (and, or, not, ==, !=, <, <=, >, >=, in)", quoted(name),
           nearest_name(name, operator_names()));
  }
  predicate_->nodes_.push_back(std::move(node));
  return predicate_->nodes_.size() - 1;
}

std::vector<std::size_t> PredicateParser::parse_children(const Value& json, const JsonPath& path, std::size_t depth) {
  const auto* array = json.as<Array>();
  if (array == nullptr) refuse(path.text(), "an array of predicates", describe(json));
  std::vector<std::size_t> children;
  for (std::size_t i = 0; i < array->size(); ++i) {
    children.push_back(parse_node((*array)[i], JsonPath(path, i), depth + 1));
  }
  return children;
}

Node PredicateParser::parse_comparison(Comparison comparison, const Value& json, const JsonPath& path) {
  const Array& sides = pair(json, path);
  Side field = parse_side(sides[0], JsonPath(path, 0));
  Side other = parse_side(sides[1], JsonPath(path, 1));
  if (field.kind != Side::Kind::kField) {
    std::swap(field, other);
    comparison = mirrored(comparison);
  }
  if (field.kind != Side::Kind::kField) refuse(path.text(), "{\"knowledge\": field} on one side at least", "none");
  const TypeClass type = scalar_type(field);
  if (type == TypeClass::kBool && is_order(comparison)) {
    refuse(path.text(), "== or != (bools have no order)", "an order of the bool field " + quoted(field.name));
  }
  Node node{};
  node.kind = Node::Kind::kCompare;
  node.comparison = comparison;
  node.left = operand(field, type);
  node.right = operand(other, type);
  return node;
}

Node PredicateParser::parse_in(const Value& json, const JsonPath& path) {
  const Array& sides = pair(json, path);
  const Side needle = parse_side(sides[0], JsonPath(path, 0));
  const Side haystack = parse_side(sides[1], JsonPath(path, 1));
  Node node{};
  node.kind = Node::Kind::kIn;
  if (haystack.kind == Side::Kind::kField) {
    if ((*schema_)[haystack.field].type != FieldType::kStringSet) {
      refuse(haystack.path, "a set<string> field, an array or a variable as haystack",
             quoted(haystack.name) + ", a field of type " + std::string(type_name((*schema_)[haystack.field].type)));
    }
    node.left = operand(needle, TypeClass::kString);
    node.right = {Operand::Kind::kField, haystack.field};
    return node;
  }
  if (haystack.kind == Side::Kind::kLiteral) {
    refuse(haystack.path, "a set<string> field, an array or a variable as haystack", describe(*haystack.value));
  }
  if (needle.kind != Side::Kind::kField) {
    refuse(path.text(), "{\"knowledge\": field} as needle or as haystack", "none");
  }
  const TypeClass type = scalar_type(needle);
  node.left = operand(needle, type);
  node.right = list_operand(haystack, type);
  return node;
}

const Array& PredicateParser::pair(const Value& json, const JsonPath& path) const {
  const auto* array = json.as<Array>();
  if (array == nullptr || array->size() != 2) refuse(path.text(), "an array of two operands", describe(json));
  return *array;
}

PredicateParser::Side PredicateParser::parse_side(const Value& json, const JsonPath& path) const {
  if (const auto* reference = json.as<Object>()) return parse_reference(*reference, path);
  if (json.as<Array>() != nullptr) return {Side::Kind::kList, &json, {}, 0, path.text()};
  if (!to_scalar(json)) refuse(path.text(), "a number, a string, a bool, a field or a variable", describe(json));
  return {Side::Kind::kLiteral, &json, {}, 0, path.text()};
}

PredicateParser::Side PredicateParser::parse_reference(const Object& reference, const JsonPath& path) const {
  static const std::vector<std::string> kKeys = {"knowledge", "variable"};
  if (reference.size() != 1) {
    refuse(path.text(), "{\"knowledge\": field} or {\"variable\": name}", describe(Value(reference)));
  }
  const auto& [key, value] = reference.front();
  if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
    refuse(path.text(), "{\"knowledge\": field} or {\"variable\": name}", "an object with the key " + quoted(key),
           nearest_name(key, kKeys));
  }
  const JsonPath below(path, key);
  const auto* name = value.as<std::string>();
  if (name == nullptr || name->empty()) refuse(below.text(), "a name", describe(value));
  if (key == "variable") return {Side::Kind::kVariable, nullptr, *name, 0, below.text()};
  return {Side::Kind::kField, nullptr, *name, parse_field(*name, below), below.text()};
}

std::size_t PredicateParser::parse_field(const std::string& name, const JsonPath& path) const {
  std::vector<std::string> filterable;
  for (std::size_t i = 0; i < schema_->size(); ++i) {
    if ((*schema_)[i].filterable) filterable.push_back((*schema_)[i].name);
  }
  const auto found = schema_->find(name);
  if (!found) {
    refuse(path.text(), filterable.empty() ? "no field: the schema has none to filter by" : "a field of the schema",
           quoted(name), nearest_name(name, filterable));
  }
  if (!(*schema_)[*found].filterable) {
    refuse(path.text(), "a field that may be filtered by", quoted(name) + ", which has \"filterable\": false");
  }
  return *found;
}

TypeClass PredicateParser::scalar_type(const Side& side) const {
  if (side.kind == Side::Kind::kLiteral) return type_class(*to_scalar(*side.value));
  const FieldType type = (*schema_)[side.field].type;
  if (type == FieldType::kStringSet) {
    refuse(side.path, "a field with one value (a set<string> can only be the haystack of \"in\")",
           quoted(side.name) + ", a set<string>");
  }
  return type_class(type);
}

void PredicateParser::require_same_type(const Side& side, TypeClass expected) const {
  if (side.kind == Side::Kind::kList) refuse(side.path, a_value(expected), describe(*side.value));
  if (scalar_type(side) == expected) return;
  refuse(side.path, a_value(expected),
         side.kind == Side::Kind::kLiteral
             ? describe(*side.value)
             : quoted(side.name) + ", a field of type " + std::string(type_name((*schema_)[side.field].type)));
}

Operand PredicateParser::operand(const Side& side, TypeClass expected) {
  if (side.kind != Side::Kind::kVariable) require_same_type(side, expected);
  if (side.kind == Side::Kind::kField) return {Operand::Kind::kField, side.field};
  const std::size_t index = predicate_->constants_.size();
  if (side.kind == Side::Kind::kVariable) {
    predicate_->variables_.push_back({side.name, expected, false, index, side.path});
    predicate_->constants_.emplace_back();
  } else {
    predicate_->constants_.emplace_back(*to_scalar(*side.value));
  }
  return {Operand::Kind::kConstant, index};
}

Operand PredicateParser::list_operand(const Side& side, TypeClass expected) {
  const std::size_t index = predicate_->constants_.size();
  ScalarList list;
  if (side.kind == Side::Kind::kVariable) {
    predicate_->variables_.push_back({side.name, expected, true, index, side.path});
  } else {
    const Array& elements = *side.value->as<Array>();
    elements_ += elements.size();
    if (elements_ > kMaxPredicateElements) {
      refuse(side.path, "at most " + std::to_string(kMaxPredicateElements) + " elements in all arrays", "more");
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto scalar = to_scalar(elements[i]);
      if (!scalar || type_class(*scalar) != expected) {
        refuse(side.path + "[" + std::to_string(i) + "]", a_value(expected), describe(elements[i]));
      }
      list.push_back(*scalar);
    }
  }
  predicate_->constants_.emplace_back(std::move(list));
  return {Operand::Kind::kConstant, index};
}

}  // namespace lorekeep::filter
