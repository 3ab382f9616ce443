#include "text/english.h"

#include <string>

#include "harness.h"
#include "text/tokenizer.h"

namespace lorekeep::text {
namespace {

std::string enhanced(std::string_view text) {
  std::string joined;
  for (const std::string& token : tokenize(text, Tokenizer::kEnhanced)) joined += (joined.empty() ? "" : "|") + token;
  return joined;
}

TEST("enhanced drops English stopwords, whatever their case, and what contractions leave") {
  CHECK_EQ(enhanced("The cat is NOT on a mat"), "cat|mat");
  CHECK_EQ(enhanced("There's what they don't"), "don");
  CHECK_EQ(enhanced("the of and"), "");
  CHECK(is_english_stopword("these") && is_english_stopword("a"));
  CHECK(!is_english_stopword("thesis") && !is_english_stopword("b") && !is_english_stopword("theses"));
}

TEST("enhanced strips plurals") {
  CHECK_EQ(enhanced("cats studies classes bus glass dies was"), "cat|studi|class|bus|glass|die");
}

TEST("enhanced strips a few endings when enough is left") {
  CHECK_EQ(enhanced("running connected connecting"), "run|connect|connect");
  CHECK_EQ(enhanced("organization organize national nation quickly"), "organ|organiz|nation|nation|quick");
  CHECK_EQ(enhanced("falling missed buzzing"), "fall|miss|buzz");
  CHECK_EQ(enhanced("sing red king shed ally"), "sing|red|king|shed|alli");
}

TEST("enhanced unites a last e and y with their inflections") {
  CHECK_EQ(enhanced("engine engines study studies studied valley"), "engin|engin|studi|studi|studi|valley");
}

TEST("enhanced leaves short words, numbers and other scripts alone") {
  CHECK_EQ(enhanced("gas b2bs 1990s größen ﬁres λόγος"), "gas|b2bs|1990s|grössen|fire|λόγοσ");
}

}  // namespace
}  // namespace lorekeep::text
