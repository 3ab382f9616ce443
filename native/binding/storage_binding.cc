#include "binding/storage_binding.h"

#include <cmath>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/metadata_binding.h"
#include "binding/promise_task.h"
#include "binding/records_binding.h"
#include "binding/text_index_binding.h"
#include "binding/value_conversion.h"
#include "binding/vector_index_binding.h"

namespace lorekeep::binding {
namespace {

constexpr std::uint64_t kMostHits = 10'000;

/// A request that owns what store::SearchRequest only refers to.
struct OwnedRequest {
  store::SearchRequest request;
  std::vector<float> query;
  std::string text;
  std::optional<filter::BoundPredicate> filter;

  const store::SearchRequest& bind(const CancelToken& cancel) {
    request.query = query;
    request.text = text;
    request.filter = filter ? &*filter : nullptr;
    request.cancel = &cancel;
    return request;
  }
};

double number_field(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (!std::isfinite(number)) fail(Code::kInvalidArgument, std::string(name) + ": a number is expected");
  return number;
}

store::Mode mode_field(const std::string& name) {
  for (const store::Mode mode : {store::Mode::kDense, store::Mode::kLexical, store::Mode::kHybrid}) {
    if (name == store::mode_name(mode)) return mode;
  }
  fail(Code::kInvalidArgument, "mode: dense, lexical or hybrid is expected, not " + name);
}

OwnedRequest parse_request(const Napi::Object& object) {
  OwnedRequest owned;
  store::SearchRequest& request = owned.request;
  request.mode = mode_field(string_argument(object.Get("mode"), "mode"));
  request.top_k = integer_argument(object.Get("topK"), "topK", 1, kMostHits);
  request.ef = integer_argument(object.Get("ef"), "ef", 0, vector::kMaxEf);
  if (!object.Get("vector").IsUndefined()) owned.query = floats_argument(object.Get("vector"), "vector");
  if (!object.Get("text").IsUndefined()) owned.text = string_argument(object.Get("text"), "text");
  if (!object.Get("threshold").IsUndefined()) {
    request.threshold = static_cast<float>(number_field(object, "threshold"));
  }
  if (!object.Get("filter").IsUndefined()) {
    const auto predicate = unwrap_argument<FilterBinding>(object.Get("filter"), "filter")->predicate();
    owned.filter = predicate->bind(variables_argument(object.Get("variables")));
  }
  request.rrf.k = number_field(object, "rrfK");
  request.rrf.dense_weight = number_field(object, "denseWeight");
  request.rrf.lexical_weight = number_field(object, "lexicalWeight");
  request.rrf.candidates = integer_argument(object.Get("candidates"), "candidates", 0, kMostHits);
  return owned;
}

template <class T>
void set_optional(Napi::Object& object, const char* name, const std::optional<T>& value) {
  if (value) object.Set(name, Napi::Number::New(object.Env(), static_cast<double>(*value)));
}

// Properties are defined, not set: a field may be called "__proto__", and a name may hold a NUL.
Napi::Object to_js_metadata(Napi::Env env, const filter::Columns& metadata, std::uint32_t record) {
  Napi::Object object = Napi::Object::New(env);
  for (std::size_t field = 0; field < metadata.schema().size(); ++field) {
    const auto value = metadata.value(record, field);
    if (!value) continue;
    const auto name = Napi::String::New(env, metadata.schema()[field].name);
    object.DefineProperty(Napi::PropertyDescriptor::Value(name, to_js_value(env, *value), napi_default_jsproperty));
  }
  return object;
}

Napi::Value to_js_result(Napi::Env env, const store::Storage& storage, store::SearchResult&& found) {
  Napi::Array hits = Napi::Array::New(env, found.hits.size());
  for (std::uint32_t i = 0; i < found.hits.size(); ++i) {
    const store::Hit& hit = found.hits[i];
    Napi::Object object = Napi::Object::New(env);
    const std::string_view id = storage.id(hit.ordinal);
    const std::string_view text = storage.text(hit.ordinal);
    object.Set("ordinal", Napi::Number::New(env, hit.ordinal));
    object.Set("id", Napi::String::New(env, id.data(), id.size()));
    object.Set("text", Napi::String::New(env, text.data(), text.size()));
    if (storage.metadata() != nullptr) {
      object.Set("metadata", to_js_metadata(env, *storage.metadata(), hit.ordinal));
    }
    object.Set("score", Napi::Number::New(env, hit.score));
    set_optional(object, "distance", hit.distance);
    set_optional(object, "bm25Score", hit.bm25_score);
    set_optional(object, "denseRank", hit.dense_rank);
    set_optional(object, "lexicalRank", hit.lexical_rank);
    hits.Set(i, object);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("hits", hits);
  const store::SearchPlan& plan = found.plan;
  if (plan.dense) {
    Napi::Object dense = Napi::Object::New(env);
    dense.Set("path", plan.dense_path == vector::SearchPath::kGraph ? "graph" : "exact");
    dense.Set("matched", Napi::Number::New(env, static_cast<double>(plan.matched.value_or(storage.size()))));
    dense.Set("visited", Napi::Number::New(env, static_cast<double>(plan.dense_visited)));
    dense.Set("exact", Napi::Boolean::New(env, plan.dense_exact));
    result.Set("dense", dense);
  }
  if (plan.lexical) {
    Napi::Object lexical = Napi::Object::New(env);
    lexical.Set("tokens", Napi::Number::New(env, static_cast<double>(plan.lexical_tokens)));
    lexical.Set("terms", Napi::Number::New(env, static_cast<double>(plan.lexical_terms)));
    lexical.Set("scored", Napi::Number::New(env, static_cast<double>(plan.lexical_scored)));
    result.Set("lexical", lexical);
  }
  return result;
}

using Built = std::shared_ptr<const store::Storage>;

Napi::Value wrap_storage(Napi::Env env, Built&& built) {
  auto& constructor = Environment::of(env).constructors.storage;
  const std::size_t bytes = built->memory_bytes();
  return StorageBinding::wrap(env, constructor, std::move(built), bytes);
}

}  // namespace

Napi::Function StorageBinding::define(Napi::Env env) {
  return DefineClass(env, kName,
                     with_handle_members({
                         InstanceMethod("search", &StorageBinding::search),
                         InstanceMethod("compileFilter", &StorageBinding::compile_filter),
                         InstanceAccessor("size", &StorageBinding::size, nullptr),
                         InstanceAccessor("dimension", &StorageBinding::dimension, nullptr),
                         InstanceAccessor("memoryBytes", &StorageBinding::memory_bytes, nullptr),
                         InstanceAccessor("tokenizer", &StorageBinding::tokenizer, nullptr),
                     }));
}

Napi::Value StorageBinding::search(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto storage = use();
    auto owned = std::make_shared<OwnedRequest>(parse_request(object_argument(info[0], "request")));
    TaskOptions options{Lane::kQuick, cancel_argument(info[1]), this, {}};
    return promise_task<store::SearchResult>(
        info.Env(), options,
        [storage, owned](const TaskContext& task) { return storage->search(owned->bind(task.cancel)); },
        [storage](Napi::Env env, store::SearchResult&& found) {
          return to_js_result(env, *storage, std::move(found));
        });
  });
}

Napi::Value StorageBinding::compile_filter(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto storage = use();
    static const auto kNoFields = std::make_shared<const filter::Schema>();
    const auto schema = storage->metadata() == nullptr ? kNoFields : storage->metadata()->shared_schema();
    auto predicate = filter::Predicate::compile(to_value(info[0], "filter"), schema);
    return FilterBinding::wrap(info.Env(), Environment::of(info.Env()).constructors.filter, std::move(predicate), 0);
  });
}

Napi::Value StorageBinding::size(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), static_cast<double>(peek().size())); });
}

Napi::Value StorageBinding::dimension(const Napi::CallbackInfo& info) {
  return guarded(info.Env(),
                 [&] { return Napi::Number::New(info.Env(), static_cast<double>(peek().vectors()->dimension())); });
}

Napi::Value StorageBinding::memory_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), static_cast<double>(peek().memory_bytes())); });
}

Napi::Value StorageBinding::tokenizer(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const text::TextIndex* words = peek().words();
    if (words == nullptr) return info.Env().Undefined();
    return Napi::String::New(info.Env(), std::string(text::tokenizer_name(words->tokenizer())));
  });
}

Napi::Value build_storage(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    struct Input {
      TextArena ids, texts;
      std::vector<float> rows;
      std::shared_ptr<filter::ColumnsBuilder> metadata;  // null: the records have no fields
    };
    auto input = std::make_shared<Input>();
    input->ids = unwrap_argument<TextArenaBinding>(info[0], "ids")->take();
    input->texts = unwrap_argument<TextArenaBinding>(info[1], "texts")->take();
    input->rows = unwrap_argument<RowBufferBinding>(info[2], "rows")->take();
    const auto dimension = integer_argument(info[3], "dimension", 1, vector::kMaxDimension);
    if (!info[4].IsUndefined()) {
      input->metadata = unwrap_argument<MetadataBufferBinding>(info[4], "metadata")->take();
    }
    const Napi::Object given = object_argument(info[5], "options");
    const VectorOptions vectors = vector_options(given);
    const text::Tokenizer tokenizer = tokenizer_argument(given.Get("tokenizer"));
    TaskOptions options{Lane::kLong, cancel_argument(info[6]), nullptr, progress_argument(info[7])};
    auto runtime = Environment::of(info.Env()).shared_runtime();
    return promise_task<Built>(
        info.Env(), options,
        [=](const TaskContext& task) {
          store::StorageParts parts;
          if (input->metadata) {
            parts.metadata = std::make_shared<const filter::Columns>(std::move(*input->metadata).build());
          }
          parts.words = build_words(input->texts, tokenizer, vectors.threads, *runtime, task.cancel);
          parts.vectors = build_vectors(std::move(input->rows), dimension, vectors, *runtime, task);
          parts.ids = std::move(input->ids);
          parts.texts = std::move(input->texts);
          return std::make_shared<const store::Storage>(std::move(parts));
        },
        wrap_storage);
  });
}

Napi::Value assemble_storage(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto* records = unwrap_argument<RecordsBinding>(info[0], "records");
    auto vectors = unwrap_argument<VectorIndexBinding>(info[1], "vectors")->use();
    auto words = unwrap_argument<TextIndexBinding>(info[2], "words")->use();
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), nullptr, {}};
    return promise_task<Built>(
        info.Env(), options,
        [given = records->surrender(info.Env()), vectors, words](const TaskContext&) {
          store::StorageParts parts;
          parts.ids = std::move(given->ids);
          parts.ids_checked = true;
          parts.texts = std::move(given->texts);
          parts.metadata = std::move(given->metadata);
          parts.vectors = vectors;
          parts.words = words;
          return std::make_shared<const store::Storage>(std::move(parts));
        },
        wrap_storage);
  });
}

}  // namespace lorekeep::binding
