#include "text/word_beginning.h"

#include "core/values/utf8.h"

namespace lorekeep::text {
namespace {

// The article, alone and after "and", "with", "like", "then"; and "for the".
constexpr std::string_view kArabicArticles[] = {"وال", "بال", "كال", "فال", "ال", "لل"};
constexpr char32_t kFirstArabic = 0x0600, kLastArabic = 0x06FF;
constexpr std::size_t kArabicLetterBytes = 2;

std::string_view without_article(std::string_view word) noexcept {
  for (const std::string_view article : kArabicArticles) {
    if (word.starts_with(article) && word.size() >= article.size() + 2 * kArabicLetterBytes) {
      return word.substr(article.size());
    }
  }
  return word;
}

}  // namespace

std::string_view word_beginning(std::string_view base) noexcept {
  if (base.empty() || (base[0] >= '0' && base[0] <= '9')) return {};
  const char* at = base.data();
  const char32_t first = decode_utf8(at, base.data() + base.size());
  const bool arabic = first >= kFirstArabic && first <= kLastArabic;
  if (arabic) base = without_article(base);
  const char* const end = base.data() + base.size();
  at = base.data();
  std::size_t letters = 0;
  for (; at < end && letters < kBeginningLetters; ++letters) decode_utf8(at, end);
  if (letters < (arabic ? kMinArabicLetters : kBeginningLetters)) return {};
  return {base.data(), static_cast<std::size_t>(at - base.data())};
}

}  // namespace lorekeep::text
