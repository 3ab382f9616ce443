// Keeps thinking within its budget and hands the reply after it to another constraint. The reply has no tags of
// thinking, and it is not empty after thinking, unless the other constraint leaves no choice. Internal to native/lm.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lm/grammar/constraint.h"
#include "lm/text/string_matcher.h"

namespace lorekeep::lm {

class ThinkingConstraint : public TokenConstraint {
 public:
  /// `reply` may be null. Precondition: the rules' end tag is not empty.
  ThinkingConstraint(ReplyRules rules, std::shared_ptr<const TokenTable> tokens,
                     std::unique_ptr<TokenConstraint> reply);

  std::optional<bool> allows(Token token, Allowance& work) override;
  bool prepare(Allowance& work) override;
  void mask(std::span<float> logits) override;
  void accept(Token token) override;
  bool may_end() override;

 private:
  enum class Phase {
    kHead,      // nothing yet, or a beginning of the tag that opens thinking or a reply
    kThinking,  // between the tags
    kForcing,   // the end tag is being forced
    kGap,       // white space after the end tag
    kReply,
  };

  /// Whether the reply's own constraint has no say about the next token.
  bool apart() const noexcept {
    return in_thinking() || (!head_.empty() && phase_ == Phase::kHead && reply_) || names_channel();
  }
  /// Whether the model has begun a tag of channels, in which only the name of a known channel may come next.
  bool names_channel() const noexcept;
  bool in_thinking() const noexcept { return phase_ == Phase::kThinking || phase_ == Phase::kForcing; }
  bool continues_start(Token token) const;
  bool continues(std::string_view tag, std::string_view bytes) const;
  void read_head(std::string_view bytes);
  bool is_gap(Token token) const;
  bool thinking_allows(Token token) const;
  bool reply_allows(Token token) const;
  bool allows_apart(Token token) const;
  bool must_continue() const noexcept { return thought_at_all_ && !visible_; }
  bool completes_tag(std::string_view bytes) const;
  void refuse_spoilt_replies(std::span<float> logits) const;
  void begin_thinking(std::string_view rest);
  void think(std::string_view bytes);
  void read_tags(std::string_view bytes);
  void read_reply(std::string_view bytes);
  void reply(Token token);

  ReplyRules rules_;
  std::shared_ptr<const TokenTable> tokens_;
  std::unique_ptr<TokenConstraint> reply_;
  StringMatcher end_;
  std::vector<StringMatcher> tags_;  // that the reply must not have
  Phase phase_;
  std::string head_;           // kHead: a beginning of the tag that opens thinking or a reply
  std::uint32_t thought_ = 0;  // tokens
  std::size_t forced_ = 0;     // tokens of the end tag
  std::uint32_t gap_ = 0;      // tokens without a visible character after thinking
  bool thought_at_all_ = false;
  bool visible_ = false;  // the reply has more than white space
};

}  // namespace lorekeep::lm
