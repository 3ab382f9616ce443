// Errors of the native code: a code for programs, a sentence for people, and the culprit (a file, an item, a field).
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lorekeep {

enum class Code {
  kInvalidArgument,    // the caller passed an invalid value
  kNotFound,           // a file does not exist
  kIo,                 // a read or a write failed
  kCorrupt,            // a file's content is inconsistent or does not match its checksum
  kUnsupported,        // well-formed, but not supported by this version
  kDimensionMismatch,  // a vector's or a file's dimension differs from the index's or the model's
  kTextTooLong,        // a text has more tokens than the model's context
  kModelInvalid,       // a model file cannot be used
  kCancelled,          // by the caller's AbortSignal or the end of its environment
  kClosed,             // the object was closed before the call
  kOutOfMemory,        // an allocation failed
  kDeviceLost,         // a GPU failed; models on it must be loaded again
  kRecordExists,       // a batch adds a record whose id exists
  kRecordMissing,      // a batch names a record that does not exist
  kDuplicateId,        // a batch names a record twice
  kVersionMismatch,    // a batch is for another version of the storage
  kVersionGone,        // a version of a storage is not kept
  kInternal,           // a defect in lorekeep
};

/// Returns the code's spelling in JavaScript (`error.code`), for example "INVALID_ARGUMENT".
std::string_view code_name(Code code) noexcept;

using DetailValue = std::variant<std::int64_t, double, std::string>;
using Details = std::vector<std::pair<std::string, DetailValue>>;

class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, Details details = {});

  Code code() const noexcept { return code_; }
  /// Named facts for `error.detail`; numbers stay numbers, strings stay strings.
  const Details& details() const noexcept { return details_; }

 private:
  Code code_;
  Details details_;
};

/// Throws an Error about a file: "file: reason", with details "file" and "reason" before `details`.
[[noreturn]] void fail_file(Code code, const std::string& file, const std::string& reason, Details details = {});

/// Returns body()'s result. If it fails without being cancelled, calls `check` first, whose error is then thrown: a
/// body that reads a file which another program has changed may fail for any reason.
template <class Check, class Body>
auto blaming(const Check& check, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() != Code::kCancelled) check();
    throw;
  } catch (const std::bad_alloc&) {
    check();
    throw;
  }
}

/// Throws Error. A function, so that call sites take one line and hot code stays small.
[[noreturn]] void fail(Code code, const std::string& message, Details details = {});

}  // namespace lorekeep
