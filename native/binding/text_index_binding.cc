#include "binding/text_index_binding.h"

#include "binding/exports.h"

#include <algorithm>
#include <optional>

#include "binding/arguments.h"
#include "binding/buffers_binding.h"
#include "binding/layout.gen.h"
#include "binding/result_numbers.h"
#include "store/search_cost.h"
#include "text/query_weights.h"
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
  return to_js_list(env, found.terms, [](const auto& term) { return term.text; });
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

TextIndexBinding::Members TextIndexBinding::members() {
  return {
      method<&TextIndexBinding::search>("search"),       method<&TextIndexBinding::search_now>("searchNow"),
      method<&TextIndexBinding::save>("save"),           method<&TextIndexBinding::tokenizer_fit>("tokenizerFit"),
      number<&text::TextIndex::documents>("size"),       number<&text::TextIndex::terms>("terms"),
      getter<&TextIndexBinding::tokenizer>("tokenizer"), number<&text::TextIndex::memory_bytes>("memoryBytes"),
  };
}

Napi::Value TextIndexBinding::search(const Napi::CallbackInfo& info) {
  auto index = use();
  const std::size_t k = integer_argument(info[1], "k", 1, kMaxHits);
  auto filter = std::make_shared<FilterArgument>(info[2]);
  return promise_task(
      info.Env(), {Lane::kQuick, cancel_argument(info[3]), this},
      [index, k, filter, query = string_argument(info[0], "query")](const TaskContext& task) {
        return store::search_text(*index, query, {k, filter->bitmap(index->documents()), &task.cancel});
      },
      [plain = info[2].IsUndefined(), times = times_](Napi::Env env, store::TextSearch&& search) {
        if (plain) times->learn(search.taken, search.size);
        return to_js_result(env, search.result);
      });
}

Napi::Value TextIndexBinding::search_now(const Napi::CallbackInfo& info) {
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
}

Napi::Value TextIndexBinding::save(const Napi::CallbackInfo& info) {
  const std::uint64_t fingerprint = fingerprint_argument(info[1]);
  return promise_task(info.Env(), {Lane::kLong, cancel_argument(info[2]), this},
                      [index = use(), path = path_argument(info[0]), fingerprint,
                       owner = owner_argument(info[3])](const TaskContext& task) {
                        text::save_sidecar(*index, path, fingerprint, &task.cancel, owner ? &*owner : nullptr);
                      });
}

Napi::Value TextIndexBinding::tokenizer(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), std::string(text::tokenizer_name(peek().tokenizer())));
}

Napi::Value TextIndexBinding::tokenizer_fit(const Napi::CallbackInfo& info) {
  const text::TokenizerFit fit = text::tokenizer_fit(peek());
  auto result = Napi::Object::New(info.Env());
  const double terms = static_cast<double>(std::max<std::uint64_t>(1, fit.sampled_terms));
  result.Set("emptyTexts", Napi::Number::New(info.Env(), static_cast<double>(fit.empty_documents)));
  result.Set("unsuitedWords", Napi::Number::New(info.Env(), static_cast<double>(fit.unsuited_terms) / terms));
  return result;
}

Napi::Value wrap_text_index(Napi::Env env, Shared&& index) {
  const std::size_t bytes = index->memory_bytes();
  return TextIndexBinding::wrap(env, std::move(index), bytes);
}

text::Tokenizer tokenizer_argument(const Napi::Value& value) {
  const std::string name = string_argument(value, "tokenizer");
  for (const auto& known : text::kTokenizers) {
    if (name == known.name) return known.tokenizer;
  }
  fail(Code::kInvalidArgument, "tokenizer: unknown tokenizer " + name);
}

Shared build_text(const TextArena& texts, text::Tokenizer tokenizer, std::size_t threads, const TaskContext& task) {
  text::TextBuildOptions options;
  options.tokenizer = tokenizer;
  options.work = task.work(threads);
  return text::TextIndex::build(texts.size(), [&texts](std::size_t document) { return texts[document]; }, options);
}

Napi::Value build_text_index(const Napi::CallbackInfo& info) {
  auto texts = std::make_shared<const TextArena>(unwrap_argument<TextArenaBinding>(info[0], "texts")->take());
  const text::Tokenizer tokenizer = tokenizer_argument(info[1]);
  const std::size_t threads = integer_argument(info[2], "threads", 0, kMaxThreads);
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3])},
      [=](const TaskContext& task) { return build_text(*texts, tokenizer, threads, task); }, wrap_text_index);
}

namespace {

text::SidecarExpectation expectation_argument(const Napi::Object& expected) {
  const std::uint64_t documents = integer_argument(expected.Get("documents"), "documents", 0, 0xffffffffu);
  return {tokenizer_argument(expected.Get("tokenizer")), static_cast<std::uint32_t>(documents),
          fingerprint_argument(expected.Get("fingerprint"))};
}

}  // namespace

Napi::Value load_text_index(const Napi::CallbackInfo& info) {
  std::optional<text::SidecarExpectation> expected;
  if (!info[1].IsUndefined()) expected = expectation_argument(object_argument(info[1], "expected"));
  const bool complete = info[2].ToBoolean().Value();
  return promise_task(
      info.Env(), {Lane::kLong, cancel_argument(info[3])},
      [path = path_argument(info[0]), expected, complete](const TaskContext& task) {
        const text::SidecarLoadOptions load{
            .expected = expected ? &*expected : nullptr, .complete = complete, .work = task.work()};
        return text::load_sidecar(path, load).index;
      },
      wrap_text_index);
}

namespace {

/// All tokens under which an index stores a text: words, compounds and extra tokens.
Napi::Value document_tokens(Napi::Env env, const std::string& text, text::Tokenizer tokenizer) {
  std::vector<std::string> tokens;
  text::for_each_token(text, tokenizer, [&](std::string_view token, text::TokenKind) { tokens.emplace_back(token); });
  return to_js_list(env, tokens);
}

/// Sets the terms that match variants of a word, with their shares if the index has the word as typed, and if not.
void set_variants(Napi::Object object, const std::string& word) {
  const Napi::Env env = object.Env();
  const std::vector<text::Variant> known = text::variants_of(word, true);
  const std::vector<text::Variant> unknown = text::variants_of(word, false);
  Napi::Array variants = Napi::Array::New(env, known.size());
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    Napi::Object variant = Napi::Object::New(env);
    variant.Set("term", known[i].term);
    variant.Set("known", known[i].share);
    variant.Set("unknown", unknown[i].share);
    variants.Set(i, variant);
  }
  object.Set("variants", variants);
}

/// The distinct words of a query in order, each with its variants, and its compounds.
Napi::Value query_tokens(Napi::Env env, const std::string& query, text::Tokenizer tokenizer) {
  Napi::Array words = Napi::Array::New(env);
  for (const std::string& token : text::tokenize(query, tokenizer)) {
    Napi::HandleScope scope(env);
    Napi::Object word = Napi::Object::New(env);
    word.Set("term", token);
    if (tokenizer == text::Tokenizer::kMultilingual) set_variants(word, token);
    words.Set(words.Length(), word);
  }
  Napi::Array compounds = Napi::Array::New(env);
  for (const auto& [term, occurrences] : text::compounds_of(query, tokenizer)) {
    Napi::Object compound = Napi::Object::New(env);
    compound.Set("term", term);
    compound.Set("occurrences", occurrences);
    compound.Set("share", text::kCompoundShare);
    compounds.Set(compounds.Length(), compound);
  }
  Napi::Object found = Napi::Object::New(env);
  found.Set("words", words);
  found.Set("compounds", compounds);
  return found;
}

}  // namespace

Napi::Value tokenize(const Napi::CallbackInfo& info) {
  const std::string text = string_argument(info[0], "text");
  const text::Tokenizer tokenizer = tokenizer_argument(info[1]);
  if (info[2].IsUndefined()) return to_js_list(info.Env(), text::tokenize(text, tokenizer));
  const std::string as = string_argument(info[2], "as");
  if (as == "document") return document_tokens(info.Env(), text, tokenizer);
  if (as == "query") return query_tokens(info.Env(), text, tokenizer);
  fail(Code::kInvalidArgument, "as: document or query is expected");
}

}  // namespace lorekeep::binding
