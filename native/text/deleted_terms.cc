#include "text/deleted_terms.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "text/posting_blocks.h"
#include "text/term_counter.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

constexpr std::less<const std::byte*> kBefore;

/// Documents that a thread takes at a time, and terms.
constexpr std::size_t kGrain = 64;
constexpr std::size_t kTermGrain = 1024;
/// From this share of the index's tokens on, postings are read instead of texts: a posting takes some 2 ns, a token of
/// a text 50.
constexpr std::uint64_t kPostingsShare = 16;

struct TermCount {
  const std::byte* directory;
  std::uint32_t documents;
};

/// Returns in how many of the documents each term occurs, by the postings of all terms: ascending.
std::vector<TermCount> counts_of_postings(const TextIndex& index, std::span<const std::uint32_t> documents,
                                          const Work& work) {
  Bitmap wanted(index.documents());
  for (const std::uint32_t document : documents) wanted.set(document);
  const auto terms = index.sample_terms(static_cast<std::size_t>(index.terms()), work.cancel);
  std::vector<TermCount> counts(terms.size());
  parallel_for(work, terms.size(), kTermGrain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      work.check();
      const auto entry = index.find(terms[i], work.cancel);
      if (entry) counts[i] = {entry->directory, documents_among(*entry, index.data().blocks(), wanted)};
    }
  });
  std::erase_if(counts, [](const TermCount& count) { return count.documents == 0; });
  return counts;
}

/// Counts the terms of the documents' texts: a counter per thread, null if it had nothing to do.
std::vector<std::unique_ptr<TermCounter>> count_texts(const TextIndex& index, std::span<const std::uint32_t> documents,
                                                      const TextOf& text_of, const Work& work) {
  std::vector<std::unique_ptr<TermCounter>> workers(std::max<std::size_t>(1, work.workers));
  parallel_for(work, documents.size(), kGrain, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    auto& own = workers[worker];
    if (!own) own = std::make_unique<TermCounter>(index.tokenizer(), work.cancel);
    for (std::size_t i = begin; i < end; ++i) {
      work.check();
      own->count(text_of(documents[i]));
    }
  });
  return workers;
}

}  // namespace

std::shared_ptr<const DeletedTerms> DeletedTerms::with(const DeletedTerms* before, const TextIndex& index,
                                                       std::span<const std::uint32_t> documents, const TextOf& text_of,
                                                       const Work& work) {
  auto made = before != nullptr ? std::make_shared<DeletedTerms>(*before) : std::make_shared<DeletedTerms>();
  std::uint64_t tokens = 0;
  for (const std::uint32_t document : documents) tokens += index.data().lengths[document];
  made->tokens_ += tokens;
  Poll poll(work.cancel);
  Layer layer;
  if (tokens >= index.tokens() / kPostingsShare) {
    for (const TermCount& count : counts_of_postings(index, documents, work)) {
      poll.step();
      layer.push_back({count.directory, count.documents});
    }
    made->push(std::move(layer), poll);
    return made;
  }
  for (const auto& own : count_texts(index, documents, text_of, work)) {
    if (!own) continue;
    Layer part;
    for (const std::uint32_t term : own->found_terms()) {
      poll.step();
      const auto entry = index.find(own->terms()[term].text, work.cancel);
      if (entry) part.push_back({entry->directory, own->texts_with(term)});
    }
    std::sort(part.begin(), part.end(), [&poll](const Count& a, const Count& b) {
      poll.step();
      return kBefore(a.directory, b.directory);
    });
    layer = merged(layer, part, poll);
  }
  made->push(std::move(layer), poll);
  return made;
}

DeletedTerms::Layer DeletedTerms::merged(const Layer& a, const Layer& b, Poll& poll) {
  Layer sum;
  sum.reserve(a.size() + b.size());
  auto at = a.begin();
  for (const Count& count : b) {
    poll.step();
    for (; at != a.end() && kBefore(at->directory, count.directory); ++at) {
      poll.step();
      sum.push_back(*at);
    }
    sum.push_back(count);
    if (at != a.end() && at->directory == count.directory) sum.back().documents += (at++)->documents;
  }
  sum.insert(sum.end(), at, a.end());
  return sum;
}

void DeletedTerms::push(Layer layer, Poll& poll) {
  if (layer.empty()) return;
  while (!layers_.empty() && layers_.back()->size() < 2 * layer.size()) {
    layer = merged(*layers_.back(), layer, poll);
    layers_.pop_back();
  }
  layers_.push_back(std::make_shared<const Layer>(std::move(layer)));
}

std::uint32_t DeletedTerms::documents_with(const TermEntry& entry) const noexcept {
  std::uint32_t documents = 0;
  for (const auto& layer : layers_) {
    const auto at =
        std::lower_bound(layer->begin(), layer->end(), entry.directory,
                         [](const Count& a, const std::byte* directory) { return kBefore(a.directory, directory); });
    if (at != layer->end() && at->directory == entry.directory) documents += at->documents;
  }
  return documents;
}

std::size_t DeletedTerms::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& layer : layers_) bytes += layer->capacity() * sizeof(Count);
  return bytes;
}

}  // namespace lorekeep::text
