// mcpbx's own answers to questions of tool servers, for callers and runs that cannot answer them: roots come from the
// configuration, a model of ours samples where the server's entry allows it, and elicitation is declined.
#pragma once
#include "daemon/answers/answer_settings.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/policy/tool_facts.hpp"
#include "mcp/client/client.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mcpbx::daemon::answers {

/// Method of a server's question, and the name under which `approve` and the audit know it.
inline constexpr std::string_view sampling_method = "sampling/createMessage";
inline constexpr std::string_view elicitation_method = "elicitation/create";
inline constexpr std::string_view roots_method = "roots/list";

/// Shared by all callers and runs of the daemon. Use it on the executor's thread.
class own_answers {
 public:
  struct means {
    boost::asio::any_io_executor executor;
    time_source& time;        ///< must outlive this object and its handlers
    audit::audit_log* audit;  ///< records sampling; null: the audit is off
    /// Returns the present settings; never null.
    std::function<std::shared_ptr<const answer_settings>()> settings;
  };
  explicit own_answers(means m);
  ~own_answers();
  own_answers(const own_answers&) = delete;
  own_answers& operator=(const own_answers&) = delete;

  /// The caller or run whose call a question belongs to.
  struct asker {
    std::string principal;
    pid_t pid = -1;
    std::string name{};     ///< the caller's own name, or ""
    std::string run{};      ///< or ""
    bool approves = false;  ///< the asker itself sees to approvals; else a request that needs one is refused
  };
  /// Returns a handler of questions. Servers get fixed sentences for failures; the log has the details.
  std::shared_ptr<mcp::clients::question_handler> handler_for(asker who);
  /// Returns true if the server's entry lets a model of ours sample for it.
  bool samples_for(std::string_view server) const;
  /// Returns true if the server's entry has roots.
  bool has_roots_for(std::string_view server) const;
  /// Returns true if mcpbx may declare to a server that such questions are answered: by roots, or by a model that may
  /// sample.
  bool lends(const mcp::clients::server_question& q) const;
  /// Returns true if a question gets more than a refusal: roots always, sampling where the entry allows it.
  bool answers(const mcp::clients::server_question& q) const;

 private:
  class impl;
  class handler;
  std::shared_ptr<impl> impl_;
};

/// A sampling request as the rules about tools see it; its facts are views of it.
struct sampling_tool {
  std::string server, listed;  ///< configured name, and "PREFIX__sampling/createMessage"
  policy::tool_facts facts() const;
};
/// Returns that of a server of these entries.
sampling_tool sampling_tool_of(const policy::terms_ptr& entries, std::string_view server);

}  // namespace mcpbx::daemon::answers
