// A cross-encoder that scores documents for a query, computed by llama.cpp on the CPU as embeddings are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/text_arena.h"
#include "engine/backends.h"

namespace lorekeep::lm {

struct RerankerOptions {
  /// Longest pair in tokens; capped at the training context. 0: the training context, but at most kDefaultContext.
  std::uint32_t context_size = 0;
  /// Threads that compute at a time, over all concurrent calls; 0: all threads that the process may use.
  std::size_t threads = 0;

  /// Memory grows with the square of a pair's tokens, so a larger context must be requested.
  static constexpr std::uint32_t kDefaultContext = 512;
};

struct RerankerFacts {
  std::string name;
  std::string architecture;
  std::string fingerprint;         // 16 hexadecimal digits over the file
  std::uint32_t context_size;      // longest pair in tokens, special tokens included
  std::uint32_t training_context;  // tokens
  std::uint64_t parameters;
  std::uint64_t size_bytes;  // of the file
  bool has_template;         // whether the file says how a pair is written
};

struct RankResult {
  std::vector<float> scores;             // of each document, in input order; higher is better
  std::vector<std::uint32_t> truncated;  // ascending indexes of documents whose end did not fit
  std::uint64_t tokens = 0;              // computed
};

/// Thread-safe.
class Reranker {
 public:
  using Progress = std::function<void(float fraction)>;

  /// Checks and loads the file and scores a probe. Throws Error: kNotFound, kIo, kModelInvalid, kUnsupported (no
  /// classification head), kInvalidArgument (a context too small for any pair), kOutOfMemory, kCancelled.
  static std::shared_ptr<Reranker> load(const std::filesystem::path& path, const RerankerOptions& options,
                                        std::shared_ptr<const engine::Backends> backends,
                                        const CancelToken* cancel = nullptr, const Progress& progress = {});
  ~Reranker();
  Reranker(const Reranker&) = delete;
  Reranker& operator=(const Reranker&) = delete;

  const RerankerFacts& facts() const noexcept;

  /// Scores equal the scores of llama-server's /rerank: the first output of the classification head. A score does not
  /// depend on the other documents. The end of a document that does not fit with the query is truncated. Throws Error:
  /// kInvalidArgument (an empty query), kTextTooLong (a query that leaves no room), kModelInvalid (scores that are not
  /// numbers), kOutOfMemory, kCancelled. Grain of cancellation: one operation of a batch's graph.
  RankResult rank(std::string_view query, const TextArena& documents, const CancelToken* cancel = nullptr);

 private:
  struct Impl;
  explicit Reranker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorekeep::lm
