#include "text/segment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "text/index_data.h"

namespace lorekeep::text {
namespace {

/// Appends the blocks of one term and returns their number.
template <class Postings>
std::uint32_t encode_blocks(const Postings& postings, std::uint32_t first_block, Segment& segment) {
  const std::size_t before = segment.blocks.size();
  for (std::size_t i = 0; i < postings.size();) {
    const std::uint32_t local_block = postings[i].document / kBlockDocuments;
    std::byte body[kBlockDocuments * kMaxPostingBytes];
    std::byte* end = body;
    const std::size_t begin = i;
    for (; i < postings.size() && postings[i].document / kBlockDocuments == local_block; ++i) {
      end = write_posting(end, postings[i].document % kBlockDocuments, postings[i].frequency);
    }
    segment.bodies.insert(segment.bodies.end(), body, end);
    segment.blocks.push_back(
        {first_block + local_block, static_cast<std::uint8_t>(i - begin), static_cast<std::uint8_t>(end - body)});
  }
  return static_cast<std::uint32_t>(segment.blocks.size() - before);
}

}  // namespace

SegmentBuilder::SegmentBuilder(const TextOf& text_of, Tokenizer tokenizer, const CancelToken* cancel)
    : text_of_(text_of), cancel_(cancel), poll_(cancel), counter_(tokenizer, cancel) {}

/// Sets postings_, document by document, and the lengths.
void SegmentBuilder::count_documents(std::uint32_t first, std::span<std::uint32_t> lengths) {
  postings_.clear();
  for (std::uint32_t document = 0; document < lengths.size(); ++document) {
    if (cancel_ != nullptr) cancel_->check();
    const std::uint64_t length = counter_.count(text_of_(first + document));
    lengths[document] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(length, std::numeric_limits<std::uint32_t>::max()));
    for (const auto [term, frequency] : counter_.counts()) {
      postings_.push_back({term, static_cast<std::uint16_t>(document), static_cast<std::uint16_t>(frequency)});
    }
  }
}

/// Sets terms_, in order of (hash, text).
void SegmentBuilder::order_terms() {
  const TermTable& table = counter_.terms();
  terms_.clear();
  terms_.reserve(counter_.found_terms().size());
  for (const std::uint32_t number : counter_.found_terms()) {
    poll_.step();
    terms_.push_back({table[number].hash, number, counter_.texts_with(number)});
  }
  counter_.restart();
  std::sort(terms_.begin(), terms_.end(), [&](const OrderedTerm& a, const OrderedTerm& b) {
    poll_.step();
    return a.hash != b.hash ? a.hash < b.hash : table[a.number].text < table[b.number].text;
  });
}

/// Sets sorted_: the postings in the order of terms_. Stable.
void SegmentBuilder::sort_postings() {
  places_.resize(counter_.terms().size());
  std::uint64_t place = 0;
  for (const OrderedTerm& term : terms_) {
    poll_.step();
    places_[term.number] = place;
    place += term.documents;
  }
  sorted_.resize(postings_.size());
  for (const Posting& posting : postings_) {
    poll_.step();
    sorted_[places_[posting.term]++] = {posting.document, posting.frequency};
  }
}

Segment SegmentBuilder::build(std::uint32_t first, std::span<std::uint32_t> lengths) {
  count_documents(first, lengths);
  order_terms();
  sort_postings();
  Segment segment;
  segment.terms.reserve(terms_.size());
  segment.bodies.reserve(sorted_.size() + sorted_.size() / 8);
  std::size_t begin = 0;
  for (const OrderedTerm& term : terms_) {
    poll_.step();
    Segment::Term made{term.hash, counter_.terms()[term.number].text, segment.bodies.size(), segment.blocks.size(), 0};
    made.block_count =
        encode_blocks(std::span(sorted_).subspan(begin, term.documents), first / kBlockDocuments, segment);
    segment.terms.push_back(made);
    begin += term.documents;
  }
  return segment;
}

void SegmentBuilder::end() noexcept {
  postings_ = {};
  terms_ = {};
  sorted_ = {};
  places_ = {};
}

}  // namespace lorekeep::text
