// Parses a predicate's JSON against a schema, for Predicate::compile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "filter/json_path.h"
#include "filter/predicate.h"

namespace lorekeep::filter {

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
  std::vector<std::size_t> parse_children(const Value& json, const JsonPath& path, std::size_t depth);
  Node parse_comparison(Comparison comparison, const Value& json, const JsonPath& path);
  Node parse_in(const Value& json, const JsonPath& path);

  const Array& pair(const Value& json, const JsonPath& path) const;
  Side parse_side(const Value& json, const JsonPath& path) const;
  Side parse_reference(const Object& reference, const JsonPath& path) const;
  std::size_t parse_field(const std::string& name, const JsonPath& path) const;

  TypeClass scalar_type(const Side& side) const;
  void require_same_type(const Side& side, TypeClass expected) const;
  Operand operand(const Side& side, TypeClass expected);
  Operand list_operand(const Side& side, TypeClass expected);

  std::shared_ptr<const Schema> schema_;
  std::shared_ptr<Predicate> predicate_;
  std::size_t operators_ = 0;
  std::size_t elements_ = 0;
};

}  // namespace lorekeep::filter
