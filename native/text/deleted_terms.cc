#include "text/deleted_terms.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "text/term_counter.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

constexpr std::less<const std::byte*> kBefore;

/// Documents that a thread takes at a time.
constexpr std::size_t kGrain = 64;

}  // namespace

std::shared_ptr<const DeletedTerms> DeletedTerms::with(const DeletedTerms* before, const TextIndex& index,
                                                       std::span<const std::uint32_t> documents, const TextOf& text_of,
                                                       const Work& work) {
  auto made = before != nullptr ? std::make_shared<DeletedTerms>(*before) : std::make_shared<DeletedTerms>();
  std::vector<std::unique_ptr<TermCounter>> workers(std::max<std::size_t>(1, work.workers));
  parallel_for(work, documents.size(), kGrain, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    auto& own = workers[worker];
    if (!own) own = std::make_unique<TermCounter>(index.tokenizer(), work.cancel);
    for (std::size_t i = begin; i < end; ++i) {
      work.check();
      own->count(text_of(documents[i]));
    }
  });
  for (const std::uint32_t document : documents) made->tokens_ += index.data().lengths[document];
  Poll poll(work.cancel);
  Layer layer;
  for (const auto& own : workers) {
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
