// Compiled predicates over columns agree with the naive interpreter on random schemas, records and predicates.
#include <random>

#include "filter/columns_builder.h"
#include "filter/evaluation.h"
#include "harness.h"
#include "scan_filter.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::filter;

constexpr int kTriples = 10'000;

/// Few distinct values, so that equality, order and membership all happen; and the numbers where exactness matters.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  std::string text() {
    static const std::vector<std::string> kTexts = {"", "a", "aa", "b", "B", "\xC3\xA9", "\xF0\x9F\x98\x80", "z"};
    return kTexts[below(kTexts.size())];
  }
  std::int64_t integer() {
    static const std::vector<std::int64_t> kIntegers = {0,
                                                        1,
                                                        -1,
                                                        2,
                                                        3,
                                                        9007199254740992,
                                                        9007199254740993,
                                                        9007199254740994,
                                                        std::numeric_limits<std::int64_t>::max(),
                                                        std::numeric_limits<std::int64_t>::max() - 1,
                                                        std::numeric_limits<std::int64_t>::min()};
    return kIntegers[below(kIntegers.size())];
  }
  double real() {
    static const std::vector<double> kReals = {0.0,    -0.0,       0.5,    1.0,     -1.0,  2.0,    2.5,
                                               0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 1e300, -1e300, 5e-324};
    return kReals[below(kReals.size())];
  }

  Schema schema() {
    std::vector<Field> fields(1 + below(6));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i].name = "f" + std::to_string(i);
      fields[i].type = static_cast<FieldType>(below(5));
      if (chance(40)) fields[i].default_value = coerce(value(fields[i].type), fields[i].type);
    }
    return Schema(std::move(fields));
  }

  /// A value that a record may have in such a field.
  Value value(FieldType type) {
    switch (type) {
      case FieldType::kInt: return integer();
      case FieldType::kFloat: return chance(30) ? Value(static_cast<double>(integer())) : Value(real());
      case FieldType::kString: return text();
      case FieldType::kBool: return chance(50);
      case FieldType::kStringSet: break;
    }
    Array set;
    for (std::size_t i = below(5); i > 0; --i) set.push_back(text());
    return set;
  }

  Value predicate(const Schema& schema, Record& variables, int depth) {
    const std::size_t choice = below(depth > 0 ? 13 : 7);
    if (choice >= 10) return choice == 10 ? existence(schema) : conditions(schema, variables);
    if (choice == 7) return Object{{"not", predicate(schema, variables, depth - 1)}};
    if (choice > 7) {
      Array parts;
      for (std::size_t i = below(4); i > 0; --i) parts.push_back(predicate(schema, variables, depth - 1));
      return Object{{choice == 8 ? "and" : "or", std::move(parts)}};
    }
    const std::size_t field = below(schema.size());
    if (schema[field].type == FieldType::kStringSet) {
      return Object{{"in", Array{operand(schema, FieldType::kString, variables), reference(schema, field)}}};
    }
    if (choice == 3 && schema[field].type == FieldType::kString) {
      Value prefix = chance(30) ? variable(text(), variables) : Value(text());
      return Object{{"starts_with", Array{reference(schema, field), std::move(prefix)}}};
    }
    return choice < 2 ? membership(schema, field, variables) : comparison(schema, field, variables);
  }

 private:
  static Value reference(const Schema& schema, std::size_t field) { return Object{{"knowledge", schema[field].name}}; }

  Value existence(const Schema& schema) { return Object{{"exists", reference(schema, below(schema.size()))}}; }

  /// {"field": {operator: operand, ...}} of up to three operators.
  Value conditions(const Schema& schema, Record& variables) {
    static const std::vector<std::string> kOperators = {"==", "!=", "<", "<=", ">", ">="};
    const std::size_t field = below(schema.size());
    const FieldType type = schema[field].type;
    Object all;
    if (type == FieldType::kStringSet || chance(30)) all.push_back({"exists", chance(50)});
    if (type != FieldType::kStringSet && (all.empty() || chance(50))) {
      const std::string& op = kOperators[below(type == FieldType::kBool ? 2 : 6)];
      all.push_back({op, operand(schema, type, variables)});
    }
    if (type == FieldType::kString && chance(30)) all.push_back({"starts_with", text()});
    return Object{{schema[field].name, std::move(all)}};
  }

  static bool comparable(FieldType a, FieldType b) {
    return a == b || (a <= FieldType::kFloat && b <= FieldType::kFloat);
  }

  Value variable(Value value, Record& variables) {
    const std::string name = "v" + std::to_string(variables.size());
    variables.emplace(name, std::move(value));
    return Object{{"variable", name}};
  }

  /// A literal, a variable or another field that goes with the type.
  Value operand(const Schema& schema, FieldType type, Record& variables) {
    const std::size_t other = below(schema.size());
    if (chance(20) && comparable(schema[other].type, type) && schema[other].type != FieldType::kStringSet) {
      return reference(schema, other);
    }
    const bool number = type <= FieldType::kFloat;
    Value literal = number ? (chance(50) ? Value(integer()) : Value(real())) : value(type);
    return chance(30) ? variable(std::move(literal), variables) : literal;
  }

  Value comparison(const Schema& schema, std::size_t field, Record& variables) {
    static const std::vector<std::string> kOperators = {"==", "!=", "<", "<=", ">", ">="};
    const std::string op = kOperators[below(schema[field].type == FieldType::kBool ? 2 : 6)];
    Array sides = {reference(schema, field), operand(schema, schema[field].type, variables)};
    if (chance(30)) std::swap(sides[0], sides[1]);
    return Object{{op, std::move(sides)}};
  }

  Value membership(const Schema& schema, std::size_t field, Record& variables) {
    Array list;
    for (std::size_t i = below(5); i > 0; --i) {
      const bool number = schema[field].type <= FieldType::kFloat;
      list.push_back(number ? (chance(50) ? Value(integer()) : Value(real())) : value(schema[field].type));
    }
    Value haystack = chance(30) ? variable(std::move(list), variables) : Value(std::move(list));
    return Object{{"in", Array{reference(schema, field), std::move(haystack)}}};
  }

  std::mt19937_64 random_;
};

Value to_value(const FieldValue& value) {
  if (const auto* set = std::get_if<StringSet>(&value)) return Array(set->begin(), set->end());
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  return std::get<std::string>(value);
}

TEST("compiled predicates agree with the naive interpreter on 10,000 random triples") {
  std::size_t matched = 0;
  std::size_t tried = 0;
  for (int round = 0; round < kTriples; ++round) {
    Generator generator(test::seed() + static_cast<std::uint64_t>(round));
    const auto schema = std::make_shared<const Schema>(generator.schema());
    ColumnsBuilder builder(schema);
    std::vector<Record> records(generator.below(150));  // across a word boundary, and not
    for (Record& record : records) {
      builder.begin_record("r");
      for (std::size_t field = 0; field < schema->size(); ++field) {
        const Field& described = (*schema)[field];
        if (generator.chance(25)) {
          if (described.default_value) record.emplace(described.name, to_value(*described.default_value));
          continue;
        }
        const Value value = generator.value(described.type);
        builder.set(field, value);
        record.emplace(described.name, value);
      }
    }
    const Columns columns = std::move(builder).build();
    Record variables;
    const Value json = generator.predicate(*schema, variables, 3);
    std::vector<Variable> bindings;
    for (const auto& [name, value] : variables) bindings.push_back({name, value});

    const Bitmap found = evaluate(Predicate::compile(json, schema)->bind(bindings), columns);
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (found.test(i) != matches(json, records[i], variables)) {
        test::report_failure(__FILE__, __LINE__, "round " + std::to_string(round) + ", record " + std::to_string(i));
        return;
      }
    }
    matched += found.count();
    tried += records.size();
  }
  // A generator that makes only predicates which are always true, or never, tests nothing.
  CHECK(matched > tried / 10);
  CHECK(matched < tried * 9 / 10);
}

}  // namespace
