#include "lm/grammar/thinking_constraint.h"

#include <algorithm>
#include <utility>

#include "lm/grammar/token_mask.h"

namespace lorekeep::lm {
namespace {

bool is_space(std::string_view bytes) noexcept {
  return bytes.find_first_not_of(" \n\r\t") == std::string_view::npos;
}

}  // namespace

ThinkingConstraint::ThinkingConstraint(ReplyRules rules, std::shared_ptr<const TokenTable> tokens,
                                       std::unique_ptr<TokenConstraint> reply)
    : rules_(std::move(rules)),
      tokens_(std::move(tokens)),
      reply_(std::move(reply)),
      end_(rules_.thinking.end),
      phase_(rules_.thinking_budget == 0u && rules_.thinking.between.empty() ? Phase::kReply : Phase::kHead) {
  for (const std::string& tag : {rules_.thinking.start, rules_.thinking.end}) {
    if (!tag.empty()) tags_.emplace_back(tag);
  }
  if (rules_.starts_inside) begin_thinking({});
}

bool ThinkingConstraint::continues_start(Token token) const {
  if (phase_ != Phase::kHead || tokens_->kind(token) != TokenKind::kText) return false;
  const std::string_view bytes = tokens_->bytes(token);
  if (bytes.empty()) return false;
  // Without thinking, a model with channels still opens the one of its reply.
  if (rules_.thinking_budget != 0u && continues(rules_.thinking.start, bytes)) return true;
  if (rules_.thinking.between.empty() || !continues(rules_.thinking.end, bytes)) return false;
  // Its own constraint reads a reply from its first byte on.
  return !reply_ || head_.size() + bytes.size() <= rules_.thinking.end.size();
}

bool ThinkingConstraint::names_channel() const noexcept {
  if (phase_ != Phase::kHead || rules_.thinking.between.empty()) return false;
  const auto& [start, end, between] = rules_.thinking;
  const auto common = std::mismatch(start.begin(), start.end(), end.begin(), end.end()).first - start.begin();
  return common > 0 && head_.size() >= static_cast<std::size_t>(common);
}

bool ThinkingConstraint::continues(std::string_view tag, std::string_view bytes) const {
  if (tag.empty() || !tag.starts_with(head_)) return false;
  const std::string_view rest = tag.substr(head_.size());
  return rest.starts_with(bytes) || bytes.starts_with(rest);
}

/// Takes bytes that continue a tag.
void ThinkingConstraint::read_head(std::string_view bytes) {
  head_ += bytes;
  const ThinkingTags& tags = rules_.thinking;
  if (head_.starts_with(tags.start))
    return begin_thinking(bytes.substr(bytes.size() - (head_.size() - tags.start.size())));
  if (tags.between.empty() || !head_.starts_with(tags.end)) return read_tags(bytes);
  for (StringMatcher& tag : tags_) tag.reset();
  phase_ = Phase::kReply;
  read_reply(bytes.substr(bytes.size() - (head_.size() - tags.end.size())));
}

bool ThinkingConstraint::is_gap(Token token) const {
  return phase_ == Phase::kGap && gap_ < kMaxGapTokens && tokens_->kind(token) == TokenKind::kText &&
         !tokens_->bytes(token).empty() && is_space(tokens_->bytes(token));
}

/// With a constrained reply, no token may hold the end of thinking and a beginning of the reply.
bool ThinkingConstraint::thinking_allows(Token token) const {
  if (phase_ == Phase::kForcing) return token == rules_.end_tag[forced_];
  if (tokens_->kind(token) != TokenKind::kText) return false;
  if (!reply_) return true;
  std::size_t progress = end_.progress();
  const std::string_view bytes = tokens_->bytes(token);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    progress = end_.next(progress, bytes[i]);
    if (progress == end_.pattern().size()) return is_space(bytes.substr(i + 1));
  }
  return true;
}

bool ThinkingConstraint::completes_tag(std::string_view bytes) const {
  return std::any_of(tags_.begin(), tags_.end(), [bytes](const StringMatcher& tag) {
    if (bytes.find(tag.pattern().back()) == std::string_view::npos) return false;
    std::size_t progress = tag.progress();
    return std::any_of(bytes.begin(), bytes.end(), [&](char byte) {
      progress = tag.next(progress, byte);
      return progress == tag.pattern().size();
    });
  });
}

/// Refuses tags, and whatever would leave the reply empty after thinking.
bool ThinkingConstraint::reply_allows(Token token) const {
  if (tokens_->kind(token) == TokenKind::kEnd) return !must_continue();
  const bool text = tokens_->kind(token) == TokenKind::kText;
  const std::string_view bytes = text ? tokens_->bytes(token) : std::string_view();
  if (must_continue() && gap_ >= kMaxGapTokens && is_space(bytes)) return false;
  if (is_between(rules_.thinking, bytes)) return false;
  return !completes_tag(bytes);
}

bool ThinkingConstraint::allows_apart(Token token) const {
  return in_thinking() ? thinking_allows(token) : continues_start(token);
}

std::optional<bool> ThinkingConstraint::allows(Token token, Allowance& work) {
  if (apart()) return allows_apart(token);
  if (continues_start(token) || is_gap(token)) return true;
  if (!reply_allows(token)) return false;
  return reply_ ? reply_->allows(token, work) : true;
}

bool ThinkingConstraint::prepare(Allowance& work) {
  return apart() || !reply_ || reply_->prepare(work);
}

void ThinkingConstraint::mask(std::span<float> logits) {
  const auto size = static_cast<Token>(logits.size());
  if (apart()) {
    for (Token token = 0; token < size; ++token) {
      if (!allows_apart(token)) logits[static_cast<std::size_t>(token)] = kRefused;
    }
    return;
  }
  if (!reply_) return refuse_spoilt_replies(logits);
  std::vector<std::pair<Token, float>> kept;
  if (phase_ == Phase::kHead || phase_ == Phase::kGap) {
    for (Token token = 0; token < size; ++token) {
      if (continues_start(token) || is_gap(token)) kept.emplace_back(token, logits[static_cast<std::size_t>(token)]);
    }
  }
  reply_->mask(logits);
  for (const auto& [token, logit] : kept) logits[static_cast<std::size_t>(token)] = logit;
  refuse_spoilt_replies(logits);
}

/// Leaves the logits as they are if no other token is allowed.
void ThinkingConstraint::refuse_spoilt_replies(std::span<float> logits) const {
  std::vector<std::size_t> refused;
  const auto look = [&](Token token) {
    const auto i = static_cast<std::size_t>(token);
    if (logits[i] == kRefused || continues_start(token) || is_gap(token) || reply_allows(token)) return;
    refused.push_back(i);
  };
  if (must_continue()) {
    for (Token token = 0; token < static_cast<Token>(logits.size()); ++token) look(token);
  } else {
    for (const Token token : *rules_.tag_tokens) look(token);
  }
  if (refused.empty()) return;
  const auto allowed = std::count_if(logits.begin(), logits.end(), [](float logit) { return logit != kRefused; });
  if (static_cast<std::size_t>(allowed) == refused.size()) return;
  for (const std::size_t i : refused) logits[i] = kRefused;
}

void ThinkingConstraint::accept(Token token) {
  const bool text = tokens_->kind(token) == TokenKind::kText;
  const std::string_view bytes = text ? tokens_->bytes(token) : std::string_view();
  switch (phase_) {
    case Phase::kHead:
      if (!continues_start(token)) {
        // Without a constrained reply, white space may come first; anything else ends the hope for thinking.
        if (!reply_ && text && head_.empty() && is_space(bytes)) return;
        phase_ = Phase::kReply;
        return reply(token);
      }
      return read_head(bytes);
    case Phase::kThinking: return think(bytes);
    case Phase::kForcing:
      if (++forced_ == rules_.end_tag.size()) phase_ = Phase::kGap;
      return;
    case Phase::kGap:
      if (is_gap(token)) {
        ++gap_;
        return;
      }
      phase_ = Phase::kReply;
      return reply(token);
    case Phase::kReply: return reply(token);
  }
}

void ThinkingConstraint::begin_thinking(std::string_view rest) {
  phase_ = Phase::kThinking;
  thought_at_all_ = true;
  for (StringMatcher& tag : tags_) tag.reset();
  if (!rest.empty()) return think(rest);
  if (rules_.thinking_budget == 0u && !rules_.end_tag.empty()) phase_ = Phase::kForcing;
}

void ThinkingConstraint::think(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!end_.push(bytes[i])) continue;
    phase_ = Phase::kGap;
    return read_reply(bytes.substr(i + 1));
  }
  ++thought_;
  if (rules_.thinking_budget && thought_ >= *rules_.thinking_budget && !rules_.end_tag.empty())
    phase_ = Phase::kForcing;
}

void ThinkingConstraint::read_tags(std::string_view bytes) {
  for (StringMatcher& tag : tags_) {
    for (const char byte : bytes) tag.push(byte);
  }
}

void ThinkingConstraint::read_reply(std::string_view bytes) {
  read_tags(bytes);
  if (is_space(bytes)) return;
  visible_ = true;
  phase_ = Phase::kReply;
}

void ThinkingConstraint::reply(Token token) {
  if (tokens_->kind(token) == TokenKind::kText) read_reply(tokens_->bytes(token));
  if (must_continue()) ++gap_;
  if (reply_) reply_->accept(token);
}

bool ThinkingConstraint::may_end() {
  return !in_thinking() && !must_continue() && (!reply_ || reply_->may_end());
}

}  // namespace lorekeep::lm
