// Splits a JSON array into its elements without parsing them, so that gigabytes are parsed one element at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "store/file_window.h"

namespace lorekeep::store {

/// The first error in a document that is not a JSON array.
struct JsonSyntaxError {
  std::size_t line;  // from 1
  bool inside;       // the array has begun
  std::string expected;
  std::string found;
};

/// One element; valid until the next call of next().
struct JsonSlice {
  std::string_view json;
  std::size_t at;  // in the window's text
};

/// Finds the ends of elements only by brackets and quotes; the parser validates them. Skips a UTF-8 byte order mark.
class JsonArrayScanner {
 public:
  /// Precondition: `window` holds more than `longest` bytes, or the whole file. Longer elements are an error.
  JsonArrayScanner(FileWindow& window, std::size_t longest) noexcept
      : window_(window), longest_(longest), text_(window.text()) {}

  /// Returns the next element; nullopt after the last one, if only blanks follow the array. Throws JsonSyntaxError.
  std::optional<JsonSlice> next();

 private:
  enum class State { kBefore, kFirst, kBetween, kAfter };

  bool read_on();
  void skip_blanks();
  bool take(char wanted) noexcept;
  std::size_t end_of_element() const;
  std::size_t end_of_string(std::size_t at) const;
  void finish();
  [[noreturn]] void refuse(std::size_t at, const std::string& expected) const;
  [[noreturn]] void refuse_length() const;

  FileWindow& window_;
  std::size_t longest_;
  std::string_view text_;  // of the window
  std::size_t at_ = 0;
  State state_ = State::kBefore;
};

}  // namespace lorekeep::store
