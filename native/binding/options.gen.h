// Written by scripts/generate-layouts.mjs. Reads the options of lib/ from their numbers.
#pragma once

#include <span>

#include "binding/option_numbers.h"
#include "lm/sampling/sampling.h"
#include "store/search.h"

namespace lorekeep::binding {

/// NaN leaves a member as it is.
inline void read_numbers(std::span<const double> numbers, store::SearchRequest& to) {
  expect_numbers(numbers, 18);
  read_number(numbers[0], {"mode", 0, 2}, to.mode);
  read_number(numbers[1], {"topK", 1, 1000}, to.top_k);
  read_number(numbers[2], {"threshold", 0, 2}, to.threshold);
  read_number(numbers[3], {"ef", 1, 100000}, to.ef);
  read_number(numbers[4], {"fusion", 0, 1}, to.fusion);
  read_number(numbers[5], {"rrf.k", 0, 1000000}, to.rrf.k);
  read_number(numbers[6], {"rrf.weights.dense", 0, 1000}, to.rrf.dense_weight);
  read_number(numbers[7], {"rrf.weights.lexical", 0, 1000}, to.rrf.lexical_weight);
  read_number(numbers[8], {"rrf.candidates", 1, 10000}, to.rrf.candidates);
  read_number(numbers[9], {"scores.weight", 0, 1}, to.dense_weight);
  read_number(numbers[10], {"scores.adapt", 0, 1}, to.adapt_weight);
  read_number(numbers[11], {"feedback", 0, 2}, to.feedback);
  read_number(numbers[12], {"minScore", 0, 1}, to.min_score);
  read_number(numbers[13], {"minBest", 0, 1}, to.min_best);
  read_number(numbers[14], {"minByLeg.dense", 0, 1}, to.min_dense);
  read_number(numbers[15], {"minByLeg.lexical", 0, 1}, to.min_lexical);
  read_number(numbers[16], {"calibration.offset", -20, 20}, to.calibration.offset);
  read_number(numbers[17], {"calibration.slope", 0.01, 10}, to.calibration.slope);
}

/// NaN leaves a member as it is.
inline void read_numbers(std::span<const double> numbers, lm::SamplingOptions& to) {
  expect_numbers(numbers, 8);
  read_number(numbers[0], {"sampling.temperature", 0, 10}, to.temperature);
  read_number(numbers[1], {"sampling.topK", 0, 1048576}, to.top_k);
  read_number(numbers[2], {"sampling.topP", 0, 1}, to.top_p);
  read_number(numbers[3], {"sampling.minP", 0, 1}, to.min_p);
  read_number(numbers[4], {"sampling.repeatPenalty", 0.01, 10}, to.repeat_penalty);
  read_number(numbers[5], {"sampling.frequencyPenalty", -2, 2}, to.frequency_penalty);
  read_number(numbers[6], {"sampling.presencePenalty", -2, 2}, to.presence_penalty);
  read_number(numbers[7], {"sampling.penaltyLastN", 0, 1048576}, to.penalty_last_n);
}

}  // namespace lorekeep::binding
