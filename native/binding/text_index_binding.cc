#include "binding/text_index_binding.h"

#include <algorithm>
#include <optional>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/layout.gen.h"
#include "binding/result_numbers.h"
#include "store/text_search.h"
#include "text/sidecar_file.h"
#include "text/tokenizer_fit.h"

namespace lorekeep::binding {
namespace {

using Shared = std::shared_ptr<const text::TextIndex>;

namespace head = layout::text_result;

std::size_t result_numbers(std::size_t hits) noexcept {
  return head::kNumbers + hits * layout::index_hit::kNumbers;
}

/// Writes all numbers except `held` and returns the query's terms.
Napi::Array flatten(Napi::Env env, const text::TextSearchResult& found, std::span<double> numbers) {
  numbers[head::kHits] = static_cast<double>(found.hits.size());
  numbers[head::kScored] = static_cast<double>(found.plan.documents_scored);
  write_hits(found.hits, numbers.data() + head::kNumbers);
  Napi::Array terms = Napi::Array::New(env, found.terms.size());
  for (std::uint32_t i = 0; i < found.terms.size(); ++i) terms.Set(i, found.terms[i].text);
  return terms;
}

/// [numbers, terms]
Napi::Value to_js_result(Napi::Env env, const text::TextSearchResult& found) {
  auto numbers = Napi::Float64Array::New(env, result_numbers(found.hits.size()));
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(1u, flatten(env, found, {numbers.Data(), numbers.ElementLength()}));
  pair.Set(0u, numbers);
  return pair;
}

}  // namespace

Napi::Function TextIndexBinding::define(Napi::Env env) {
  return DefineClass(
      env, kName,
      with_handle_members({
          InstanceMethod("search", &TextIndexBinding::search),
          InstanceMethod("searchNow", &TextIndexBinding::search_now),
          InstanceMethod("save", &TextIndexBinding::save),
          InstanceMethod("tokenizerFit", &TextIndexBinding::tokenizer_fit),
          InstanceAccessor("size", &TextIndexBinding::number<&text::TextIndex::documents>, nullptr),
          InstanceAccessor("terms", &TextIndexBinding::number<&text::TextIndex::terms>, nullptr),
          InstanceAccessor("tokenizer", &TextIndexBinding::tokenizer, nullptr),
          InstanceAccessor("memoryBytes", &TextIndexBinding::number<&text::TextIndex::memory_bytes>, nullptr),
      }));
}

Napi::Value TextIndexBinding::search(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto index = use();
    const std::size_t k = integer_argument(info[1], "k", 1, kMaxHits);
    auto filter = std::make_shared<FilterArgument>(info[2]);
    TaskOptions options{Lane::kQuick, cancel_argument(info[3]), this, {}};
    return promise_task<store::TextSearch>(
        info.Env(), options,
        [index, k, filter, query = string_argument(info[0], "query")](const TaskContext& task) {
          return store::search_text(*index, query, {k, filter->bitmap(index->documents()), &task.cancel});
        },
        [plain = info[2].IsUndefined(), times = times_](Napi::Env env, store::TextSearch&& search) {
          if (plain) times->learn(search.taken, search.size);
          return to_js_result(env, search.result);
        });
  });
}

Napi::Value TextIndexBinding::search_now(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto begin = store::SearchClock::now();
    const auto index = use();
    const std::size_t k = integer_argument(info[1], "k", 1, kMaxHits);
    const std::size_t hits = std::min<std::size_t>(k, index->documents());
    const std::span<double> numbers = result_argument(info[2], result_numbers(hits));
    const auto found = store::search_text_if_short(*index, string_argument(info[0], "query"), k, *times_);
    Napi::Value terms = info.Env().Undefined();
    if (found) terms = flatten(info.Env(), *found, numbers);
    write_held(numbers, begin);
    return terms;
  });
}

Napi::Value TextIndexBinding::save(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::uint64_t fingerprint = fingerprint_argument(info[1]);
    TaskOptions options{Lane::kLong, cancel_argument(info[2]), this, {}};
    return promise_task<Nothing>(
        info.Env(), options,
        [index = use(), path = path_argument(info[0]), fingerprint,
         owner = owner_argument(info[3])](const TaskContext& task) {
          text::save_sidecar(*index, path, fingerprint, &task.cancel, owner ? &*owner : nullptr);
          return Nothing{};
        },
        to_undefined);
  });
}

Napi::Value TextIndexBinding::tokenizer(const Napi::CallbackInfo& info) {
  return guarded(info.Env(),
                 [&] { return Napi::String::New(info.Env(), std::string(text::tokenizer_name(peek().tokenizer()))); });
}

Napi::Value TextIndexBinding::tokenizer_fit(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const text::TokenizerFit fit = text::tokenizer_fit(peek());
    auto result = Napi::Object::New(info.Env());
    const double terms = static_cast<double>(std::max<std::uint64_t>(1, fit.sampled_terms));
    result.Set("emptyTexts", Napi::Number::New(info.Env(), static_cast<double>(fit.empty_documents)));
    result.Set("unsuitedWords", Napi::Number::New(info.Env(), static_cast<double>(fit.unsuited_terms) / terms));
    return result;
  });
}

Napi::Value wrap_text_index(Napi::Env env, Shared&& index) {
  auto& constructor = Environment::of(env).constructors.text_index;
  const std::size_t bytes = index->memory_bytes();
  return TextIndexBinding::wrap(env, constructor, std::move(index), bytes);
}

text::Tokenizer tokenizer_argument(const Napi::Value& value) {
  const std::string name = string_argument(value, "tokenizer");
  for (const auto& known : text::kTokenizers) {
    if (name == known.name) return known.tokenizer;
  }
  fail(Code::kInvalidArgument, "tokenizer: unknown tokenizer " + name);
}

Shared build_text(const TextArena& texts, text::Tokenizer tokenizer, std::size_t threads, Runtime& runtime,
                  const CancelToken& cancel) {
  text::TextBuildOptions options;
  options.tokenizer = tokenizer;
  options.work = runtime.work(cancel, threads);
  return text::TextIndex::build(texts.size(), [&texts](std::size_t document) { return texts[document]; }, options);
}

Napi::Value build_text_index(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto texts = std::make_shared<const TextArena>(unwrap_argument<TextArenaBinding>(info[0], "texts")->take());
    const text::Tokenizer tokenizer = tokenizer_argument(info[1]);
    const std::size_t threads = integer_argument(info[2], "threads", 0, kMaxThreads);
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), nullptr, {}};
    auto runtime = Environment::of(info.Env()).shared_runtime();
    return promise_task<Shared>(
        info.Env(), options,
        [=](const TaskContext& task) { return build_text(*texts, tokenizer, threads, *runtime, task.cancel); },
        wrap_text_index);
  });
}

namespace {

text::SidecarExpectation expectation_argument(const Napi::Object& expected) {
  const std::uint64_t documents = integer_argument(expected.Get("documents"), "documents", 0, 0xffffffffu);
  return {tokenizer_argument(expected.Get("tokenizer")), static_cast<std::uint32_t>(documents),
          fingerprint_argument(expected.Get("fingerprint"))};
}

}  // namespace

Napi::Value load_text_index(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    std::optional<text::SidecarExpectation> expected;
    if (!info[1].IsUndefined()) expected = expectation_argument(object_argument(info[1], "expected"));
    const bool complete = info[2].ToBoolean().Value();
    TaskOptions options{Lane::kLong, cancel_argument(info[3]), nullptr, {}};
    return promise_task<Shared>(
        info.Env(), options,
        [path = path_argument(info[0]), expected, complete,
         runtime = Environment::of(info.Env()).shared_runtime()](const TaskContext& task) {
          const text::SidecarLoadOptions load{
              .expected = expected ? &*expected : nullptr, .complete = complete, .work = runtime->work(task.cancel)};
          return text::load_sidecar(path, load).index;
        },
        wrap_text_index);
  });
}

Napi::Value tokenize(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto tokens = text::tokenize(string_argument(info[0], "text"), tokenizer_argument(info[1]));
    Napi::Array array = Napi::Array::New(info.Env(), tokens.size());
    for (std::uint32_t i = 0; i < tokens.size(); ++i) array.Set(i, tokens[i]);
    return array;
  });
}

}  // namespace lorekeep::binding
