#include "binding/error_translator.h"

#include <new>
#include <string>
#include <system_error>

#include "core/values/error.h"

namespace lorekeep::binding {
namespace {

constexpr const char* kNoThread =
    "the system refuses the process a further thread: raise its limit of processes and threads (ulimit -u, or pids.max "
    "of "
    "its control group)";

Napi::Error make(Napi::Env env, Code code, const std::string& message, const Details& details) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, std::string(code_name(code))));
  Napi::Object detail = Napi::Object::New(env);
  for (const auto& [name, value] : details) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      detail.Set(name, Napi::Number::New(env, static_cast<double>(*whole)));
    } else if (const auto* number = std::get_if<double>(&value)) {
      detail.Set(name, Napi::Number::New(env, *number));
    } else {
      detail.Set(name, Napi::String::New(env, std::get<std::string>(value)));
    }
  }
  error.Set("detail", detail);
  return error;
}

}  // namespace

Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return make(env, error.code(), error.what(), error.details());
  } catch (const std::bad_alloc&) {
    return make(env, Code::kOutOfMemory, "not enough memory for this operation", {});
  } catch (const std::length_error&) {
    return make(env, Code::kOutOfMemory, "more elements than memory can hold", {});
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) return make(env, Code::kOutOfMemory, kNoThread, {});
    const bool lacking = error.code() == std::errc::not_enough_memory;
    return make(env, lacking ? Code::kOutOfMemory : Code::kInternal, error.what(), {});
  } catch (const std::exception& error) {
    return make(env, Code::kInternal, error.what(), {});
  } catch (...) {
    return make(env, Code::kInternal, "an unknown failure", {});
  }
}

}  // namespace lorekeep::binding
