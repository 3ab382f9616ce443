#include "text/utf8.h"

#include <string>
#include <vector>

#include "harness.h"

namespace lorekeep::text {
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

}  // namespace
}  // namespace lorekeep::text
