// Splits a JSON array into the bytes of its elements without parsing them, so that a document of gigabytes is parsed
// one element at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lorekeep::store {

/// Longest element in bytes: far more than a text that fits a model's context needs, and a bound on what parsing it
/// takes.
inline constexpr std::size_t kMaxElementBytes = std::size_t{16} << 20;

/// Why a document is not a JSON array, and where.
struct JsonSyntaxError {
  std::size_t offset;  // bytes from the start
  std::string expected;
  std::string found;
};

/// Where an element stands: the bytes [begin, end) of the document.
struct JsonSlice {
  std::size_t begin;
  std::size_t end;
};

/// Elements are delimited by brackets and quotes alone; whether one is valid JSON is its parser's business. Reads no
/// byte beyond the text and takes no memory. A UTF-8 byte order mark is skipped.
class JsonArrayScanner {
 public:
  explicit JsonArrayScanner(std::string_view text) noexcept : text_(text) {}

  /// The next element, or nothing after the last one, when nothing but blanks follows the array. Throws
  /// JsonSyntaxError.
  std::optional<JsonSlice> next();

 private:
  enum class State { kBefore, kFirst, kBetween, kAfter };

  void skip_blanks() noexcept;
  bool take(char wanted) noexcept;
  std::size_t end_of_element() const;
  std::size_t end_of_string(std::size_t at) const;
  void finish();
  [[noreturn]] void refuse(std::size_t at, const char* expected) const;

  std::string_view text_;
  std::size_t at_ = 0;
  State state_ = State::kBefore;
};

}  // namespace lorekeep::store
