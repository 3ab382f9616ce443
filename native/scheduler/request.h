// A request as the scheduler sees it, and the step that it plans. Neither holds text, tokens or llama.cpp's types.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/consumer_class.h"

namespace lorekeep::scheduler {

/// Ids grow: a later request has a larger one.
using RequestId = std::uint64_t;
using ModelId = std::uint32_t;

/// A prompt whose beginning another prompt is computing just now.
struct PrefixWait {
  /// The request that computes it. Precondition: it is the older of the two.
  RequestId leader;
  /// The prompt waits until the leader has this many tokens.
  std::uint32_t until_position;
};

/// State of a request between two steps. Requests that must not run, such as those whose client does not read, are left
/// out.
struct Request {
  RequestId id = 0;
  ModelId model = 0;
  ConsumerClass consumer_class = ConsumerClass::kInteractiveVisible;
  /// Time of arrival in ms, on the clock of plan().
  double arrived_ms = 0;
  /// Tokens in the sequence, computed or reused.
  std::uint32_t position = 0;
  /// Tokens of the prompt that are not computed yet. 0: the request decodes, and its next token is due.
  std::uint32_t prompt_left = 0;
  /// False: the request waits for cells. It competes for the model and gets no work.
  bool admitted = true;
  std::optional<PrefixWait> waits;
};

/// A chunk of a prompt.
struct Prefill {
  RequestId id;
  std::uint32_t tokens;
  /// Time of its first token.
  std::uint32_t position = 0;
};

/// One batch for one model.
struct Step {
  ModelId model = 0;
  /// Requests that decode one token each.
  std::vector<RequestId> decodes;
  /// Chunks of prompts.
  std::vector<Prefill> prefills;
  /// Number of decoded and of prompt tokens by class.
  PerClass<std::uint32_t> decode_tokens{};
  PerClass<std::uint32_t> prefill_tokens{};
  /// Filled by the caller that computes the step: rows that verified drafts of its one decode, and the tokens that they
  /// gave.
  std::uint32_t draft_rows = 0;
  std::uint32_t draft_tokens = 0;

  bool empty() const noexcept { return decodes.empty() && prefills.empty(); }
  std::uint32_t tokens() const noexcept;
  PerClass<bool> classes() const noexcept;
};

inline std::uint32_t Step::tokens() const noexcept {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) total += decode_tokens[i] + prefill_tokens[i];
  return total;
}

inline PerClass<bool> Step::classes() const noexcept {
  PerClass<bool> in{};
  for (std::size_t i = 0; i < kConsumerClasses; ++i) in[i] = decode_tokens[i] + prefill_tokens[i] > 0;
  return in;
}

}  // namespace lorekeep::scheduler
