#include "filter/schema.h"

#include "harness.h"
#include "json_text.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::filter;

std::string path_of_error(std::string_view fields) {
  try {
    Schema::parse(json(fields));
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);
    return error.details().empty() ? "" : std::get<std::string>(error.details()[0].second);
  }
  return "no error";
}

TEST("a schema is read from the `fields` array") {
  const Schema schema = Schema::parse(json(R"([
    {"name": "year", "type": "int", "default": 2000},
    {"name": "weight", "type": "float", "default": 1},
    {"name": "lang", "type": "string", "optional": true},
    {"name": "draft", "type": "bool", "default": false, "optional": false, "filterable": false},
    {"name": "tags", "type": "set<string>", "default": ["b", "a", "b"], "comment": "ignored"}])"));
  REQUIRE(schema.size() == 5);
  CHECK(schema[0].default_value == FieldValue(std::int64_t{2000}));
  CHECK(schema[1].default_value == FieldValue(1.0));
  CHECK(schema[2].optional());
  CHECK(!schema[3].optional() && !schema[3].filterable && schema[0].filterable);
  CHECK(schema[4].default_value == FieldValue(StringSet{"a", "b"}));
  CHECK(schema.find("lang") == std::optional<std::size_t>(2));
  CHECK(!schema.find("Lang"));
  CHECK_EQ(Schema::parse(json("[]")).size(), 0u);
}

TEST("what is wrong in a schema is named by its path") {
  CHECK_EQ(path_of_error(R"({})"), "fields");
  CHECK_EQ(path_of_error(R"([3])"), "fields[0]");
  CHECK_EQ(path_of_error(R"([{"type": "int", "optional": true}])"), "fields[0].name");
  CHECK_EQ(path_of_error(R"([{"name": "", "type": "int", "optional": true}])"), "fields[0].name");
  CHECK_EQ(path_of_error(R"([{"name": "a", "optional": true}])"), "fields[0].type");
  CHECK_EQ(path_of_error(R"([{"name": "a", "type": "integer", "optional": true}])"), "fields[0].type");
  CHECK_EQ(path_of_error(R"([{"name": "a", "type": "int", "optional": 1}])"), "fields[0].optional");
  CHECK_EQ(path_of_error(R"([{"name": "a", "type": "int", "optional": true, "filterable": "no"}])"),
           "fields[0].filterable");
  CHECK_EQ(
      path_of_error(R"([{"name": "a", "type": "int", "optional": true}, {"name": "a", "type": "int", "default": 1}])"),
      "fields[1].name");
}

TEST("exactly one of default and optional is required") {
  CHECK_EQ(path_of_error(R"([{"name": "a", "type": "int"}])"), "fields[0]");
  CHECK_EQ(path_of_error(R"([{"name": "a", "type": "int", "optional": false}])"), "fields[0]");
  CHECK_EQ(path_of_error(R"([{"name": "a", "type": "int", "optional": true, "default": 1}])"), "fields[0]");
}

TEST("a default must be of the field's type") {
  for (const char* bad :
       {R"("int", "default": 1.5)", R"("int", "default": "1")", R"("int", "default": 1e19)",
        R"("int", "default": null)", R"("float", "default": "1")", R"("string", "default": 1)",
        R"("bool", "default": 0)", R"("set<string>", "default": "a")", R"("set<string>", "default": ["a", 1])"}) {
    CHECK_EQ(path_of_error(R"([{"name": "a", "type": )" + std::string(bad) + "}]"), "fields[0].default");
  }
}

TEST("integers are exact, and a number without fraction is one") {
  CHECK(coerce(json("9007199254740993"), FieldType::kInt) == FieldValue(std::int64_t{9007199254740993}));
  CHECK(coerce(json("9223372036854775807"), FieldType::kInt) == FieldValue(std::int64_t{9223372036854775807}));
  CHECK(coerce(Value(-0x1p63), FieldType::kInt) == FieldValue(std::numeric_limits<std::int64_t>::min()));
  CHECK(!coerce(Value(0x1p63), FieldType::kInt));
  CHECK(coerce(json("2.0"), FieldType::kInt) == FieldValue(std::int64_t{2}));
  CHECK(!coerce(Value(std::nan("")), FieldType::kInt));
  CHECK(!coerce(Value(HUGE_VAL), FieldType::kFloat));
}

TEST("schemas built in code are checked too") {
  CHECK_FAILS(Code::kInvalidArgument, Schema({Field{"", FieldType::kInt, {}, true}}));
  CHECK_FAILS(Code::kInvalidArgument,
              Schema({Field{"a", FieldType::kInt, {}, true}, Field{"a", FieldType::kBool, {}, true}}));
  CHECK_FAILS(Code::kInvalidArgument, Schema({Field{"a", FieldType::kInt, FieldValue(1.0), true}}));
}

}  // namespace
