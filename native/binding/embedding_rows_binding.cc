#include "binding/embedding_rows_binding.h"

#include "binding/exports.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/embedding_model_binding.h"
#include "binding/promise_task.h"
#include "binding/records_binding.h"
#include "binding/storage_binding.h"
#include "binding/vector_index_binding.h"
#include "store/kept_embeddings.h"

namespace lorekeep::binding {
namespace {

using Shared = std::shared_ptr<store::EmbeddingRows>;

/// The result of one call of embedNext().
struct Embedded {
  std::size_t texts = 0;                  // given to the model
  std::vector<engine::ItemError> errors;  // `index` is the record's ordinal
};

Embedded embed_portion(store::EmbeddingRows& rows, const store::Records& records, engine::EmbeddingModel& model,
                       const store::EmbeddingPortion& portion, const std::string& prefix, engine::LongText long_text,
                       const TaskContext& task) {
  std::vector<std::string> prefixed;
  std::vector<std::string_view> texts;
  prefixed.reserve(prefix.empty() ? 0 : portion.ordinals.size());
  for (const std::uint32_t ordinal : portion.ordinals) {
    const std::string_view text = records.texts[ordinal];
    texts.push_back(prefix.empty() ? text : prefixed.emplace_back(prefix + std::string(text)));
  }
  engine::EmbedResult made =
      model.embed(texts, &task.cancel, [&task](float fraction) { task.report(fraction); }, long_text);
  std::vector<std::uint32_t> failed;
  for (engine::ItemError& error : made.errors) {
    failed.push_back(error.index);
    error.index = portion.ordinals[error.index];
  }
  rows.fill(portion.ordinals, made.vectors, made.truncated, failed);
  return {portion.ordinals.size(), std::move(made.errors)};
}

Digest key_argument(const Napi::Value& value) {
  const std::string key = string_argument(value, "key");
  return digest(std::as_bytes(std::span(key.data(), key.size())));
}

store::EmbeddingsKind kind_argument(const Napi::Value& dimension, const Napi::Value& key) {
  return {key_argument(key), integer_argument(dimension, "dimension", 1, vector::kMaxDimension)};
}

std::vector<std::filesystem::path> paths_argument(const Napi::Value& value, const char* name) {
  if (!value.IsArray()) fail(Code::kInvalidArgument, std::string(name) + ": an array of paths is expected");
  const auto list = value.As<Napi::Array>();
  std::vector<std::filesystem::path> paths;
  for (std::uint32_t i = 0; i < list.Length(); ++i) paths.push_back(path_argument(list.Get(i)));
  return paths;
}

}  // namespace

EmbeddingRowsBinding::Members EmbeddingRowsBinding::members() {
  return {
      method<&EmbeddingRowsBinding::embed_next>("embedNext"),
      method<&EmbeddingRowsBinding::next_texts>("nextTexts"),
      method<&EmbeddingRowsBinding::fill>("fill"),
      method<&EmbeddingRowsBinding::save>("save"),
      method<&EmbeddingRowsBinding::save_others>("saveOthers"),
      method<&EmbeddingRowsBinding::counts>("counts"),
  };
}

// embedNext(records, model, options, cancel, progress): embeds the next texts that have no embedding.
Napi::Value EmbeddingRowsBinding::embed_next(const Napi::CallbackInfo& info) {
  const auto rows = use();
  const auto records = unwrap_argument<RecordsBinding>(info[0], "records")->use();
  const auto model = unwrap_argument<EmbeddingModelBinding>(info[1], "model")->use();
  const Napi::Object given = object_argument(info[2], "options");
  const std::size_t bytes = integer_argument(given.Get("bytes"), "bytes", 1, std::uint64_t{1} << 40);
  const std::string prefix = string_argument(given.Get("prefix"), "prefix");
  const auto long_text = given.Get("truncate").ToBoolean() ? engine::LongText::kTruncate : engine::LongText::kRefuse;
  if (records->size() != rows->size() || model->facts().dimension != rows->dimension()) {
    fail(Code::kInvalidArgument, "embedNext: the records or the model's dimension differ from the first call");
  }
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3]), this, progress_argument(info[4])},
      [rows, records, model, bytes, prefix, long_text](const TaskContext& task) {
        const store::EmbeddingPortion portion = rows->next_portion(*records, bytes);
        return embed_portion(*rows, *records, *model, portion, prefix, long_text, task);
      },
      [](Napi::Env env, Embedded&& embedded) -> Napi::Value {
        Napi::Object result = Napi::Object::New(env);
        result.Set("texts", static_cast<double>(embedded.texts));
        result.Set("errors", to_js_item_errors(env, embedded.errors));
        return result;
      });
}

// nextTexts(records, bytes): texts that have no embedding, for fill().
Napi::Value EmbeddingRowsBinding::next_texts(const Napi::CallbackInfo& info) {
  const auto rows = use();
  const auto records = unwrap_argument<RecordsBinding>(info[0], "records")->use();
  if (records->size() != rows->size()) {
    fail(Code::kInvalidArgument, "nextTexts: the records differ from the first call");
  }
  const std::size_t bytes = integer_argument(info[1], "bytes", 1, std::uint64_t{1} << 40);
  const store::EmbeddingPortion portion = rows->next_portion(*records, bytes);
  Napi::Array texts = Napi::Array::New(info.Env(), portion.ordinals.size());
  auto ordinals = Napi::Uint32Array::New(info.Env(), portion.ordinals.size());
  for (std::uint32_t i = 0; i < portion.ordinals.size(); ++i) {
    ordinals.Data()[i] = portion.ordinals[i];
    texts.Set(i, Napi::String::New(info.Env(), std::string(records->texts[portion.ordinals[i]])));
  }
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("ordinals", ordinals);
  result.Set("texts", texts);
  return result;
}

// fill(ordinals, vectors)
Napi::Value EmbeddingRowsBinding::fill(const Napi::CallbackInfo& info) {
  const auto rows = use();
  const std::vector<std::uint32_t> ordinals = ordinals_argument(info[0]);
  const std::vector<float> vectors = floats_argument(info[1], "vectors");
  const auto known = [&](std::uint32_t ordinal) { return ordinal < rows->size(); };
  if (!std::all_of(ordinals.begin(), ordinals.end(), known) || vectors.size() != ordinals.size() * rows->dimension()) {
    fail(Code::kInvalidArgument, "fill: one vector for each text is expected");
  }
  rows->fill(ordinals, vectors);
  return info.Env().Undefined();
}

// save(path, cancel, owner)
Napi::Value EmbeddingRowsBinding::save(const Napi::CallbackInfo& info) {
  return promise_task(info.Env(), {Lane::kLong, cancel_argument(info[1]), this},
                      [rows = use(), path = path_argument(info[0]), owner = owner_argument(info[2])](
                          const TaskContext& task) { rows->save(path, &task.cancel, owner ? &*owner : nullptr); });
}

// saveOthers(path, files, cancel, owner)
Napi::Value EmbeddingRowsBinding::save_others(const Napi::CallbackInfo& info) {
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), this},
      [rows = use(), path = path_argument(info[0]), files = paths_argument(info[1], "files"),
       owner = owner_argument(info[3])](const TaskContext& task) {
        return rows->save_others(path, files, &task.cancel, owner ? &*owner : nullptr);
      },
      [](Napi::Env env, std::size_t&& count) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(count));
      });
}

// counts(): linear in the records, so it is a method and not a getter.
Napi::Value EmbeddingRowsBinding::counts(const Napi::CallbackInfo& info) {
  const auto rows = use();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("missing", static_cast<double>(rows->missing()));
  result.Set("reused", static_cast<double>(rows->reused()));
  result.Set("truncated", static_cast<double>(rows->truncated()));
  result.Set("refusal", rows->refusal());
  return result;
}

Napi::Value match_embeddings(const Napi::CallbackInfo& info) {
  const auto records = unwrap_argument<RecordsBinding>(info[0], "records")->use();
  const std::size_t dimension = integer_argument(info[1], "dimension", 1, vector::kMaxDimension);
  const std::vector<std::filesystem::path> paths = paths_argument(info[2], "paths");
  const Digest key = key_argument(info[3]);
  const bool truncated_too = info[4].ToBoolean();
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[5])},
      [records, dimension, paths, key, truncated_too](const TaskContext& task) {
        const auto rows = std::make_shared<store::EmbeddingRows>(*records, dimension, key, &task.cancel);
        if (!paths.empty()) {
          rows->take_over(paths.front(), truncated_too, &task.cancel);
          rows->take_more(std::span(paths).subspan(1), truncated_too, &task.cancel);
        }
        return rows;
      },
      [dimension](Napi::Env env, Shared&& rows) {
        const std::size_t bytes = rows->size() * dimension * sizeof(float);
        return EmbeddingRowsBinding::wrap(env, std::move(rows), bytes);
      });
}

// findEmbeddings(texts, dimension, paths, key, cancel)
Napi::Value find_embeddings(const Napi::CallbackInfo& info) {
  auto texts = std::make_shared<const TextArena>(unwrap_argument<TextArenaBinding>(info[0], "texts")->take());
  const store::EmbeddingsKind kind = kind_argument(info[1], info[3]);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[4])},
      [texts, kind, paths = paths_argument(info[2], "paths")](const TaskContext& task) {
        return store::find_embeddings(*texts, paths, kind, &task.cancel);
      },
      [](Napi::Env env, store::FoundEmbeddings&& found) -> Napi::Value {
        auto positions = Napi::Uint32Array::New(env, found.texts.size());
        std::copy(found.texts.begin(), found.texts.end(), positions.Data());
        Napi::Object result = Napi::Object::New(env);
        result.Set("texts", positions);
        result.Set("vectors", to_float32_array(env, std::move(found.rows)));
        return result;
      });
}

// uniteEmbeddings(path, {files, texts, vectors, dropped}, dimension, key, cancel, owner)
Napi::Value unite_embeddings(const Napi::CallbackInfo& info) {
  struct Input {
    std::vector<std::filesystem::path> files;
    TextArena texts;
    std::vector<float> rows;
    TextArena dropped;
  };
  auto input = std::make_shared<Input>();
  const Napi::Object parts = object_argument(info[1], "parts");
  input->files = paths_argument(parts.Get("files"), "files");
  input->texts = unwrap_argument<TextArenaBinding>(parts.Get("texts"), "texts")->take();
  input->rows = floats_argument(parts.Get("vectors"), "vectors");
  input->dropped = unwrap_argument<TextArenaBinding>(parts.Get("dropped"), "dropped")->take();
  const store::EmbeddingsKind kind = kind_argument(info[2], info[3]);
  if (input->rows.size() != input->texts.size() * kind.dimension) {
    fail(Code::kInvalidArgument, "uniteEmbeddings: one vector for each text is expected");
  }
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[4])},
      [path = path_argument(info[0]), input, kind, owner = owner_argument(info[5])](const TaskContext& task) {
        const std::vector<Digest> dropped = store::text_digests(input->dropped);
        return store::unite_embeddings(path, {input->files, input->texts, input->rows, dropped}, kind, &task.cancel,
                                       owner ? &*owner : nullptr);
      },
      [](Napi::Env env, std::size_t&& rows) -> Napi::Value {
        return Napi::Number::New(env, static_cast<double>(rows));
      });
}

Napi::Value index_embeddings(const Napi::CallbackInfo& info) {
  auto* rows = unwrap_argument<EmbeddingRowsBinding>(info[0], "rows");
  const VectorOptions vectors = vector_options(object_argument(info[1], "options"));
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), nullptr, progress_argument(info[3])},
      [given = rows->surrender(info.Env()), vectors](const TaskContext& task) {
        const std::size_t dimension = given->dimension();
        return build_vectors(given->take(), dimension, vectors, task);
      },
      wrap_index);
}

}  // namespace lorekeep::binding
