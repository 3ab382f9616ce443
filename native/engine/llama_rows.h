// The rows of a llama.cpp batch. Internal to native/engine and native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "llama.h"

namespace lorekeep::engine {

/// Keeps its memory from batch to batch.
class LlamaRows {
 public:
  std::size_t size() const noexcept { return tokens_.size(); }

  void clear() noexcept {
    tokens_.clear();
    positions_.clear();
    sequences_.clear();
    outputs_.clear();
  }

  void add(llama_token token, llama_pos position, llama_seq_id sequence, bool output) {
    tokens_.push_back(token);
    positions_.push_back(position);
    sequences_.push_back(sequence);
    outputs_.push_back(output ? 1 : 0);
  }

  /// Returns a batch that refers to the rows, until they change.
  llama_batch batch() {
    counts_.assign(size(), 1);
    pointers_.clear();
    for (llama_seq_id& sequence : sequences_) pointers_.push_back(&sequence);
    llama_batch batch{};
    batch.n_tokens = static_cast<std::int32_t>(size());
    batch.token = tokens_.data();
    batch.pos = positions_.data();
    batch.n_seq_id = counts_.data();
    batch.seq_id = pointers_.data();
    batch.logits = outputs_.data();
    return batch;
  }

 private:
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<llama_seq_id> sequences_;
  std::vector<std::int8_t> outputs_;
  std::vector<std::int32_t> counts_;
  std::vector<llama_seq_id*> pointers_;
};

}  // namespace lorekeep::engine
