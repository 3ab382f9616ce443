// Draws the next token from logits: penalties and biases, then top_k, top_p, min_p, then temperature, as llama.cpp's
// programs do. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lm/text/token.h"

namespace lorekeep::lm {

class TokenConstraint;
class Allowance;

/// The defaults change nothing; those of a reply are in lib/generation/sampling-options.ts.
struct SamplingOptions {
  float temperature = 1;                        // 0: the most likely token
  std::int32_t top_k = 0;                       // 0: all tokens
  float top_p = 1;                              // 1: all tokens
  float min_p = 0;                              // 0: all tokens
  float repeat_penalty = 1;                     // 1: none
  float frequency_penalty = 0;                  // 0: none
  float presence_penalty = 0;                   // 0: none
  std::int32_t penalty_last_n = 0;              // tokens, those of the prompt included
  std::vector<std::pair<Token, float>> biases;  // added to the logits; -infinity excludes a token
};

struct LogProbability {
  Token token;
  float value;             // natural logarithm
  std::string bytes = {};  // of the token; the caller of log_probabilities() adds them
};

class Sampler {
 public:
  Sampler(SamplingOptions options, std::uint64_t seed);

  /// Returns the next token; accept() must follow. Changes the logits. With a constraint, the token is one that it
  /// allows, and the constraint's accept() takes constant time; kNone if it allows none. Absent: no work is left, and
  /// the next call, with these changed logits and the same constraint, continues.
  std::optional<Token> sample(std::span<float> logits, TokenConstraint* constraint, Allowance& work);
  Token sample(std::span<float> logits);
  /// Records a token of the prompt or of the reply for the penalties.
  void accept(Token token);

  static constexpr Token kNone = -1;

 private:
  struct Candidate {
    Token token;
    float logit;
  };
  /// Of one choice: drawn freely, then, if refused, among the allowed tokens.
  enum class Stage { kStart, kDrawn, kRefused, kDrawnAgain };

  void penalize(std::span<float> logits) const;
  Token draw(std::span<const float> logits);
  void select(std::span<const float> logits);
  void keep_top_k(std::span<const float> logits);
  void keep_likely(std::span<const float> logits);
  void cut();

  SamplingOptions options_;
  std::mt19937_64 random_;
  Stage stage_ = Stage::kStart;
  Token drawn_ = kNone;
  std::deque<Token> recent_;
  std::unordered_map<Token, std::int32_t> counts_;  // of `recent_`
  std::vector<Candidate> candidates_;               // most likely first
  double total_ = 0;                                // of exp(logit - greatest) over the candidates before top_p
};

/// Returns the log-probability of `token`, then of the `count` most likely tokens, from the unchanged logits.
std::vector<LogProbability> log_probabilities(std::span<const float> logits, Token token, std::size_t count);

}  // namespace lorekeep::lm
