#include "binding/reranker_binding.h"

#include <utility>

#include "binding/buffers_binding.h"
#include "binding/model_load.h"

namespace lorekeep::binding {
namespace {

// Calls with up to this many bytes of documents, such as a turn's knowledge, run in the quick lane.
constexpr std::size_t kQuickBytes = 64 * 1024;
constexpr std::uint64_t kMaxContext = 1 << 20;

Napi::Object to_js_facts(Napi::Env env, const lm::RerankerFacts& facts) {
  Napi::Object object = to_js_model_facts(env, facts);
  object.Set("trainingContext", facts.training_context);
  object.Set("sizeBytes", static_cast<double>(facts.size_bytes));
  object.Set("template", facts.has_template);
  return object;
}

Napi::Value to_js_ranks(Napi::Env env, lm::RankResult&& found) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("scores", to_float32_array(env, std::move(found.scores)));
  Napi::Array truncated = Napi::Array::New(env, found.truncated.size());
  for (std::uint32_t i = 0; i < found.truncated.size(); ++i) truncated.Set(i, found.truncated[i]);
  result.Set("truncated", truncated);
  result.Set("tokens", static_cast<double>(found.tokens));
  return result;
}

}  // namespace

Napi::Function RerankerBinding::define(Napi::Env env) {
  return DefineClass(env, kName,
                     with_handle_members({
                         InstanceMethod("rank", &RerankerBinding::rank),
                         InstanceAccessor("facts", &RerankerBinding::facts, nullptr),
                     }));
}

Napi::Value RerankerBinding::rank(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto model = use();
    std::string query = string_argument(info[0], "query");
    auto documents = std::make_shared<const TextArena>(unwrap_argument<TextArenaBinding>(info[1], "documents")->take());
    const bool quick = documents->memory_bytes() <= kQuickBytes;
    const TaskOptions options{quick ? Lane::kQuick : Lane::kLong, cancel_argument(info[2]), this, {}};
    return promise_task<lm::RankResult>(
        info.Env(), options,
        [model, documents, query = std::move(query)](const TaskContext& task) {
          return model->rank(query, *documents, &task.cancel);
        },
        to_js_ranks);
  });
}

Napi::Value RerankerBinding::facts(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return to_js_facts(info.Env(), peek().facts()); });
}

Napi::Value load_reranker(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Napi::Object given = object_argument(info[1], "options");
    lm::RerankerOptions load;
    load.context_size =
        static_cast<std::uint32_t>(integer_argument(given.Get("contextSize"), "contextSize", 0, kMaxContext));
    load.threads = integer_argument(given.Get("threads"), "threads", 0, kMaxThreads);
    return load_model<RerankerBinding, lm::Reranker>(
        info, &Environment::Constructors::reranker,
        [load](const LoadContext& context) {
          return lm::Reranker::load(context.path, load, context.backends, context.cancel, context.progress);
        },
        [](const lm::Reranker& model) -> const lm::RerankerFacts& { return model.facts(); });
  });
}

}  // namespace lorekeep::binding
