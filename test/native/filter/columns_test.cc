#include "filter/columns_builder.h"

#include "harness.h"
#include "json_text.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::filter;

std::shared_ptr<const Schema> sample_schema() {
  return std::make_shared<Schema>(Schema::parse(json(R"([
    {"name": "year", "type": "int", "optional": true},
    {"name": "weight", "type": "float", "default": 0.5},
    {"name": "lang", "type": "string", "optional": true},
    {"name": "draft", "type": "bool", "optional": true},
    {"name": "tags", "type": "set<string>", "optional": true}])")));
}

constexpr std::size_t kYear = 0, kWeight = 1, kLang = 2, kDraft = 3, kTags = 4;

TEST("columns give back what each record had, its default, or nothing") {
  ColumnsBuilder builder(sample_schema());
  builder.begin_record("a");
  builder.set_int(kYear, 9007199254740993);
  builder.set_int(kWeight, 2);
  builder.set_string(kLang, "th");
  builder.set_bool(kDraft, true);
  builder.set_strings(kTags, std::vector<std::string_view>{"z", "a", "z", "m"});
  builder.begin_record("b");
  builder.begin_record("c");
  builder.set_string(kLang, "");
  builder.set_strings(kTags, {});
  const Columns columns = std::move(builder).build();

  REQUIRE(columns.size() == 3);
  CHECK(columns.value(0, kYear) == FieldValue(std::int64_t{9007199254740993}));
  CHECK(columns.value(0, kWeight) == FieldValue(2.0));
  CHECK(columns.value(0, kLang) == FieldValue(std::string("th")));
  CHECK(columns.value(0, kDraft) == FieldValue(true));
  CHECK(columns.value(0, kTags) == FieldValue(StringSet{"a", "m", "z"}));
  CHECK(columns.value(1, kWeight) == FieldValue(0.5));
  for (const std::size_t field : {kYear, kLang, kDraft, kTags}) CHECK(!columns.value(1, field));
  CHECK(columns.value(2, kLang) == FieldValue(std::string()));
  CHECK(columns.value(2, kTags) == FieldValue(StringSet{}));
  CHECK(!columns[kWeight].present);  // no bitmap where every record has a value
  CHECK(columns.memory_bytes() > 0);
}

TEST("sets are held by row and by code, sorted both ways") {
  ColumnsBuilder builder(sample_schema());
  const std::vector<std::vector<std::string_view>> sets = {{"b", "a"}, {}, {"a", "a"}, {"c", "b", "a", "b"}};
  for (const auto& set : sets) {
    builder.begin_record("r");
    builder.set_strings(kTags, set);
  }
  const Columns columns = std::move(builder).build();
  const SetColumn& tags = std::get<SetColumn>(columns[kTags].data);
  REQUIRE(tags.dictionary.size() == 3);
  const auto rows = [&](const char* text) {
    const auto span = tags.rows_with(*tags.dictionary.find(text));
    return std::vector<std::uint32_t>(span.begin(), span.end());
  };
  CHECK(rows("a") == (std::vector<std::uint32_t>{0, 2, 3}));
  CHECK(rows("b") == (std::vector<std::uint32_t>{0, 3}));
  CHECK(rows("c") == (std::vector<std::uint32_t>{3}));
  CHECK_EQ(tags.codes_of(1).size(), 0u);
  CHECK_EQ(tags.codes_of(2).size(), 1u);
  CHECK_EQ(tags.codes_of(3).size(), 3u);
}

TEST("dictionaries are in code point order and find only what they hold") {
  ColumnsBuilder builder(sample_schema());
  for (const char* text : {"\xF0\x9F\x98\x80", "\xC3\xA9", "z", "Z", ""}) {  // U+1F600, e acute
    builder.begin_record(text);
    builder.set_string(kLang, text);
  }
  const Columns columns = std::move(builder).build();
  const Dictionary& dictionary = std::get<StringColumn>(columns[kLang].data).dictionary;
  const std::vector<std::string> order = {"", "Z", "z", "\xC3\xA9", "\xF0\x9F\x98\x80"};
  REQUIRE(dictionary.size() == order.size());
  for (std::uint32_t code = 0; code < dictionary.size(); ++code) {
    CHECK_EQ(std::string(dictionary[code]), order[code]);
    CHECK(dictionary.find(order[code]) == std::optional(code));
  }
  CHECK(!dictionary.find("y"));
  CHECK_EQ(dictionary.lower_bound("a"), 2u);
  CHECK_EQ(dictionary.lower_bound("\xF4\x8F\xBF\xBF"), 5u);
}

TEST("a storage without fields or without records is fine") {
  ColumnsBuilder none(std::make_shared<Schema>());
  none.begin_record("a");
  CHECK_EQ(std::move(none).build().size(), 1u);
  ColumnsBuilder empty(sample_schema());
  CHECK_EQ(std::move(empty).build().size(), 0u);
}

TEST("a value of another type names record and field") {
  struct Mistake {
    const char* field;
    void (*make)(ColumnsBuilder&);
  };
  static const Mistake kMistakes[] = {
      {"year", [](ColumnsBuilder& b) { b.set_float(kYear, 1.5); }},
      {"year", [](ColumnsBuilder& b) { b.set_string(kYear, "1999"); }},
      {"year", [](ColumnsBuilder& b) { b.set(kYear, json("1.5")); }},
      {"year", [](ColumnsBuilder& b) { b.set(kYear, json("null")); }},
      {"year", [](ColumnsBuilder& b) { b.set_int(kYear, 1), b.set_int(kYear, 1); }},
      {"weight", [](ColumnsBuilder& b) { b.set_float(kWeight, std::nan("")); }},
      {"weight", [](ColumnsBuilder& b) { b.set_bool(kWeight, true); }},
      {"lang", [](ColumnsBuilder& b) { b.set_int(kLang, 1); }},
      {"draft", [](ColumnsBuilder& b) { b.set_int(kDraft, 1); }},
      {"tags", [](ColumnsBuilder& b) { b.set_string(kTags, "a"); }},
      {"tags", [](ColumnsBuilder& b) { b.set(kTags, json(R"(["a", 1])")); }},
  };
  for (const Mistake& mistake : kMistakes) {
    ColumnsBuilder builder(sample_schema());
    builder.begin_record("first");
    builder.begin_record("second");
    try {
      mistake.make(builder);
      test::report_failure(__FILE__, __LINE__, std::string("no error for ") + mistake.field);
    } catch (const Error& error) {
      CHECK(error.code() == Code::kInvalidArgument);
      const std::string message = error.what();
      CHECK(message.starts_with("record 1 (\"second\"): field \"" + std::string(mistake.field) + "\": expected "));
    }
  }
}

}  // namespace
