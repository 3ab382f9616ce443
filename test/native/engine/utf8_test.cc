#include "engine/utf8.h"

#include "harness.h"

using namespace lorekeep::engine;

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
