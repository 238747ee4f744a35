// Keeps tokens with the address that they are for, since a reference of an entry may give another one at any time.
#include "daemon/logins/entry_tokens.hpp"

#include <utility>

namespace mcpbx::daemon::logins {
namespace {

constexpr std::size_t most_assertions = 8;
constexpr std::string_view moved = "the address of the server has changed";

// The tokens as one connection sees them: there are none while they are for another address than its own.
class tokens_at_address final : public mcp::connect::authorizer {
 public:
  tokens_at_address(std::shared_ptr<entry_tokens> all, std::string url) : all_(std::move(all)), url_(std::move(url)) {}

  void prepare(std::function<void()> then) override {
    if (elsewhere()) return then();
    all_->prepare(std::move(then));
  }
  bool is_prepared() const override { return elsewhere() || all_->is_prepared(); }
  std::string header() const override { return all_->url() == url_ ? all_->header() : std::string(); }
  void refused(int status, std::string_view challenge, std::string_view sent,
               std::function<void(bool)> again) override {
    if (elsewhere()) return again(false);
    all_->refused(status, challenge, sent, std::move(again));
  }
  void stream_refused(std::string_view sent, std::function<void(bool)> again) override {
    if (elsewhere()) return again(false);
    all_->stream_refused(sent, std::move(again));
  }
  std::string sentence() const override { return all_->sentence(); }

 private:
  bool elsewhere() const { return !all_->url().empty() && all_->url() != url_; }

  std::shared_ptr<entry_tokens> all_;
  std::string url_;
};

}  // namespace

std::shared_ptr<mcp::connect::authorizer> entry_tokens::at(const std::string& url) {
  if (!settings_.url.empty() && settings_.url != url) leave_address();
  return std::make_shared<tokens_at_address>(shared_from_this(), url);
}

// Takes settings that have just been resolved. Returns false if they are for another address than the tokens: then
// everything that was under way for the old one has ended, and the tokens of the new one are read at the next use.
bool entry_tokens::take_settings(login_settings s) {
  const bool same = settings_.url.empty() || settings_.url == s.url;
  if (!same) leave_address();
  if (s.assertion.reveal() != settings_.assertion.reveal()) {
    if (assertions_.size() >= most_assertions) assertions_.erase(assertions_.begin());
    assertions_.emplace_back(s.assertion);
  }
  settings_ = std::move(s);
  return same;
}

// Forgets the tokens in memory. Tokens on disk stay, since the entry may get their address back.
void entry_tokens::leave_address() {
  const auto self = shared_from_this();
  outdate();
  ++moves_;
  settings_ = {};
  grant_ = {};
  serial_ = 0;
  kept_ = false;
  lost_.reset();
  if (std::exchange(loaded_, false)) loading_ = false;
  unreadable_.clear();
  challenge_ = {};
  sentence_.clear();
  problem_.clear();
  if (auto* const present = present_login()) present->cancel(moved);
  if (std::exchange(preparing_, false)) login_over(std::unexpected(ended_by(moved)));
  unanswered_ = false;
  if (renewing_) end_renewal(false);
}

}  // namespace mcpbx::daemon::logins
