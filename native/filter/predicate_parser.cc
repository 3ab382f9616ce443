#include "filter/predicate_parser.h"

#include <algorithm>
#include <utility>

#include "core/values/error.h"
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

}  // namespace

enum class Arity {
  kList,  // of predicates
  kOne,   // a predicate
  kField,
  kPair,  // of operands; also in {"field": {operator: operand}}
};

struct Operator {
  std::string_view name;
  Arity arity;
  Node::Kind kind;
  Comparison comparison = {};
};

namespace {

constexpr Operator kOperators[] = {
    {"and", Arity::kList, Node::Kind::kAnd},
    {"or", Arity::kList, Node::Kind::kOr},
    {"not", Arity::kOne, Node::Kind::kNot},
    {"==", Arity::kPair, Node::Kind::kCompare, Comparison::kEqual},
    {"!=", Arity::kPair, Node::Kind::kCompare, Comparison::kNotEqual},
    {"<", Arity::kPair, Node::Kind::kCompare, Comparison::kLess},
    {"<=", Arity::kPair, Node::Kind::kCompare, Comparison::kLessOrEqual},
    {">", Arity::kPair, Node::Kind::kCompare, Comparison::kGreater},
    {">=", Arity::kPair, Node::Kind::kCompare, Comparison::kGreaterOrEqual},
    {"in", Arity::kPair, Node::Kind::kIn},
    {"starts_with", Arity::kPair, Node::Kind::kStartsWith},
    {"exists", Arity::kField, Node::Kind::kExists},
};

/// Returns null for an unknown name.
const Operator* operator_named(std::string_view name) {
  const auto found = std::ranges::find(kOperators, name, &Operator::name);
  return found == std::end(kOperators) ? nullptr : found;
}

/// Whether {"field": {operator: ...}} may have the operator.
bool applies_to_field(const Operator& op) {
  return op.arity == Arity::kPair || op.arity == Arity::kField;
}

std::vector<std::string> operator_names(bool of_fields) {
  std::vector<std::string> names;
  for (const Operator& op : kOperators) {
    if (!of_fields || applies_to_field(op)) names.emplace_back(op.name);
  }
  return names;
}

/// For messages: "an operator (a, b, c)".
std::string an_operator(bool of_fields) {
  std::string list;
  for (const std::string& name : operator_names(of_fields)) list += (list.empty() ? "" : ", ") + name;
  return "an operator (" + list + ")";
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

}  // namespace

PredicateParser::PredicateParser(std::shared_ptr<const Schema> schema)
    : schema_(std::move(schema)), predicate_(new Predicate()) {
  predicate_->schema_ = schema_;
}

std::shared_ptr<const Predicate> PredicateParser::parse(const Value& json) && {
  parse_node(json, JsonPath(), 1);
  return std::move(predicate_);
}

std::size_t PredicateParser::add(Node node, const JsonPath& path) {
  if (++operators_ > kMaxPredicateOperators) {
    refuse(path.text(), "at most " + std::to_string(kMaxPredicateOperators) + " operators in all", "more");
  }
  predicate_->nodes_.push_back(std::move(node));
  return predicate_->nodes_.size() - 1;
}

std::size_t PredicateParser::parse_node(const Value& json, const JsonPath& path, std::size_t depth) {
  const auto* object = json.as<Object>();
  if (object == nullptr || object->size() != 1) {
    const bool several = object != nullptr && object->size() > 1;
    refuse(path.text(),
           several ? "an object with one operator or field (\"and\" joins several)" : "an object with one operator",
           describe(json));
  }
  if (depth > kMaxPredicateDepth) {
    refuse(path.text(), "at most " + std::to_string(kMaxPredicateDepth) + " nested operators", "more");
  }
  const auto& [name, content] = object->front();
  const JsonPath below(path, name);
  const Operator* op = operator_named(name);
  if (op == nullptr) return parse_conditions(object->front(), path, depth);
  switch (op->arity) {
    case Arity::kPair: return add(parse_pair(*op, content, below), path);
    case Arity::kField: return parse_exists(content, below);
    case Arity::kList: return add({.kind = op->kind, .children = parse_children(content, below, depth)}, path);
    case Arity::kOne: break;
  }
  return add({.kind = op->kind, .children = {parse_node(content, below, depth + 1)}}, path);
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

std::size_t PredicateParser::parse_exists(const Value& json, const JsonPath& path) {
  const Side field = parse_side(json, path);
  if (field.kind != Side::Kind::kField) refuse(path.text(), "{\"knowledge\": field}", describe(json));
  return add({.kind = Node::Kind::kExists, .left = {Operand::Kind::kField, field.field}}, path);
}

Node PredicateParser::parse_pair(const Operator& op, const Value& json, const JsonPath& path) {
  const Array& sides = pair(json, path);
  return operation(op, parse_side(sides[0], JsonPath(path, 0)), parse_side(sides[1], JsonPath(path, 1)), path);
}

std::size_t PredicateParser::parse_conditions(const Member& member, const JsonPath& path, std::size_t depth) {
  const auto& [name, content] = member;
  const auto* conditions = content.as<Object>();
  const Operator* first =
      conditions == nullptr || conditions->empty() ? nullptr : operator_named(conditions->front().key);
  const bool conditional = first != nullptr && applies_to_field(*first);
  if (!conditional && !schema_->find(name)) {
    refuse(path.text(), "a field, or " + an_operator(false), quoted(name), nearest_name(name, operator_names(false)));
  }
  const JsonPath below(path, name);
  const Side field{Side::Kind::kField, nullptr, name, parse_field(name, below), below.text()};
  if (!conditional && (conditions == nullptr || conditions->empty())) {
    refuse(below.text(), "an object of operators, such as {\"==\": value}", describe(content));
  }
  if (conditions->size() == 1) return parse_condition(field, conditions->front(), below);
  if (depth == kMaxPredicateDepth) {
    refuse(path.text(), "at most " + std::to_string(kMaxPredicateDepth) + " nested operators", "more");
  }
  Node both{.kind = Node::Kind::kAnd};
  for (const Member& condition : *conditions) both.children.push_back(parse_condition(field, condition, below));
  return add(std::move(both), path);
}

std::size_t PredicateParser::parse_condition(const Side& field, const Member& condition, const JsonPath& path) {
  const auto& [name, content] = condition;
  const JsonPath below(path, name);
  const Operator* op = operator_named(name);
  if (op == nullptr || !applies_to_field(*op)) {
    refuse(path.text(), an_operator(true), quoted(name), nearest_name(name, operator_names(true)));
  }
  if (op->arity == Arity::kField) {
    const auto* there = content.as<bool>();
    if (there == nullptr) refuse(below.text(), "true or false", describe(content));
    const std::size_t exists = add({.kind = Node::Kind::kExists, .left = {Operand::Kind::kField, field.field}}, below);
    return *there ? exists : add({.kind = Node::Kind::kNot, .children = {exists}}, below);
  }
  return add(operation(*op, field, parse_side(content, below), below), below);
}

Node PredicateParser::operation(const Operator& op, const Side& left, const Side& right, const JsonPath& path) {
  if (op.kind == Node::Kind::kIn) return membership(left, right, path);
  if (op.kind == Node::Kind::kStartsWith) return prefix(left, right, path);
  return comparison(op.comparison, left, right, path);
}

Node PredicateParser::comparison(Comparison comparison, const Side& left, const Side& right, const JsonPath& path) {
  const bool swapped = left.kind != Side::Kind::kField;
  const Side& field = swapped ? right : left;
  const Side& other = swapped ? left : right;
  if (field.kind != Side::Kind::kField) refuse(path.text(), "{\"knowledge\": field} on one side at least", "none");
  const Expected expected = expected_beside(field);
  if (swapped) comparison = mirrored(comparison);
  if (expected.type == TypeClass::kBool && is_order(comparison)) {
    refuse(path.text(), "== or != (bools have no order)", "an order of the bool field " + quoted(field.name));
  }
  return {.kind = Node::Kind::kCompare,
          .comparison = comparison,
          .left = {Operand::Kind::kField, field.field},
          .right = operand(other, expected)};
}

Node PredicateParser::membership(const Side& needle, const Side& haystack, const JsonPath& path) {
  Node node{.kind = Node::Kind::kIn};
  if (haystack.kind == Side::Kind::kField) {
    if ((*schema_)[haystack.field].type != FieldType::kStringSet) {
      refuse(haystack.path, "a set<string> field, an array or a variable as haystack",
             quoted(haystack.name) + ", a field of type " + std::string(type_name((*schema_)[haystack.field].type)));
    }
    node.left = operand(needle, {TypeClass::kString});
    node.right = {Operand::Kind::kField, haystack.field};
    return node;
  }
  if (haystack.kind == Side::Kind::kLiteral) {
    if (needle.kind == Side::Kind::kField) expected_beside(needle);  // refuses a set, which is more helpful
    refuse(haystack.path, "a set<string> field, an array or a variable as haystack", describe(*haystack.value));
  }
  if (needle.kind != Side::Kind::kField) {
    refuse(path.text(), "{\"knowledge\": field} as needle or as haystack", "none");
  }
  const Expected expected = expected_beside(needle);
  node.left = operand(needle, expected);
  node.right = list_operand(haystack, expected);
  return node;
}

Node PredicateParser::prefix(const Side& field, const Side& prefix, const JsonPath& path) {
  if (field.kind != Side::Kind::kField) refuse(path.text(), "{\"knowledge\": field} as the first operand", "none");
  const FieldType type = (*schema_)[field.field].type;
  if (type != FieldType::kString) {
    refuse(field.path, "a field of type string",
           quoted(field.name) + ", a field of type " + std::string(type_name(type)));
  }
  if (prefix.kind == Side::Kind::kField) {
    refuse(prefix.path, "a string or a variable", quoted(prefix.name) + ", a field");
  }
  return {.kind = Node::Kind::kStartsWith,
          .left = {Operand::Kind::kField, field.field},
          .right = operand(prefix, {TypeClass::kString})};
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
    refuse(path.text(), filterable.empty() ? "a field to filter by (the storage has none)" : "a field of the schema",
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

PredicateParser::Expected PredicateParser::expected_beside(const Side& field) const {
  return {scalar_type(field), (*schema_)[field.field].format};
}

void PredicateParser::require_same_type(const Side& side, Expected expected) const {
  const std::string values = comparable_values(expected.type, expected.format);
  if (side.kind == Side::Kind::kList) refuse(side.path, values, describe(*side.value));
  if (side.kind == Side::Kind::kLiteral) {
    if (type_class(*to_scalar(*side.value, expected.format)) != expected.type) {
      refuse(side.path, values, describe(*side.value));
    }
    return;
  }
  const Field& field = (*schema_)[side.field];
  if (scalar_type(side) != expected.type) {
    refuse(side.path, "a " + std::string(type_class_name(expected.type)),
           quoted(side.name) + ", a field of type " + std::string(type_name(field.type)));
  }
  const bool both = expected.format != IntFormat::kNone && field.format != IntFormat::kNone;
  if (both && field.format != expected.format) {
    refuse(side.path, "a field of format " + std::string(format_name(expected.format)),
           quoted(side.name) + ", a field of format " + std::string(format_name(field.format)));
  }
}

Operand PredicateParser::operand(const Side& side, Expected expected) {
  if (side.kind != Side::Kind::kVariable) require_same_type(side, expected);
  if (side.kind == Side::Kind::kField) return {Operand::Kind::kField, side.field};
  const std::size_t index = predicate_->constants_.size();
  if (side.kind == Side::Kind::kVariable) {
    predicate_->variables_.push_back({side.name, expected.type, expected.format, false, index, side.path});
    predicate_->constants_.emplace_back();
  } else {
    predicate_->constants_.emplace_back(*to_scalar(*side.value, expected.format));
  }
  return {Operand::Kind::kConstant, index};
}

Operand PredicateParser::list_operand(const Side& side, Expected expected) {
  const std::size_t index = predicate_->constants_.size();
  ScalarList list;
  if (side.kind == Side::Kind::kVariable) {
    predicate_->variables_.push_back({side.name, expected.type, expected.format, true, index, side.path});
  } else {
    const Array& elements = *side.value->as<Array>();
    elements_ += elements.size();
    if (elements_ > kMaxPredicateElements) {
      refuse(side.path, "at most " + std::to_string(kMaxPredicateElements) + " elements in all arrays", "more");
    }
    list.reserve(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      auto scalar = to_scalar(elements[i], expected.format);
      if (!scalar || type_class(*scalar) != expected.type) {
        refuse(side.path + "[" + std::to_string(i) + "]", comparable_values(expected.type, expected.format),
               describe(elements[i]));
      }
      list.push_back(*std::move(scalar));
    }
  }
  predicate_->constants_.emplace_back(std::move(list));
  return {Operand::Kind::kConstant, index};
}

namespace {

bool is_identifier(std::string_view key) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !key.empty() && !digit(key[0]) &&
         std::all_of(key.begin(), key.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

std::string JsonPath::text() const {
  if (parent_ == nullptr) return "$";
  std::string text = parent_->text();
  if (index_ != kNoIndex) return text + "[" + std::to_string(index_) + "]";
  if (is_identifier(key_)) return text + "." + std::string(key_);
  text += "[\"";
  for (const char c : key_) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"]";
}

}  // namespace lorekeep::filter
