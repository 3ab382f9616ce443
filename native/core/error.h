// The one way the core reports failure: a code a program can branch on, a sentence a person can act on,
// and the culprit (a file, an item, a field) when there is one.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lorekeep {

enum class Code {
  kInvalidArgument,    // the caller passed something that can never work
  kNotFound,           // a named file does not exist
  kIo,                 // the operating system refused a read or a write
  kCorrupt,            // a file's content contradicts itself or its checksum
  kUnsupported,        // well-formed, but not something this version handles
  kDimensionMismatch,  // a vector or a file has another dimension than the index or the model
  kTextTooLong,        // a text has more tokens than the model's context holds
  kModelInvalid,       // a model file that cannot be used, and why
  kCancelled,          // the caller's AbortSignal or the end of its environment
  kClosed,             // the object was closed before the call
  kOutOfMemory,        // the machine could not give the memory asked for
  kInternal,           // a defect of lorekeep's own
};

/// The code's spelling in JavaScript (`error.code`), for example "INVALID_ARGUMENT".
std::string_view code_name(Code code) noexcept;

using DetailValue = std::variant<std::int64_t, double, std::string>;
using Details = std::vector<std::pair<std::string, DetailValue>>;

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, Details details = {});

  Code code() const noexcept { return code_; }
  /// Named facts for `error.detail`: numbers cross as numbers, strings as strings.
  const Details& details() const noexcept { return details_; }

 private:
  Code code_;
  Details details_;
};

/// Throws an Error about a file: "file: reason", with details "file" and "reason" before those given.
[[noreturn]] void fail_file(Code code, const std::string& file, const std::string& reason, Details details = {});

/// Throws Error; a function so that call sites stay one line and the cold path stays out of hot code.
[[noreturn]] void fail(Code code, const std::string& message, Details details = {});

}  // namespace lorekeep
