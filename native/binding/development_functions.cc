#include "binding/exports.h"

#include <memory>
#include <string>

#include "binding/arguments.h"
#include "binding/environment.h"
#include "binding/error_translator.h"
#include "crash/forced_crash.h"
#include "lm/session/inference_thread.h"

namespace lorekeep::binding {
namespace {

crash::CrashKind kind_argument(const Napi::Value& value) {
  const std::string name = string_argument(value, "kind");
  if (name == "segmentation-fault") return crash::CrashKind::kSegmentationFault;
  if (name == "stack-overflow") return crash::CrashKind::kStackOverflow;
  if (name == "abort") return crash::CrashKind::kAbort;
  if (name == "exception") return crash::CrashKind::kException;
  fail(Code::kInvalidArgument, "kind: no such crash: " + name);
}

// forceCrash(kind, thread): on the calling thread it does not return.
void force_crash(const Napi::CallbackInfo& info) {
  const crash::CrashKind kind = kind_argument(info[0]);
  const std::string thread = string_argument(info[1], "thread");
  if (thread == "calling") crash::force_crash(kind);
  if (thread == "pool") {
    Environment::of(info.Env()).runtime().lane(Lane::kQuick).submit([kind] { crash::force_crash(kind); });
  } else if (thread == "inference") {
    static const std::shared_ptr<lm::InferenceThread> inference = lm::InferenceThread::acquire();
    inference->run_soon([kind] { crash::force_crash(kind); });
  } else {
    fail(Code::kInvalidArgument, "thread: no such thread: " + thread);
  }
}

}  // namespace

void add_edition_functions(Napi::Env env, Napi::Object exports) {
  exports.Set("forceCrash", Napi::Function::New(env, exported<force_crash>, "forceCrash"));
}

}  // namespace lorekeep::binding
