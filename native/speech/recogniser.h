// Recognises speech with a Whisper model, computed by whisper.cpp on our ggml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "engine/backends.h"
#include "scheduler/consumer_class.h"

namespace lorekeep::speech {

struct RecogniserOptions {
  /// Threads that compute; 0: all that the process may use, at most kMostThreads.
  std::uint32_t threads = 0;
  /// On the GPU that Backends chose, if there is one.
  bool gpu = false;

  /// More make no recognition faster: the graphs are small.
  static constexpr std::uint32_t kMostThreads = 8;
};

struct RecogniserFacts {
  std::string name;         // "tiny.en", "base", ...
  std::string fingerprint;  // 16 hexadecimal digits over the file
  bool multilingual;
  std::uint64_t parameters;
  std::uint64_t size_bytes;
};

struct RecogniseOptions {
  std::string language;    // ISO 639-1; empty: detected, or English for a model of English alone
  bool translate = false;  // into English
  std::string prompt;      // text before the speech: names and spelling to expect
  /// Names to expect, the most important first. As many as fit come before the prompt.
  std::vector<std::string> terms;
  std::uint32_t beams = 1;
  scheduler::ConsumerClass consumer_class = scheduler::ConsumerClass::kInteractiveVisible;
};

/// Times are milliseconds since the beginning of the samples.
struct SpeechWord {
  std::string text;  // with its punctuation, without spaces around it
  std::uint32_t begin_ms;
  std::uint32_t end_ms;
  float probability;  // geometric mean of its tokens'
};

struct SpeechText {
  std::string text;
  std::string language;   // ISO 639-1
  float probability = 0;  // geometric mean of the tokens'; 0 without any
  std::vector<SpeechWord> words;
  std::vector<std::int32_t> tokens;  // without special ones
};

/// Thread-safe; one call computes at a time, of the best class. Between windows of 30 s a call gives way to those of a
/// better class, and rests as scheduler::rest_after() says. A call that begins beside interactive replies of language
/// models computes on half of the threads.
class Recogniser {
 public:
  /// Longest audio of a call, in seconds. Callers cut longer audio at pauses.
  static constexpr std::uint32_t kMaxSeconds = 600;

  /// Checks and loads a file of whisper.cpp's format (ggml-*.bin). Throws Error: kNotFound, kIo, kModelInvalid,
  /// kOutOfMemory, kCancelled.
  static std::shared_ptr<Recogniser> load(const std::filesystem::path& path, const RecogniserOptions& options,
                                          std::shared_ptr<const engine::Backends> backends,
                                          const CancelToken* cancel = nullptr);
  ~Recogniser();
  Recogniser(const Recogniser&) = delete;
  Recogniser& operator=(const Recogniser&) = delete;

  const RecogniserFacts& facts() const noexcept;
  /// Returns the ISO 639-1 codes of all languages of Whisper.
  static std::vector<std::string> languages();

  /// Recognises mono samples at 16 kHz in [-1, 1]. Audio without speech gives an empty text. A reply that repeats
  /// itself is decoded again at higher temperatures, as OpenAI's program does; a phrase that still stands more than
  /// Repetition::kMostTimes in a row is shortened to that. Throws Error: kInvalidArgument (an
  /// unknown language, translation by a model of English alone, more than kMaxSeconds), kModelInvalid (weights that
  /// give values that are not numbers), kOutOfMemory, kCancelled. Grain of cancellation: one operation of a graph.
  /// `progress` (may be empty) receives a fraction.
  SpeechText recognise(std::span<const float> samples, const RecogniseOptions& options,
                       const CancelToken* cancel = nullptr, const std::function<void(float)>& progress = {});

 private:
  struct Impl;
  explicit Recogniser(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorekeep::speech
