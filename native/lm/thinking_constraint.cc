#include "lm/thinking_constraint.h"

#include <algorithm>
#include <utility>

#include "lm/byte_constraint.h"

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
      phase_(rules_.starts_inside ? Phase::kThinking : Phase::kHead) {
  if (rules_.starts_inside) begin_thinking({});
}

bool ThinkingConstraint::continues_start(Token token) const {
  if (phase_ != Phase::kHead || rules_.thinking.start.empty() || tokens_->kind(token) != TokenKind::kText) return false;
  const std::string_view bytes = tokens_->bytes(token);
  const std::string_view rest = std::string_view(rules_.thinking.start).substr(started_);
  return !bytes.empty() && (rest.starts_with(bytes) || bytes.starts_with(rest));
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

bool ThinkingConstraint::allows(Token token) {
  if (in_thinking()) return thinking_allows(token);
  if (started_ > 0 && phase_ == Phase::kHead && reply_) return continues_start(token);
  if (continues_start(token) || is_gap(token)) return true;
  return !reply_ || reply_->allows(token);
}

void ThinkingConstraint::mask(std::span<float> logits) {
  const auto size = static_cast<Token>(logits.size());
  if (in_thinking() || (started_ > 0 && phase_ == Phase::kHead && reply_)) {
    for (Token token = 0; token < size; ++token) {
      if (!allows(token)) logits[static_cast<std::size_t>(token)] = kRefused;
    }
    return;
  }
  if (!reply_) return;
  std::vector<std::pair<Token, float>> kept;
  for (Token token = 0; token < size; ++token) {
    if (continues_start(token) || is_gap(token)) kept.emplace_back(token, logits[static_cast<std::size_t>(token)]);
  }
  reply_->mask(logits);
  for (const auto& [token, logit] : kept) logits[static_cast<std::size_t>(token)] = logit;
}

void ThinkingConstraint::accept(Token token) {
  const bool text = tokens_->kind(token) == TokenKind::kText;
  const std::string_view bytes = text ? tokens_->bytes(token) : std::string_view();
  switch (phase_) {
    case Phase::kHead:
      if (!continues_start(token)) {
        // Without a constrained reply, white space may come first; anything else ends the hope for thinking.
        if (!reply_ && text && started_ == 0 && is_space(bytes)) return;
        phase_ = Phase::kReply;
        return reply(token);
      }
      started_ += bytes.size();
      if (started_ >= rules_.thinking.start.size()) {
        begin_thinking(bytes.substr(bytes.size() - (started_ - rules_.thinking.start.size())));
      }
      return;
    case Phase::kThinking: return think(bytes);
    case Phase::kForcing:
      if (++forced_ == rules_.end_tag.size()) end_thinking();
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
  end_.reset();
  if (!rest.empty()) return think(rest);
  if (rules_.thinking_budget == 0u && !rules_.end_tag.empty()) phase_ = Phase::kForcing;
}

void ThinkingConstraint::think(std::string_view bytes) {
  for (const char byte : bytes) {
    if (end_.push(byte)) return end_thinking();
  }
  ++thought_;
  if (rules_.thinking_budget && thought_ >= *rules_.thinking_budget && !rules_.end_tag.empty())
    phase_ = Phase::kForcing;
}

void ThinkingConstraint::end_thinking() {
  phase_ = Phase::kGap;
}

void ThinkingConstraint::reply(Token token) {
  if (reply_) reply_->accept(token);
}

bool ThinkingConstraint::may_end() {
  return !in_thinking() && (!reply_ || reply_->may_end());
}

}  // namespace lorekeep::lm
