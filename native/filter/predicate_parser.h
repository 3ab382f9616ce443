// Parses a predicate's JSON against a schema, for Predicate::compile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "filter/predicate.h"

namespace lorekeep::filter {

// A position in a JSON document: a chain on the stack, formatted only for errors.
class JsonPath {
 public:
  JsonPath() = default;  // the document itself, "$"
  /// A child of `parent`, which must outlive it.
  JsonPath(const JsonPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  JsonPath(const JsonPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// Returns for example `$.and[1]["=="][0].knowledge`; quotes keys that are not identifiers.
  std::string text() const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  const JsonPath* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = kNoIndex;
};

struct Operator;  // a row of the table in predicate_parser.cc

class PredicateParser {
 public:
  explicit PredicateParser(std::shared_ptr<const Schema> schema);

  std::shared_ptr<const Predicate> parse(const Value& json) &&;

 private:
  /// One side of an operator, before its type is derived from the other side.
  struct Side {
    enum class Kind { kField, kVariable, kLiteral, kList };
    Kind kind;
    const Value* value;  // the literal, the list
    std::string name;    // of field or variable
    std::size_t field;
    std::string path;  // of the name or the literal
  };

  std::size_t parse_node(const Value& json, const JsonPath& path, std::size_t depth);
  /// Returns the node's position. Throws if there are too many.
  std::size_t add(Node node, const JsonPath& path);
  std::vector<std::size_t> parse_children(const Value& json, const JsonPath& path, std::size_t depth);
  std::size_t parse_exists(const Value& json, const JsonPath& path);
  Node parse_pair(const Operator& op, const Value& json, const JsonPath& path);

  // {"field": {operator: operand, ...}}
  std::size_t parse_conditions(const Member& member, const JsonPath& path, std::size_t depth);
  std::size_t parse_condition(const Side& field, const Member& condition, const JsonPath& path);

  // Operators with two operands: `path` is the operator's path.
  Node operation(const Operator& op, const Side& left, const Side& right, const JsonPath& path);
  Node comparison(Comparison comparison, const Side& left, const Side& right, const JsonPath& path);
  Node membership(const Side& needle, const Side& haystack, const JsonPath& path);
  Node prefix(const Side& field, const Side& prefix, const JsonPath& path);

  const Array& pair(const Value& json, const JsonPath& path) const;
  Side parse_side(const Value& json, const JsonPath& path) const;
  Side parse_reference(const Object& reference, const JsonPath& path) const;
  std::size_t parse_field(const std::string& name, const JsonPath& path) const;

  /// The values that go with a field.
  struct Expected {
    TypeClass type;
    IntFormat format = IntFormat::kNone;
  };
  TypeClass scalar_type(const Side& side) const;
  Expected expected_beside(const Side& field) const;
  void require_same_type(const Side& side, Expected expected) const;
  Operand operand(const Side& side, Expected expected);
  Operand list_operand(const Side& side, Expected expected);

  std::shared_ptr<const Schema> schema_;
  std::shared_ptr<Predicate> predicate_;
  std::size_t operators_ = 0;
  std::size_t elements_ = 0;
};

}  // namespace lorekeep::filter
