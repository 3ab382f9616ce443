#include "binding/vector_index_binding.h"

#include <atomic>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/records_binding.h"
#include "binding/result_numbers.h"
#include "binding/value_conversion.h"
#include "core/utf8_path.h"
#include "store/indexed_records.h"
#include "vector/distance.h"
#include "vector/flat_index.h"
#include "vector/hnswlib_file.h"
#include "vector/index_file.h"

namespace lorekeep::binding {
namespace {

using Shared = std::shared_ptr<const vector::VectorIndex>;
using Results = std::vector<vector::SearchResult>;
using Found = Timed<Results>;

const vector::HnswIndex* as_hnsw(const vector::VectorIndex& index) {
  return dynamic_cast<const vector::HnswIndex*>(&index);
}

// How lib/vector-index.ts reads a plan.
enum PlanNumber : std::size_t { kPath, kMatched, kVisited, kExact, kPlanNumbers };

void write_plan(const vector::SearchPlan& plan, double* numbers) noexcept {
  numbers[kPath] = static_cast<double>(plan.path);
  numbers[kMatched] = static_cast<double>(plan.matched);
  numbers[kVisited] = static_cast<double>(plan.visited);
  numbers[kExact] = plan.exact ? 1 : 0;
}

Napi::Value to_js_hits(Napi::Env env, const Results& results) {
  std::size_t total = 0;
  for (const auto& result : results) total += result.hits.size();
  auto ordinals = Napi::Uint32Array::New(env, total);
  auto distances = Napi::Float32Array::New(env, total);
  auto counts = Napi::Uint32Array::New(env, results.size());
  auto plans = Napi::Float64Array::New(env, results.size() * kPlanNumbers);
  std::size_t next = 0;
  for (std::uint32_t query = 0; query < results.size(); ++query) {
    counts[query] = static_cast<std::uint32_t>(results[query].hits.size());
    for (const Scored& hit : results[query].hits) {
      ordinals[next] = hit.ordinal;
      distances[next] = hit.score;
      ++next;
    }
    write_plan(results[query].plan, plans.Data() + query * kPlanNumbers);
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("ordinals", ordinals);
  object.Set("distances", distances);
  object.Set("counts", counts);
  object.Set("plans", plans);
  return object;
}

// What searchNow() writes: the time that it took, then per query these, the plan, and an ordinal and a distance per
// hit.
constexpr std::size_t kHeld = 0;
enum Head : std::size_t { kHits, kPlan, kHeadNumbers = kPlan + kPlanNumbers };

void write_results(const Results& results, double* next) noexcept {
  for (const vector::SearchResult& found : results) {
    next[kHits] = static_cast<double>(found.hits.size());
    write_plan(found.plan, next + kPlan);
    write_pairs(found.hits, next + kHeadNumbers);
    next += kHeadNumbers + 2 * found.hits.size();
  }
}

// Whole queries among so many numbers; 0 when they are none.
std::size_t query_count(std::size_t numbers, std::size_t dimension) noexcept {
  return dimension == 0 || numbers % dimension != 0 ? 0 : numbers / dimension;
}

struct Query {
  std::vector<float> rows;
  vector::SearchOptions options;
  FilterArgument filter;

  /// Whether searchNow() could have done it.
  bool plain() const noexcept { return options.filter == nullptr && options.path == vector::SearchPath::kAuto; }
};

double graph_searches_size(std::size_t queries, const vector::SearchOptions& options) noexcept {
  return static_cast<double>(queries) * graph_search_size(options.ef, options.k);
}

// One after the other. Refuses what is no whole number of queries.
Results search_all(const vector::VectorIndex& index, std::span<const float> rows,
                   const vector::SearchOptions& options) {
  if (rows.size() != index.dimension()) return index.search_many(rows, options);
  Results one;
  one.push_back(index.search(rows, options));
  return one;
}

// Side by side. `taken` is the sum of what each took: what one thread would need for all.
Found search_together(const vector::VectorIndex& index, const Query& query, std::size_t count) {
  Found found{Results(count), {}};
  std::atomic<SearchClock::rep> taken{0};
  vector::SearchOptions each = query.options;
  each.work = each.work.alone();  // the other threads have queries of their own
  const std::span<const float> rows = query.rows;
  const std::size_t length = index.dimension();
  const auto search = [&](std::size_t begin, std::size_t end, std::size_t) {
    const auto since = SearchClock::now();
    for (std::size_t i = begin; i < end; ++i) found.result[i] = index.search(rows.subspan(i * length, length), each);
    taken += (SearchClock::now() - since).count();
  };
  parallel_for(query.options.work, count, 1, search);
  found.taken = SearchClock::duration(taken.load());
  return found;
}

Found run_query(const vector::VectorIndex& index, Query& query, Runtime& runtime, const CancelToken& cancel) {
  query.options.filter = query.filter.bitmap(index.size());
  query.options.work = runtime.work(cancel);
  const std::size_t count = query_count(query.rows.size(), index.dimension());
  if (count > 1) return search_together(index, query, count);
  return timed([&] { return search_all(index, query.rows, query.options); });
}

}  // namespace

Napi::Function VectorIndexBinding::define(Napi::Env env) {
  return DefineClass(env, kName,
                     with_handle_members({
                         InstanceMethod("search", &VectorIndexBinding::search),
                         InstanceMethod("searchNow", &VectorIndexBinding::search_now),
                         InstanceMethod("save", &VectorIndexBinding::save),
                         InstanceAccessor("size", &VectorIndexBinding::size, nullptr),
                         InstanceAccessor("dimension", &VectorIndexBinding::dimension, nullptr),
                         InstanceAccessor("kind", &VectorIndexBinding::kind, nullptr),
                         InstanceAccessor("vectorType", &VectorIndexBinding::vector_type, nullptr),
                         InstanceAccessor("memoryBytes", &VectorIndexBinding::memory_bytes, nullptr),
                     }));
}

Napi::Value VectorIndexBinding::search(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto index = use();
    auto query = std::make_shared<Query>(Query{floats_argument(info[0], "query"), {}, FilterArgument(info[4])});
    query->options.k = integer_argument(info[1], "k", 1, kMostHits);
    query->options.ef = integer_argument(info[2], "ef", 0, vector::kMaxEf);
    if (info[3].ToBoolean()) query->options.path = vector::SearchPath::kExact;
    TaskOptions options{Lane::kQuick, cancel_argument(info[5]), this, {}};
    auto runtime = Environment::of(info.Env()).shared_runtime();
    return promise_task<Found>(
        info.Env(), options,
        [index, query, runtime](const TaskContext& task) { return run_query(*index, *query, *runtime, task.cancel); },
        [query, times = times_](Napi::Env env, Found&& found) {
          const std::size_t queries = found.result.size();
          if (queries > 0 && query->plain()) times->learn(found.taken, graph_searches_size(queries, query->options));
          return to_js_hits(env, found.result);
        });
  });
}

Napi::Value VectorIndexBinding::search_now(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto begin = SearchClock::now();
    const auto index = use();
    const std::vector<float> rows = floats_argument(info[0], "query");
    // What is no whole number of queries is refused by the search.
    const std::size_t queries = std::max<std::size_t>(1, query_count(rows.size(), index->dimension()));
    vector::SearchOptions options;
    options.k = integer_argument(info[1], "k", 1, kMostHits);
    options.ef = integer_argument(info[2], "ef", 0, vector::kMaxEf);
    const std::size_t hits = std::min(options.k, index->size());
    const std::span<double> numbers = result_argument(info[3], 1 + queries * (kHeadNumbers + 2 * hits));
    const auto search = [&](const CancelToken& cancel) {
      options.work = {.cancel = &cancel};
      return search_all(*index, rows, options);
    };
    const auto found = search_here(kShortOfIndex, *times_, *times_, graph_searches_size(queries, options), search);
    if (found) write_results(*found, numbers.data() + 1);
    numbers[kHeld] = nanoseconds(SearchClock::now() - begin);
    return Napi::Boolean::New(info.Env(), found.has_value());
  });
}

Napi::Value VectorIndexBinding::save(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::uint64_t fingerprint = fingerprint_argument(info[1]);
    std::shared_ptr<const store::Records> records;
    if (!info[2].IsUndefined()) records = unwrap_argument<RecordsBinding>(info[2], "records")->use();
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), this, {}};
    return promise_task<Nothing>(
        info.Env(), options,
        [index = use(), path = path_argument(info[0]), fingerprint, records,
         owner = owner_argument(info[4])](const TaskContext& task) {
          const FileOwner* whose = owner ? &*owner : nullptr;
          const vector::HnswIndex* hnsw = as_hnsw(*index);
          if (hnsw == nullptr) fail(Code::kUnsupported, "save: a flat index has no file format; build kind hnsw");
          if (records) {
            store::save_indexed_records(*hnsw, *records, path, fingerprint, &task.cancel, whose);
          } else {
            vector::save_index(*hnsw, path, fingerprint, &task.cancel, whose);
          }
          return Nothing{};
        },
        to_undefined);
  });
}

Napi::Value VectorIndexBinding::size(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), static_cast<double>(peek().size())); });
}

Napi::Value VectorIndexBinding::dimension(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), static_cast<double>(peek().dimension())); });
}

Napi::Value VectorIndexBinding::kind(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::String::New(info.Env(), as_hnsw(peek()) ? "hnsw" : "flat"); });
}

Napi::Value VectorIndexBinding::memory_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Number::New(info.Env(), static_cast<double>(peek().memory_bytes())); });
}

Napi::Value VectorIndexBinding::vector_type(const Napi::CallbackInfo& info) {
  return guarded(info.Env(),
                 [&] { return Napi::String::New(info.Env(), std::string(vector::type_name(peek().type()))); });
}

Napi::Value wrap_index(Napi::Env env, Shared&& index) {
  auto& constructor = Environment::of(env).constructors.vector_index;
  // Mapped bytes are no reason to collect garbage: to count them cost every opening a full collection.
  const std::size_t bytes = index->heap_bytes();
  return VectorIndexBinding::wrap(env, constructor, std::move(index), bytes);
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
  options.hnsw.seed = integer_argument(object.Get("seed"), "seed", 0, kMostExactInteger);
  options.hnsw.type = vector_type_argument(object.Get("vectorType"));
  options.threads = integer_argument(object.Get("threads"), "threads", 0, kMostThreads);
  return options;
}

Shared build_vectors(std::vector<float> rows, std::size_t dimension, const VectorOptions& options, Runtime& runtime,
                     const TaskContext& task) {
  const Work work = runtime.work(task.cancel, options.threads);
  if (options.flat) {
    return vector::FlatIndex::build(rows, dimension, options.hnsw.type, work);
  }
  return vector::HnswIndex::build(rows, dimension, options.hnsw, work, [&task](std::size_t done, std::size_t total) {
    task.report(total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total));
  });
}

Napi::Value build_vector_index(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto rows = std::make_shared<std::vector<float>>(unwrap_argument<RowBufferBinding>(info[0], "rows")->take());
    const std::size_t dimension = integer_argument(info[1], "dimension", 1, vector::kMaxDimension);
    const VectorOptions vectors = vector_options(object_argument(info[2], "options"));
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), nullptr, progress_argument(info[4])};
    auto runtime = Environment::of(info.Env()).shared_runtime();
    return promise_task<Shared>(
        info.Env(), options,
        [=](const TaskContext& task) { return build_vectors(std::move(*rows), dimension, vectors, *runtime, task); },
        wrap_index);
  });
}

Napi::Value load_vector_index(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    TaskOptions options{Lane::kLong, cancel_argument(info[2]), nullptr, {}};
    return promise_task<Shared>(
        info.Env(), options,
        [path = path_argument(info[0]), verify = info[1].ToBoolean().Value(),
         runtime = Environment::of(info.Env()).shared_runtime()](const TaskContext& task) {
          return vector::load_index(path, {verify, std::nullopt, runtime->work(task.cancel)}).index;
        },
        wrap_index);
  });
}

namespace {

/// Our own format, whose fingerprint must be the expected one when it has one, or hnswlib's.
Shared open_either(const std::filesystem::path& path, std::size_t dimension, std::uint64_t fingerprint,
                   Runtime& runtime, const CancelToken& cancel) {
  if (!vector::is_index_file(path)) return vector::import_hnswlib_file(path, dimension, &cancel);
  auto loaded = vector::load_index(path, {true, dimension, runtime.work(cancel)});
  if (loaded.fingerprint != 0 && loaded.fingerprint != fingerprint) {
    const std::string file = utf8_path(path);
    fail(Code::kUnsupported, file + ": it was built from other records or with another embedding model; build it again",
         {{"file", file}, {"reason", "fingerprint"}});
  }
  return loaded.index;
}

}  // namespace

Napi::Value open_vector_index(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::size_t dimension = integer_argument(info[1], "dimension", 1, vector::kMaxDimension);
    const std::uint64_t fingerprint = fingerprint_argument(info[2]);
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), nullptr, {}};
    return promise_task<Shared>(
        info.Env(), options,
        [path = path_argument(info[0]), dimension, fingerprint, runtime = Environment::of(info.Env()).shared_runtime()](
            const TaskContext& task) { return open_either(path, dimension, fingerprint, *runtime, task.cancel); },
        wrap_index);
  });
}

Napi::Value import_hnswlib(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::size_t dimension = integer_argument(info[1], "dimension", 1, vector::kMaxDimension);
    TaskOptions options{Lane::kLong, cancel_argument(info[2]), nullptr, {}};
    return promise_task<Shared>(
        info.Env(), options,
        [path = path_argument(info[0]), dimension](const TaskContext& task) {
          return vector::import_hnswlib_file(path, dimension, &task.cancel);
        },
        wrap_index);
  });
}

Napi::Value distance_kernels(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto sets = vector::available_kernels();
    Napi::Array available = Napi::Array::New(info.Env(), sets.size());
    for (std::uint32_t i = 0; i < sets.size(); ++i) available.Set(i, sets[i]->name);
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("used", vector::kernels().name);
    object.Set("available", available);
    return object;
  });
}

}  // namespace lorekeep::binding
