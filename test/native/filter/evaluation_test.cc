// Each rule of the filter grammar on records made for it.
#include "filter/evaluation.h"

#include <limits>

#include "filter/columns_builder.h"
#include "filter/interval.h"
#include "harness.h"
#include "json_text.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::filter;

/// One field of this type named "x" and a second, "y"; one record per value ("null" is no value).
struct Table {
  std::shared_ptr<const Schema> schema;
  Columns columns;

  Table(const std::string& type, std::string_view xs) : Table(type, xs, type, xs) {}
  Table(const std::string& type_x, std::string_view xs, const std::string& type_y, std::string_view ys)
      : schema(std::make_shared<const Schema>(
            Schema::parse(json(R"([{"name": "x", "optional": true, "type": ")" + type_x +
                               R"("}, {"name": "y", "optional": true, "type": ")" + type_y + R"("}])")))),
        columns(build(*json(xs).as<Array>(), *json(ys).as<Array>())) {}

  Columns build(const Array& xs, const Array& ys) const {
    ColumnsBuilder builder(schema);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      builder.begin_record("r");
      if (!xs[i].as<std::nullptr_t>()) builder.set(0, xs[i]);
      if (!ys[i].as<std::nullptr_t>()) builder.set(1, ys[i]);
    }
    return std::move(builder).build();
  }

  /// "10110": one digit per record.
  std::string filter(std::string_view predicate, const std::vector<Variable>& variables = {}) const {
    const Bitmap found = evaluate(Predicate::compile(json(predicate), schema)->bind(variables), columns);
    std::string digits;
    for (std::size_t i = 0; i < found.size(); ++i) digits += found.test(i) ? '1' : '0';
    return digits;
  }

  /// The six comparisons of x with the operand, in the order == != < <= > >=.
  std::vector<std::string> compare(const std::string& operand) const {
    std::vector<std::string> all;
    for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
      all.push_back(filter(R"({")" + std::string(op) + R"(": [{"knowledge": "x"}, )" + operand + "]}"));
    }
    return all;
  }
};

using Six = std::vector<std::string>;

TEST("ints compare with ints") {
  const Table table("int", "[1, 2, 3, null]");
  CHECK(table.compare("2") == (Six{"0100", "1010", "1000", "1100", "0010", "0110"}));
}

TEST("ints compare with fractions by value") {
  const Table table("int", "[1, 2, 3, null]");
  CHECK(table.compare("2.0") == (Six{"0100", "1010", "1000", "1100", "0010", "0110"}));
  CHECK(table.compare("2.5") == (Six{"0000", "1110", "1100", "1100", "0010", "0010"}));
  CHECK(table.compare("-0.5") == (Six{"0000", "1110", "0000", "0000", "1110", "1110"}));
  CHECK(table.compare("1e300") == (Six{"0000", "1110", "1110", "1110", "0000", "0000"}));
  CHECK(table.compare("-1e300") == (Six{"0000", "1110", "0000", "0000", "1110", "1110"}));
}

TEST("ints are exact beyond 2^53 and at the ends of int64") {
  const Table table("int", "[9007199254740992, 9007199254740993, 9223372036854775807, -9223372036854775808]");
  CHECK(table.compare("9007199254740993") == (Six{"0100", "1011", "1001", "1101", "0010", "0110"}));
  CHECK(table.compare("9007199254740992.0") == (Six{"1000", "0111", "0001", "1001", "0110", "1110"}));
  CHECK(table.compare("9223372036854775808.0") == (Six{"0000", "1111", "1111", "1111", "0000", "0000"}));
  CHECK(table.compare("-9223372036854775808") == (Six{"0001", "1110", "0000", "0001", "1110", "1111"}));
  CHECK(table.compare("9223372036854775807") == (Six{"0010", "1101", "1101", "1111", "0000", "0010"}));
}

TEST("floats compare with ints that no double equals") {
  const Table table("float", "[9007199254740992, 9007199254740994, 0.5, null]");
  CHECK(table.compare("9007199254740993") == (Six{"0000", "1110", "1010", "1010", "0100", "0100"}));
  CHECK(table.compare("0") == (Six{"0000", "1110", "0000", "0000", "1110", "1110"}));
  CHECK(table.compare("0.5") == (Six{"0010", "1100", "0000", "0010", "1100", "1110"}));
}

TEST("floats compare at their extremes, and -0 equals 0") {
  const Table table("float", "[-0.0, 0.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308]");
  CHECK(table.compare("0") == (Six{"11000", "00111", "00001", "11001", "00110", "11110"}));
  CHECK(table.compare("1.7976931348623157e308") == (Six{"00010", "11101", "11101", "11111", "00000", "00010"}));
  CHECK(table.compare("-1.7976931348623157e308") == (Six{"00001", "11110", "00000", "00001", "11110", "11111"}));
}

TEST("strings compare by code points") {
  const Table table("string", "[\"a\", \"b\", \"B\", \"\", \"\xC3\xA9\", null]");
  CHECK(table.compare("\"b\"") == (Six{"010000", "101110", "101100", "111100", "000010", "010010"}));
  CHECK(table.compare("\"aa\"") == (Six{"000000", "111110", "101100", "101100", "010010", "010010"}));
  CHECK(table.compare("\"\"") == (Six{"000100", "111010", "000000", "000100", "111010", "111110"}));
}

TEST("bools are equal or not") {
  const Table table("bool", "[true, false, null]");
  CHECK_EQ(table.filter(R"({"==": [{"knowledge": "x"}, true]})"), "100");
  CHECK_EQ(table.filter(R"({"==": [{"knowledge": "x"}, false]})"), "010");
  CHECK_EQ(table.filter(R"({"!=": [{"knowledge": "x"}, true]})"), "010");
  CHECK_EQ(table.filter(R"({"!=": [false, {"knowledge": "x"}]})"), "100");
}

TEST("a literal on the left turns the comparison round") {
  const Table table("int", "[1, 2, 3]");
  CHECK_EQ(table.filter(R"({"<": [2, {"knowledge": "x"}]})"), "001");
  CHECK_EQ(table.filter(R"({"<=": [2, {"knowledge": "x"}]})"), "011");
  CHECK_EQ(table.filter(R"({">": [2, {"knowledge": "x"}]})"), "100");
  CHECK_EQ(table.filter(R"({">=": [2, {"knowledge": "x"}]})"), "110");
}

TEST("fields compare with fields") {
  const Table ints("int", "[1, 2, 3, null, 4]", "int", "[2, 2, 2, 2, null]");
  CHECK(ints.compare(R"({"knowledge": "y"})") == (Six{"01000", "10100", "10000", "11000", "00100", "01100"}));
  const Table mixed("int", "[9007199254740993, 2, -1]", "float", "[9007199254740992, 2.5, -1]");
  CHECK(mixed.compare(R"({"knowledge": "y"})") == (Six{"001", "110", "010", "011", "100", "101"}));
  const Table turned("float", "[9007199254740992, 2.5, -1]", "int", "[9007199254740993, 2, -1]");
  CHECK(turned.compare(R"({"knowledge": "y"})") == (Six{"001", "110", "100", "101", "010", "011"}));
  const Table texts("string", R"(["a", "c", "b", "z"])", "string", R"(["b", "b", "b", "zz"])");
  CHECK(texts.compare(R"({"knowledge": "y"})") == (Six{"0010", "1101", "1001", "1011", "0100", "0110"}));
  const Table flags("bool", "[true, false, true]", "bool", "[true, true, null]");
  CHECK_EQ(flags.filter(R"({"==": [{"knowledge": "x"}, {"knowledge": "y"}]})"), "100");
  CHECK_EQ(flags.filter(R"({"!=": [{"knowledge": "x"}, {"knowledge": "y"}]})"), "010");
}

TEST("in looks for a text in a set") {
  const Table table("set<string>", R"([["a", "b"], ["b"], [], null])", "string", R"(["a", "a", "a", "a"])");
  CHECK_EQ(table.filter(R"({"in": ["b", {"knowledge": "x"}]})"), "1100");
  CHECK_EQ(table.filter(R"({"in": ["c", {"knowledge": "x"}]})"), "0000");
  CHECK_EQ(table.filter(R"({"in": [{"variable": "v"}, {"knowledge": "x"}]})", {{"v", Value("a")}}), "1000");
  CHECK_EQ(table.filter(R"({"in": [{"knowledge": "y"}, {"knowledge": "x"}]})"), "1000");
}

TEST("in a set with the record's own text, which it may lack") {
  const Table table("set<string>", R"([["", "a"], ["a"], ["b"], ["a"]])", "string", R"([null, "a", "a", ""])");
  CHECK_EQ(table.filter(R"({"in": [{"knowledge": "y"}, {"knowledge": "x"}]})"), "0100");
}

TEST("in looks for a field in a list") {
  const Table texts("string", R"(["a", "b", "c", null, ""])");
  CHECK_EQ(texts.filter(R"({"in": [{"knowledge": "x"}, ["c", "a", "zzz"]]})"), "10100");
  CHECK_EQ(texts.filter(R"({"in": [{"knowledge": "x"}, []]})"), "00000");
  CHECK_EQ(texts.filter(R"({"in": [{"knowledge": "x"}, {"variable": "v"}]})", {{"v", json(R"(["b"])")}}), "01000");
  const Table ints("int", "[1, 2, 3, null, 9007199254740993]");
  CHECK_EQ(ints.filter(R"({"in": [{"knowledge": "x"}, [3, 1.0, 2.5, 9007199254740992.0]]})"), "10100");
  const Table floats("float", "[1, 2.5, 9007199254740992, null]");
  CHECK_EQ(floats.filter(R"({"in": [{"knowledge": "x"}, [2.5, 1, 9007199254740993]]})"), "1100");
  const Table flags("bool", "[true, false, null]");
  CHECK_EQ(flags.filter(R"({"in": [{"knowledge": "x"}, [true]]})"), "100");
  CHECK_EQ(flags.filter(R"({"in": [{"knowledge": "x"}, [false, false]]})"), "010");
  CHECK_EQ(flags.filter(R"({"in": [{"knowledge": "x"}, [true, false]]})"), "110");
  CHECK_EQ(flags.filter(R"({"in": [{"knowledge": "x"}, []]})"), "000");
}

TEST("in a list of whole numbers: without gaps, with some, far apart, at the ends of int64") {
  const Table ints("int", "[-9223372036854775808, -3, -2, 0, 65535, 65536, 9223372036854775807, null]");
  const auto in = [&ints](const char* list) {
    return ints.filter(R"({"in": [{"knowledge": "x"}, )" + std::string(list) + "]}");
  };
  CHECK_EQ(in("[-2]"), "00100000");
  CHECK_EQ(in("[-1, -2, 0, -3, -2]"), "01110000");
  CHECK_EQ(in("[0, -3]"), "01010000");
  CHECK_EQ(in("[0, 65535]"), "00011000");
  CHECK_EQ(in("[0, 65536]"), "00010100");
  CHECK_EQ(in("[9223372036854775807, -9223372036854775808]"), "10000010");
  CHECK_EQ(in("[9223372036854775807, 9223372036854775805]"), "00000010");
  CHECK_EQ(in("[-9223372036854775808, -9223372036854775806]"), "10000000");
  CHECK_EQ(in("[-9223372036854775808, -9223372036854775807]"), "10000000");
  CHECK_EQ(in("[0.5, 1e300]"), "00000000");
}

TEST("comparisons of one field joined with and: a range, an empty one, and what is no range besides") {
  const Table ints("int", "[1, 2, 3, 4, null]", "int", "[5, 6, 7, 8, 9]");
  const auto all = [](const Table& table, const char* list) {
    return table.filter(R"({"and": [)" + std::string(list) + "]}");
  };
  CHECK_EQ(all(ints, R"({">=": [{"knowledge": "x"}, 2]}, {"<": [{"knowledge": "x"}, 4]})"), "01100");
  CHECK_EQ(
      all(ints, R"({">=": [{"knowledge": "x"}, 2]}, {"<": [{"knowledge": "y"}, 8]}, {"<": [{"knowledge": "x"}, 4]})"),
      "01100");
  CHECK_EQ(
      all(ints, R"({">": [{"knowledge": "x"}, 1]}, {"!=": [{"knowledge": "x"}, 3]}, {"<=": [4, {"knowledge": "x"}]})"),
      "00010");
  CHECK_EQ(
      all(ints, R"({"!=": [{"knowledge": "x"}, 3]}, {">": [{"knowledge": "x"}, 1]}, {"!=": [{"knowledge": "x"}, 2]})"),
      "00010");
  CHECK_EQ(all(ints, R"({">": [{"knowledge": "x"}, 3]}, {"<": [{"knowledge": "x"}, 2]})"), "00000");
  CHECK_EQ(all(ints, R"({"==": [{"knowledge": "x"}, 2]}, {"==": [{"knowledge": "x"}, 2.0]})"), "01000");
  CHECK_EQ(all(ints, R"({"==": [{"knowledge": "x"}, 2.5]}, {">": [{"knowledge": "x"}, 0]})"), "00000");
  CHECK_EQ(all(ints, R"({"<": [{"knowledge": "x"}, {"knowledge": "y"}]}, {">": [{"knowledge": "x"}, 3]})"), "00010");
  const Table floats("float", "[0.5, 1, 1.5, null]");
  CHECK_EQ(all(floats, R"({">": [{"knowledge": "x"}, 0.5]}, {"<": [{"knowledge": "x"}, 1.5]})"), "0100");
  CHECK_EQ(all(floats, R"({">": [{"knowledge": "x"}, 1.5]}, {"<": [{"knowledge": "x"}, 0.5]})"), "0000");
  const Table texts("string", R"(["a", "b", "c", null, "d"])");
  CHECK_EQ(all(texts, R"({">": [{"knowledge": "x"}, "a"]}, {"<": [{"knowledge": "x"}, "ca"]})"), "01100");
  CHECK_EQ(all(texts, R"({">": [{"knowledge": "x"}, "bb"]}, {"==": [{"knowledge": "x"}, "bc"]})"), "00000");
  const Table flags("bool", "[true, false, null]");
  CHECK_EQ(all(flags, R"({"==": [{"knowledge": "x"}, true]}, {"!=": [{"knowledge": "x"}, false]})"), "100");
}

TEST("and, or, not; of an empty list, and is true and or is false") {
  const Table table("int", "[1, 2, 3]");
  CHECK_EQ(table.filter(R"({"and": []})"), "111");
  CHECK_EQ(table.filter(R"({"or": []})"), "000");
  CHECK_EQ(table.filter(R"({"not": {"and": []}})"), "000");
  CHECK_EQ(table.filter(R"({"and": [{">": [{"knowledge": "x"}, 1]}, {"<": [{"knowledge": "x"}, 3]}]})"), "010");
  CHECK_EQ(table.filter(R"({"or": [{"<": [{"knowledge": "x"}, 2]}, {">": [{"knowledge": "x"}, 2]}]})"), "101");
}

TEST("everything said of a missing field is false, and not makes it true") {
  const Table table("int", "[null, 1]");
  for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
    const std::string comparison = R"({")" + std::string(op) + R"(": [{"knowledge": "x"}, 0]})";
    CHECK_EQ(table.filter(comparison).substr(0, 1), "0");
    CHECK_EQ(table.filter(R"({"not": )" + comparison + "}").substr(0, 1), "1");
    CHECK_EQ(table.filter(R"({"not": {"not": )" + comparison + "}}").substr(0, 1), "0");
  }
  CHECK_EQ(table.filter(R"({"in": [{"knowledge": "x"}, [0, 1]]})"), "01");
  CHECK_EQ(table.filter(R"({"==": [{"knowledge": "x"}, {"knowledge": "x"}]})"), "01");
}

TEST("a field with a default is never missing") {
  const auto schema = std::make_shared<const Schema>(Schema::parse(
      json(R"([{"name": "x", "type": "int", "default": 7}, {"name": "t", "type": "set<string>", "default": ["d"]}])")));
  ColumnsBuilder builder(schema);
  builder.begin_record("a");
  builder.begin_record("b");
  builder.set_int(0, 8);
  builder.set_strings(1, {});
  const Columns columns = std::move(builder).build();
  const auto count = [&](const char* text) {
    return evaluate(Predicate::compile(json(text), schema)->bind(), columns).count();
  };
  CHECK_EQ(count(R"({"==": [{"knowledge": "x"}, 7]})"), 1u);
  CHECK_EQ(count(R"({"!=": [{"knowledge": "x"}, 7]})"), 1u);
  CHECK_EQ(count(R"({"in": ["d", {"knowledge": "t"}]})"), 1u);
}

TEST("no records, no matches") {
  const Table table("int", "[]");
  CHECK_EQ(table.filter(R"({"and": []})"), "");
  CHECK_EQ(table.filter(R"({"==": [{"knowledge": "x"}, 1]})"), "");
}

TEST("a predicate of another schema is refused, one of an equal schema is not") {
  const Table ints("int", "[1]");
  const Table same("int", "[1]");
  const Table texts("string", R"(["1"])");
  const auto bound = Predicate::compile(json(R"({"==": [{"knowledge": "x"}, 1]})"), ints.schema)->bind();
  CHECK_EQ(evaluate(bound, same.columns).count(), 1u);
  CHECK_FAILS(Code::kInvalidArgument, evaluate(bound, texts.columns));
}

TEST("evaluation polls its cancel token") {
  const Table table("int", "[1, 2]");
  CancelToken cancel;
  cancel.cancel();
  const auto bound = Predicate::compile(json(R"({"==": [{"knowledge": "x"}, 1]})"), table.schema)->bind();
  CHECK_FAILS(Code::kCancelled, evaluate(bound, table.columns, &cancel));
}

TEST("int64 and double compare as real numbers") {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  CHECK(compare(kMax, 0x1p63) < 0);
  CHECK(compare(kMin, -0x1p63) == 0);
  CHECK(compare(kMin, -0x1.0000000000001p63) > 0);
  CHECK(compare(9007199254740993, 9007199254740992.0) > 0);
  CHECK(compare(-1, -0.5) < 0);
  CHECK(compare(0, -0.5) > 0);
  CHECK(compare(0, -0.0) == 0);
}

}  // namespace
