#include "binding/embedding_model_binding.h"

#include "binding/exports.h"

#include <string_view>
#include <vector>

#include "binding/buffers_binding.h"
#include "binding/layout.gen.h"
#include "binding/model_load.h"
#include "binding/value_conversion.h"

namespace lorekeep::binding {
namespace {

// Calls with up to this many texts, such as a query, run in the quick lane.
constexpr std::size_t kQuickTexts = 4;
constexpr std::size_t kQuickBytes = 16 * 1024;
constexpr std::uint64_t kMaxContext = 1 << 20;

Napi::Object to_js_facts(Napi::Env env, const engine::ModelFacts& facts) {
  Napi::Object object = to_js_model_facts(env, facts);
  object.Set("dimension", facts.dimension);
  object.Set("trainingContext", facts.training_context);
  object.Set("pooling", std::string(engine::pooling_name(facts.pooling)));
  object.Set("sizeBytes", static_cast<double>(facts.size_bytes));
  object.Set("candidates", to_js_list(env, facts.candidates));
  object.Set("runtime", facts.settings.runtime);
  object.Set("batchTokens", facts.settings.batch_tokens);
  object.Set("measured", facts.measured);
  object.Set("device", facts.device);
  return object;
}

Napi::Value to_js_embeddings(Napi::Env env, engine::EmbedResult&& found) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("vectors", to_float32_array(env, std::move(found.vectors)));
  result.Set("errors", to_js_item_errors(env, found.errors));
  result.Set("tokens", static_cast<double>(found.tokens));
  result.Set("batches", static_cast<double>(found.batches));
  return result;
}

}  // namespace

Napi::Array to_js_item_errors(Napi::Env env, const std::vector<engine::ItemError>& errors) {
  return to_js_list(env, errors, [&](const engine::ItemError& error) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("index", error.index);
    object.Set("code", std::string(code_name(error.code)));
    object.Set("message", error.message);
    object.Set("tokens", error.tokens);
    object.Set("limit", error.limit);
    return object;
  });
}

EmbeddingModelBinding::Members EmbeddingModelBinding::members() {
  return {
      method<&EmbeddingModelBinding::embed>("embed"),
      method<&EmbeddingModelBinding::tokens>("tokens"),
      getter<&EmbeddingModelBinding::facts>("facts"),
  };
}

Napi::Value EmbeddingModelBinding::embed(const Napi::CallbackInfo& info) {
  auto model = use();
  auto texts = std::make_shared<const TextArena>(unwrap_argument<TextArenaBinding>(info[0], "texts")->take());
  const auto long_text = info[3].ToBoolean() ? engine::LongText::kTruncate : engine::LongText::kRefuse;
  const bool quick = texts->size() <= kQuickTexts && texts->memory_bytes() <= kQuickBytes;
  return promise_task(
      info.Env(), {quick ? Lane::kQuick : Lane::kLong, cancel_argument(info[1]), this, progress_argument(info[2])},
      [model, texts, long_text](const TaskContext& task) {
        std::vector<std::string_view> views(texts->size());
        for (std::size_t i = 0; i < views.size(); ++i) views[i] = (*texts)[i];
        return model->embed(views, &task.cancel, [&task](float fraction) { task.report(fraction); }, long_text);
      },
      to_js_embeddings);
}

Napi::Value EmbeddingModelBinding::tokens(const Napi::CallbackInfo& info) {
  auto model = use();
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[1]), this},
      [model, text = string_argument(info[0], "text")](const TaskContext& task) {
        const CheckedPart checked;
        return model->tokens(text, &task.cancel);
      },
      [](Napi::Env env, std::vector<std::int32_t>&& tokens) { return to_js_tokens(env, tokens); });
}

Napi::Value EmbeddingModelBinding::facts(const Napi::CallbackInfo& info) {
  return to_js_facts(info.Env(), peek().facts());
}

Napi::Value load_embedding_model(const Napi::CallbackInfo& info) {
  const Napi::Object given = object_argument(info[1], "options");
  engine::LoadOptions load;
  load.context_size =
      static_cast<std::uint32_t>(integer_argument(given.Get("contextSize"), "contextSize", 0, kMaxContext));
  load.threads = integer_argument(given.Get("threads"), "threads", 0, kMaxThreads);
  load.pooling = pooling_argument(given.Get("pooling"));
  if (!given.Get("runtime").IsUndefined()) load.runtime = string_argument(given.Get("runtime"), "runtime");
  load.known = known_settings_argument(given.Get("known"));
  load.placement = enumerator_argument<engine::Placement>(given.Get("placement"), "placement", layout::kPlacements);
  return load_model<EmbeddingModelBinding, engine::EmbeddingModel>(
      info,
      [load](const LoadContext& context) {
        return engine::EmbeddingModel::load(context.path, load, context.backends, context.cancel, context.progress);
      },
      [](const engine::EmbeddingModel& model) -> const engine::ModelFacts& { return model.facts(); });
}

}  // namespace lorekeep::binding
