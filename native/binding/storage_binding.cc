#include "binding/storage_binding.h"

#include "binding/exports.h"

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/layout.gen.h"
#include "binding/lexical_binding.h"
#include "binding/metadata_binding.h"
#include "binding/promise_task.h"
#include "binding/records_binding.h"
#include "binding/result_numbers.h"
#include "binding/storage_result.h"
#include "binding/text_index_binding.h"
#include "binding/value_conversion.h"
#include "binding/vector_index_binding.h"
#include "store/lexical_search.h"
#include "vector/flat_index.h"
#include "vector/recall_report.h"

namespace lorekeep::binding {
namespace {

using Found = store::Timed<store::SearchResult>;

using Built = std::shared_ptr<const store::Storage>;

Napi::Value wrap_live(Napi::Env env, std::shared_ptr<store::LiveStorage>&& built) {
  const std::size_t bytes = built->current()->heap_bytes();
  return StorageBinding::wrap(env, std::move(built), bytes);
}

Napi::Value wrap_storage(Napi::Env env, Built&& built) {
  return wrap_live(env, std::make_shared<store::LiveStorage>(std::move(built)));
}

std::shared_ptr<const vector::VectorIndex> no_vectors(std::size_t dimension, const VectorOptions& options) {
  return std::make_shared<const vector::FlatIndex>(vector::VectorMatrix::allocate(options.hnsw.type, 0, dimension));
}

}  // namespace

const store::Segment& one_segment(const store::Storage& storage) {
  if (!storage.plain()) fail(Code::kUnsupported, "the storage has changes that are not merged; merge() it first");
  return *storage.parts().front().segment;
}

StorageBinding::Members StorageBinding::members() {
  return {
      method<&StorageBinding::search>("search"),
      method<&StorageBinding::search_now>("searchNow"),
      method<&StorageBinding::highlight>("highlight"),
      method<&StorageBinding::report_recall>("reportRecall"),
      method<&StorageBinding::compile_filter>("compileFilter"),
      method<&StorageBinding::document_frequency>("documentFrequency"),
      method<&StorageBinding::find>("find"),
      method<&StorageBinding::matching>("matching"),
      method<&StorageBinding::records>("records"),
      method<&StorageBinding::rows>("rows"),
      method<&StorageBinding::distinct>("distinct"),
      method<&StorageBinding::indexes>("indexes"),
      method<&StorageBinding::update>("update"),
      method<&StorageBinding::apply_logged>("applyLogged"),
      method<&StorageBinding::adopt>("adopt"),
      method<&StorageBinding::set_time>("setTime"),
      method<&StorageBinding::forget>("forget"),
      method<&StorageBinding::forget_former>("forgetFormer"),
      method<&StorageBinding::merge>("merge"),
      method<&StorageBinding::merging>("merging"),
      method<&StorageBinding::pin>("pin"),
      method<&StorageBinding::release>("release"),
      method<&StorageBinding::versions>("versions"),
      method<&StorageBinding::keep>("keep"),
      getter<&StorageBinding::size>("size"),
      getter<&StorageBinding::version>("version"),
      getter<&StorageBinding::dimension>("dimension"),
      number<&store::LiveStorage::memory_bytes>("memoryBytes"),
      getter<&StorageBinding::tokenizer>("tokenizer"),
      getter<&StorageBinding::fields>("fields"),
  };
}

Napi::Value StorageBinding::search(const Napi::CallbackInfo& info) {
  const auto request = std::make_shared<const StorageRequest>(info, pinned());
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[5]), this},
      [request](const TaskContext& task) {
        return store::timed([&] { return request->storage().search(request->request(task.work())); });
      },
      [request, times = times_](Napi::Env env, Found&& found) {
        request->cost(*times).learn(found.taken);
        request->learn(found.result);
        return readable_result(env, request->shared_storage(), std::move(found.result));
      });
}

Napi::Value StorageBinding::search_now(const Napi::CallbackInfo& info) {
  const auto begin = store::SearchClock::now();
  const StorageRequest request(info, pinned());
  const store::Storage& storage = request.storage();
  // After reading the variables, because their getters may detach the array.
  const std::size_t hits = std::min(request.request({}).top_k, storage.size());
  const std::span<double> numbers = result_argument(info[5], result_numbers(storage, hits));
  const auto runtime = Environment::of(info.Env()).shared_runtime();
  const auto search = [&](const CancelToken& cancel) {
    const Work work = runtime->work(cancel);
    // Parallel legs would cost more here than they save.
    const bool hybrid = request.request({}).mode == store::Mode::kHybrid;
    return storage.search(request.request(hybrid ? work.alone() : work));
  };
  const auto found = store::search_if_short(store::kShortOfStorage, request.cost(*times_), search);
  Napi::Value rest = info.Env().Undefined();
  if (found && converts_at_once(storage, *found)) {
    request.learn(*found);
    rest = flatten(info.Env(), storage, *found, numbers);
  }
  write_held(numbers, begin);
  return rest;
}

// highlight(text, lexical, ordinals, all, cancel): of each record a TextHighlights of layout.gen.h, then a Highlight of
// each match: of all, or of those in the best part.
Napi::Value StorageBinding::highlight(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  auto lexical = lexical_argument(info[1]);
  if (!lexical) lexical = std::make_shared<const store::LexicalOptions>();
  const auto ordinals = ordinals_argument(info[2]);
  const auto shown = info[3].ToBoolean() ? text::Shown::kAll : text::Shown::kBestPart;
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[4]), this},
      [=, text = string_argument(info[0], "text"), asked = ordinals](const TaskContext& task) {
        std::vector<std::uint32_t> numbers;
        for (const auto& found : store::highlights(*storage, text, *lexical, asked, shown, task.work())) {
          namespace of = layout::text_highlights;
          std::uint32_t* const head = &*numbers.insert(numbers.end(), of::kNumbers, 0);
          head[of::kMatches] = static_cast<std::uint32_t>(found.matches.size());
          head[of::kBegin] = found.begin;
          head[of::kEnd] = found.end;
          for (const text::Highlight& one : found.matches) {
            namespace at = layout::highlight;
            std::uint32_t* const to = &*numbers.insert(numbers.end(), at::kNumbers, 0);
            to[at::kBegin] = one.begin;
            to[at::kEnd] = one.end;
            to[at::kClause] = one.clause;
          }
        }
        return numbers;
      },
      [](Napi::Env env, std::vector<std::uint32_t>&& numbers) { return to_js_array<Napi::Uint32Array>(env, numbers); });
}

// reportRecall(k, ef, cancel): of each cell a RecallCell of layout.gen.h.
Napi::Value StorageBinding::report_recall(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  vector::RecallOptions options;
  options.k = integer_argument(info[0], "k", 1, kMaxHits);
  options.ef = integer_argument(info[1], "ef", 0, vector::kMaxEf);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2]), this},
      [=](const TaskContext& task) mutable {
        options.work = task.work();
        return storage->checked([&] { return vector::report_recall(*one_segment(*storage).vectors(), options); });
      },
      [](Napi::Env env, std::vector<vector::RecallCell>&& cells) -> Napi::Value {
        namespace at = layout::recall_cell;
        auto numbers = Napi::Float64Array::New(env, cells.size() * at::kNumbers);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          double* const to = numbers.Data() + i * at::kNumbers;
          to[at::kFilter] = static_cast<double>(cells[i].filter);
          to[at::kShare] = cells[i].share;
          to[at::kRecall] = cells[i].recall;
          to[at::kEf] = static_cast<double>(cells[i].ef);
        }
        return numbers;
      });
}

Napi::Value StorageBinding::compile_filter(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  static const auto kNoFields = std::make_shared<const filter::Schema>();
  const auto schema = storage->metadata() == nullptr ? kNoFields : storage->metadata()->shared_schema();
  auto predicate = filter::Predicate::compile(to_value(info[0], "filter", filter::kMaxPredicateElements), schema);
  return FilterBinding::wrap(info.Env(), std::make_shared<store::CompiledFilter>(std::move(predicate)), 0);
}

Napi::Value StorageBinding::document_frequency(const Napi::CallbackInfo& info) {
  const auto storage = pinned();
  const std::uint32_t documents =
      storage->text_index() == nullptr ? 0 : storage->words().documents_with(string_argument(info[0], "word"), nullptr);
  return Napi::Number::New(info.Env(), documents);
}

Napi::Value StorageBinding::dimension(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(peek().current()->vectors()->dimension()));
}

Napi::Value StorageBinding::tokenizer(const Napi::CallbackInfo& info) {
  const auto storage = peek().current();
  const text::TextIndex* index = storage->text_index();
  if (index == nullptr) return info.Env().Undefined();
  return Napi::String::New(info.Env(), std::string(text::tokenizer_name(index->tokenizer())));
}

Napi::Value StorageBinding::fields(const Napi::CallbackInfo& info) {
  const auto storage = peek().current();
  const filter::Columns* metadata = storage->metadata();
  if (metadata == nullptr) return info.Env().Undefined();
  return to_js_list(info.Env(), metadata->schema(), [&](const filter::Field& field) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("name", field.name);
    object.Set("type", std::string(filter::type_name(field.type)));
    if (field.format != filter::IntFormat::kNone) object.Set("format", std::string(filter::format_name(field.format)));
    return object;
  });
}

Napi::Value build_storage(const Napi::CallbackInfo& info) {
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
  const bool may_be_empty = !given.Get("empty").IsUndefined();
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[6]), nullptr, progress_argument(info[7])},
      [=](const TaskContext& task) {
        store::StorageParts parts;
        const bool empty = may_be_empty && input->ids.size() == 0;
        if (input->metadata) {
          parts.metadata = std::make_shared<const filter::Columns>(std::move(*input->metadata).build());
        }
        parts.text_index = build_text(input->texts, tokenizer, vectors.threads, task);
        parts.vectors =
            empty ? no_vectors(dimension, vectors) : build_vectors(std::move(input->rows), dimension, vectors, task);
        parts.ids = std::move(input->ids);
        parts.texts = std::move(input->texts);
        const store::SegmentKind kind{vectors.hnsw, !vectors.flat};
        if (!empty) {
          return std::make_shared<store::LiveStorage>(std::make_shared<const store::Storage>(std::move(parts)), kind);
        }
        std::vector<store::Part> none{{std::make_shared<const store::Segment>(std::move(parts)), nullptr}};
        return std::make_shared<store::LiveStorage>(std::make_shared<const store::Storage>(std::move(none), 0), kind);
      },
      wrap_live);
}

Napi::Value assemble_storage(const Napi::CallbackInfo& info) {
  auto* records = unwrap_argument<RecordsBinding>(info[0], "records");
  auto vectors = unwrap_argument<VectorIndexBinding>(info[1], "vectors")->use();
  auto text_index = unwrap_argument<TextIndexBinding>(info[2], "textIndex")->use();
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3])},
      [given = records->surrender(info.Env()), vectors, text_index](const TaskContext&) {
        store::StorageParts parts;
        parts.ids = std::move(given->ids);
        parts.file = given->file;
        parts.ids_checked = true;
        parts.texts = std::move(given->texts);
        parts.metadata = std::move(given->metadata);
        parts.vectors = vectors;
        parts.text_index = text_index;
        return std::make_shared<const store::Storage>(std::move(parts));
      },
      wrap_storage);
}

}  // namespace lorekeep::binding
