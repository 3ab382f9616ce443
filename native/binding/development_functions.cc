#include "binding/exports.h"

#include <memory>
#include <string>

#include "binding/arguments.h"
#include "binding/environment.h"
#include "binding/error_translator.h"
#include "binding/value_conversion.h"
#include "core/threads/step_watch.h"
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

// watchSteps(limitMs): see StepWatch::set_limit() (core/threads/step_watch.h).
void watch_steps(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber()) fail(Code::kInvalidArgument, "limitMs: a number is expected");
  StepWatch::set_limit(info[0].As<Napi::Number>().DoubleValue());
}

// longSteps(): returns the steps found since the last call.
Napi::Value long_steps(const Napi::CallbackInfo& info) {
  return to_js_list(info.Env(), StepWatch::take(), [env = info.Env()](const LongStep& step) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("thread", step.thread);
    object.Set("where", step.where);
    object.Set("ms", step.ms);
    object.Set("part", step.part);
    object.Set("partMs", step.part_ms);
    return object;
  });
}

}  // namespace

void add_edition_functions(Napi::Env env, Napi::Object exports) {
  exports.Set("watchSteps", Napi::Function::New(env, exported<watch_steps>, "watchSteps"));
  exports.Set("longSteps", Napi::Function::New(env, exported<long_steps>, "longSteps"));
  exports.Set("forceCrash", Napi::Function::New(env, exported<force_crash>, "forceCrash"));
}

}  // namespace lorekeep::binding
