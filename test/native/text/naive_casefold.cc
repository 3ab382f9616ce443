#include "naive_casefold.h"

#include "core/values/utf8.h"
#include "text/casefold.h"

namespace lorekeep::text {

std::string casefold(std::string_view utf8) {
  std::string folded;
  folded.reserve(utf8.size());
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  while (at < end) {
    FoldedCodePoint parts[kMaxFolding];
    const std::size_t count = fold(decode_utf8(at, end), parts);
    for (std::size_t i = 0; i < count; ++i) {
      char bytes[kMaxUtf8Bytes];
      folded.append(bytes, encode_utf8(parts[i].code_point, bytes));
    }
  }
  return folded;
}

}  // namespace lorekeep::text
