// A parsed JSON value, the input for predicates, schemas and variables, independent of the parser.
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
using Object = std::vector<Member>;  // in the order of the text; the parser rejects duplicate keys

/// Numbers written without fraction or exponent that fit int64 are int64, all others double. Copies are deep.
struct Value {
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;
  Data data;

  // Defined below: libc++ needs the whole Member to make one.
  Value();
  Value(std::nullptr_t);
  Value(bool value);
  Value(int value);
  Value(std::int64_t value);
  Value(double value);
  Value(const char* value);
  Value(std::string_view value);
  Value(std::string value);
  Value(Array value);
  Value(Object value);

  /// Null if the value has another type.
  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
};

struct Member {
  std::string key;
  Value value;
};

inline Value::Value() : data(nullptr) {}
inline Value::Value(std::nullptr_t) : data(nullptr) {}
inline Value::Value(bool value) : data(value) {}
inline Value::Value(int value) : data(std::int64_t{value}) {}
inline Value::Value(std::int64_t value) : data(value) {}
inline Value::Value(double value) : data(value) {}
inline Value::Value(const char* value) : data(std::string(value)) {}
inline Value::Value(std::string_view value) : data(std::string(value)) {}
inline Value::Value(std::string value) : data(std::move(value)) {}
inline Value::Value(Array value) : data(std::move(value)) {}
inline Value::Value(Object value) : data(std::move(value)) {}

/// Describes the value for an error message: null, true, 42, 2.5, "text" (shortened), an array of 3, an object with ...
std::string describe(const Value& value);

/// Returns `text` in double quotes, shortened to fit a message.
std::string quoted(std::string_view text);

}  // namespace lorekeep::filter
