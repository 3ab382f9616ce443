#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "binding/arguments.h"
#include "binding/exports.h"
#include "binding/handle.h"
#include "binding/layout.gen.h"
#include "binding/model_load.h"
#include "speech/recogniser.h"
#include "speech/voice_stream.h"

namespace lorekeep::binding {
namespace {

struct OpenVoiceStream {
  speech::VoiceStream stream;
  std::atomic<bool> busy = false;

  OpenVoiceStream(std::shared_ptr<const speech::VoiceModel> model, const speech::VoiceSettings& settings,
                  const speech::StreamFormat& format)
      : stream(std::move(model), settings, format) {}
};

/// The one call that a stream may have. Lives as long as the call's task needs it.
class Turn {
 public:
  explicit Turn(std::shared_ptr<OpenVoiceStream> open) : open_(std::move(open)) {
    if (open_->busy.exchange(true))
      fail(Code::kInvalidArgument, "VoiceStream: one call at a time is expected; await the one before");
  }
  ~Turn() { open_->busy = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  speech::VoiceStream& stream() noexcept { return open_->stream; }

 private:
  std::shared_ptr<OpenVoiceStream> open_;
};

class VoiceStreamBinding final : public Handle<VoiceStreamBinding, OpenVoiceStream> {
 public:
  static constexpr const char* kName = "VoiceStream";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x20};
  static Members members();
  using Handle::Handle;

 private:
  Exported push, finish;

  template <class Work>
  Napi::Value run(const Napi::CallbackInfo& info, const Napi::Value& cancel, Work work);
};

class VoiceModelBinding final : public Handle<VoiceModelBinding, const speech::VoiceModel> {
 public:
  static constexpr const char* kName = "VoiceDetector";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x21};
  static Members members();
  using Handle::Handle;

 private:
  Exported stream, facts;
};

class RecogniserBinding final : public Handle<RecogniserBinding, speech::Recogniser> {
 public:
  static constexpr const char* kName = "SpeechRecogniser";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x22};
  static Members members();
  using Handle::Handle;

 private:
  Exported recognise, facts;
};

constexpr std::uint64_t kMaxMs = 600'000;

std::uint32_t voice_ms(const Napi::Object& given, const char* name) {
  return static_cast<std::uint32_t>(integer_argument(given.Get(name), name, 0, kMaxMs));
}

float voice_fraction(const Napi::Object& given, const char* name) {
  const Napi::Value value = given.Get(name);
  if (!value.IsNumber()) fail(Code::kInvalidArgument, std::string(name) + ": a number is expected");
  return value.As<Napi::Number>().FloatValue();
}

speech::VoiceSettings settings_argument(const Napi::Object& given) {
  speech::VoiceSettings settings;
  settings.threshold = voice_fraction(given, "threshold");
  settings.end_threshold = voice_fraction(given, "endThreshold");
  settings.min_speech_ms = voice_ms(given, "minSpeechMs");
  settings.min_silence_ms = voice_ms(given, "minSilenceMs");
  settings.padding_ms = voice_ms(given, "paddingMs");
  settings.max_segment_ms = voice_ms(given, "maxSegmentMs");
  return settings;
}

Napi::Value to_js_event(Napi::Env env, const speech::VoiceEvent& event) {
  Napi::Object object = Napi::Object::New(env);
  const bool started = event.kind == speech::VoiceEvent::Kind::kStarted;
  object.Set("kind", started ? "started" : "ended");
  object.Set("begin", static_cast<double>(event.begin));
  object.Set("audioBegin", static_cast<double>(event.audio_begin));
  if (!started) {
    object.Set("end", static_cast<double>(event.end));
    object.Set("audioEnd", static_cast<double>(event.audio_end));
  }
  object.Set("probability", event.probability);
  if (event.cut) object.Set("cut", true);
  return object;
}

Napi::Value to_js_voice(Napi::Env env, speech::VoiceResult&& found) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("probabilities", to_float32_array(env, std::move(found.probabilities)));
  object.Set("events", to_js_list(env, found.events, [env](const auto& event) { return to_js_event(env, event); }));
  object.Set("samples", to_float32_array(env, std::move(found.samples)));
  return object;
}

Napi::Value to_js_text(Napi::Env env, speech::SpeechText&& found) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("text", found.text);
  object.Set("language", found.language);
  object.Set("probability", found.probability);
  object.Set("words", to_js_list(env, found.words, [env](const speech::SpeechWord& word) {
               Napi::Object each = Napi::Object::New(env);
               each.Set("text", word.text);
               each.Set("beginMs", word.begin_ms);
               each.Set("endMs", word.end_ms);
               each.Set("probability", word.probability);
               return each;
             }));
  object.Set("tokens", to_js_array<Napi::Int32Array>(env, found.tokens));
  return object;
}

}  // namespace

Napi::Function define_voice_stream(Napi::Env env) {
  return VoiceStreamBinding::define(env);
}

Napi::Function define_voice_model(Napi::Env env) {
  return VoiceModelBinding::define(env);
}

Napi::Function define_recogniser(Napi::Env env) {
  return RecogniserBinding::define(env);
}

VoiceStreamBinding::Members VoiceStreamBinding::members() {
  return {
      method<&VoiceStreamBinding::push>("push"),
      method<&VoiceStreamBinding::finish>("finish"),
  };
}

template <class Work>
Napi::Value VoiceStreamBinding::run(const Napi::CallbackInfo& info, const Napi::Value& cancel, Work work) {
  auto turn = std::make_shared<Turn>(use());
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(cancel), this, {}},
      [turn, work = std::move(work)](const TaskContext& task) { return work(turn->stream(), &task.cancel); },
      to_js_voice);
}

Napi::Value VoiceStreamBinding::push(const Napi::CallbackInfo& info) {
  return run(info, info[1],
             [samples = floats_argument(info[0], "samples")](speech::VoiceStream& stream, const CancelToken* cancel) {
               return stream.push(samples, cancel);
             });
}

Napi::Value VoiceStreamBinding::finish(const Napi::CallbackInfo& info) {
  return run(info, info[0],
             [](speech::VoiceStream& stream, const CancelToken* cancel) { return stream.finish(cancel); });
}

VoiceModelBinding::Members VoiceModelBinding::members() {
  return {
      method<&VoiceModelBinding::stream>("stream"),
      getter<&VoiceModelBinding::facts>("facts"),
  };
}

Napi::Value VoiceModelBinding::stream(const Napi::CallbackInfo& info) {
  const Napi::Object given = object_argument(info[0], "settings");
  speech::StreamFormat format;
  format.rate = static_cast<std::uint32_t>(integer_argument(given.Get("rate"), "rate", 0, 1u << 31));
  format.channels = static_cast<std::uint32_t>(integer_argument(given.Get("channels"), "channels", 0, 1u << 16));
  auto open = std::make_shared<OpenVoiceStream>(use(), settings_argument(given), format);
  return VoiceStreamBinding::wrap(info.Env(), std::move(open), sizeof(speech::VoiceState));
}

Napi::Value VoiceModelBinding::facts(const Napi::CallbackInfo& info) {
  const speech::VoiceModelFacts& facts = peek().facts();
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("name", facts.name);
  object.Set("version", facts.version);
  object.Set("fingerprint", facts.fingerprint);
  object.Set("sizeBytes", static_cast<double>(facts.size_bytes));
  return object;
}

RecogniserBinding::Members RecogniserBinding::members() {
  return {
      method<&RecogniserBinding::recognise>("recognise"),
      getter<&RecogniserBinding::facts>("facts"),
  };
}

Napi::Value RecogniserBinding::recognise(const Napi::CallbackInfo& info) {
  auto model = use();
  auto samples = std::make_shared<const std::vector<float>>(floats_argument(info[0], "samples"));
  const Napi::Object given = object_argument(info[1], "options");
  speech::RecogniseOptions options;
  options.language = string_argument(given.Get("language"), "language");
  options.prompt = string_argument(given.Get("prompt"), "prompt");
  options.terms = strings_argument(given.Get("terms"), "terms");
  options.translate = given.Get("translate").ToBoolean();
  options.beams = static_cast<std::uint32_t>(integer_argument(given.Get("beams"), "beams", 1, 8));
  options.consumer_class =
      enumerator_argument<scheduler::ConsumerClass>(given.Get("class"), "class", layout::kConsumerClasses);
  return promise_task(
      info.Env(), {Lane::kSpeech, cancel_argument(info[2]), this, progress_argument(info[3])},
      [model, samples, options](const TaskContext& task) {
        return model->recognise(*samples, options, &task.cancel, [&task](float part) { task.report(part); });
      },
      to_js_text);
}

Napi::Value RecogniserBinding::facts(const Napi::CallbackInfo& info) {
  const speech::RecogniserFacts& facts = peek().facts();
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("name", facts.name);
  object.Set("fingerprint", facts.fingerprint);
  object.Set("multilingual", facts.multilingual);
  object.Set("parameters", static_cast<double>(facts.parameters));
  object.Set("sizeBytes", static_cast<double>(facts.size_bytes));
  return object;
}

// loadVoiceDetector(path, options, cancel)
Napi::Value load_voice_detector(const Napi::CallbackInfo& info) {
  return load_model<VoiceModelBinding, const speech::VoiceModel>(
      info, [](const LoadContext& context) { return speech::VoiceModel::load(context.path); },
      [](const speech::VoiceModel& model) -> const speech::VoiceModelFacts& { return model.facts(); });
}

// loadRecogniser(path, { threads, gpu }, cancel)
Napi::Value load_recogniser(const Napi::CallbackInfo& info) {
  const Napi::Object given = object_argument(info[1], "options");
  speech::RecogniserOptions load;
  load.threads = static_cast<std::uint32_t>(integer_argument(given.Get("threads"), "threads", 0, kMaxThreads));
  load.gpu = given.Get("gpu").ToBoolean();
  return load_model<RecogniserBinding, speech::Recogniser>(
      info,
      [load](const LoadContext& context) {
        return speech::Recogniser::load(context.path, load, context.backends, context.cancel);
      },
      [](const speech::Recogniser& model) -> const speech::RecogniserFacts& { return model.facts(); });
}

// speechLanguages()
Napi::Value speech_languages(const Napi::CallbackInfo& info) {
  return to_js_list(info.Env(), speech::Recogniser::languages(),
                    [&info](const std::string& code) { return Napi::String::New(info.Env(), code); });
}

}  // namespace lorekeep::binding
