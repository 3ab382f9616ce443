#include "text/deleted_terms.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "text/text_index.h"

namespace lorekeep::text {
namespace {

constexpr std::less<const std::byte*> kBefore;

void sort(std::vector<const std::byte*>& directories, Poll& poll) {
  std::sort(directories.begin(), directories.end(), [&poll](const std::byte* a, const std::byte* b) {
    poll.step();
    return kBefore(a, b);
  });
}

}  // namespace

std::shared_ptr<const DeletedTerms> DeletedTerms::with(const DeletedTerms* before, const TextIndex& index,
                                                       std::span<const std::uint32_t> documents, const TextOf& text_of,
                                                       const CancelToken* cancel) {
  auto made = before != nullptr ? std::make_shared<DeletedTerms>(*before) : std::make_shared<DeletedTerms>();
  std::vector<const std::byte*> found;  // a directory per document and term
  std::vector<const std::byte*> of_document;
  Poll poll(cancel);
  for (const std::uint32_t document : documents) {
    if (cancel != nullptr) cancel->check();
    made->tokens_ += index.data().lengths[document];
    of_document.clear();
    for_each_token(
        text_of(document), index.tokenizer(),
        [&](std::string_view token, TokenKind) {
          if (const auto entry = index.find(token, cancel)) of_document.push_back(entry->directory);
        },
        cancel);
    sort(of_document, poll);
    const auto end = std::unique(of_document.begin(), of_document.end());
    found.insert(found.end(), of_document.begin(), end);
  }
  sort(found, poll);
  Layer layer;
  for (const std::byte* const directory : found) {
    poll.step();
    if (layer.empty() || layer.back().directory != directory) layer.push_back({directory, 0});
    ++layer.back().documents;
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
