// The export list: lib/boundary/native.ts describes each name, and test/lib/boundary.test.ts compares the two.
#include <napi.h>

#include "binding/arguments.h"
#include "binding/backends_binding.h"
#include "binding/beneath_binding.h"
#include "binding/buffers_binding.h"
#include "binding/cancel_token_binding.h"
#include "binding/crash_binding.h"
#include "binding/destination_binding.h"
#include "binding/edition_functions.h"
#include "binding/embedding_model_binding.h"
#include "binding/embedding_rows_binding.h"
#include "binding/environment.h"
#include "binding/error_translator.h"
#include "binding/file_description_binding.h"
#include "binding/generation_task.h"
#include "binding/grammar_binding.h"
#include "binding/language_model_binding.h"
#include "binding/lexical_binding.h"
#include "binding/metadata_binding.h"
#include "binding/records_binding.h"
#include "binding/reranker_binding.h"
#include "binding/scheduler_binding.h"
#include "binding/storage_binding.h"
#include "binding/text_index_binding.h"
#include "binding/vector_index_binding.h"
#include "core/system/free_memory.h"
#include "core/system/startable_threads.h"
#include "core/system/thread_clock.h"
#include "lm/session/inference_thread.h"

namespace lorekeep::binding {
namespace {

// stop(processEnds): see Environment::stop(). At the end of the process, also waits until closed objects are freed.
void stop(const Napi::CallbackInfo& info) {
  Environment& environment = Environment::of(info.Env());
  environment.stop();
  if (!info[0].ToBoolean()) return;
  lm::InferenceThread::stop_current();
  environment.runtime().wait_idle();
}

// setSearchThreads(count)
void set_search_threads(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    Environment::of(info.Env()).runtime().lane(Lane::kQuick).resize(integer_argument(info[0], "count", 1, kMaxThreads));
  });
}

// releaseFreePages(): a step of FreePages (core/system/free_memory.h) of half a millisecond or so. Returns false after
// the last one.
Napi::Value release_free_pages(const Napi::CallbackInfo& info) {
  constexpr std::size_t kStepBytes = 8 << 20;
  return guarded(info.Env(), [&]() -> Napi::Value {
    std::unique_ptr<FreePages>& pages = Environment::of(info.Env()).free_pages;
    if (!pages) pages = std::make_unique<FreePages>();
    const bool more = pages->release(kStepBytes);
    if (!more) pages.reset();
    return Napi::Boolean::New(info.Env(), more);
  });
}

// releaseFreeMemory(): on a pool thread; returns at once.
void release_free_memory_later(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { Environment::of(info.Env()).runtime().compute().submit([] { release_free_memory(); }); });
}

// threadMs(): see core/system/thread_clock.h.
Napi::Value thread_ms(const Napi::CallbackInfo& info) {
  constexpr double kMsPerSecond = 1000;
  return Napi::Number::New(info.Env(), kMsPerSecond * thread_seconds());
}

// startableThreads(most): see core/system/startable_threads.h.
Napi::Value startable_threads_now(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::size_t most = integer_argument(info[0], "most", 1, kMaxThreads);
    return Napi::Number::New(info.Env(), static_cast<double>(startable_threads(most)));
  });
}

Napi::Object start(Napi::Env env, Napi::Object exports) {
  auto* environment = new Environment(env);
  env.SetInstanceData(environment);
  auto& constructors = environment->constructors;
  constructors.cancel_token = Napi::Persistent(CancelTokenBinding::define(env));
  constructors.text_arena = Napi::Persistent(TextArenaBinding::define(env));
  constructors.row_buffer = Napi::Persistent(RowBufferBinding::define(env));
  constructors.vector_index = Napi::Persistent(VectorIndexBinding::define(env));
  constructors.text_index = Napi::Persistent(TextIndexBinding::define(env));
  constructors.embedding_model = Napi::Persistent(EmbeddingModelBinding::define(env));
  constructors.reranker = Napi::Persistent(RerankerBinding::define(env));
  constructors.language_model = Napi::Persistent(LanguageModelBinding::define(env));
  constructors.prefix = Napi::Persistent(PrefixBinding::define(env));
  constructors.metadata_buffer = Napi::Persistent(MetadataBufferBinding::define(env));
  constructors.filter = Napi::Persistent(FilterBinding::define(env));
  constructors.records = Napi::Persistent(RecordsBinding::define(env));
  constructors.embedding_rows = Napi::Persistent(EmbeddingRowsBinding::define(env));
  constructors.storage = Napi::Persistent(StorageBinding::define(env));

  exports.Set("CancelToken", constructors.cancel_token.Value());
  exports.Set("TextArena", constructors.text_arena.Value());
  exports.Set("RowBuffer", constructors.row_buffer.Value());
  exports.Set("MetadataBuffer", constructors.metadata_buffer.Value());
  const auto function = [&](const char* name, auto callback) {
    exports.Set(name, Napi::Function::New(env, callback, name));
  };
  exports.Set("stop", Napi::Function::New(env, stop, "stop"));
  exports.Set("setSearchThreads", Napi::Function::New(env, set_search_threads, "setSearchThreads"));
  exports.Set("releaseFreePages", Napi::Function::New(env, release_free_pages, "releaseFreePages"));
  exports.Set("releaseFreeMemory", Napi::Function::New(env, release_free_memory_later, "releaseFreeMemory"));
  function("threadMs", thread_ms);
  function("startableThreads", startable_threads_now);
  function("buildVectorIndex", build_vector_index);
  function("loadVectorIndex", load_vector_index);
  function("importHnswlib", import_hnswlib);
  function("distanceKernels", distance_kernels);
  function("buildTextIndex", build_text_index);
  function("loadTextIndex", load_text_index);
  function("tokenize", tokenize);
  function("loadEmbeddingModel", load_embedding_model);
  function("loadReranker", load_reranker);
  function("loadLanguageModel", load_language_model);
  function("estimateLanguageModel", estimate_language_model);
  function("matchGrammar", match_grammar);
  function("probeVocabulary", probe_vocabulary);
  function("backends", backends);
  function("ggmlVersion", ggml_version);
  function("loadGpuPlugin", load_gpu_plugin);
  exports.Set("tryGpu", Napi::Function::New(env, try_gpu, "tryGpu"));
  exports.Set("chooseGpu", Napi::Function::New(env, choose_gpu, "chooseGpu"));
  function("buildStorage", build_storage);
  function("plainText", plain_text);
  function("readRecords", read_records);
  function("openIndexedRecords", open_indexed_records);
  function("indexRecords", index_records);
  function("assembleStorage", assemble_storage);
  function("matchEmbeddings", match_embeddings);
  function("indexEmbeddings", index_embeddings);
  function("removeStrays", remove_strays);
  function("checkDestination", check_destination);
  function("openBeneath", open_file_beneath);
  function("describeFile", describe_file);
  function("describeModel", describe_model);
  function("configureScheduler", configure_scheduler);
  function("setThrottle", set_throttle);
  function("schedulerStats", scheduler_stats);
  function("installCrashHandler", install_crash_handler);
  add_edition_functions(env, exports);
  return exports;
}

}  // namespace
}  // namespace lorekeep::binding

static Napi::Object lorekeep_addon(Napi::Env env, Napi::Object exports) {
  return lorekeep::binding::start(env, exports);
}

NODE_API_MODULE(lorekeep, lorekeep_addon)
