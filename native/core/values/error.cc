#include "core/values/error.h"

namespace lorekeep {

std::string_view code_name(Code code) noexcept {
  switch (code) {
    case Code::kInvalidArgument: return "INVALID_ARGUMENT";
    case Code::kNotFound: return "NOT_FOUND";
    case Code::kIo: return "IO";
    case Code::kCorrupt: return "CORRUPT";
    case Code::kUnsupported: return "UNSUPPORTED";
    case Code::kDimensionMismatch: return "DIMENSION_MISMATCH";
    case Code::kTextTooLong: return "TEXT_TOO_LONG";
    case Code::kModelInvalid: return "MODEL_INVALID";
    case Code::kCancelled: return "CANCELLED";
    case Code::kClosed: return "CLOSED";
    case Code::kOutOfMemory: return "OUT_OF_MEMORY";
    case Code::kDeviceLost: return "DEVICE_LOST";
    case Code::kRecordExists: return "RECORD_EXISTS";
    case Code::kRecordMissing: return "RECORD_MISSING";
    case Code::kDuplicateId: return "DUPLICATE_ID";
    case Code::kVersionMismatch: return "VERSION_MISMATCH";
    case Code::kVersionGone: return "VERSION_GONE";
    case Code::kInternal: return "INTERNAL";
  }
  return "INTERNAL";
}

Error::Error(Code code, const std::string& message, Details details)
    : std::runtime_error(message), code_(code), details_(std::move(details)) {}

void fail(Code code, const std::string& message, Details details) {
  throw Error(code, message, std::move(details));
}

void fail_file(Code code, const std::string& file, const std::string& reason, Details details) {
  details.insert(details.begin(), {{"file", file}, {"reason", reason}});
  throw Error(code, file + ": " + reason, std::move(details));
}

}  // namespace lorekeep
