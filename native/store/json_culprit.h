// Finds the error in a text that is not JSON. The fast parser that refuses it does not report the position.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lorekeep::store {

struct JsonCulprit {
  std::string field;     // path of keys, "metadata.year"; empty: the text itself
  std::string expected;  // "a number as JSON writes it"
  std::string found;     // "01", "NaN", "\ud83d: half of a surrogate pair"
};

/// Returns the first invalid number, word or string, or number outside the range of double. nullopt if only the
/// punctuation between them is wrong, or the nesting exceeds kMaxRecordDepth.
std::optional<JsonCulprit> find_culprit(std::string_view json);

}  // namespace lorekeep::store
