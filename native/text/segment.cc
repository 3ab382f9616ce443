#include "text/segment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/threads/poll.h"
#include "core/values/seeded_hash.h"
#include "text/index_data.h"

namespace lorekeep::text {
namespace {

// Terms of a segment under construction: term -> number, in order of first appearance.
class TermTable {
 public:
  struct Term {
    std::uint64_t hash;
    std::uint64_t begin;  // in text()
    std::uint32_t size;
    std::uint32_t last_document;  // for the caller: the last document with the term, ...
    std::uint32_t frequency;      // ... and its occurrences there
  };
  static constexpr std::uint32_t kNoDocument = ~0u;

  explicit TermTable(Poll& poll) : poll_(poll), slots_(kFirstSlots) {}

  /// Returns the term's number; a new term gets the next one.
  std::uint32_t find_or_add(std::string_view term) {
    const auto tag = static_cast<std::uint32_t>(seeded_hash(term));
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = tag & mask;; i = (i + 1) & mask) {
      const Slot slot = slots_[i];
      if (slot.number == 0) return add({i, tag}, term);
      if (slot.tag == tag && text_of(terms_[slot.number - 1]) == term) return slot.number - 1;
    }
  }

  std::vector<Term>& terms() noexcept { return terms_; }
  std::vector<char>& text() noexcept { return text_; }
  std::string_view text_of(const Term& term) const noexcept { return {text_.data() + term.begin, term.size}; }

 private:
  struct Slot {
    std::uint32_t number = 0;  // of the term + 1; 0: free
    std::uint32_t tag = 0;     // its place, and the bits of its hash above
  };
  struct Place {
    std::size_t slot;
    std::uint32_t tag;
  };
  static constexpr std::size_t kFirstSlots = 1 << 14;

  std::uint32_t add(Place place, std::string_view term) {
    const auto number = static_cast<std::uint32_t>(terms_.size());
    terms_.push_back({term_hash(term), text_.size(), static_cast<std::uint32_t>(term.size()), kNoDocument, 0});
    text_.insert(text_.end(), term.begin(), term.end());
    slots_[place.slot] = {number + 1, place.tag};
    if (terms_.size() * 2 > slots_.size()) grow();
    return number;
  }

  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    const std::size_t mask = larger.size() - 1;
    for (const Slot slot : slots_) {
      poll_.step();
      if (slot.number == 0) continue;
      std::size_t i = slot.tag & mask;
      while (larger[i].number != 0) i = (i + 1) & mask;
      larger[i] = slot;
    }
    slots_ = std::move(larger);
  }

  Poll& poll_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<Term> terms_;
  std::vector<char> text_;
};

struct Posting {
  std::uint32_t term;
  std::uint16_t document;  // within the segment
  std::uint16_t frequency;
};

// Returns all postings of the segment, document by document.
std::vector<Posting> tokenize_documents(std::uint32_t first, std::span<std::uint32_t> lengths, const TextOf& text_of,
                                        Tokenizer tokenizer, const CancelToken* cancel, TermTable& table) {
  std::vector<Posting> postings;
  std::vector<std::uint32_t> terms_of_document;
  for (std::uint32_t document = 0; document < lengths.size(); ++document) {
    if (cancel != nullptr) cancel->check();
    terms_of_document.clear();
    std::uint64_t length = 0;
    for_each_token(
        text_of(first + document), tokenizer,
        [&](std::string_view token, TokenKind kind) {
          length += kind == TokenKind::kWord;
          const std::uint32_t number = table.find_or_add(token);
          TermTable::Term& term = table.terms()[number];
          if (term.last_document == document) {
            term.frequency += term.frequency < kMaxTermFrequency;
          } else {
            term.last_document = document;
            term.frequency = 1;
            terms_of_document.push_back(number);
          }
        },
        cancel);
    lengths[document] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(length, std::numeric_limits<std::uint32_t>::max()));
    for (const std::uint32_t number : terms_of_document) {
      postings.push_back(
          {number, static_cast<std::uint16_t>(document), static_cast<std::uint16_t>(table.terms()[number].frequency)});
    }
  }
  return postings;
}

// Returns the term numbers in order of (hash, text).
std::vector<std::uint32_t> order_terms(TermTable& table, Poll& poll) {
  const auto& terms = table.terms();
  std::vector<std::uint32_t> order(terms.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    poll.step();
    if (terms[a].hash != terms[b].hash) return terms[a].hash < terms[b].hash;
    return table.text_of(terms[a]) < table.text_of(terms[b]);
  });
  return order;
}

struct DocumentFrequency {
  std::uint16_t document;
  std::uint16_t frequency;
};

// Counting sort of the postings by term; stable. Sets ends[t] to the end of term t's postings.
std::vector<DocumentFrequency> sort_postings(const std::vector<Posting>& postings,
                                             const std::vector<std::uint32_t>& rank, std::vector<std::size_t>& ends,
                                             Poll& poll) {
  ends.assign(rank.size() + 1, 0);
  for (const Posting& posting : postings) {
    poll.step();
    ++ends[rank[posting.term] + 1];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<DocumentFrequency> sorted(postings.size());
  for (const Posting& posting : postings) {
    poll.step();
    sorted[ends[rank[posting.term]]++] = {posting.document, posting.frequency};
  }
  return sorted;
}

// Appends the blocks of one term and returns their number.
std::uint32_t encode_blocks(std::span<const DocumentFrequency> postings, std::uint32_t first_block, Segment& segment) {
  const std::size_t before = segment.blocks.size();
  for (std::size_t i = 0; i < postings.size();) {
    const std::uint32_t local_block = postings[i].document / kBlockDocuments;
    const std::size_t body = segment.bodies.size();
    const std::size_t begin = i;
    for (; i < postings.size() && postings[i].document / kBlockDocuments == local_block; ++i) {
      write_posting(segment.bodies, postings[i].document % kBlockDocuments, postings[i].frequency);
    }
    segment.blocks.push_back({first_block + local_block, static_cast<std::uint8_t>(i - begin),
                              static_cast<std::uint8_t>(segment.bodies.size() - body)});
  }
  return static_cast<std::uint32_t>(segment.blocks.size() - before);
}

}  // namespace

Segment build_segment(std::uint32_t first, std::span<std::uint32_t> lengths, const TextOf& text_of, Tokenizer tokenizer,
                      const CancelToken* cancel) {
  Poll poll(cancel);
  TermTable table(poll);
  const auto postings = tokenize_documents(first, lengths, text_of, tokenizer, cancel, table);
  const auto order = order_terms(table, poll);
  std::vector<std::uint32_t> rank(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    poll.step();
    rank[order[i]] = i;
  }
  std::vector<std::size_t> ends;
  const auto sorted = sort_postings(postings, rank, ends, poll);

  Segment segment;
  segment.terms.reserve(order.size());
  segment.bodies.reserve(sorted.size() + sorted.size() / 8);
  for (std::size_t i = 0; i < order.size(); ++i) {
    poll.step();
    const TermTable::Term& term = table.terms()[order[i]];
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    Segment::Term made{term.hash, term.begin, segment.bodies.size(), segment.blocks.size(), term.size, 0};
    made.block_count =
        encode_blocks(std::span(sorted).subspan(begin, ends[i] - begin), first / kBlockDocuments, segment);
    segment.terms.push_back(made);
  }
  segment.text = std::move(table.text());
  return segment;
}

}  // namespace lorekeep::text
