// A filter, compiled against a schema. Three steps, each with its own errors and as rare as possible:
//   Predicate::compile(json, schema)   once per agent: grammar, field names, types
//   Predicate::bind(variables)         once per search: presence and types of variables
//   evaluate(bound, columns)           once per search (filter/evaluation.h)
//
// The grammar is JSON with one operator per object (docs/reference/filters.md):
//   {"and": [p, ...]}  {"or": [p, ...]}  {"not": p}
//   {"==": [a, b]}  !=  <  <=  >  >=     a, b: {"knowledge": "field"}, {"variable": "name"} or a literal
//   {"in": [needle, haystack]}           haystack: a set<string> field, an array of literals or a variable
//   {"starts_with": [string field, prefix]}
//   {"exists": {"knowledge": "field"}}
//   {"field": {"<": b, ">=": c}}         short for {"and": [{"<": [field, b]}, {">=": [field, c]}]}
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

// Limits that turn a hostile filter into an error instead of a stack overflow or a minute of work.
inline constexpr std::size_t kMaxPredicateDepth = 64;          // nested operators
inline constexpr std::size_t kMaxPredicateOperators = 10'000;  // operators in all
inline constexpr std::size_t kMaxPredicateElements = 100'000;  // in all array literals together, and in one variable

enum class Comparison { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

/// A literal or a variable's value. Numbers are finite.
using Scalar = std::variant<std::int64_t, double, std::string, bool>;  // the first four of FieldType
using ScalarList = std::vector<Scalar>;
using Constant = std::variant<Scalar, ScalarList>;

/// An operand of a comparison or `in`; `index` is a field of the schema, or a constant of the bound predicate.
struct Operand {
  enum class Kind { kField, kConstant };
  Kind kind;
  std::size_t index;
};

/// One operator. `left` of a comparison and one side of `in` are fields.
struct Node {
  enum class Kind { kAnd, kOr, kNot, kCompare, kIn, kStartsWith, kExists };
  Kind kind;
  Comparison comparison{};            // kCompare: field `left` against `right`
  Operand left{};                     // kIn: the needle; kStartsWith, kExists: the field
  Operand right{};                    // kIn: the haystack; kStartsWith: the prefix, a constant
  std::vector<std::size_t> children;  // kAnd, kOr, kNot (one): positions in the list of nodes
};

/// Types within one class can be compared.
enum class TypeClass { kNumber, kString, kBool };

/// A use of a variable, and the type it requires. Its value goes to constants[constant].
struct VariableUse {
  std::string name;
  TypeClass type;
  IntFormat format;  // of the field on the other side: its value may be a text of this format
  bool list;         // the haystack of an `in`
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
  /// Throws Error(kInvalidArgument) with details `path` (such as `$.and[1]["=="][0].knowledge`), `expected`, `found`
  /// and, for an unknown name, `nearest`.
  static std::shared_ptr<const Predicate> compile(const Value& json, std::shared_ptr<const Schema> schema);

  /// Gives every variable its value; ignores unused ones. Throws Error(kInvalidArgument) naming a variable that is
  /// missing or has the wrong type, with the path of its use.
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

/// A predicate with the values of its variables. Keeps the predicate alive.
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
/// Returns the value as a scalar; nullopt for null, arrays, objects and non-finite numbers.
std::optional<Scalar> to_scalar(const Value& value);
/// The same, but converts a text of this format to an integer; other texts remain texts.
std::optional<Scalar> to_scalar(const Value& value, IntFormat format);
/// Describes a value that can be compared, for an error message: "a number", or the values of the format.
std::string comparable_values(TypeClass type, IntFormat format);

}  // namespace lorekeep::filter
