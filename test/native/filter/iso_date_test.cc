// Dates of int fields: every day of four hundred years and more beside a calendar that counts day by day, times beside
// plain arithmetic, and texts that are no dates.
#include "filter/iso_date.h"

#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "filter/columns_builder.h"
#include "filter/evaluation.h"
#include "filter/predicate.h"
#include "harness.h"
#include "json_text.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::filter;

std::string padded(int value, int digits) {
  char text[16];
  std::snprintf(text, sizeof(text), "%0*d", digits, value);
  return text;
}

bool is_leap(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int days_of(int month, int year) {
  static const int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

TEST("dates: every day from 1583 to 2400 has the number that counting from day to day gives") {
  std::int64_t number = 0;  // of 1970-01-01
  for (int year = 1969; year >= 1583; --year) number -= is_leap(year) ? 366 : 365;
  for (int year = 1583; year <= 2400; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= days_of(month, year); ++day, ++number) {
        const std::string text = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2);
        CHECK(parse_iso(text, IntFormat::kDate) == number);
        CHECK(parse_iso(text, IntFormat::kDateTime) == number * 86'400'000);
      }
      const std::string beyond = padded(days_of(month, year) + 1, 2);
      CHECK(!parse_iso(padded(year, 4) + "-" + padded(month, 2) + "-" + beyond, IntFormat::kDate));
    }
  }
}

TEST("dates: times are milliseconds, whatever their offset and precision") {
  std::mt19937_64 random(test::seed());
  const auto below = [&random](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 2000; ++round) {
    const int hour = below(24), minute = below(60), second = below(60), millisecond = below(1000);
    const int ahead = below(2 * 23 * 60) - 23 * 60;
    const std::string offset =
        (ahead < 0 ? "-" : "+") + padded(std::abs(ahead) / 60, 2) + ":" + padded(std::abs(ahead) % 60, 2);
    const std::int64_t start = (std::int64_t{hour} * 60 + minute - ahead) * 60'000;
    const std::string minutes = "1970-01-01T" + padded(hour, 2) + ":" + padded(minute, 2);
    CHECK(parse_iso(minutes + offset, IntFormat::kDateTime) == start);
    const std::string seconds = minutes + ":" + padded(second, 2);
    CHECK(parse_iso(seconds + offset, IntFormat::kDateTime) == start + second * 1000);
    const std::string precise = seconds + "." + padded(millisecond, 3);
    CHECK(parse_iso(precise + offset, IntFormat::kDateTime) == start + second * 1000 + millisecond);
    CHECK(parse_iso(precise + "999999" + offset, IntFormat::kDateTime) == start + second * 1000 + millisecond);
  }
  CHECK(parse_iso("1970-01-01T00:00:00.5Z", IntFormat::kDateTime) == 500);
  CHECK(parse_iso("0001-01-01", IntFormat::kDate) == -719162);
  CHECK(parse_iso("9999-12-31", IntFormat::kDate) == 2932896);
}

TEST("dates: other texts are none") {
  for (const char* text :
       {"", "2024", "2024-5-31", "2024-05-31 ", " 2024-05-31", "2024/05/31", "20240531", "2024-13-01", "2024-00-10",
        "2024-02-30", "2023-02-29", "0000-01-01", "-001-01-01", "+2024-05-31", "10000-01-01", "2024-05-31T",
        "2024-05-31T10:00:00Z", "2024-05-3\0", "\xD9\xA2\xD9\xA0-01-01"}) {
    CHECK(!parse_iso(text, IntFormat::kDate));
  }
  for (const char* text :
       {"2024-05-31T10", "2024-05-31T10:00", "2024-05-31T10:00:00", "2024-05-31t10:00:00Z", "2024-05-31 10:00:00Z",
        "2024-05-31T24:00:00Z", "2024-05-31T10:60:00Z", "2024-05-31T10:00:60Z", "2024-05-31T10:00:00z",
        "2024-05-31T10:00:00.Z", "2024-05-31T10:00:00.1234567891Z", "2024-05-31T10:00:00+2:00",
        "2024-05-31T10:00:00+0200", "2024-05-31T10:00:00+24:00", "2024-05-31T10:00:00ZZ", "2024-05-31T10:00:00Z ",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"}) {
    CHECK(!parse_iso(text, IntFormat::kDateTime));
  }
  CHECK(!parse_iso("2024-05-31", IntFormat::kNone));
}

std::shared_ptr<const Schema> dated_schema() {
  return std::make_shared<const Schema>(Schema::parse(json(R"([
    {"name": "day", "type": "int", "format": "date", "optional": true},
    {"name": "at", "type": "int", "format": "date-time", "default": "1970-01-01"},
    {"name": "plain", "type": "int", "default": 3}])")));
}

TEST("dates: records and filters may write them in either form") {
  const auto schema = dated_schema();
  ColumnsBuilder builder(schema);
  for (const char* day : {R"("1970-01-02")", R"("2024-02-29")", "2", "-1"}) {
    builder.begin_record("r");
    builder.set(0, json(day));
  }
  builder.begin_record("without");
  const Columns columns = std::move(builder).build();
  const auto found = [&](const char* predicate, std::vector<Variable> variables = {}) {
    const Bitmap rows = evaluate(Predicate::compile(json(predicate), schema)->bind(variables), columns);
    std::string text;
    for (std::size_t row = 0; row < rows.size(); ++row) text += rows.test(row) ? '1' : '0';
    return text;
  };
  CHECK_EQ(found(R"({"==": [{"knowledge": "day"}, "1970-01-02"]})"), "10000");
  CHECK_EQ(found(R"({"==": [{"knowledge": "day"}, 1]})"), "10000");
  CHECK_EQ(found(R"({"<": ["1970-01-02", {"knowledge": "day"}]})"), "01100");
  CHECK_EQ(found(R"({"day": {">=": "1970-01-01", "<": "2024-02-29"}})"), "10100");
  CHECK_EQ(found(R"({"day": {"in": ["1969-12-31", 2, "2000-01-01"]}})"), "00110");
  CHECK_EQ(found(R"({"day": {"exists": false}})"), "00001");
  CHECK_EQ(found(R"({"at": {"==": "1970-01-01T02:00+02:00"}})"), "11111");
  CHECK_EQ(found(R"({"day": {"<": {"variable": "v"}}})", {{"v", "1970-01-02"}}), "00010");
  CHECK_EQ(found(R"({"day": {"in": {"variable": "v"}}})", {{"v", Array{"2024-02-29", 1}}}), "11000");
  CHECK_EQ(found(R"({"day": {"<": {"knowledge": "plain"}}})"), "10110");
}

TEST("dates: what is none is refused where it stands") {
  const auto schema = dated_schema();
  const auto path = [&](const char* predicate) -> std::string {
    try {
      Predicate::compile(json(predicate), schema);
    } catch (const Error& error) {
      for (const auto& [name, value] : error.details()) {
        if (name == "path") return std::get<std::string>(value);
      }
    }
    return "";
  };
  CHECK_EQ(path(R"({"==": [{"knowledge": "day"}, "1970-02-30"]})"), R"($["=="][1])");
  CHECK_EQ(path(R"({"day": {"<": "1970-01-01T00:00:00Z"}})"), R"($.day["<"])");
  CHECK_EQ(path(R"({"day": {"in": ["1970-01-01", "soon"]}})"), "$.day.in[1]");
  CHECK_EQ(path(R"({"day": {"==": {"knowledge": "at"}}})"), R"($.day["=="].knowledge)");
  CHECK_EQ(path(R"({"plain": {"==": "1970-01-01"}})"), R"($.plain["=="])");
  const auto predicate = Predicate::compile(json(R"({"day": {"<": {"variable": "v"}}})"), schema);
  CHECK_FAILS(Code::kInvalidArgument, predicate->bind({{"v", "tomorrow"}}));
  for (const char* value : {R"("tomorrow")", "2932897", "-719163", R"(["1970-01-01"])"}) {
    ColumnsBuilder builder(schema);
    builder.begin_record("r");
    CHECK_FAILS(Code::kInvalidArgument, builder.set(0, json(value)));
  }
  for (const char* fields : {R"([{"name": "a", "type": "string", "format": "date", "optional": true}])",
                             R"([{"name": "a", "type": "int", "format": "time", "optional": true}])",
                             R"([{"name": "a", "type": "int", "format": 1, "optional": true}])",
                             R"([{"name": "a", "type": "int", "format": "date", "default": "soon"}])"}) {
    CHECK_FAILS(Code::kInvalidArgument, Schema::parse(json(fields)));
  }
}

}  // namespace
