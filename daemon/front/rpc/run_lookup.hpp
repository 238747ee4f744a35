// The search for the run of a name: among active runs, in the journal, and at the daemons that share it.
#pragma once
#include "daemon/front/base/door_context.hpp"
#include "mcp/server/base/reply_once.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace mcpbx::daemon::rpc_door {

/// The run that a search found.
struct found_run {
  std::shared_ptr<run::run_feed> feed = {};  ///< null: no run has this name, for the reason `why`
  bool recalled = false;                     ///< true: it has ended and was read from the journal
  std::string session = {};                  ///< of a recalled run; or ""
  error why = {};
};

/// One search for one request. Keeps itself alive while it waits, and stops when the request is answered, cancelled, or
/// its caller is gone.
class run_lookup : public std::enable_shared_from_this<run_lookup> {
 public:
  struct wish {
    std::string run;
    bool in_journal = true;      ///< also reads ended runs from the journal
    std::uint64_t likeness = 0;  ///< see runner::recall
    /// Holds the name from the search in the journal to the end of `then`, which may begin a run of it: requests of
    /// others for this name wait until then.
    bool begins = false;
  };
  using taker = std::move_only_function<void(const found_run&)>;

  /// Use start().
  run_lookup(front::door_context& door, wish w, mcp::server::reply_once reply, taker then)
      : door_(door), wish_(std::move(w)), reply_(std::move(reply)), then_(std::move(then)) {}

  /// Searches and calls `then` once, inside this call if the run is active. Answers the request with an error instead
  /// if another daemon owns the run, the journal cannot be read, or too many requests wait. The door must outlive the
  /// request.
  static void start(front::door_context& door, wish w, const mcp::server::reply_once& reply, taker then) {
    std::make_shared<run_lookup>(door, std::move(w), reply, std::move(then))->search();
  }

 private:
  void search();
  void wait_for_name();
  void ask_journal();
  void ask_owner();
  void end(const found_run& found) { then_(found); }
  void refuse(const error& why) const;

  front::door_context& door_;
  wish wish_;
  mcp::server::reply_once reply_;
  taker then_;
  std::shared_ptr<void> held_;  // the name, if the request may begin the run
};

}  // namespace mcpbx::daemon::rpc_door
