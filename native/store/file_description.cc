#include "store/file_description.h"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "core/files/mapped_file.h"
#include "core/files/section_file.h"
#include "store/embeddings_file.h"
#include "store/indexed_records.h"
#include "text/sidecar_file.h"
#include "vector/hnswlib_file.h"
#include "vector/index_file.h"

namespace lorekeep::store {
namespace {

/// The common beginning of all section files, in every version.
struct Beginning {
  Magic magic;
  std::uint32_t version;
};

std::optional<Beginning> read_beginning(const MappedFile& file) {
  if (file.bytes().size() < sizeof(Beginning)) return std::nullopt;
  Beginning beginning;
  std::memcpy(&beginning, file.bytes().data(), sizeof(beginning));
  return beginning;
}

bool is_about_content(Code code) {
  return code == Code::kCorrupt || code == Code::kUnsupported;
}

void add(FileDescription& file, const char* name, std::uint64_t number) {
  file.facts.emplace_back(name, static_cast<std::int64_t>(number));
}

std::string hexadecimal(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

void describe_index(const SectionFileReader& reader, FileDescription& file) {
  const vector::IndexFacts facts = vector::read_index_facts(reader);
  add(file, "rows", facts.count);
  add(file, "dimension", facts.dimension);
  file.facts.emplace_back("vectorType", std::string(vector::type_name(facts.type)));
  add(file, "m", facts.m);
  add(file, "efConstruction", facts.ef_construction);
  if (!has_records(reader)) return;
  const IndexedRecordsFacts records = read_indexed_records_facts(reader);
  add(file, "recordsFileBytes", records.file_size);
  file.facts.emplace_back("recordsFileChecksum", hexadecimal(records.file_checksum));
  file.facts.emplace_back("textsFingerprint", hexadecimal(records.fingerprint));
}

std::string_view index_section_name(std::uint32_t id) noexcept {
  const std::string_view name = vector::index_section_name(id);
  return name.empty() ? records_section_name(id) : name;
}

void describe_sidecar(const SectionFileReader& reader, FileDescription& file) {
  const text::SidecarFacts facts = text::read_sidecar_facts(reader);
  add(file, "rows", facts.documents);
  file.facts.emplace_back("tokenizer", facts.tokenizer);
  add(file, "terms", facts.terms);
  add(file, "tokens", facts.tokens);
}

void describe_embeddings(const SectionFileReader& reader, FileDescription& file) {
  const EmbeddingsFacts facts = read_embeddings_facts(reader);
  add(file, "rows", facts.rows);
  add(file, "dimension", facts.dimension);
}

void describe_hnswlib(const std::filesystem::path& path, FileDescription& file) {
  const vector::HnswlibFacts facts = vector::read_hnswlib_facts(path);
  file.kind = FileKind::kHnswlibIndex;
  add(file, "rows", facts.count);
  add(file, "dimension", facts.dimension);
  file.facts.emplace_back("vectorType", std::string(vector::type_name(vector::VectorType::kF32)));
  add(file, "m", facts.m);
  add(file, "efConstruction", facts.ef_construction);
}

/// A kind of section file: its magic, and functions that read its header and name its sections.
struct Format {
  FileKind kind;
  Magic magic;
  std::uint32_t oldest;
  std::uint32_t newest;
  Damaged damaged;
  void (*describe)(const SectionFileReader&, FileDescription&);
  std::string_view (*section_name)(std::uint32_t) noexcept;
};

const Format kFormats[] = {
    {FileKind::kIndex, vector::kIndexMagic, vector::kOldestIndexVersion, vector::kIndexVersion, Damaged::kRemade,
     describe_index, index_section_name},
    {FileKind::kTextIndex, text::kSidecarMagic, text::kSidecarVersion, text::kSidecarVersion, Damaged::kRemade,
     describe_sidecar, text::sidecar_section_name},
    {FileKind::kEmbeddings, kEmbeddingsMagic, kEmbeddingsVersion, kEmbeddingsVersion, Damaged::kRemade,
     describe_embeddings, embeddings_section_name},
};

void describe_sections(const std::filesystem::path& path, const Format& format, bool verify, const CancelToken* cancel,
                       FileDescription& file) {
  const SectionFileReader reader(path, format.magic, format.oldest, format.newest);
  file.fingerprint = reader.fingerprint();
  for (const SectionEntry& section : reader.sections()) {
    if (cancel != nullptr) cancel->check();
    SectionDescription described{
        section.id, std::string(format.section_name(section.id)), section.offset, section.size, {}};
    if (verify) {
      described.sound = reader.sound(section.id);
      if (!*described.sound && file.refusal.empty()) {
        file.refusal = "section " + std::to_string(section.id) + " (" + described.name + "): the checksum is wrong";
      }
    }
    file.sections.push_back(std::move(described));
  }
  format.describe(reader, file);
}

}  // namespace

std::string_view file_kind_name(FileKind kind) noexcept {
  switch (kind) {
    case FileKind::kIndex: return "index";
    case FileKind::kTextIndex: return "text index";
    case FileKind::kEmbeddings: return "embeddings";
    case FileKind::kHnswlibIndex: return "hnswlib index";
    case FileKind::kUnknown: return "unknown";
  }
  return "unknown";
}

void check_destination(const std::filesystem::path& path, FileKind kind, const FileOwner* owner) {
  for (const Format& format : kFormats) {
    if (format.kind == kind)
      return Destination(path, replaces_own_kind(path, format.magic, owner, format.damaged)).check();
  }
  fail(Code::kInternal, "files of this kind are not written");
}

FileDescription describe_file(const std::filesystem::path& path, bool verify, const CancelToken* cancel) {
  FileDescription file;
  const MappedFile mapped(path);
  file.size = mapped.bytes().size();
  const auto beginning = read_beginning(mapped);
  for (const Format& format : kFormats) {
    if (!beginning || !(beginning->magic == format.magic)) continue;
    file.kind = format.kind;
    file.version = beginning->version;
    try {
      describe_sections(path, format, verify, cancel, file);
    } catch (const Error& error) {
      if (!is_about_content(error.code())) throw;
      if (file.refusal.empty()) file.refusal = error.what();
    }
    return file;
  }
  try {
    describe_hnswlib(path, file);
  } catch (const Error& error) {
    if (!is_about_content(error.code())) throw;
    file.refusal = "neither a lorekeep file nor an hnswlib index";
  }
  return file;
}

}  // namespace lorekeep::store
