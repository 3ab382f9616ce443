// Where a text is not JSON, for people. The parser that refuses it is fast and says only that it does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lorekeep::store {

struct JsonCulprit {
  std::string field;     // keys on the way there, "metadata.year"; empty: the text itself
  std::string expected;  // "a number as JSON writes it"
  std::string found;     // "01", "NaN", "\ud83d: half of a surrogate pair"
};

/// The first number, word or string that JSON does not have, or number that a double does not hold. Nothing when only
/// the punctuation between them is wrong, or more than kMaxRecordDepth levels are open.
std::optional<JsonCulprit> find_culprit(std::string_view json);

}  // namespace lorekeep::store
