#include "binding/vector_index_binding.h"

#include "binding/exports.h"

#include <algorithm>
#include <optional>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/layout.gen.h"
#include "binding/records_binding.h"
#include "binding/result_numbers.h"
#include "binding/value_conversion.h"
#include "core/files/utf8_path.h"
#include "store/indexed_records.h"
#include "vector/distance.h"
#include "vector/flat_index.h"
#include "vector/hnswlib_file.h"
#include "vector/index_file.h"

namespace lorekeep::binding {
namespace {

using Shared = std::shared_ptr<const vector::VectorIndex>;
using Results = std::vector<vector::SearchResult>;
using Found = store::Timed<Results>;

const vector::HnswIndex* as_hnsw(const vector::VectorIndex& index) {
  return dynamic_cast<const vector::HnswIndex*>(&index);
}

std::size_t result_numbers(std::size_t queries, std::size_t hits) noexcept {
  return layout::vector_result::kNumbers + queries * layout::vector_query::kNumbers +
         hits * layout::index_hit::kNumbers;
}

/// Writes all numbers except `held`.
void flatten(const Results& results, std::span<double> numbers) noexcept {
  namespace at = layout::vector_query;
  double* next = numbers.data() + layout::vector_result::kNumbers;
  for (const auto& [hits, plan] : results) {
    next[at::kHits] = static_cast<double>(hits.size());
    next[at::kPath] = static_cast<double>(plan.path);
    next[at::kMatched] = static_cast<double>(plan.matched);
    next[at::kVisited] = static_cast<double>(plan.visited);
    next[at::kExact] = plan.exact ? 1 : 0;
    next = write_hits(hits, next + at::kNumbers);
  }
}

Napi::Value to_js_result(Napi::Env env, const Results& results) {
  std::size_t hits = 0;
  for (const auto& result : results) hits += result.hits.size();
  auto numbers = Napi::Float64Array::New(env, result_numbers(results.size(), hits));
  flatten(results, {numbers.Data(), numbers.ElementLength()});
  return numbers;
}

struct Query {
  std::vector<float> rows;
  vector::SearchOptions options;
  FilterArgument filter;

  /// Returns whether searchNow() supports these options.
  bool plain() const noexcept { return options.filter == nullptr && options.path == vector::SearchPath::kAuto; }
};

double walks_size(std::size_t queries, const vector::SearchOptions& options) noexcept {
  return static_cast<double>(queries) * store::walk_size(options.ef, options.k);
}

/// Searches, and throws Error(kCorrupt) if the index's file was changed in place.
Results search_checked(const vector::VectorIndex& index, std::span<const float> rows,
                       const vector::SearchOptions& options, CancelToken::Clock::duration* taken) {
  const auto check = [&index] { index.check_file(); };
  Results results = blaming(check, [&] { return index.search_many(rows, options, taken); });
  check();
  return results;
}

Found run_query(const vector::VectorIndex& index, Query& query, const Work& work) {
  query.options.filter = query.filter.bitmap(index.size());
  query.options.work = work;
  Found found{};
  found.result = search_checked(index, query.rows, query.options, &found.taken);
  return found;
}

}  // namespace

VectorIndexBinding::Members VectorIndexBinding::members() {
  return {
      method<&VectorIndexBinding::search>("search"),
      method<&VectorIndexBinding::search_now>("searchNow"),
      method<&VectorIndexBinding::save>("save"),
      number<&vector::VectorIndex::size>("size"),
      number<&vector::VectorIndex::dimension>("dimension"),
      getter<&VectorIndexBinding::kind>("kind"),
      getter<&VectorIndexBinding::linked>("linked"),
      getter<&VectorIndexBinding::vector_type>("vectorType"),
      number<&vector::VectorIndex::memory_bytes>("memoryBytes"),
  };
}

Napi::Value VectorIndexBinding::search(const Napi::CallbackInfo& info) {
  auto index = use();
  auto query = std::make_shared<Query>(Query{floats_argument(info[0], "query"), {}, FilterArgument(info[4])});
  query->options.k = integer_argument(info[1], "k", 1, kMaxHits);
  query->options.ef = integer_argument(info[2], "ef", 0, vector::kMaxEf);
  if (info[3].ToBoolean()) query->options.path = vector::SearchPath::kExact;
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[5]), this},
      [index, query](const TaskContext& task) { return run_query(*index, *query, task.work()); },
      [query, times = times_](Napi::Env env, Found&& found) {
        const std::size_t queries = found.result.size();
        if (queries > 0 && query->plain()) times->learn(found.taken, walks_size(queries, query->options));
        return to_js_result(env, found.result);
      });
}

Napi::Value VectorIndexBinding::search_now(const Napi::CallbackInfo& info) {
  const auto begin = store::SearchClock::now();
  const auto index = use();
  const std::vector<float> rows = floats_argument(info[0], "query");
  // The search itself refuses a partial query.
  const std::size_t queries = std::max<std::size_t>(1, rows.size() / std::max<std::size_t>(1, index->dimension()));
  vector::SearchOptions options;
  options.k = integer_argument(info[1], "k", 1, kMaxHits);
  options.ef = integer_argument(info[2], "ef", 0, vector::kMaxEf);
  const std::size_t hits = queries * std::min(options.k, index->size());
  const std::span<double> numbers = result_argument(info[3], result_numbers(queries, hits));
  const auto search = [&](const CancelToken& cancel) {
    options.work = {.cancel = &cancel};
    return search_checked(*index, rows, options, nullptr);
  };
  const store::SearchCost cost{times_.get(), times_.get(), walks_size(queries, options)};
  const auto found = store::search_if_short(store::kShortOfIndex, cost, search);
  if (found) flatten(*found, numbers);
  write_held(numbers, begin);
  return Napi::Boolean::New(info.Env(), found.has_value());
}

Napi::Value VectorIndexBinding::save(const Napi::CallbackInfo& info) {
  const std::uint64_t fingerprint = fingerprint_argument(info[1]);
  std::shared_ptr<const store::Records> records;
  if (!info[2].IsUndefined()) records = unwrap_argument<RecordsBinding>(info[2], "records")->use();
  return promise_task(info.Env(), {Lane::kLong, cancel_argument(info[3]), this},
                      [index = use(), path = path_argument(info[0]), fingerprint, records,
                       owner = owner_argument(info[4])](const TaskContext& task) {
                        const FileOwner* whose = owner ? &*owner : nullptr;
                        const vector::HnswIndex* hnsw = as_hnsw(*index);
                        if (hnsw == nullptr)
                          fail(Code::kUnsupported, "save: a flat index has no file format; build kind hnsw");
                        if (records) {
                          store::save_indexed_records(*hnsw, *records, path, fingerprint, &task.cancel, whose);
                        } else {
                          vector::save_index(*hnsw, path, fingerprint, &task.cancel, whose);
                        }
                      });
}

Napi::Value VectorIndexBinding::kind(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), as_hnsw(peek()) ? "hnsw" : "flat");
}

Napi::Value VectorIndexBinding::linked(const Napi::CallbackInfo& info) {
  const vector::HnswIndex* hnsw = as_hnsw(peek());
  return Napi::Number::New(info.Env(), hnsw == nullptr ? 0 : static_cast<double>(hnsw->parts().linked));
}

Napi::Value VectorIndexBinding::vector_type(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), std::string(vector::type_name(peek().type())));
}

Napi::Value wrap_index(Napi::Env env, Shared&& index) {
  // Without mapped bytes: counting them caused a full garbage collection at every opening.
  const std::size_t bytes = index->heap_bytes();
  return VectorIndexBinding::wrap(env, std::move(index), bytes);
}

namespace {

vector::VectorType vector_type_argument(const Napi::Value& value) {
  const std::string name = string_argument(value, "vectorType");
  for (const auto type : {vector::VectorType::kF32, vector::VectorType::kF16, vector::VectorType::kI10}) {
    if (name == vector::type_name(type)) return type;
  }
  fail(Code::kInvalidArgument, "vectorType: f32, f16 or i8 is expected, not " + name);
}

}  // namespace

VectorOptions vector_options(const Napi::Object& object) {
  VectorOptions options;
  options.flat = string_argument(object.Get("kind"), "kind") == "flat";
  options.hnsw.m = integer_argument(object.Get("m"), "m", vector::kMinM, vector::kMaxM);
  options.hnsw.ef_construction =
      integer_argument(object.Get("efConstruction"), "efConstruction", 1, vector::kMaxEfConstruction);
  options.hnsw.seed = integer_argument(object.Get("seed"), "seed", 0, kMaxExactInteger);
  options.hnsw.type = vector_type_argument(object.Get("vectorType"));
  options.threads = integer_argument(object.Get("threads"), "threads", 0, kMaxThreads);
  const Napi::Value earlier = object.Get("earlier");
  if (!earlier.IsUndefined()) options.earlier = unwrap_argument<VectorIndexBinding>(earlier, "earlier")->use();
  return options;
}

Shared build_vectors(std::vector<float> rows, std::size_t dimension, const VectorOptions& options,
                     const TaskContext& task) {
  const Work work = task.work(options.threads);
  if (options.flat) {
    return vector::FlatIndex::build(rows, dimension, options.hnsw.type, work);
  }
  const auto report = [&task](std::size_t done, std::size_t total) {
    task.report(total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total));
  };
  const vector::HnswIndex* earlier = options.earlier ? as_hnsw(*options.earlier) : nullptr;
  return vector::HnswIndex::build(rows, dimension, options.hnsw, work, report, earlier);
}

Napi::Value build_vector_index(const Napi::CallbackInfo& info) {
  auto rows = std::make_shared<std::vector<float>>(unwrap_argument<RowBufferBinding>(info[0], "rows")->take());
  const std::size_t dimension = integer_argument(info[1], "dimension", 1, vector::kMaxDimension);
  const VectorOptions vectors = vector_options(object_argument(info[2], "options"));
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3]), nullptr, progress_argument(info[4])},
      [=](const TaskContext& task) { return build_vectors(std::move(*rows), dimension, vectors, task); }, wrap_index);
}

namespace {

struct IndexExpectation {
  bool verify;
  std::optional<std::size_t> dimension;
  std::uint64_t fingerprint;  // 0: any
};

IndexExpectation expectation_argument(const Napi::Object& options) {
  IndexExpectation expected{options.Get("verify").ToBoolean().Value(), std::nullopt,
                            fingerprint_argument(options.Get("fingerprint"))};
  const Napi::Value dimension = options.Get("dimension");
  if (!dimension.IsUndefined()) {
    expected.dimension = integer_argument(dimension, "dimension", 1, vector::kMaxDimension);
  }
  return expected;
}

/// Loads a lorekeep index, whose fingerprint must match the expected one if both are set, or an hnswlib index, if the
/// dimension is given, which such a file does not contain.
Shared load_either(const std::filesystem::path& path, const IndexExpectation& expected, const Work& work) {
  if (expected.dimension && !vector::is_index_file(path)) {
    return vector::import_hnswlib_file(path, *expected.dimension, work.cancel);
  }
  auto loaded = vector::load_index(path, {expected.verify, expected.dimension, work});
  if (expected.fingerprint != 0 && loaded.fingerprint != 0 && loaded.fingerprint != expected.fingerprint) {
    const std::string file = utf8_path(path);
    const std::string reason = "it was built from other records or with another embedding model";
    const std::string remedy = "build it again";
    fail(Code::kUnsupported, file + ": " + reason + "; " + remedy,
         {{"file", file}, {"mismatch", "fingerprint"}, {"reason", reason}, {"remedy", remedy}});
  }
  return loaded.index;
}

}  // namespace

Napi::Value load_vector_index(const Napi::CallbackInfo& info) {
  const IndexExpectation expected = expectation_argument(object_argument(info[1], "options"));
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2])},
      [path = path_argument(info[0]), expected](const TaskContext& task) {
        return load_either(path, expected, task.work());
      },
      wrap_index);
}

Napi::Value import_hnswlib(const Napi::CallbackInfo& info) {
  const std::size_t dimension = integer_argument(info[1], "dimension", 1, vector::kMaxDimension);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[2])},
      [path = path_argument(info[0]), dimension](const TaskContext& task) {
        return vector::import_hnswlib_file(path, dimension, &task.cancel);
      },
      wrap_index);
}

Napi::Value distance_kernels(const Napi::CallbackInfo& info) {
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("used", vector::kernels().name);
  object.Set("available",
             to_js_list(info.Env(), vector::available_kernels(), std::mem_fn(&vector::DistanceKernels::name)));
  return object;
}

}  // namespace lorekeep::binding
