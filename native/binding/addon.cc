// The export list: lib/boundary/native.ts describes each name, and test/lib/boundary.test.ts compares the two.
#include <napi.h>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/cancel_token_binding.h"
#include "binding/change_log_binding.h"
#include "binding/embedding_model_binding.h"
#include "binding/embedding_rows_binding.h"
#include "binding/environment.h"
#include "binding/exports.h"
#include "binding/generation_task.h"
#include "binding/metadata_binding.h"
#include "binding/records_binding.h"
#include "binding/storage_binding.h"
#include "binding/text_index_binding.h"
#include "binding/vector_index_binding.h"
#include "core/system/free_memory.h"
#include "core/system/startable_threads.h"
#include "core/system/thread_clock.h"
#include "core/system/thread_stacks.h"
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
  Environment::of(info.Env()).runtime().lane(Lane::kQuick).resize(integer_argument(info[0], "count", 1, kMaxThreads));
}

// releaseFreePages(): a step of FreePages (core/system/free_memory.h) of half a millisecond or so. Returns false after
// the last one.
Napi::Value release_free_pages(const Napi::CallbackInfo& info) {
  constexpr std::size_t kStepBytes = 8 << 20;
  std::unique_ptr<FreePages>& pages = Environment::of(info.Env()).free_pages;
  if (!pages) pages = std::make_unique<FreePages>();
  const bool more = pages->release(kStepBytes);
  if (!more) pages.reset();
  return Napi::Boolean::New(info.Env(), more);
}

// releaseFreeMemory(): on a pool thread; returns at once.
void release_free_memory_later(const Napi::CallbackInfo& info) {
  Environment::of(info.Env()).runtime().compute().submit([] { release_free_memory(); });
}

// threadMs(): see core/system/thread_clock.h.
Napi::Value thread_ms(const Napi::CallbackInfo& info) {
  constexpr double kMsPerSecond = 1000;
  return Napi::Number::New(info.Env(), kMsPerSecond * thread_seconds());
}

// startableThreads(most): see core/system/startable_threads.h.
Napi::Value startable_threads_now(const Napi::CallbackInfo& info) {
  const std::size_t most = integer_argument(info[0], "most", 1, kMaxThreads);
  return Napi::Number::New(info.Env(), static_cast<double>(startable_threads(most)));
}

template <auto kFunction>
void add(Napi::Object exports, const char* name) {
  exports.Set(name, Napi::Function::New(exports.Env(), exported<kFunction>, name));
}

Napi::Object start(Napi::Env env, Napi::Object exports) {
  enlarge_thread_stacks();
  env.SetInstanceData(new Environment(env));
  exports.Set("CancelToken", CancelTokenBinding::define(env));
  exports.Set("TextArena", TextArenaBinding::define(env));
  exports.Set("RowBuffer", RowBufferBinding::define(env));
  exports.Set("MetadataBuffer", MetadataBufferBinding::define(env));
  for (const auto define :
       {&VectorIndexBinding::define, &TextIndexBinding::define, &EmbeddingModelBinding::define, &define_reranker,
        &define_voice_stream, &define_voice_model, &define_recogniser, &define_language_model, &PrefixBinding::define,
        &FilterBinding::define, &RecordsBinding::define, &EmbeddingRowsBinding::define, &StorageBinding::define,
        &ChangeLogBinding::define, &LoggedChangesBinding::define, &FileLockBinding::define}) {
    define(env);
  }
  add<stop>(exports, "stop");
  add<set_search_threads>(exports, "setSearchThreads");
  add<release_free_pages>(exports, "releaseFreePages");
  add<release_free_memory_later>(exports, "releaseFreeMemory");
  add<thread_ms>(exports, "threadMs");
  add<startable_threads_now>(exports, "startableThreads");
  add<build_vector_index>(exports, "buildVectorIndex");
  add<load_vector_index>(exports, "loadVectorIndex");
  add<import_hnswlib>(exports, "importHnswlib");
  add<distance_kernels>(exports, "distanceKernels");
  add<build_text_index>(exports, "buildTextIndex");
  add<load_text_index>(exports, "loadTextIndex");
  add<tokenize>(exports, "tokenize");
  add<load_embedding_model>(exports, "loadEmbeddingModel");
  add<load_reranker>(exports, "loadReranker");
  add<load_voice_detector>(exports, "loadVoiceDetector");
  add<load_recogniser>(exports, "loadRecogniser");
  add<speech_languages>(exports, "speechLanguages");
  add<load_language_model>(exports, "loadLanguageModel");
  add<estimate_language_model>(exports, "estimateLanguageModel");
  add<check_grammar>(exports, "checkGrammar");
  add<match_grammar>(exports, "matchGrammar");
  add<probe_vocabulary>(exports, "probeVocabulary");
  add<backends>(exports, "backends");
  add<ggml_version>(exports, "ggmlVersion");
  add<load_gpu_plugin>(exports, "loadGpuPlugin");
  add<try_gpu>(exports, "tryGpu");
  add<choose_gpu>(exports, "chooseGpu");
  add<build_storage>(exports, "buildStorage");
  add<plain_text>(exports, "plainText");
  add<read_records>(exports, "readRecords");
  add<open_indexed_records>(exports, "openIndexedRecords");
  add<index_records>(exports, "indexRecords");
  add<assemble_storage>(exports, "assembleStorage");
  add<check_records>(exports, "checkRecords");
  add<read_change_log>(exports, "readChangeLog");
  add<seal_changes>(exports, "sealChanges");
  add<lock_file>(exports, "lockFile");
  add<identify_file_content>(exports, "identifyFile");
  add<file_sizes>(exports, "fileSizes");
  add<match_embeddings>(exports, "matchEmbeddings");
  add<find_embeddings>(exports, "findEmbeddings");
  add<unite_embeddings>(exports, "uniteEmbeddings");
  add<index_embeddings>(exports, "indexEmbeddings");
  add<remove_strays>(exports, "removeStrays");
  add<check_destination>(exports, "checkDestination");
  add<open_file_beneath>(exports, "openBeneath");
  add<describe_file>(exports, "describeFile");
  add<describe_model>(exports, "describeModel");
  add<configure_scheduler>(exports, "configureScheduler");
  add<set_throttle>(exports, "setThrottle");
  add<scheduler_stats>(exports, "schedulerStats");
  add<install_crash_handler>(exports, "installCrashHandler");
  add_edition_functions(env, exports);
  return exports;
}

}  // namespace
}  // namespace lorekeep::binding

static Napi::Object lorekeep_addon(Napi::Env env, Napi::Object exports) {
  return lorekeep::binding::start(env, exports);
}

NODE_API_MODULE(lorekeep, lorekeep_addon)
