#include "lm/session/prefix_file.h"

#include <string_view>

#include "core/files/section_file.h"
#include "core/values/error.h"

namespace lorekeep::lm {
namespace {

enum Section : std::uint32_t { kRuntime = 1, kTokens = 2, kState = 3 };
constexpr std::uint32_t kSections = 3;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void write_prefix(const std::filesystem::path& path, const PrefixSource& source, const SavedPrefix& prefix,
                  const CancelToken* cancel) {
  SectionFileWriter file(path, kPrefixMagic, kPrefixVersion, source.fingerprint, kSections);
  file.section(kRuntime, std::as_bytes(std::span(source.runtime)), cancel);
  file.section(kTokens, std::as_bytes(std::span(prefix.tokens)), cancel);
  file.section(kState, prefix.state, cancel);
  file.commit();
}

SavedPrefix read_prefix(const std::filesystem::path& path, const PrefixSource& source, const CancelToken* cancel) {
  const SectionFileReader file(path, kPrefixMagic, kPrefixVersion);
  if (file.fingerprint() != source.fingerprint)
    fail_file(Code::kUnsupported, file.name(), "a prefix of another model; compute it again with this one");
  // Copies, because another program may write to the file after the checks.
  const SectionCopy runtime = file.copy(kRuntime);
  if (as_text(runtime.bytes) != source.runtime) {
    fail_file(Code::kUnsupported, file.name(),
              "a prefix made by '" + std::string(as_text(runtime.bytes).substr(0, 100)) + "', and this is '" +
                  source.runtime + "'; compute it again");
  }
  if (cancel != nullptr) cancel->check();
  const SectionCopy tokens = file.copy(kTokens);
  const SectionCopy state = file.copy(kState);
  SavedPrefix prefix;
  const auto values = tokens.values<Token>();
  prefix.tokens.assign(values.begin(), values.end());
  prefix.state.assign(state.bytes.begin(), state.bytes.end());
  if (prefix.tokens.empty()) fail_file(Code::kCorrupt, file.name(), "it has no tokens");
  for (const Token token : prefix.tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= source.vocabulary_size)
      fail_file(Code::kCorrupt, file.name(), "it has tokens that the model does not know");
  }
  return prefix;
}

}  // namespace lorekeep::lm
