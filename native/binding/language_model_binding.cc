#include <napi.h>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "binding/environment.h"
#include "binding/exports.h"
#include "binding/generation_task.h"
#include "binding/handle.h"
#include "binding/layout.gen.h"
#include "binding/model_load.h"
#include "binding/promise_task.h"
#include "core/files/utf8_path.h"
#include "lm/model/memory_estimate.h"
#include "lm/session/generation_model.h"
#include "lm/session/inference_thread.h"

namespace lorekeep::binding {
namespace {

/// The state of a question that both threads share.
template <class Output>
struct InferenceAnswer {
  std::mutex mutex;
  Environment* environment = nullptr;  // null: nobody waits
  std::shared_ptr<Environment::Ticket> ticket;
  Output output{};  // of its initial value if the inference thread has ended

  void complete() noexcept {
    std::lock_guard lock(mutex);
    if (environment != nullptr) environment->complete(ticket);
    environment = nullptr;
  }
  void forget() noexcept {
    std::lock_guard lock(mutex);
    environment = nullptr;
  }
};

template <class Output>
class InferenceQuestion final : public PromisedTask {
 public:
  using Answer = std::shared_ptr<InferenceAnswer<Output>>;
  using Convert = std::function<Napi::Value(Napi::Env, Output&&)>;

  InferenceQuestion(Napi::Env env, HandleBase* owner, Answer answer, Convert convert)
      : PromisedTask(env, std::make_shared<CancelToken>(), owner),
        answer_(std::move(answer)),
        convert_(std::move(convert)) {}

  void execute() noexcept override {}

  void settle(Napi::Env env) override {
    end_use();
    settle_with(env, [&] { return convert_(env, std::move(answer_->output)); });
  }

  void detach() noexcept override { answer_->forget(); }

 private:
  Answer answer_;
  Convert convert_;
};

/// Calls `ask` with a function that takes the answer on the inference thread, and returns a promise of `convert` of it.
/// The promise also settles if the function is dropped.
template <class Output, class Ask, class Convert>
Napi::Promise ask_inference(Napi::Env env, HandleBase* owner, Ask&& ask, Convert&& convert) {
  auto answer = std::make_shared<InferenceAnswer<Output>>();
  auto question = std::make_unique<InferenceQuestion<Output>>(env, owner, answer, std::forward<Convert>(convert));
  const Napi::Promise promise = question->promise();
  Environment& environment = Environment::of(env);
  answer->ticket = environment.adopt(std::move(question));
  answer->environment = &environment;
  // The last copy of the function completes the question.
  InferenceAnswer<Output>* const place = answer.get();
  const std::shared_ptr<InferenceAnswer<Output>> asked(place,
                                                       [answer](InferenceAnswer<Output>*) { answer->complete(); });
  ask([asked](Output output) { asked->output = std::move(output); });
  return promise;
}

/// A language model: `generate`, `countTokens`, `tokenize`, `facts`, `numbers`. Described in lib/boundary/native.ts.
class LanguageModelBinding final : public Handle<LanguageModelBinding, lm::GenerationModel> {
 public:
  static constexpr const char* kName = "LanguageModel";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x0e};
  static Members members();
  using Handle::Handle;

 private:
  Exported generate, render, prefix, load_prefix, count_tokens, facts, numbers, prefixes, forget;
};

constexpr std::uint64_t kMaxContext = 1 << 24;
constexpr std::uint64_t kMaxBatch = 1 << 16;

Napi::Object to_js_facts(Napi::Env env, const lm::GenerationModel& model) {
  const lm::LanguageModelFacts& facts = model.model().facts();
  Napi::Object object = to_js_model_facts(env, facts);
  object.Set("device", facts.device);
  object.Set("backend", facts.backend);
  object.Set("runtime", facts.runtime);
  object.Set("placementNote", facts.placement_note);
  object.Set("candidates", to_js_list(env, facts.candidates));
  object.Set("measured", facts.measured);
  object.Set("trainedContextSize", facts.training_context);
  object.Set("vocabularySize", facts.vocabulary_size);
  object.Set("embeddingSize", facts.embedding_size);
  object.Set("layers", facts.layers);
  object.Set("fileBytes", static_cast<double>(facts.size_bytes));
  object.Set("tokenizerNote", facts.tokenizer_note);
  object.Set("templateNote", model.text().template_note());
  object.Set("chatTemplate", !facts.chat_template.empty());
  object.Set("thinking", model.text().thinks());
  return object;
}

struct ReadNumbers {
  lm::SessionNumbers numbers;
  std::chrono::steady_clock::time_point at;
};

Napi::Object to_js_numbers(Napi::Env env, const ReadNumbers& read) {
  const lm::SessionNumbers& numbers = read.numbers;
  Napi::Object object = Napi::Object::New(env);
  // Node's process.hrtime() reads the same clock.
  object.Set("readAtMs", std::chrono::duration<double, std::milli>(read.at.time_since_epoch()).count());
  object.Set("cells", numbers.cells);
  object.Set("cellsUsed", numbers.cells_used);
  object.Set("cellsReserved", numbers.cells_reserved);
  object.Set("running", numbers.sequences_running);
  object.Set("keptPrefixes", numbers.sequences_kept);
  object.Set("queued", numbers.queued);
  object.Set("promptTokens", static_cast<double>(numbers.prompt_tokens));
  object.Set("cachedTokens", static_cast<double>(numbers.prompt_tokens_cached));
  object.Set("parked", static_cast<double>(numbers.parked));
  return object;
}

Napi::Float64Array to_js_prefixes(Napi::Env env, const lm::PrefixParts& parts) {
  namespace at = layout::prefix_part;
  Napi::Float64Array numbers = Napi::Float64Array::New(env, parts.size() * at::kNumbers);
  double* to = numbers.Data();
  for (const lm::PrefixPart& part : parts) {
    to[at::kDepth] = part.depth;
    to[at::kTokens] = part.tokens;
    to[at::kRunning] = part.running;
    to[at::kKept] = part.kept;
    to[at::kPinned] = part.pinned;
    to[at::kIdleMs] = part.idle_ms;
    to += at::kNumbers;
  }
  return numbers;
}

// Names the file in errors.
std::shared_ptr<lm::GenerationModel> make_cache(const std::filesystem::path& path,
                                                std::shared_ptr<lm::InferenceThread> thread,
                                                std::shared_ptr<lm::LanguageModel> model) {
  try {
    return std::make_shared<lm::GenerationModel>(std::move(thread), std::move(model));
  } catch (const Error& error) {
    fail_file(error.code(), utf8_path(path), error.what());
  }
}

Napi::Array to_js_estimate(Napi::Env env, const std::vector<lm::DeviceMemory>& estimate) {
  return to_js_list(env, estimate, [&](const lm::DeviceMemory& memory) {
    Napi::Object device = Napi::Object::New(env);
    device.Set("device", memory.device);
    device.Set("model", static_cast<double>(memory.model));
    device.Set("context", static_cast<double>(memory.context));
    device.Set("compute", static_cast<double>(memory.compute));
    return device;
  });
}

lm::LanguageModelOptions options_argument(const Napi::Object& given) {
  const auto number = [&given](const char* name, std::uint64_t most) {
    return static_cast<std::uint32_t>(integer_argument(given.Get(name), name, 0, most));
  };
  lm::LanguageModelOptions options;
  options.context_size = number("contextSize", kMaxContext);
  options.kv_cells = number("kvCells", kMaxContext);
  options.batch_size = number("batchSize", kMaxBatch);
  options.threads = number("threads", kMaxThreads);
  options.batch_threads = number("batchThreads", kMaxThreads);
  options.placement = enumerator_argument<lm::Placement>(given.Get("placement"), "placement", layout::kPlacements);
  options.runtime = enumerator_argument<lm::Runtime>(given.Get("runtime"), "runtime", layout::kRuntimes);
  options.cache_type =
      enumerator_argument<lm::CacheType>(given.Get("kvCacheType"), "kvCacheType", layout::kKvCacheTypes);
  options.offload_kqv = given.Get("offloadKqv").ToBoolean();
  options.known = known_settings_argument(given.Get("known"));
  options.deterministic = given.Get("deterministic").ToBoolean();
  return options;
}

}  // namespace

Napi::Function define_language_model(Napi::Env env) {
  return LanguageModelBinding::define(env);
}

LanguageModelBinding::Members LanguageModelBinding::members() {
  return {
      method<&LanguageModelBinding::generate>("generate"),
      method<&LanguageModelBinding::render>("render"),
      method<&LanguageModelBinding::prefix>("prefix"),
      method<&LanguageModelBinding::load_prefix>("loadPrefix"),
      method<&LanguageModelBinding::count_tokens>("countTokens"),
      method<&LanguageModelBinding::numbers>("numbers"),
      method<&LanguageModelBinding::prefixes>("prefixes"),
      method<&LanguageModelBinding::forget>("forget"),
      getter<&LanguageModelBinding::facts>("facts"),
  };
}

Napi::Value LanguageModelBinding::generate(const Napi::CallbackInfo& info) {
  return start_generation(info, this, use());
}

Napi::Value LanguageModelBinding::render(const Napi::CallbackInfo& info) {
  return render_messages(info, this, use());
}

Napi::Value LanguageModelBinding::prefix(const Napi::CallbackInfo& info) {
  return start_prefix(info, this, use());
}

Napi::Value LanguageModelBinding::load_prefix(const Napi::CallbackInfo& info) {
  return binding::load_prefix(info, this, use());
}

Napi::Value LanguageModelBinding::count_tokens(const Napi::CallbackInfo& info) {
  auto model = use();
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[1]), this},
      [model, text = string_argument(info[0], "text")](const TaskContext& task) {
        const CheckedPart checked;
        return model->model().count_tokens(text, &task.cancel);
      },
      [](Napi::Env env, std::uint32_t&& tokens) { return Napi::Number::New(env, tokens); });
}

Napi::Value LanguageModelBinding::facts(const Napi::CallbackInfo& info) {
  return to_js_facts(info.Env(), peek());
}

Napi::Value LanguageModelBinding::numbers(const Napi::CallbackInfo& info) {
  return ask_inference<ReadNumbers>(
      info.Env(), this,
      [model = use()](auto receive) {
        model->ask_numbers([receive = std::move(receive)](const lm::SessionNumbers& numbers) {
          receive(ReadNumbers{numbers, std::chrono::steady_clock::now()});
        });
      },
      [](Napi::Env env, ReadNumbers&& read) { return to_js_numbers(env, read); });
}

Napi::Value LanguageModelBinding::prefixes(const Napi::CallbackInfo& info) {
  return ask_inference<lm::PrefixParts>(
      info.Env(), this, [model = use()](auto receive) { model->ask_prefixes(std::move(receive)); },
      [](Napi::Env env, lm::PrefixParts&& parts) { return to_js_prefixes(env, parts); });
}

Napi::Value LanguageModelBinding::forget(const Napi::CallbackInfo& info) {
  return ask_inference<std::uint32_t>(
      info.Env(), this,
      [model = use(), texts = strings_argument(info[0], "texts")](auto receive) mutable {
        model->forget(std::move(texts), std::move(receive));
      },
      [](Napi::Env env, std::uint32_t&& sequences) { return Napi::Number::New(env, sequences); });
}

Napi::Value estimate_language_model(const Napi::CallbackInfo& info) {
  using Estimate = std::vector<lm::DeviceMemory>;
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2])},
      [path = path_argument(info[0]),
       load = options_argument(object_argument(info[1], "options"))](const TaskContext& task) {
        const ExemptPart exempt(Exempt::kModelLoad);
        return lm::estimate_memory(path, load, engine::Backends::acquire(addon_folder()), &task.cancel);
      },
      [](Napi::Env env, Estimate&& estimate) { return to_js_estimate(env, estimate); });
}

Napi::Value load_language_model(const Napi::CallbackInfo& info) {
  const lm::LanguageModelOptions load = options_argument(object_argument(info[1], "options"));
  return load_model<LanguageModelBinding, lm::GenerationModel>(
      info,  // The thread starts here, with the priority of this one: a thread of the pool would pass on a lower one.
      [load, thread = lm::InferenceThread::acquire()](const LoadContext& context) {
        auto model = lm::LanguageModel::load(context.path, load, context.backends, context.cancel, context.progress);
        auto loaded = make_cache(context.path, thread, std::move(model));
        loaded->text().thinks();  // parses the chat template here rather than on the JavaScript thread
        return loaded;
      },
      [](const lm::GenerationModel& model) -> const lm::LanguageModelFacts& { return model.model().facts(); });
}

}  // namespace lorekeep::binding
