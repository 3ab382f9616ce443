// What the tokenizer `enhanced` adds: a small English stopword set and a trivial suffix strip. Not a linguist's
// stemmer: a few endings off, the same for texts and queries. Both were chosen by nDCG@10 on English test collections.
#pragma once

#include <cstddef>
#include <string_view>

namespace lorekeep::text {

/// Whether a folded token is one of the words that say nothing about a text's subject.
bool is_english_stopword(std::string_view token) noexcept;

/// Strips the suffix of a folded token in place and returns its new size, at least 2 and at most `size`. Tokens that
/// are shorter than 4 bytes or hold anything but a-z stay as they are. In this order:
///   1. plural: -ies -> -y (from 5 letters), -sses -> -ss, -s -> nothing unless after u or s
///   2. the first of -ization -ation -ically -ment -ness -ly -al that leaves 4 letters and a vowel goes;
///      otherwise the first of -ing -ed that leaves 3 letters and a vowel goes, and a doubled last consonant becomes
///      one (but not l, s, z)
///   3. a last -e goes (from 5 letters); otherwise a last -y after a consonant becomes -i (from 4 letters)
std::size_t strip_english_suffix(char* token, std::size_t size) noexcept;

}  // namespace lorekeep::text
