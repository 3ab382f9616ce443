// The English stopwords and suffix stripping of the tokenizer `enhanced`. Simpler than a linguistic stemmer: a few
// endings are stripped, from texts and queries alike. Both were chosen by nDCG@10 on English test collections.
#pragma once

#include <cstddef>
#include <string_view>

namespace lorekeep::text {

/// Returns whether a folded token is a stopword.
bool is_english_stopword(std::string_view token) noexcept;

/// Strips the suffix of a folded token in place and returns its new size, at least 2 and at most `size`. Tokens that
/// are shorter than 4 bytes or contain characters other than a-z stay as they are. Rules, in this order:
///   1. plural: -ies -> -y (from 5 letters), -sses -> -ss, -s removed unless after u or s
///   2. remove the first of -ization -ation -ically -ment -ness -ly -al that leaves 4 letters and a vowel;
///      otherwise remove the first of -ing -ed that leaves 3 letters and a vowel, and make a doubled last consonant
///      single (except l, s, z)
///   3. remove a last -e (from 5 letters); otherwise turn a last -y after a consonant into -i (from 4 letters)
std::size_t strip_english_suffix(char* token, std::size_t size) noexcept;

/// Returns whether stripping may remove or change all letters from `rest` on in a word that continues with it. False
/// only if it never does.
bool may_begin_english_suffix(std::string_view rest) noexcept;

}  // namespace lorekeep::text
