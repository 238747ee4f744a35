// The caller or the run behind calls, for tool servers that give each caller or run a process of its own. The makers of
// calls hold the scope as long as calls may follow; its end ends those processes.
#pragma once
#include "mcp/rpc/pending_calls.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::clients {

struct server_question;
class call_scope;
using call_scope_ptr = std::shared_ptr<call_scope>;

/// Identified by its address. Open calls hold it, so that it outlives them.
class call_scope : public std::enable_shared_from_this<call_scope> {
  struct make {};

 public:
  using done_handler = rpc::pending_calls::done_handler;
  using answerer = std::function<bool(const server_question& q, done_handler done)>;
  using listener = std::function<void(const std::vector<std::string>& extensions, std::string_view method,
                                      const json::raw_json& params)>;
  /// Returns the scope of a caller. `label` names it to people ("caller ide (pid 12)"), `principal` is the identity for
  /// which it logs in to servers (daemon/store/records/principal.hpp).
  static call_scope_ptr of_caller(std::string label, std::string cwd = {}, std::string principal = {}) {
    return std::make_shared<call_scope>(make(), std::move(label), std::move(cwd), std::move(principal), nullptr);
  }
  /// Returns the scope of a run, which keeps that of its caller; null: the run has no caller, such as one that goes on
  /// after a restart, and is its own for this principal.
  static call_scope_ptr of_run(std::string label, call_scope_ptr caller, std::string principal = {}) {
    return std::make_shared<call_scope>(make(), std::move(label), std::string(), std::move(principal),
                                        std::move(caller));
  }
  call_scope(make, std::string label, std::string cwd, std::string principal, call_scope_ptr caller)
      : label_(std::move(label)), cwd_(std::move(cwd)), principal_(std::move(principal)), caller_(std::move(caller)) {}
  ~call_scope() {
    for (const auto& [owner, ended] : ended_) ended();
  }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;

  /// Returns the scope of the caller: for a run without one, and for a caller, this scope.
  call_scope_ptr caller() { return caller_ ? caller_ : shared_from_this(); }
  const std::string& label() const noexcept { return label_; }
  /// Returns the caller's working directory, or "" if it is not known.
  const std::string& cwd() const noexcept { return caller_ ? caller_->cwd() : cwd_; }
  /// Returns the identity of the caller, or "" if it has none.
  const std::string& principal() const noexcept { return caller_ ? caller_->principal() : principal_; }
  void set_label(std::string label) { label_ = std::move(label); }
  void set_cwd(std::string cwd) { cwd_ = std::move(cwd); }
  /// Sets who asks the caller what belongs to no call; it must watch over whatever it uses.
  void answer_with(answerer a) { answerer_ = std::move(a); }
  /// Asks the caller. Returns false, and does not call `done`, if it cannot be asked; else `done` is called once, never
  /// from inside.
  bool ask(const server_question& q, done_handler done) const { return answerer_ && answerer_(q, std::move(done)); }
  /// Sets who takes notifications of extensions that belong to no call; it must watch over whatever it uses.
  void listen_with(listener l) { listener_ = std::move(l); }
  void tell(const std::vector<std::string>& extensions, std::string_view method, const json::raw_json& params) const {
    if (const auto l = listener_) l(extensions, method, params);
  }
  /// Calls `ended` when the last holder has let go; one call for each `owner`, the latest. It must only post work:
  /// anything may be on the stack.
  void when_ended(const void* owner, std::function<void()> ended) { ended_[owner] = std::move(ended); }

 private:
  std::string label_, cwd_, principal_;
  call_scope_ptr caller_;
  answerer answerer_;
  listener listener_;
  std::map<const void*, std::function<void()>> ended_;  // by owner
};

}  // namespace mcpbx::mcp::clients
