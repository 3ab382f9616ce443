// Valid predicates, and the errors of invalid ones.
#include "filter/predicate.h"

#include "filter/columns_builder.h"
#include "filter/evaluation.h"
#include "filter/nearest_name.h"
#include "harness.h"
#include "json_text.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::filter;

std::shared_ptr<const Schema> sample_schema() {
  static const auto schema = std::make_shared<const Schema>(Schema::parse(json(R"([
    {"name": "year", "type": "int", "optional": true},
    {"name": "weight", "type": "float", "optional": true},
    {"name": "lang", "type": "string", "optional": true},
    {"name": "region", "type": "string", "optional": true},
    {"name": "draft", "type": "bool", "optional": true},
    {"name": "tags", "type": "set<string>", "optional": true},
    {"name": "source", "type": "string", "optional": true, "filterable": false}])")));
  return schema;
}

std::string detail(const Error& error, std::string_view key) {
  for (const auto& [name, value] : error.details()) {
    if (name == key) return std::get<std::string>(value);
  }
  return "";
}

struct Refusal {
  const char* predicate;
  const char* path;
  const char* nearest;
};

TEST("every mistake in a predicate is refused with its path") {
  static const Refusal kRefusals[] = {
      // the shape
      {R"(null)", "$", ""},
      {R"(true)", "$", ""},
      {R"([])", "$", ""},
      {R"({})", "$", ""},
      {R"({"and": [], "or": []})", "$", ""},
      {R"({"adn": []})", "$", "and"},
      {R"({"===": [{"knowledge": "year"}, 1]})", "$", "=="},
      {R"({"NOT": {"and": []}})", "$", "not"},
      {R"({"and": {"or": []}})", "$.and", ""},
      {R"({"and": [{"or": [1]}]})", "$.and[0].or[0]", ""},
      {R"({"not": []})", "$.not", ""},
      {R"({"not": [{"and": []}]})", "$.not", ""},
      {R"({"==": [1]})", R"($["=="])", ""},
      {R"({"==": [{"knowledge": "year"}, 1, 2]})", R"($["=="])", ""},
      {R"({"==": {"knowledge": "year"}})", R"($["=="])", ""},
      // operands
      {R"({"==": [{"knowledge": "year"}, null]})", R"($["=="][1])", ""},
      {R"({"==": [{"knowledge": "year"}, {}]})", R"($["=="][1])", ""},
      {R"({"==": [{"knowledge": "year", "x": 1}, 1]})", R"($["=="][0])", ""},
      {R"({"==": [{"knowlege": "year"}, 1]})", R"($["=="][0])", "knowledge"},
      {R"({"==": [{"var": "year"}, 1]})", R"($["=="][0])", ""},
      {R"({"==": [{"knowledge": 3}, 1]})", R"($["=="][0].knowledge)", ""},
      {R"({"==": [{"knowledge": ""}, 1]})", R"($["=="][0].knowledge)", ""},
      {R"({"==": [1, 1]})", R"($["=="])", ""},
      {R"({"==": [{"variable": "v"}, 1]})", R"($["=="])", ""},
      // fields
      {R"({"and": [{"or": []}, {"==": [{"knowledge": "yaer"}, 1]}]})", R"($.and[1]["=="][0].knowledge)", "year"},
      {R"({"==": [1, {"knowledge": "Lang"}]})", R"($["=="][1].knowledge)", "lang"},
      {R"({"==": [{"knowledge": "completely different"}, 1]})", R"($["=="][0].knowledge)", ""},
      {R"({"==": [{"knowledge": "source"}, "x"]})", R"($["=="][0].knowledge)", ""},
      {R"({"in": [{"knowledge": "source"}, ["x"]]})", "$.in[0].knowledge", ""},
      // types
      {R"({"==": [{"knowledge": "year"}, "1999"]})", R"($["=="][1])", ""},
      {R"({"==": ["1999", {"knowledge": "year"}]})", R"($["=="][0])", ""},
      {R"({"==": [{"knowledge": "year"}, true]})", R"($["=="][1])", ""},
      {R"({"==": [{"knowledge": "draft"}, 1]})", R"($["=="][1])", ""},
      {R"({"==": [{"knowledge": "lang"}, 5]})", R"($["=="][1])", ""},
      {R"({"==": [{"knowledge": "lang"}, ["en"]]})", R"($["=="][1])", ""},
      {R"({"==": [{"knowledge": "lang"}, {"knowledge": "year"}]})", R"($["=="][1].knowledge)", ""},
      {R"({"<": [{"knowledge": "draft"}, true]})", R"($["<"])", ""},
      {R"({">=": [true, {"knowledge": "draft"}]})", R"($[">="])", ""},
      {R"({"==": [{"knowledge": "tags"}, ["a"]]})", R"($["=="][0].knowledge)", ""},
      {R"({"!=": ["a", {"knowledge": "tags"}]})", R"($["!="][1].knowledge)", ""},
      {R"({"==": [{"knowledge": "lang"}, {"knowledge": "tags"}]})", R"($["=="][1].knowledge)", ""},
      // in
      {R"({"in": ["a"]})", "$.in", ""},
      {R"({"in": ["a", {"knowledge": "lang"}]})", "$.in[1].knowledge", ""},
      {R"({"in": [{"knowledge": "lang"}, "en,fr"]})", "$.in[1]", ""},
      {R"({"in": ["en", ["en"]]})", "$.in", ""},
      {R"({"in": [{"variable": "v"}, {"variable": "w"}]})", "$.in", ""},
      {R"({"in": [5, {"knowledge": "tags"}]})", "$.in[0]", ""},
      {R"({"in": [["a"], {"knowledge": "tags"}]})", "$.in[0]", ""},
      {R"({"in": [{"knowledge": "year"}, {"knowledge": "tags"}]})", "$.in[0].knowledge", ""},
      {R"({"in": [{"knowledge": "tags"}, {"knowledge": "tags"}]})", "$.in[0].knowledge", ""},
      {R"({"in": [{"knowledge": "tags"}, ["a"]]})", "$.in[0].knowledge", ""},
      {R"({"in": [{"knowledge": "year"}, [1, 2, "3"]]})", "$.in[1][2]", ""},
      {R"({"in": [{"knowledge": "lang"}, ["en", null]]})", "$.in[1][1]", ""},
      {R"({"in": [{"knowledge": "lang"}, ["en", {"variable": "v"}]]})", "$.in[1][1]", ""},
      // starts_with, exists
      {R"({"starts_with": [{"knowledge": "lang"}]})", "$.starts_with", ""},
      {R"({"starts_with": ["e", {"knowledge": "lang"}]})", "$.starts_with", ""},
      {R"({"starts_with": [{"knowledge": "lang"}, 1]})", "$.starts_with[1]", ""},
      {R"({"starts_with": [{"knowledge": "lang"}, ["e"]]})", "$.starts_with[1]", ""},
      {R"({"starts_with": [{"knowledge": "lang"}, {"knowledge": "region"}]})", "$.starts_with[1].knowledge", ""},
      {R"({"starts_with": [{"knowledge": "year"}, "1"]})", "$.starts_with[0].knowledge", ""},
      {R"({"starts_with": [{"knowledge": "tags"}, "a"]})", "$.starts_with[0].knowledge", ""},
      {R"({"startswith": [{"knowledge": "lang"}, "e"]})", "$", "starts_with"},
      {R"({"exists": "lang"})", "$.exists", ""},
      {R"({"exists": [{"knowledge": "lang"}]})", "$.exists", ""},
      {R"({"exists": {"variable": "lang"}})", "$.exists", ""},
      {R"({"exists": {"knowledge": "source"}})", "$.exists.knowledge", ""},
      {R"({"exists": {"knowledge": "lnag"}})", "$.exists.knowledge", "lang"},
      // operators of a field
      {R"({"year": 1990})", "$.year", ""},
      {R"({"year": {}})", "$.year", ""},
      {R"({"year": null})", "$.year", ""},
      {R"({"year": [{">=": 1}]})", "$.year", ""},
      {R"({"yaer": {">=": 1}})", "$.yaer", "year"},
      {R"({"source": {"==": "x"}})", "$.source", ""},
      {R"({"year": {">=": 1, "=<": 2}})", "$.year", "=="},
      {R"({"year": {"and": []}})", "$.year", ""},
      {R"({"year": {">=": "1990"}})", R"($.year[">="])", ""},
      {R"({"year": {">=": 1}, "lang": {"==": "en"}})", "$", ""},
      {R"({"year": {"exists": 1}})", "$.year.exists", ""},
      {R"({"year": {"starts_with": "1"}})", "$.year", ""},
      {R"({"lang": {"in": "en"}})", "$.lang.in", ""},
      {R"({"lang": {"in": ["en", 1]}})", "$.lang.in[1]", ""},
      {R"({"tags": {"==": "a"}})", "$.tags", ""},
      {R"({"draft": {"<": true}})", R"($.draft["<"])", ""},
      {R"({"year": {"year": {">=": 1}}})", "$.year", ""},
  };
  for (const Refusal& refusal : kRefusals) {
    try {
      Predicate::compile(json(refusal.predicate), sample_schema());
      test::report_failure(__FILE__, __LINE__, std::string("accepted: ") + refusal.predicate);
    } catch (const Error& error) {
      CHECK(error.code() == Code::kInvalidArgument);
      if (detail(error, "path") != refusal.path || detail(error, "nearest") != refusal.nearest) {
        test::report_failure(__FILE__, __LINE__, std::string(refusal.predicate) + " gave: " + error.what());
      }
      CHECK(std::string(error.what()).find("expected ") != std::string::npos);
      CHECK(!detail(error, "found").empty());
    }
  }
}

std::string refusal_of(const char* predicate) {
  try {
    Predicate::compile(json(predicate), sample_schema());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST("a set compared with ==, or as a needle, is told to use in") {
  const std::string expected =
      "expected a field with one value (a set<string> can only be the haystack of \"in\"), found \"tags\", a "
      "set<string>";
  CHECK_EQ(refusal_of(R"({"==": [{"knowledge": "tags"}, "a"]})"), "filter: $[\"==\"][0].knowledge: " + expected);
  CHECK_EQ(refusal_of(R"({"tags": {"in": "a"}})"), "filter: $.tags: " + expected);
  CHECK_EQ(refusal_of(R"({"in": [{"knowledge": "tags"}, "a"]})"), "filter: $.in[0].knowledge: " + expected);
}

TEST("several fields in one object are told to use and") {
  CHECK_EQ(refusal_of(R"({"year": {">=": 1}, "lang": {"==": "en"}})"),
           std::string("filter: $: expected an object with one operator or field (\"and\" joins several), found an "
                       "object with 2 keys"));
  CHECK_EQ(refusal_of("{}"),
           std::string("filter: $: expected an object with one operator, found an object with 0 keys"));
}

TEST("numbers that are not finite are refused") {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    const Value predicate(Object{{"<", Array{Object{{"knowledge", "year"}}, bad}}});
    CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(predicate, sample_schema()));
  }
}

Value nested(std::size_t depth) {
  Value value(Object{{"and", Array{}}});
  for (std::size_t i = 1; i < depth; ++i) value = Value(Object{{"not", std::move(value)}});
  return value;
}

TEST("operators of one field count as nested and as operators") {
  const Value two = json(R"({"year": {">": 1, "<": 9}})");
  Value value = two;
  for (std::size_t i = 2; i < kMaxPredicateDepth; ++i) value = Value(Object{{"not", std::move(value)}});
  CHECK(Predicate::compile(value, sample_schema()) != nullptr);
  value = Value(Object{{"not", std::move(value)}});
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(value, sample_schema()));

  const std::size_t most = (kMaxPredicateOperators - 1) / 3;
  CHECK(Predicate::compile(Object{{"and", Array(most, two)}}, sample_schema()) != nullptr);
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(Object{{"and", Array(most + 1, two)}}, sample_schema()));
}

TEST("an operator is one also where a field has its name") {
  const auto schema = std::make_shared<const Schema>(Schema::parse(
      json(R"([{"name": "in", "type": "int", "default": 1}, {"name": "not", "type": "int", "default": 1}])")));
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(json(R"({"in": {"==": 1}})"), schema));
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(json(R"({"not": {"==": 1}})"), schema));
  CHECK(Predicate::compile(json(R"({"==": [{"knowledge": "in"}, 1]})"), schema) != nullptr);
}

TEST("depth, operators and elements have limits") {
  CHECK(Predicate::compile(nested(kMaxPredicateDepth), sample_schema()) != nullptr);
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(nested(kMaxPredicateDepth + 1), sample_schema()));

  const Value leaf = json(R"({"or": []})");
  Value wide(Object{{"and", Array(kMaxPredicateOperators - 1, leaf)}});
  CHECK(Predicate::compile(wide, sample_schema()) != nullptr);
  wide = Value(Object{{"and", Array(kMaxPredicateOperators, leaf)}});
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(wide, sample_schema()));

  const Value half(
      Object{{"in", Array{Object{{"knowledge", "year"}}, Array(kMaxPredicateElements / 2 + 1, Value(1))}}});
  CHECK(Predicate::compile(half, sample_schema()) != nullptr);
  CHECK_FAILS(Code::kInvalidArgument, Predicate::compile(Object{{"and", Array{half, half}}}, sample_schema()));
}

TEST("a schema without filterable fields says so") {
  CHECK_FAILS(Code::kInvalidArgument,
              Predicate::compile(json(R"({"==": [{"knowledge": "a"}, 1]})"), std::make_shared<const Schema>()));
}

TEST("variables are checked when they are bound, and named when they are wrong") {
  struct Binding {
    const char* predicate;
    const char* value;
    bool fits;
  };
  static const Binding kBindings[] = {
      {R"({"==": [{"knowledge": "year"}, {"variable": "v"}]})", "5", true},
      {R"({"==": [{"variable": "v"}, {"knowledge": "year"}]})", "5.5", true},
      {R"({"==": [{"knowledge": "year"}, {"variable": "v"}]})", R"("5")", false},
      {R"({"==": [{"knowledge": "year"}, {"variable": "v"}]})", "null", false},
      {R"({"==": [{"knowledge": "year"}, {"variable": "v"}]})", "[5]", false},
      {R"({"==": [{"knowledge": "draft"}, {"variable": "v"}]})", "true", true},
      {R"({"==": [{"knowledge": "draft"}, {"variable": "v"}]})", "1", false},
      {R"({"in": [{"variable": "v"}, {"knowledge": "tags"}]})", R"("a")", true},
      {R"({"in": [{"variable": "v"}, {"knowledge": "tags"}]})", "1", false},
      {R"({"in": [{"knowledge": "lang"}, {"variable": "v"}]})", R"(["a", "b"])", true},
      {R"({"in": [{"knowledge": "lang"}, {"variable": "v"}]})", "[]", true},
      {R"({"in": [{"knowledge": "lang"}, {"variable": "v"}]})", R"("a")", false},
      {R"({"in": [{"knowledge": "lang"}, {"variable": "v"}]})", R"(["a", 1])", false},
  };
  for (const Binding& binding : kBindings) {
    const auto predicate = Predicate::compile(json(binding.predicate), sample_schema());
    REQUIRE(predicate->variables().size() == 1);
    std::string message;
    try {
      predicate->bind({{"other", Value(1)}, {"v", json(binding.value)}});
    } catch (const Error& error) {
      CHECK(error.code() == Code::kInvalidArgument);
      CHECK_EQ(detail(error, "variable"), std::string("v"));
      message = error.what();
    }
    CHECK_EQ(message.empty(), binding.fits);
    CHECK_FAILS(Code::kInvalidArgument, predicate->bind());
    CHECK_FAILS(Code::kInvalidArgument, predicate->bind({{"V", json(binding.value)}}));
  }
}

TEST("a variable used twice must suit both uses") {
  const auto predicate = Predicate::compile(json(R"({"and": [{"==": [{"knowledge": "year"}, {"variable": "v"}]},
                       {"==": [{"knowledge": "lang"}, {"variable": "v"}]}]})"),
                                            sample_schema());
  try {
    predicate->bind({{"v", Value(5)}});
    CHECK(false);
  } catch (const Error& error) {
    CHECK_EQ(detail(error, "path"), std::string(R"($.and[1]["=="][1].variable)"));
  }
}

TEST("a predicate bound twice keeps both bindings apart, and outlives its maker") {
  ColumnsBuilder builder(sample_schema());
  for (int year = 0; year < 10; ++year) {
    builder.begin_record("r");
    builder.set_int(0, year);
  }
  const Columns columns = std::move(builder).build();
  auto predicate = Predicate::compile(json(R"({"<": [{"knowledge": "year"}, {"variable": "v"}]})"), sample_schema());
  const BoundPredicate three = predicate->bind({{"v", Value(3)}});
  const BoundPredicate seven = predicate->bind({{"v", Value(7)}});
  predicate.reset();
  CHECK_EQ(evaluate(three, columns).count(), 3u);
  CHECK_EQ(evaluate(seven, columns).count(), 7u);
}

TEST("the nearest name is a slip of the hand away or not named at all") {
  const std::vector<std::string> names = {"year", "language", "lang", "tags"};
  CHECK_EQ(nearest_name("yeer", names), std::string("year"));
  CHECK_EQ(nearest_name("yaer", names), std::string("year"));
  CHECK_EQ(nearest_name("YEAR", names), std::string("year"));
  CHECK_EQ(nearest_name("langauge", names), std::string("language"));
  CHECK_EQ(nearest_name("tag", names), std::string("tags"));
  CHECK_EQ(nearest_name("price", names), std::string());
  CHECK_EQ(nearest_name("", names), std::string());
  CHECK_EQ(nearest_name(std::string(1000, 'x'), names), std::string());
}

}  // namespace
