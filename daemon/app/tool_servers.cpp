// Construction of the keeper link, the pins and the supervisor, and admission of tool servers as callers.
#include "daemon/app/tool_servers.hpp"

#include "conf/places.hpp"
#include "daemon/app/callers/port_callers.hpp"
#include "daemon/app/options/framing.hpp"
#include "daemon/app/options/guard.hpp"
#include "daemon/app/options/login_entries.hpp"
#include "daemon/app/options/server_entries.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/process/started_apart.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mcpbx::daemon::app {
namespace {

std::string own_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

}  // namespace

tool_servers::tool_servers(base_parts& base, blocking_lanes& lanes, http::clients::client& client,
                           const conf::model::configuration& config, mcp::keepers::keeper_handle keeper)
    : base_(base),
      references_(lanes.references),
      client_(client),
      keeper_(base.executor(), base.time, keeper, options::server_framing(config),
              [this] { servers_.keeper_replaced(); }),
      strays_(base.time, [this](pid_t pid) { return keeper_.pid() == pid; }),
      pins_(base.executor(), base.time, options::pin_options(config, conf::environment_for_places())),
      logins_({base.executor(), base.time, client, auth::system_secrets()},
              options::login_options(conf::environment_for_places()),
              {[this](const logins::login_entry& entry, bool held) { tokens_changed(entry, held); },
               [](std::vector<std::string> command) {
                 if (const auto started = mcp::process::start_apart(std::move(command)); !started)
                   log::warn("auth.open: " + started.error().message);
               }}),
      servers_(base.time, base.random, {.version = MCPBX_VERSION, .gate = &pins_}),
      tools_(servers_) {}

void tool_servers::when_listed(std::function<void()> listed) {
  first_tools_ = servers_.on_catalog_change([this, listed = std::move(listed)](const mcp::protocol::feature_kind&) {
    listed();
    boost::asio::post(base_.io, [this] { first_tools_.reset(); });
  });
}

void tool_servers::apply(const conf::model::configuration& config) {
  pins_.set_servers(options::pin_options(config, conf::environment_for_places()).servers);
  // A server that is gone takes its book along; its process may write to it until it has ended.
  std::erase_if(books_, [&](const auto& book) {
    return std::ranges::find(config.servers, book.first, &conf::model::server_entry::name) == config.servers.end();
  });
  auto with = means();
  with.framing = options::server_framing(config);
  logins_.set_entries(options::login_entries(config, with), options::login_callers(config));
  servers_.apply(options::supervised_servers(config, with));
}

options::server_means tool_servers::means() {
  return {own_folder(),
          references_,
          base_.executor(),
          keeper_,
          base_.time,
          client_,
          verdicts_,
          {},
          [this](const std::string& server, const std::string& url, const std::string& principal) {
            return logins_.tokens_at(server, url, principal);
          },
          [this](const std::string& server) {
            auto& book = books_[server];
            if (!book) book = std::make_shared<mcp::clients::stderr_lines>();
            return book;
          },
          [this](const std::string& server, const std::string& principal) {
            return logins_.is_same_account(server, principal);
          }};
}

std::shared_ptr<mcp::clients::stderr_lines> tool_servers::stderr_of(const std::string& server) const {
  const auto found = books_.find(server);
  return found == books_.end() ? nullptr : found->second;
}

// A working server keeps its connection when a login brings it more rights; one that waits for a login is connected
// again.
void tool_servers::tokens_changed(const logins::login_entry& entry, bool held) {
  const auto& server = entry.server;
  // The login of one caller is no reason to end what others do.
  if (entry.per_caller)
    return servers_.renew(
        server,
        [whose = entry.principal](const std::string& principal) {
          return whose.empty() ? principal.empty() || stored::is_person(principal) : principal == whose;
        },
        !held);
  for (const auto& s : servers_.status())
    if (s.name == server && !(held && s.state == mcp::clients::server_state::ready) &&
        s.state != mcp::clients::server_state::disabled)
      static_cast<void>(servers_.restart(server));
}

result<std::string> tool_servers::admit(const mcp::socket::peer_credentials& peer) {
  using enum mcp::keepers::process_owner::kind;
  if (last_stranger_.is(peer)) return callers::admitted({.type = stranger, .server = {}, .may_call = false});
  const auto owner = keeper_.owner_of(peer.pid);
  if (!mcp::socket::still_there(peer)) return callers::admitted({});
  if (owner.type == stranger) last_stranger_.note(peer);
  return callers::admitted(owner);
}

bool tool_servers::is_not_known_yet(pid_t pid) const {
  if (!keeper_.is_starting()) return false;
  const auto owner = keeper_.owner_of(pid);
  return owner.type == mcp::keepers::process_owner::kind::ours && owner.server.empty();
}

}  // namespace mcpbx::daemon::app
