#include "text/index_builder.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "core/threads/poll.h"

namespace lorekeep::text {
namespace {

// The dictionary is merged in parts: equal ranges of the hash space.
constexpr std::size_t kPartBits = 6;
constexpr std::size_t kParts = std::size_t{1} << kPartBits;

// Small enough that the workers finish together, large enough that few terms repeat across segments.
constexpr std::size_t kMinSegmentDocuments = 256;
constexpr std::size_t kMaxBuiltSegmentDocuments = 16384;
static_assert(kMaxBuiltSegmentDocuments <= kMaxSegmentDocuments && kMinSegmentDocuments % kBlockDocuments == 0);

struct Part {
  std::vector<std::byte> entries;
  std::vector<std::uint64_t> hashes;   // of every entry, ascending
  std::vector<std::uint64_t> offsets;  // of every entry in `entries`
};

struct TermRef {
  std::uint64_t hash;
  std::string_view text;
  std::uint32_t segment;
  std::uint32_t term;
};

std::vector<TermRef> terms_of_part(const std::vector<Segment>& segments, std::size_t part, Poll& poll) {
  std::vector<TermRef> refs;
  for (std::uint32_t s = 0; s < segments.size(); ++s) {
    const auto& terms = segments[s].terms;
    const auto part_of = [](std::uint64_t hash) { return hash >> (64 - kPartBits); };
    auto at = std::partition_point(terms.begin(), terms.end(), [&](const auto& t) { return part_of(t.hash) < part; });
    for (; at != terms.end() && part_of(at->hash) == part; ++at) {
      poll.step();
      refs.push_back({at->hash, at->text, s, static_cast<std::uint32_t>(at - terms.begin())});
    }
  }
  std::sort(refs.begin(), refs.end(), [&](const TermRef& a, const TermRef& b) {
    poll.step();
    if (a.hash != b.hash) return a.hash < b.hash;
    if (a.text != b.text) return a.text < b.text;
    return a.segment < b.segment;
  });
  return refs;
}

std::uint8_t impact_of_block(const IndexData& data, const Bm25Norm& norm, const Segment::Block& block,
                             const std::byte* body) {
  float best = 0.0f;
  // Of equal frequencies, the shortest document has the largest fraction.
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t shortest[] = {kNone, kNone, kNone, kNone};  // by frequency
  const std::uint32_t* lengths = data.lengths.data() + std::size_t{block.number} * kBlockDocuments;
  for_each_posting(body, block.size, [&](std::uint32_t local, std::uint32_t frequency) {
    if (frequency < std::size(shortest)) {
      shortest[frequency] = std::min<std::uint64_t>(shortest[frequency], lengths[local]);
    } else {
      best = std::max(best, norm.fraction(frequency, lengths[local]));
    }
  });
  for (std::uint32_t frequency = 1; frequency < std::size(shortest); ++frequency) {
    if (shortest[frequency] == kNone) continue;
    best = std::max(best, norm.fraction(frequency, static_cast<std::uint32_t>(shortest[frequency])));
  }
  return impact_of(best);
}

void add_blocks(const IndexData& data, const Bm25Norm& norm, const Segment& segment, const Segment::Term& term,
                TermEncoder& encoder) {
  const std::byte* body = segment.bodies.data() + term.body_begin;
  for (std::uint32_t i = 0; i < term.block_count; ++i) {
    const Segment::Block& block = segment.blocks[term.block_begin + i];
    encoder.add(block.number, block.documents, impact_of_block(data, norm, block, body), body, block.size);
    body += block.size;
  }
}

// Looks at the token once in 65,536 terms: words can be chosen so that they are all of one part.
Part merge_part(const IndexData& data, const std::vector<Segment>& segments, std::size_t number,
                const CancelToken* cancel) {
  Poll poll(cancel);
  const auto refs = terms_of_part(segments, number, poll);
  const Bm25Norm norm = data.norm();
  TermEncoder encoder(data.blocks());
  Part part;
  for (std::size_t i = 0; i < refs.size();) {
    const TermRef& first = refs[i];
    encoder.start(first.text);
    poll.step();
    for (; i < refs.size() && refs[i].hash == first.hash && refs[i].text == first.text; ++i) {
      const Segment& segment = segments[refs[i].segment];
      add_blocks(data, norm, segment, segment.terms[refs[i].term], encoder);
    }
    part.hashes.push_back(first.hash);
    part.offsets.push_back(part.entries.size());
    encoder.finish(part.entries);
  }
  return part;
}

using Builders = std::vector<std::unique_ptr<SegmentBuilder>>;

std::vector<Segment> build_segments(BuiltIndex& built, const TextOf& text_of, const TextBuildOptions& options,
                                    Builders& builders) {
  const std::size_t documents = built.lengths.size();
  const std::size_t workers = std::max<std::size_t>(1, options.work.workers);
  const std::size_t share = documents / (workers * 4) / kBlockDocuments * kBlockDocuments;
  const std::size_t size = std::clamp(share, kMinSegmentDocuments, kMaxBuiltSegmentDocuments);
  std::vector<Segment> segments((documents + size - 1) / size);
  builders.resize(workers);
  parallel_for(options.work, segments.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    auto& builder = builders[worker];
    if (!builder) builder = std::make_unique<SegmentBuilder>(text_of, options.tokenizer, options.work.cancel);
    for (std::size_t s = begin; s < end; ++s) {
      const std::size_t first = s * size;
      const auto lengths = std::span(built.lengths).subspan(first, std::min(size, documents - first));
      segments[s] = builder->build(static_cast<std::uint32_t>(first), lengths);
    }
  });
  for (const auto& builder : builders) {
    if (builder) builder->end();
  }
  return segments;
}

// Concatenates the parts and makes the bucket table. Consumes the parts. Looks at the token after each part.
void join_parts(std::vector<Part>& parts, BuiltIndex& built, const Work& work) {
  std::size_t bytes = 0;
  for (const Part& part : parts) {
    built.data.terms += part.hashes.size();
    bytes += part.entries.size();
  }
  const std::uint64_t buckets = bucket_count(built.data.terms);
  built.buckets.reserve(buckets + 1);
  built.entries.reserve(bytes);
  for (Part& part : parts) {
    for (std::size_t i = 0; i < part.hashes.size(); ++i) {
      const std::uint64_t bucket = bucket_of(part.hashes[i], buckets);
      while (built.buckets.size() <= bucket) built.buckets.push_back(built.entries.size() + part.offsets[i]);
    }
    built.entries.insert(built.entries.end(), part.entries.begin(), part.entries.end());
    part = {};
    work.check();
  }
  built.buckets.resize(buckets + 1, built.entries.size());
}

}  // namespace

BuiltIndex build_index(std::size_t documents, const TextOf& text_of, const TextBuildOptions& options) {
  if (documents > kMaxDocuments) {
    fail(Code::kInvalidArgument, "documents: a text index holds at most " + std::to_string(kMaxDocuments) + ", not " +
                                     std::to_string(documents));
  }
  BuiltIndex built;
  built.data.tokenizer = options.tokenizer;
  built.data.documents = static_cast<std::uint32_t>(documents);
  built.lengths.resize(documents);
  Builders builders;
  std::vector<Segment> segments = build_segments(built, text_of, options, builders);
  built.data.tokens = std::accumulate(built.lengths.begin(), built.lengths.end(), std::uint64_t{0});
  built.data.lengths = built.lengths;

  std::vector<Part> parts(kParts);
  parallel_for(options.work, kParts, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t p = begin; p < end; ++p) parts[p] = merge_part(built.data, segments, p, options.work.cancel);
  });
  // Giving memory back takes as long as a part of the work.
  for (Segment& segment : segments) {
    segment = {};
    options.work.check();
  }
  join_parts(parts, built, options.work);
  built.data.buckets = built.buckets;
  built.data.entries = built.entries;
  return built;
}

}  // namespace lorekeep::text
