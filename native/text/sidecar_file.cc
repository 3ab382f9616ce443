#include "text/sidecar_file.h"

#include <array>
#include <span>
#include <string>

#include "text/index_check.h"
#include "text/tokenizer_fit.h"

namespace lorekeep::text {
namespace {

enum Section : std::uint32_t { kHeader = 1, kLengths = 2, kBuckets = 3, kEntries = 4 };
constexpr std::uint32_t kSections = 4;

struct Header {
  std::uint32_t tokenizer;
  std::uint32_t analysis_revision;
  std::uint32_t documents;
  std::uint32_t block_documents;
  std::uint64_t terms;
  std::uint64_t tokens;
  float k1;
  float b;
};
static_assert(sizeof(Header) == 40);

[[noreturn]] void refuse_stale(const std::string& name, const char* mismatch, const std::string& reason) {
  fail_file(Code::kUnsupported, name, reason, {{"mismatch", std::string(mismatch)}});
}

// Checks the version before anything else, because older versions may have another section layout.
void check_version(const std::filesystem::path& path) {
  const MappedFile file(path);
  ByteReader reader(file.bytes(), file.name());
  if (!(reader.read<Magic>() == kSidecarMagic)) return;  // refused by SectionFileReader
  const auto version = reader.read<std::uint32_t>();
  if (version < kSidecarVersion) {
    refuse_stale(file.name(), "version",
                 "format version " + std::to_string(version) + ", this program reads version " +
                     std::to_string(kSidecarVersion));
  }
}

void check_analysis(const std::string& name, const Header& header) {
  if (!is_tokenizer(header.tokenizer)) {
    refuse_stale(name, "tokenizer", "unknown tokenizer " + std::to_string(header.tokenizer));
  }
  const std::uint32_t revision = analysis_revision(static_cast<Tokenizer>(header.tokenizer));
  if (header.analysis_revision != revision) {
    refuse_stale(name, "analysis",
                 "analysis revision " + std::to_string(header.analysis_revision) + ", this program's is " +
                     std::to_string(revision));
  }
  if (header.block_documents != kBlockDocuments || header.k1 != kBm25K1 || header.b != kBm25B) {
    refuse_stale(name, "analysis", "built with other BM25 or block constants than this program's");
  }
}

void check_expectation(const std::string& name, const Header& header, std::uint64_t fingerprint,
                       const SidecarExpectation& expected) {
  if (header.tokenizer != static_cast<std::uint32_t>(expected.tokenizer)) {
    refuse_stale(name, "tokenizer",
                 "built with the tokenizer " + std::string(tokenizer_name(static_cast<Tokenizer>(header.tokenizer))) +
                     ", " + std::string(tokenizer_name(expected.tokenizer)) + " is expected");
  }
  if (header.documents != expected.documents) {
    refuse_stale(name, "documents",
                 "built from " + std::to_string(header.documents) + " documents, there are " +
                     std::to_string(expected.documents));
  }
  if (fingerprint != expected.fingerprint) refuse_stale(name, "fingerprint", "built from other documents");
}

}  // namespace

void save_sidecar(const TextIndex& index, const std::filesystem::path& path, std::uint64_t fingerprint,
                  const CancelToken* cancel, const FileOwner* owner) {
  const IndexData& data = index.data();
  const Header header{static_cast<std::uint32_t>(data.tokenizer),
                      analysis_revision(data.tokenizer),
                      data.documents,
                      kBlockDocuments,
                      data.terms,
                      data.tokens,
                      kBm25K1,
                      kBm25B};
  SectionFileWriter file(path, kSidecarMagic, kSidecarVersion, fingerprint, kSections, owner, Damaged::kRemade);
  file.section(kHeader, std::as_bytes(std::span(&header, 1)), cancel);
  file.section(kLengths, std::as_bytes(data.lengths), cancel);
  file.section(kBuckets, std::as_bytes(data.buckets), cancel);
  file.section(kEntries, data.entries, cancel);
  if (cancel != nullptr) cancel->check();
  file.commit();
}

SidecarFacts read_sidecar_facts(const SectionFileReader& file) {
  const auto header = file.value<Header>(kHeader);
  check_analysis(file.name(), header);
  return {std::string(tokenizer_name(static_cast<Tokenizer>(header.tokenizer))), header.documents, header.terms,
          header.tokens};
}

std::string_view sidecar_section_name(std::uint32_t id) noexcept {
  switch (id) {
    case kHeader: return "header";
    case kLengths: return "lengths";
    case kBuckets: return "buckets";
    case kEntries: return "entries";
    case kOwnerSection: return "owner";
    case kMarkSection: return "mark";
    default: return "";
  }
}

Sidecar load_sidecar(const std::filesystem::path& path, const SidecarLoadOptions& options) {
  check_version(path);
  const SectionFileReader file(path, kSidecarMagic, kSidecarVersion);
  const auto header = file.value<Header>(kHeader);
  check_analysis(file.name(), header);
  if (options.expected != nullptr) check_expectation(file.name(), header, file.fingerprint(), *options.expected);
  // Copied, not mapped: postings are checked once, and another program may write to a mapped file in place.
  struct Copies {
    std::string name;
    std::array<SectionCopy, 3> sections;
  };
  const auto copies = std::make_shared<const Copies>(
      Copies{file.name(), {file.copy(kLengths), file.copy(kBuckets), file.copy(kEntries)}});
  const auto& [lengths, buckets, entries] = copies->sections;
  file.verify(options.work.cancel);
  file.mapping()->check_unchanged();

  IndexData data;
  data.tokenizer = static_cast<Tokenizer>(header.tokenizer);
  data.documents = header.documents;
  data.terms = header.terms;
  data.tokens = header.tokens;
  data.lengths = lengths.values<std::uint32_t>();
  data.buckets = buckets.values<std::uint64_t>();
  data.entries = entries.bytes;
  std::unique_ptr<FirstUseCheck> first_use;
  if (options.complete) {
    check_index(data, copies->name, options.work);
  } else {
    check_tables(data, copies->name);
    first_use = std::make_unique<FirstUseCheck>(data, copies->name);
  }
  Sidecar sidecar{std::make_shared<const TextIndex>(data, copies, std::move(first_use)), file.fingerprint()};
  sidecar.index->sample_terms(kSampledTerms, options.work.cancel);  // so that tokenizer_fit() cannot fail
  return sidecar;
}

}  // namespace lorekeep::text
