// One pass over all postings of a term. A search that looks up single blocks uses QueryTermPostings.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/values/bitmap.h"
#include "text/postings.h"

namespace lorekeep::text {

/// Calls visit(block, body, size) for each block with the term, ascending. `blocks` of the whole index.
template <class Visit>
inline void for_each_block(const TermEntry& entry, std::uint32_t blocks, Visit&& visit) {
  const bool dense = is_dense(entry.blocks, blocks);
  const std::uint32_t rows = dense ? dense_rows(blocks) : entry.blocks;
  const auto* const sizes = reinterpret_cast<const std::uint8_t*>(entry.directory) + rows;
  const auto* const behind = reinterpret_cast<const std::byte*>(sizes + rows);
  if (dense) {
    const std::byte* body = behind + std::size_t{starts_of(blocks)} * sizeof(std::uint32_t);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      if (sizes[block] != 0) visit(block, body, std::size_t{sizes[block]});
      body += sizes[block];
    }
    return;
  }
  const std::byte* body = behind;
  for (std::uint32_t row = 0; row < rows; ++row) read_varint(body);
  const std::byte* gaps = behind;
  std::uint32_t next = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t block = next + static_cast<std::uint32_t>(read_varint(gaps));
    visit(block, body, std::size_t{sizes[row]});
    body += sizes[row];
    next = block + 1;
  }
}

/// Returns how many of some documents have the term. `blocks` of the whole index; `documents` has a bit per document.
inline std::uint32_t documents_among(const TermEntry& entry, std::uint32_t blocks, const Bitmap& documents) {
  static_assert(kBlockDocuments == 64);
  std::uint32_t found = 0;
  for_each_block(entry, blocks, [&](std::uint32_t block, const std::byte* body, std::size_t size) {
    const std::uint64_t wanted = documents.words()[block];
    if (wanted == 0) return;
    for_each_posting(body, size, [&](std::uint32_t local, std::uint32_t) {
      found += static_cast<std::uint32_t>(wanted >> local & 1);
    });
  });
  return found;
}

}  // namespace lorekeep::text
