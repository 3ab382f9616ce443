#include <utility>

#include "binding/buffers_binding.h"
#include "binding/exports.h"
#include "binding/handle.h"
#include "binding/model_load.h"
#include "lm/rerank/reranker.h"

namespace lorekeep::binding {
namespace {

class RerankerBinding final : public Handle<RerankerBinding, lm::Reranker> {
 public:
  static constexpr const char* kName = "Reranker";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x10};
  static Members members();
  using Handle::Handle;

 private:
  Exported rank, facts;
};

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
  result.Set("truncated", to_js_list(env, found.truncated));
  result.Set("tokens", static_cast<double>(found.tokens));
  return result;
}

}  // namespace

Napi::Function define_reranker(Napi::Env env) {
  return RerankerBinding::define(env);
}

RerankerBinding::Members RerankerBinding::members() {
  return {
      method<&RerankerBinding::rank>("rank"),
      getter<&RerankerBinding::facts>("facts"),
  };
}

Napi::Value RerankerBinding::rank(const Napi::CallbackInfo& info) {
  auto model = use();
  std::string query = string_argument(info[0], "query");
  auto documents = std::make_shared<const TextArena>(unwrap_argument<TextArenaBinding>(info[1], "documents")->take());
  const bool quick = documents->memory_bytes() <= kQuickBytes;
  return promise_task(
      info.Env(), {quick ? Lane::kQuick : Lane::kLong, cancel_argument(info[2]), this, {}},
      [model, documents, query = std::move(query)](const TaskContext& task) {
        const CheckedPart checked;
        return model->rank(query, *documents, &task.cancel);
      },
      to_js_ranks);
}

Napi::Value RerankerBinding::facts(const Napi::CallbackInfo& info) {
  return to_js_facts(info.Env(), peek().facts());
}

Napi::Value load_reranker(const Napi::CallbackInfo& info) {
  const Napi::Object given = object_argument(info[1], "options");
  lm::RerankerOptions load;
  load.context_size =
      static_cast<std::uint32_t>(integer_argument(given.Get("contextSize"), "contextSize", 0, kMaxContext));
  load.threads = integer_argument(given.Get("threads"), "threads", 0, kMaxThreads);
  return load_model<RerankerBinding, lm::Reranker>(
      info,
      [load](const LoadContext& context) {
        return lm::Reranker::load(context.path, load, context.backends, context.cancel, context.progress);
      },
      [](const lm::Reranker& model) -> const lm::RerankerFacts& { return model.facts(); });
}

}  // namespace lorekeep::binding
