#include "text/word_beginning.h"

#include <string>

#include "harness.h"
#include "text/tokenizer.h"

namespace lorekeep::text {
namespace {

// Returns the extra tokens for beginnings, joined by '|'.
std::string beginnings(std::string_view text) {
  std::string joined;
  for_each_token(text, Tokenizer::kMultilingual, [&](std::string_view token, TokenKind kind) {
    if (token[0] != kBeginningMark) return;
    CHECK(kind == TokenKind::kExtra);
    joined += (joined.empty() ? "" : "|") + std::string(token.substr(1));
  });
  return joined;
}

TEST("inflections of a word have one beginning") {
  CHECK_EQ(beginnings("houses housing House"), "house|housi|house");
  CHECK_EQ(beginnings("революция революции"), "револ|револ");
  CHECK_EQ(beginnings("ασθένεια ασθένειας"), "ασθεν|ασθεν");
  CHECK_EQ(beginnings("kitaplar kitapları"), "kitap|kitap");
}

TEST("short words and numbers have none") {
  CHECK_EQ(beginnings("cat dogs a 123456 2024x"), "");
  CHECK_EQ(word_beginning(""), "");
  CHECK_EQ(word_beginning("four"), "");
  CHECK_EQ(word_beginning("fivee"), "fivee");
}

TEST("scripts without spaces have none") {
  CHECK_EQ(beginnings("北京大学图书馆 น้องชาย 한국어사전"), "");
}

TEST("an Arabic word begins after its article") {
  CHECK_EQ(beginnings("المدرسة مدرسة والمدرسة للمدرسة"), "مدرسه|مدرسه|مدرسه|مدرسه");
  CHECK_EQ(beginnings("البيت بيت"), "بيت|بيت");
  CHECK_EQ(beginnings("الى في"), "الي");  // too little would be left without the article
}

TEST("what is no letter of a text is no beginning") {
  CHECK_EQ(beginnings("\x02house"), "house");
  for (const std::string& bytes : {std::string("\xFF\xFE\xC3"), std::string("\xD8"), std::string(5, '\xE0')}) {
    CHECK(word_beginning(bytes).size() <= bytes.size());
  }
}

}  // namespace
}  // namespace lorekeep::text
