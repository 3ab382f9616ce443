#include "speech/recogniser.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "core/system/startable_threads.h"
#include "core/threads/step_watch.h"
#include "core/threads/work.h"
#include "core/values/checksum.h"
#include "core/values/error.h"
#include "core/values/utf8.h"
#include "engine/abort_guard.h"
#include "engine/compute_slots.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "speech/prompt.h"
#include "speech/repetition.h"
#include "speech/voice_model.h"
#include "speech/whisper_encoder.h"
#include "speech/whisper_file.h"
#include "speech/word_times.h"
#include "whisper.h"

namespace lorekeep::speech {
namespace {

// Whisper hears nothing in less, and loses single words without silence behind them.
constexpr std::size_t kShortest = 2 * kSampleRate;
constexpr std::size_t kLead = kSampleRate / 4;  // of silence before the first word
// Whisper hears this much at once; a little more costs another pass over nearly nothing.
constexpr std::size_t kPass = 30 * kSampleRate;
// Whisper takes 223 tokens before the speech. The prompt is nearer to it, so that it pushes terms out.
constexpr int kMaxTermTokens = 128;
constexpr std::size_t kMaxTermBytes = 200;
// What whisper.cpp returns when a larger cache for several decoders cannot be allocated.
constexpr int kNoMemory = -7;
// Of decoding again: OpenAI's values (whisper/transcribe.py).
constexpr float kTemperatureStep = 0.2f;
constexpr float kLeastEntropy = 2.4f;
constexpr float kLeastLogProbability = -1.0f;
constexpr float kSilence = 0.6f;
// Where decoding starts again while a text repeats itself.
constexpr std::array<float, 3> kTemperatures{0.0f, 0.4f, 0.8f};

struct ContextFree {
  void operator()(whisper_context* context) const noexcept { whisper_free(context); }
};
struct StateFree {
  void operator()(whisper_state* state) const noexcept { whisper_free_state(state); }
};
struct PausedCallFree {
  void operator()(whisper_paused_call* call) const noexcept { whisper_free_paused_call(call); }
};

// The CPU backend is a plugin: its functions are found by name.
template <class Function>
Function cpu_function(const char* name) {
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  return reinterpret_cast<Function>(ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), name));
}

struct PoolFree {
  void operator()(ggml_threadpool* pool) const noexcept {
    if (const auto free_pool = cpu_function<decltype(&ggml_threadpool_free)>("ggml_threadpool_free")) free_pool(pool);
  }
};

// What ends a call early.
struct Stop {
  const CancelToken* cancel;
  /// The model computes values that are not numbers: decoding them at each temperature would take minutes.
  std::atomic<bool> broken = false;
};

bool must_stop(void* data) {
  const Stop& stop = *static_cast<const Stop*>(data);
  return stop.broken || (stop.cancel != nullptr && stop.cancel->cancelled());
}

void check_logits(whisper_context* context, whisper_state*, const whisper_token_data*, int, float* logits, void* stop) {
  const std::span<const float> all(logits, static_cast<std::size_t>(whisper_n_vocab(context)));
  if (std::any_of(all.begin(), all.end(), [](float logit) { return std::isnan(logit); }))
    static_cast<Stop*>(stop)->broken = true;
}

// Has whisper.cpp compute on these threads, and stop when it must, while it exists.
class ComputeWith {
 public:
  ComputeWith(ggml_threadpool* threads, Stop& stop) { whisper_compute_with(threads, must_stop, &stop); }
  ~ComputeWith() { whisper_compute_with(nullptr, nullptr, nullptr); }
  ComputeWith(const ComputeWith&) = delete;
  ComputeWith& operator=(const ComputeWith&) = delete;
};

struct Windows {
  engine::ComputeSlots::Lease& lease;
  const CancelToken* cancel;
};

// Throws Error(kCancelled) while another call uses the state.
bool rest_before_window(whisper_context* context, whisper_state* state, void* windows) {
  auto& [lease, cancel] = *static_cast<Windows*>(windows);
  lease.rest(cancel);
  if (!lease.is_wanted()) return true;
  std::unique_ptr<whisper_paused_call, PausedCallFree> call(whisper_pause(context, state));
  lease.give_way(cancel);
  whisper_resume(state, call.release());
  return true;
}

whisper_own_encoder calls_of(WhisperEncoder& encoder) {
  return {
      .data = &encoder,
      .stages = static_cast<int>(encoder.stages()),
      .begin = [](void* to, const float* mel, float* out) { static_cast<WhisperEncoder*>(to)->run().begin(mel, out); },
      .compute =
          [](void* to, int stage, int thread) {
            static_cast<WhisperEncoder*>(to)->run().compute(static_cast<std::size_t>(stage),
                                                            static_cast<std::size_t>(thread));
          },
  };
}

bool is_space(char character) noexcept {
  return character == ' ' || character == '\n' || character == '\t';
}

std::string trimmed(const std::string& text) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (begin < end && is_space(text[begin])) ++begin;
  while (end > begin && is_space(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

// Times are in hundredths of a second since the begin of the lead.
struct HeardToken {
  whisper_token id;
  std::string piece;
  std::int64_t begin;
  std::int64_t segment_begin;
  std::int64_t segment_end;
  float log_probability;
};

// Frames of silence behind the audio that Whisper may count in.
constexpr std::size_t kMostSilence = kShortest / kTimeFrame;

/// Words whose first tokens are in the same segment.
struct WordGroup {
  std::int64_t begin;
  std::int64_t end;
  std::size_t first_word;
  std::vector<WordGuess> words;
};

/// Sets the times of the words of a group, which begins after `lead` samples of the audio.
void set_times(std::vector<SpeechWord>& words, const WordGroup& group, std::span<const float> audio, std::size_t lead) {
  const auto frame_of = [&](std::int64_t time, std::size_t most) {
    const std::int64_t frame = time - static_cast<std::int64_t>(lead / kTimeFrame);
    return static_cast<std::size_t>(std::clamp<std::int64_t>(frame, 0, static_cast<std::int64_t>(most)));
  };
  const std::span<const float> samples = audio.subspan(lead);
  const std::size_t frames = (samples.size() + kTimeFrame - 1) / kTimeFrame;
  const std::size_t begin = frame_of(group.begin, frames - 1);
  const std::size_t end = std::max(frame_of(group.end, frames), begin + 1);
  const std::size_t from = begin * kTimeFrame;
  const auto loudness = loudness_of(samples.subspan(from, std::min(end * kTimeFrame, samples.size()) - from));
  std::vector<WordGuess> guesses = group.words;
  // A segment without a last time ends with the window, and Whisper's times are stretched to there.
  const bool has_end = frame_of(group.end, frames + kMostSilence) < frames + kMostSilence;
  for (WordGuess& guess : guesses) {
    if (has_end)
      *guess.begin -= static_cast<std::ptrdiff_t>(begin + lead / kTimeFrame);
    else
      guess.begin.reset();
  }
  const auto length = static_cast<std::uint32_t>(samples.size() * 1000 / kSampleRate);
  const auto ms = [&](std::size_t frame) {
    return std::min(static_cast<std::uint32_t>((begin + frame) * kTimeFrame * 1000 / kSampleRate), length);
  };
  const std::vector<WordPlace> places = place_words(loudness, guesses);
  for (std::size_t i = 0; i < places.size(); ++i) {
    words[group.first_word + i].begin_ms = ms(places[i].begin);
    words[group.first_word + i].end_ms = ms(places[i].end);
  }
}

std::optional<Repetition> repetition_in(const std::vector<HeardToken>& tokens) {
  std::vector<std::int32_t> ids;
  ids.reserve(tokens.size());
  for (const HeardToken& token : tokens) ids.push_back(token.id);
  return find_repetition(ids);
}

/// Leaves each phrase Repetition::kMostTimes in a row at most.
void drop_repetitions(std::vector<HeardToken>& tokens) {
  while (const auto repetition = repetition_in(tokens)) {
    const auto at = [&](std::size_t index) { return tokens.begin() + static_cast<std::ptrdiff_t>(index); };
    tokens.erase(at(repetition->kept_end()), at(repetition->end()));
  }
}

}  // namespace

struct Recogniser::Impl {
  // Destroyed in reverse: the state before the model, the model before the backends.
  std::shared_ptr<const engine::Backends> backends;
  RecogniserFacts facts;
  std::unique_ptr<WhisperEncoder> encoder;  // null: whisper.cpp's
  whisper_own_encoder encoder_calls{};
  std::unique_ptr<whisper_context, ContextFree> context;
  std::unique_ptr<whisper_state, StateFree> state;
  std::unique_ptr<ggml_threadpool, PoolFree> threads;
  std::uint32_t wanted_threads = 0;
  int thread_count = 0;  // 0: not started
  engine::ComputeSlots slots{1};

  void open(const std::filesystem::path& path, const RecogniserOptions& options, const CancelToken* cancel);
  /// Starts them for the first call, on whose thread they have its priority: that of a load is lower.
  void start_threads();
  /// Beside replies of language models fewer compute: two owners of all cores would hold each other up at every
  /// barrier.
  int threads_now() const;
  std::string prompt_of(const RecogniseOptions& options) const;
  whisper_full_params parameters(const RecogniseOptions& options, const std::string& prompt) const;
  std::vector<HeardToken> heard() const;
  /// `audio` begins with `lead` samples of silence, and ends with that of the caller.
  SpeechText collect(const std::vector<HeardToken>& tokens, std::span<const float> audio, std::size_t lead) const;
};

void Recogniser::Impl::start_threads() {
  if (thread_count > 0) return;
  thread_count = 1;
  const std::size_t usable =
      wanted_threads == 0 ? std::min<std::size_t>(usable_threads(), RecogniserOptions::kMostThreads) : wanted_threads;
  const auto make = cpu_function<decltype(&ggml_threadpool_new)>("ggml_threadpool_new");
  if (make == nullptr || usable < 2) return;
  const std::size_t started = 1 + startable_threads(usable - 1);
  if (started < 2) return;
  ggml_threadpool_params params = ggml_threadpool_params_default(static_cast<int>(started));
  params.poll = 0;  // idle threads sleep
  threads.reset(make(&params));
  if (threads) thread_count = static_cast<int>(started);
}

void Recogniser::Impl::open(const std::filesystem::path& path, const RecogniserOptions& options,
                            const CancelToken* cancel) {
  TensorFile file(path);
  const WhisperFile content = check_whisper(file);
  if (cancel != nullptr) cancel->check();
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(checksum(file.bytes())));
  facts.fingerprint = text.data();
  facts.size_bytes = file.size();
  facts.parameters = content.shape.parameters;
  facts.multilingual = content.shape.multilingual();
  whisper_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  whisper_context_params params = whisper_context_default_params();
  params.use_gpu = options.gpu && engine::Backends::chosen_gpu().device != nullptr;
  params.flash_attn = true;
  if (!params.use_gpu) encoder = WhisperEncoder::read(content);
  if (encoder) {
    encoder_calls = calls_of(*encoder);
    params.own_encoder = &encoder_calls;
  }
  const engine::AbortGuard guard;
  const std::span<const std::byte> bytes = file.bytes();
  context.reset(
      whisper_init_from_buffer_with_params_no_state(const_cast<std::byte*>(bytes.data()), bytes.size(), params));
  file.check_unchanged();
  if (!context) file.invalid("whisper.cpp cannot read it: its tensors are not those of its shape");
  facts.name = std::string(whisper_model_type_readable(context.get())) + (facts.multilingual ? "" : ".en");
  wanted_threads = options.threads;
  Stop stop{.cancel = cancel};
  const ComputeWith with(nullptr, stop);
  state.reset(whisper_init_state(context.get()));
  if (!state) fail_file(Code::kOutOfMemory, file.name(), "no memory for its caches");
}

int Recogniser::Impl::threads_now() const {
  const scheduler::Control& control = scheduler::Control::of_process();
  const auto count = static_cast<std::uint32_t>(thread_count);
  return static_cast<int>(scheduler::threads_beside(control.settings(), count, control.active(), control.throttle()));
}

// "Vardo, Kaelthas, the lamp room. " and the prompt, with as many terms as fit.
std::string Recogniser::Impl::prompt_of(const RecogniseOptions& options) const {
  std::string terms;
  for (const std::string& given : options.terms) {
    const std::string term = trimmed(tidy_prompt(repair_utf8(given.substr(0, kMaxTermBytes))));
    if (term.empty()) continue;
    std::string longer = terms.empty() ? " " + term : terms + ", " + term;
    if (whisper_token_count(context.get(), longer.c_str()) > kMaxTermTokens) break;
    terms = std::move(longer);
  }
  if (!terms.empty()) terms += options.prompt.empty() ? "." : ". ";
  return terms + tidy_prompt(repair_utf8(options.prompt));
}

whisper_full_params Recogniser::Impl::parameters(const RecogniseOptions& options, const std::string& prompt) const {
  const bool beams = options.beams > 1;
  whisper_full_params params =
      whisper_full_default_params(beams ? WHISPER_SAMPLING_BEAM_SEARCH : WHISPER_SAMPLING_GREEDY);
  params.translate = options.translate;
  params.no_context = true;
  params.print_progress = false;
  params.print_timestamps = false;
  params.token_timestamps = true;
  params.suppress_blank = true;
  params.suppress_nst = true;
  params.temperature_inc = kTemperatureStep;
  params.entropy_thold = kLeastEntropy;
  params.logprob_thold = kLeastLogProbability;
  params.no_speech_thold = kSilence;
  params.greedy.best_of = 5;
  params.beam_search.beam_size = static_cast<int>(std::max(options.beams, 1u));
  params.initial_prompt = prompt.empty() ? nullptr : prompt.c_str();
  params.language = facts.multilingual ? (options.language.empty() ? "auto" : options.language.c_str()) : "en";
  return params;
}

std::vector<HeardToken> Recogniser::Impl::heard() const {
  std::vector<HeardToken> tokens;
  const whisper_token first_special = whisper_token_eot(context.get());
  const int segments = whisper_full_n_segments_from_state(state.get());
  for (int segment = 0; segment < segments; ++segment) {
    const int count = whisper_full_n_tokens_from_state(state.get(), segment);
    const std::int64_t begin = whisper_full_get_segment_t0_from_state(state.get(), segment);
    const std::int64_t end = whisper_full_get_segment_t1_from_state(state.get(), segment);
    for (int i = 0; i < count; ++i) {
      const whisper_token_data token = whisper_full_get_token_data_from_state(state.get(), segment, i);
      if (token.id >= first_special) continue;
      tokens.push_back({token.id, whisper_token_to_str(context.get(), token.id), token.t0, begin, end, token.plog});
    }
  }
  return tokens;
}

SpeechText Recogniser::Impl::collect(const std::vector<HeardToken>& tokens, std::span<const float> audio,
                                     std::size_t lead) const {
  SpeechText result;
  result.language = whisper_lang_str(whisper_full_lang_id_from_state(state.get()));
  double sum = 0;
  double word_sum = 0;
  std::uint32_t word_tokens = 0;
  std::string pending;
  const HeardToken* first = nullptr;  // of the word
  std::vector<WordGroup> groups;
  const auto end_word = [&](const HeardToken& last) {
    const std::string text = trimmed(pending);
    pending.clear();
    if (word_tokens > 0 && !text.empty()) {
      if (groups.empty() || groups.back().begin != first->segment_begin)
        groups.push_back({first->segment_begin, first->segment_end, result.words.size(), {}});
      groups.back().end = std::max(groups.back().end, last.segment_end);
      groups.back().words.push_back({letters_in(text), static_cast<std::ptrdiff_t>(first->begin)});
      result.words.push_back({text, 0, 0, static_cast<float>(std::exp(word_sum / word_tokens))});
    }
    word_sum = 0;
    word_tokens = 0;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const HeardToken& token = tokens[i];
    if (word_tokens > 0 && begins_word(pending, token.piece, result.language)) end_word(tokens[i - 1]);
    if (word_tokens == 0) first = &token;
    result.text += token.piece;
    pending += token.piece;
    word_sum += token.log_probability;
    ++word_tokens;
    sum += token.log_probability;
    result.tokens.push_back(token.id);
  }
  if (!tokens.empty()) end_word(tokens.back());
  for (const WordGroup& group : groups) set_times(result.words, group, audio, lead);
  result.text = trimmed(repair_utf8(result.text));
  for (SpeechWord& each : result.words) each.text = repair_utf8(each.text);
  if (!tokens.empty()) result.probability = static_cast<float>(std::exp(sum / static_cast<double>(tokens.size())));
  return result;
}

Recogniser::Recogniser(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Recogniser::~Recogniser() = default;

std::shared_ptr<Recogniser> Recogniser::load(const std::filesystem::path& path, const RecogniserOptions& options,
                                             std::shared_ptr<const engine::Backends> backends,
                                             const CancelToken* cancel) {
  auto impl = std::make_unique<Impl>();
  impl->backends = std::move(backends);
  impl->open(path, options, cancel);
  return std::shared_ptr<Recogniser>(new Recogniser(std::move(impl)));
}

const RecogniserFacts& Recogniser::facts() const noexcept {
  return impl_->facts;
}

std::vector<std::string> Recogniser::languages() {
  std::vector<std::string> codes;
  for (int i = 0; i <= whisper_lang_max_id(); ++i) codes.emplace_back(whisper_lang_str(i));
  return codes;
}

SpeechText Recogniser::recognise(std::span<const float> samples, const RecogniseOptions& options,
                                 const CancelToken* cancel, const std::function<void(float)>& progress) {
  if (samples.size() > std::size_t{kMaxSeconds} * kSampleRate)
    fail(Code::kInvalidArgument, "samples: at most " + std::to_string(kMaxSeconds) +
                                     " s are expected; cut longer audio at pauses with a VoiceDetector");
  if (!options.language.empty() && whisper_lang_id(options.language.c_str()) < 0)
    fail(Code::kInvalidArgument, "language: " + options.language + " is not a language of Whisper");
  if (!impl_->facts.multilingual && !options.language.empty() && options.language != "en")
    fail(Code::kInvalidArgument, "language: " + impl_->facts.name + " knows English alone, not " + options.language);
  if (!impl_->facts.multilingual && options.translate)
    fail(Code::kInvalidArgument, "translate: " + impl_->facts.name + " knows English alone");
  if (samples.empty()) return {};
  const std::size_t lead = samples.size() <= kPass ? std::min(kLead, kPass - samples.size()) : kLead;
  std::vector<float> audio(lead, 0.0f);
  audio.reserve(lead + std::max(samples.size(), kShortest));
  for (const float value : samples) audio.push_back(std::isfinite(value) ? std::clamp(value, -1.0f, 1.0f) : 0.0f);
  audio.resize(std::max(audio.size(), kShortest), 0.0f);

  const std::string prompt = impl_->prompt_of(options);
  whisper_full_params params = impl_->parameters(options, prompt);
  Stop stop{.cancel = cancel};
  params.abort_callback = must_stop;
  params.abort_callback_user_data = &stop;
  params.logits_filter_callback = check_logits;
  params.logits_filter_callback_user_data = &stop;
  if (progress) {
    params.progress_callback = [](whisper_context*, whisper_state*, int percent, void* to) {
      (*static_cast<const std::function<void(float)>*>(to))(static_cast<float>(percent) / 100);
    };
    params.progress_callback_user_data = const_cast<std::function<void(float)>*>(&progress);
  }
  engine::ComputeSlots::Lease lease = impl_->slots.take(options.consumer_class, cancel);
  impl_->start_threads();
  if (impl_->encoder) impl_->encoder->prepare(static_cast<std::size_t>(impl_->thread_count));
  Windows windows{lease, cancel};
  params.encoder_begin_callback = rest_before_window;
  params.encoder_begin_callback_user_data = &windows;
  params.n_threads = impl_->threads_now();
  const ExemptPart exempt(Exempt::kModelStep);
  const ComputeWith with(impl_->threads.get(), stop);
  std::vector<HeardToken> tokens;
  for (const float temperature : kTemperatures) {
    params.temperature = temperature;
    const int status = whisper_full_with_state(impl_->context.get(), impl_->state.get(), params, audio.data(),
                                               static_cast<int>(audio.size()));
    if (cancel != nullptr) cancel->check();
    if (stop.broken)
      fail(Code::kModelInvalid, "the model " + impl_->facts.name + " computes values that are not numbers");
    if (status == kNoMemory) fail(Code::kOutOfMemory, "no memory for the beams of the model " + impl_->facts.name);
    if (status != 0)
      fail(Code::kModelInvalid, "whisper.cpp could not recognise the audio (" + std::to_string(status) + ")");
    tokens = impl_->heard();
    if (!repetition_in(tokens)) break;
  }
  drop_repetitions(tokens);
  return impl_->collect(tokens, std::span<const float>(audio).first(lead + samples.size()), lead);
}

}  // namespace lorekeep::speech
