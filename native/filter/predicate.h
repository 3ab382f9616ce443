// A filter, compiled against a schema. Three steps, each with its own errors and each done as rarely as it can be:
//   Predicate::compile(json, schema)   once per agent: grammar, field names, types
//   Predicate::bind(variables)         once per search: presence and types of variables
//   evaluate(bound, columns)           once per search (filter/evaluation.h)
//
// The grammar is JSON with one operator per object (docs/filters.md):
//   {"and": [p, ...]}  {"or": [p, ...]}  {"not": p}
//   {"==": [a, b]}  !=  <  <=  >  >=     a, b: {"knowledge": "field"}, {"variable": "name"} or a literal
//   {"in": [needle, haystack]}           haystack: a set<string> field, an array of literals or a variable
// At least one side is a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "filter/schema.h"
#include "filter/value.h"

namespace lorekeep::filter {

// Limits, so that a hostile filter is an error and not a stack overflow or a minute of work.
inline constexpr std::size_t kMaxPredicateDepth = 64;            // operators inside one another
inline constexpr std::size_t kMaxPredicateOperators = 10'000;    // operators in all
inline constexpr std::size_t kMaxPredicateElements = 1'000'000;  // of all array literals together, and of a variable

enum class Comparison { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

/// A literal or a variable's value. Numbers are finite.
using Scalar = std::variant<std::int64_t, double, std::string, bool>;  // the first four of FieldType
using ScalarList = std::vector<Scalar>;
using Constant = std::variant<Scalar, ScalarList>;

/// What a comparison or `in` refers to; `index` counts fields of the schema, or constants of the bound predicate.
struct Operand {
  enum class Kind { kField, kConstant };
  Kind kind;
  std::size_t index;
};

/// One operator. `left` of a comparison and one side of `in` are fields.
struct Node {
  enum class Kind { kAnd, kOr, kNot, kCompare, kIn };
  Kind kind;
  Comparison comparison{};            // kCompare: field `left` against `right`
  Operand left{};                     // kIn: the needle
  Operand right{};                    // kIn: the haystack
  std::vector<std::size_t> children;  // kAnd, kOr, kNot (one): positions in the list of nodes
};

/// Types that compare with one another.
enum class TypeClass { kNumber, kString, kBool };

/// Where a variable stands, and so what it has to be. Its value goes to constants[constant].
struct VariableUse {
  std::string name;
  TypeClass type;
  bool list;  // the haystack of an `in`
  std::size_t constant;
  std::string path;  // in the predicate's JSON
};

struct Variable {
  std::string name;
  Value value;
};

class BoundPredicate;

/// Immutable; may be shared between threads.
class Predicate : public std::enable_shared_from_this<Predicate> {
 public:
  /// Throws Error(kInvalidArgument) with `path` (such as `$.and[1]["=="][0].knowledge`), `expected`, `found` and, for a
  /// name that does not exist, `nearest` in its details.
  static std::shared_ptr<const Predicate> compile(const Value& json, std::shared_ptr<const Schema> schema);

  /// Gives every variable its value; those not used are ignored. Throws Error(kInvalidArgument) naming the variable
  /// that is missing or of another type, with the path of its use.
  BoundPredicate bind(const std::vector<Variable>& variables = {}) const;

  const Schema& schema() const noexcept { return *schema_; }
  const std::vector<VariableUse>& variables() const noexcept { return variables_; }
  /// The root is the last one.
  const std::vector<Node>& nodes() const noexcept { return nodes_; }

 private:
  friend class PredicateParser;
  friend class BoundPredicate;
  Predicate() = default;

  std::shared_ptr<const Schema> schema_;
  std::vector<Node> nodes_;
  std::vector<Constant> constants_;  // the slots of variables are empty until bound
  std::vector<VariableUse> variables_;
};

/// A predicate whose constants are all known. Keeps the predicate alive.
class BoundPredicate {
 public:
  const Predicate& predicate() const noexcept { return *predicate_; }
  const Schema& schema() const noexcept { return predicate_->schema(); }
  const std::vector<Node>& nodes() const noexcept { return predicate_->nodes(); }
  const Constant& constant(std::size_t index) const noexcept {
    return bound_.empty() ? predicate_->constants_[index] : bound_[index];
  }

 private:
  friend class Predicate;
  explicit BoundPredicate(std::shared_ptr<const Predicate> predicate) : predicate_(std::move(predicate)) {}

  std::shared_ptr<const Predicate> predicate_;
  std::vector<Constant> bound_;  // empty: the predicate has no variables
};

std::string_view type_class_name(TypeClass type) noexcept;  // "number", "string", "bool"
/// Precondition: not a set.
TypeClass type_class(FieldType type) noexcept;
TypeClass type_class(const Scalar& scalar) noexcept;
/// The value as a scalar; nothing for null, arrays, objects and numbers that are not finite.
std::optional<Scalar> to_scalar(const Value& value);

}  // namespace lorekeep::filter
