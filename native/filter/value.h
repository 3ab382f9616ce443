// A JSON value, already parsed: how predicates, schemas and variables arrive, whoever parsed the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lorekeep::filter {

struct Value;
struct Member;
using Array = std::vector<Value>;
using Object = std::vector<Member>;  // in the order of the text; duplicate keys are the parser's to refuse

/// Numbers written without fraction or exponent that fit are int64, all others double. Copying copies the whole tree.
struct Value {
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;
  Data data;

  Value() : data(nullptr) {}
  Value(std::nullptr_t) : data(nullptr) {}
  Value(bool value) : data(value) {}
  Value(int value) : data(std::int64_t{value}) {}
  Value(std::int64_t value) : data(value) {}
  Value(double value) : data(value) {}
  Value(const char* value) : data(std::string(value)) {}
  Value(std::string_view value) : data(std::string(value)) {}
  Value(std::string value) : data(std::move(value)) {}
  Value(Array value);
  Value(Object value);

  /// Null when the value is of another kind.
  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
};

struct Member {
  std::string key;
  Value value;
};

inline Value::Value(Array value) : data(std::move(value)) {}
inline Value::Value(Object value) : data(std::move(value)) {}

/// The value as an error message calls it: null, true, 42, 2.5, "text" (shortened), an array of 3, an object with ...
std::string describe(const Value& value);

/// `text` in double quotes, cut to a length that fits a message.
std::string quoted(std::string_view text);

}  // namespace lorekeep::filter
