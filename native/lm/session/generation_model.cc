#include "lm/session/generation_model.h"

#include <string>
#include <utility>

#include "core/values/error.h"
#include "lm/model/generation_context.h"
#include "lm/session/inference_thread.h"
#include "lm/session/model_session.h"

namespace lorekeep::lm {
namespace {

PrefixSource source(const LanguageModel& model) {
  const LanguageModelFacts& facts = model.facts();
  return {std::stoull(facts.fingerprint, nullptr, 16), runtime_name(model), facts.vocabulary_size};
}

std::exception_ptr closed() {
  return std::make_exception_ptr(Error(Code::kClosed, "the language model was closed"));
}

}  // namespace

GenerationModel::GenerationModel(std::shared_ptr<InferenceThread> thread, std::shared_ptr<const LanguageModel> model)
    : thread_(std::move(thread)), model_(std::move(model)), text_(model_), id_(thread_->next_model_++) {
  auto context = std::make_shared<std::unique_ptr<GenerationContext>>(GenerationContext::make(model_));
  thread_->post([thread = thread_.get(), id = id_, context] {
    thread->sessions_.push_back(std::make_unique<ModelSession>(id, std::move(*context)));
    thread->scheduler_.set_model(id, thread->sessions_.back()->limits());
  });
}

GenerationModel::~GenerationModel() {
  thread_->call([thread = thread_.get(), id = id_] {
    ModelSession* session = thread->session(id);
    if (session == nullptr) return;
    session->fail_all(closed());
    thread->scheduler_.remove_model(id);
    std::erase_if(thread->sessions_, [session](const auto& one) { return one.get() == session; });
  });
}

void GenerationModel::start(const std::shared_ptr<GenerationRequest>& request, GenerationCall call) {
  try {
    if (request->ended()) return;
    GenerationInput& input = call.input;
    const std::vector<PromptPart> parts = take_prompt(call);
    if (!call.grammar.empty()) call.reply.grammar = Grammar::parse(call.grammar);
    text_.prepare(input, call.reply, parts);
    if (input.max_tokens == 0) input.pin = std::make_shared<PinnedPrefix>(input.prompt);
    request->set_pin(input.pin);
    submit(request, std::move(input));
  } catch (...) {
    request->fail(std::current_exception());
  }
}

// Sets the prompt of the input and returns its parts, if it was rendered.
std::vector<PromptPart> GenerationModel::take_prompt(GenerationCall& call) const {
  if (const auto* text = std::get_if<std::string>(&call.prompt)) {
    call.input.prompt = model_->tokenize_prompt(*text);
    return {};
  }
  if (auto* tokens = std::get_if<std::vector<Token>>(&call.prompt)) {
    call.input.prompt = std::move(*tokens);
    return std::move(call.parts);
  }
  RenderedPrompt rendered = text_.render(std::get<std::vector<ChatMessage>>(call.prompt), {true, call.reply.thinking});
  call.input.prompt = std::move(rendered.tokens);
  return std::move(rendered.parts);
}

void GenerationModel::submit(std::shared_ptr<GenerationRequest> request, GenerationInput input) {
  auto given = std::make_shared<GenerationInput>(std::move(input));
  const auto command = [thread = thread_.get(), id = id_, request, given] {
    ModelSession* session = thread->session(id);
    if (session == nullptr) return request->fail(closed());
    session->enqueue(thread->next_request_++, request, std::move(*given));
  };
  if (!thread_->post(command, static_cast<int>(given->consumer_class))) request->cancel();
}

void GenerationModel::save(const PinnedPrefix& prefix, const std::filesystem::path& path,
                           const CancelToken* cancel) const {
  SavedPrefix saved;
  on_session([&](ModelSession& session) { saved = session.save(prefix); });
  write_prefix(path, source(*model_), saved, cancel);
}

std::shared_ptr<PinnedPrefix> GenerationModel::load_prefix(const std::filesystem::path& path,
                                                           const CancelToken* cancel) const {
  SavedPrefix saved = read_prefix(path, source(*model_), cancel);
  auto prefix = std::make_shared<PinnedPrefix>(std::move(saved.tokens));
  on_session([&](ModelSession& session) { session.restore(prefix, thread_->next_request_++, saved.state); });
  return prefix;
}

// Waits until `body` has run on the inference thread, and rethrows its exception.
void GenerationModel::on_session(const std::function<void(ModelSession&)>& body) const {
  std::exception_ptr error = closed();
  thread_->call([&, thread = thread_.get(), id = id_] {
    thread->reap();
    ModelSession* session = thread->session(id);
    if (session == nullptr) return;
    try {
      body(*session);
      error = nullptr;
    } catch (...) {
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

void GenerationModel::ask_numbers(std::function<void(SessionNumbers)> receive) const {
  ask([receive = std::move(receive)](const ModelSession& session) { receive(session.numbers()); });
}

void GenerationModel::ask_prefixes(std::function<void(PrefixParts)> receive) const {
  ask([receive = std::move(receive)](const ModelSession& session) { receive(session.prefixes()); });
}

void GenerationModel::ask(std::function<void(const ModelSession&)> question) const {
  thread_->post([question = std::move(question), thread = thread_.get(), id = id_] {
    thread->reap();
    if (const ModelSession* session = thread->session(id)) question(*session);
  });
}

}  // namespace lorekeep::lm
