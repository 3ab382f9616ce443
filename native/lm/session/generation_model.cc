#include "lm/session/generation_model.h"

#include <string>
#include <utility>

#include "core/values/wipe.h"
#include "lm/model/generation_context.h"
#include "lm/session/inference_thread.h"
#include "lm/session/model_session.h"
#include "lm/text/quoted_texts.h"

namespace lorekeep::lm {
namespace {

PrefixSource source(const LanguageModel& model) {
  const LanguageModelFacts& facts = model.facts();
  return {std::stoull(facts.fingerprint, nullptr, 16), runtime_name(model), facts.vocabulary_size};
}

}  // namespace

GenerationModel::GenerationModel(std::shared_ptr<InferenceThread> thread, std::shared_ptr<const LanguageModel> model)
    : thread_(std::move(thread)),
      model_(std::move(model)),
      text_(model_),
      id_(thread_->add(GenerationContext::make(model_))) {}

GenerationModel::~GenerationModel() {
  thread_->remove(id_);
}

void GenerationModel::start(const std::shared_ptr<GenerationRequest>& request, GenerationCall call,
                            const CancelToken* cancel) {
  try {
    if (request->ended()) return;
    GenerationInput& input = call.input;
    const std::vector<PromptPart> parts = take_prompt(call, cancel);
    text_.prepare(input, call.reply, parts, cancel);
    if (input.max_tokens == 0) input.pin = std::make_shared<PinnedPrefix>(input.prompt);
    request->set_pin(input.pin);
    thread_->submit(id_, request, std::move(input));
  } catch (...) {
    request->fail(std::current_exception());
  }
}

// Sets the prompt of the input and returns its parts, if it was rendered.
std::vector<PromptPart> GenerationModel::take_prompt(GenerationCall& call, const CancelToken* cancel) const {
  if (const auto* text = std::get_if<std::string>(&call.prompt)) {
    call.input.prompt = model_->tokenize_prompt(*text, cancel);
    return {};
  }
  if (auto* tokens = std::get_if<std::vector<Token>>(&call.prompt)) {
    call.input.prompt = std::move(*tokens);
    return std::move(call.parts);
  }
  const RenderOptions options{true, call.reply.thinking};
  RenderedPrompt rendered = text_.render(std::get<std::vector<ChatMessage>>(call.prompt), options, cancel);
  call.input.prompt = std::move(rendered.tokens);
  return std::move(rendered.parts);
}

void GenerationModel::save(const PinnedPrefix& prefix, const std::filesystem::path& path,
                           const CancelToken* cancel) const {
  SavedPrefix saved;
  thread_->visit(id_, [&](ModelSession& session, scheduler::RequestId) { saved = session.save(prefix); });
  write_prefix(path, source(*model_), saved, cancel);
}

std::shared_ptr<PinnedPrefix> GenerationModel::load_prefix(const std::filesystem::path& path,
                                                           const CancelToken* cancel) const {
  SavedPrefix saved = read_prefix(path, source(*model_), cancel);
  auto prefix = std::make_shared<PinnedPrefix>(std::move(saved.tokens));
  thread_->visit(
      id_, [&](ModelSession& session, scheduler::RequestId entry) { session.restore(prefix, entry, saved.state); });
  return prefix;
}

void GenerationModel::ask_numbers(std::function<void(SessionNumbers)> receive) const {
  thread_->ask(id_, [receive = std::move(receive)](const ModelSession& session) { receive(session.numbers()); });
}

void GenerationModel::ask_prefixes(std::function<void(PrefixParts)> receive) const {
  thread_->ask(id_, [receive = std::move(receive)](const ModelSession& session) { receive(session.prefixes()); });
}

void GenerationModel::forget(std::vector<std::string> texts, std::function<void(std::uint32_t)> receive) const {
  const auto quoted = std::make_shared<const QuotedTexts>(texts);
  for (std::string& text : texts) wipe_bytes(text.data(), text.size());
  thread_->ask(id_,
               [quoted, receive = std::move(receive)](ModelSession& session) { receive(session.forget(*quoted)); });
}

}  // namespace lorekeep::lm
