#include "core/values/utf8.h"

#include <string>
#include <vector>

#include "harness.h"

namespace lorekeep {
namespace {

std::vector<char32_t> decode(std::string_view bytes) {
  std::vector<char32_t> code_points;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    const char* const before = at;
    code_points.push_back(decode_utf8(at, end));
    REQUIRE(at > before && at <= end);
  }
  return code_points;
}

std::vector<char32_t> with_replacements(std::size_t before, std::vector<char32_t> rest) {
  rest.insert(rest.begin(), before, kReplacement);
  return rest;
}

TEST("every scalar value survives encoding and decoding") {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    char bytes[kMaxUtf8Bytes];
    const std::size_t size = encode_utf8(code_point, bytes);
    const char* at = bytes;
    if (decode_utf8(at, bytes + size) != code_point || at != bytes + size) {
      CHECK_EQ(static_cast<std::uint32_t>(code_point), 0u);
      return;
    }
  }
}

// The byte sequences of the Unicode standard, tables 3-8 to 3-11.
TEST("each maximal subpart of what is ill-formed becomes one U+FFFD") {
  CHECK(decode("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == with_replacements(8, {'A'}));
  CHECK(decode("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") == with_replacements(8, {'A'}));
  CHECK(decode("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") == with_replacements(5, {'A', kReplacement, kReplacement, 'B'}));
  CHECK(decode("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == with_replacements(4, {'A'}));
}

TEST("a text may end in the middle of a sequence, and lone bytes are replaced") {
  for (const char* cut : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\x80", "\xBF", "\xFE", "\xFF", "\xC1", "\xF5"}) {
    CHECK(decode(cut) == with_replacements(1, {}));
  }
  CHECK(decode(std::string_view("\xF8\x88\x80\x80\x80", 5)) == with_replacements(5, {}));
  CHECK(decode(std::string_view("a\0b", 3)) == (std::vector<char32_t>{'a', 0, 'b'}));
}

TEST("well-formed text is left alone") {
  for (const char* text : {"", "plain", "Straße", "東京", "😀", "\xEF\xBF\xBD", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"}) {
    CHECK(is_valid_utf8(text));
    CHECK_EQ(repair_utf8(text), text);
  }
  CHECK(is_valid_utf8(std::string_view("a\0b", 3)));
}

TEST("each ill-formed part becomes one replacement character") {
  const auto check = [](std::string_view text, std::string_view repaired) {
    CHECK(!is_valid_utf8(text));
    CHECK_EQ(repair_utf8(text), repaired);
  };
  check("\xFF", "\uFFFD");
  check("a\x80z", "a\uFFFDz");
  check("\xC0\xAF", "\uFFFD\uFFFD");                      // overlong
  check("\xE0\x80\xAF", "\uFFFD\uFFFD\uFFFD");            // overlong
  check("\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD");            // a surrogate
  check("\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  check("\xE6\x9D", "\uFFFD");                            // cut off
  check("\xF0\x9F\x98z", "\uFFFDz");                      // cut off in the middle
  check("\xC3\x28", "\uFFFD(");
}

TEST("a beginning cuts no character apart") {
  const std::string_view text = "aé東😀";
  CHECK_EQ(utf8_prefix(text, 100), text);
  CHECK_EQ(utf8_prefix(text, 9), "aé東");
  CHECK_EQ(utf8_prefix(text, 6), "aé東");
  CHECK_EQ(utf8_prefix(text, 5), "aé");
  CHECK_EQ(utf8_prefix(text, 2), "a");
  CHECK_EQ(utf8_prefix(text, 0), "");
}

}  // namespace
}  // namespace lorekeep
