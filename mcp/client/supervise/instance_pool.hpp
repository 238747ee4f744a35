// A tool server that is not shared: each caller or run that calls it gets a process of its own (sharing: perCaller,
// perRun). One more process, which gets no calls, keeps the lists; a list that an instance reports counts as well.
#pragma once
#include "mcp/client/supervise/managed_client.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::mcp::supervise {

/// The client of such a server: passes each call on to the instance of its scope. An instance begins with the first
/// call, sleeps after idle_stop without one, and ends when it sleeps or its scope has ended.
class instance_pool final : public clients::client,
                            private server_host,
                            public std::enable_shared_from_this<instance_pool> {
 public:
  /// Time without calls after which an instance ends, if server_options::idle_stop is 0.
  static constexpr milliseconds usual_idle_stop{300'000};
  /// Bits of an instance's number, which is part of its tickets.
  static constexpr unsigned number_bits = 24;
  /// Returns the number after `last` that is not `taken`, from 1 on; after the largest one they begin again.
  static std::uint64_t next_number(std::uint64_t last, const std::function<bool(std::uint64_t)>& taken);

  /// `lister`: the process that keeps the lists. `context` is that of the lister: its host hears of the instances under
  /// the lister's name.
  instance_pool(std::shared_ptr<managed_client> lister, server_context context);
  ~instance_pool() override { drop(); }

  // client
  const std::string& name() const override { return lister_->name(); }
  clients::era era() const override;
  std::string_view instructions() const override { return lister_->instructions(); }
  const protocol::server_offers& offers() const override { return lister_->offers(); }
  /// Beside the errors of a shared server: errc::limit at the bound of instances, errc::invalid_argument if the
  /// caller's working directory is needed and not known.
  ticket call(clients::server_call&& c) override;
  void cancel(ticket t, std::string_view reason) override;
  time_point next_start() const override { return lister_->next_start(); }
  clients::watch watch_resource(std::string_view uri, std::function<void(const json::raw_json&)> updated,
                                clients::watch_decided decided = {}) override {
    return lister_->watch_resource(uri, std::move(updated), std::move(decided));
  }
  clients::watch watch_resource_of(const clients::call_scope_ptr& scope, std::string_view uri,
                                   std::function<void(const json::raw_json&)> updated,
                                   clients::watch_decided decided = {}) override;
  clients::watch watch_task_of(const clients::call_scope_ptr& scope, std::string_view id,
                               std::function<void(const json::raw_json&)> told,
                               clients::watch_decided decided) override;
  clients::watch watch_logs(std::string_view level, std::function<void(const json::raw_json&)> logged) override {
    return lister_->watch_logs(level, std::move(logged));
  }
  clients::watch watch_logs_of(const clients::call_scope_ptr& scope, std::string_view level,
                               std::function<void(const json::raw_json&)> logged) override;

  void notify(const clients::call_scope_ptr& scope, std::string_view method, const json::raw_json& params) override;
  const std::string& log_subject() const override { return log_subject_; }
  void roots_changed() override;

  /// Returns the clients of all instances, oldest first.
  std::vector<std::shared_ptr<managed_client>> clients() const;
  /// Takes settings that need no restart; those of the lister have been adjusted.
  void adjust();
  /// Restarts the instances that do not sleep.
  void restart();
  /// Restarts those of them for whose principal `of` is true. `ready_too`: also those that are ready.
  void restart(const std::function<bool(const std::string& principal)>& of, bool ready_too);
  /// As managed_client::stop(), for all instances. No new one begins afterwards.
  void stop(milliseconds grace, const std::string& why);
  bool ended() const;
  std::size_t open_calls() const;
  /// Adds the instances to the status of the lister.
  void add_to(clients::server_status& s) const;
  void drop();

 private:
  struct instance {
    const clients::call_scope* key = nullptr;  // compared only
    std::weak_ptr<clients::call_scope> caller;
    std::string label, principal;
    std::uint64_t number = 0;  // upper part of its tickets
    std::shared_ptr<managed_client> client;
    bool left = false;  // its scope has ended
  };

  /// Logs that a caller wants of its instances, those that begin later too.
  struct log_watch {
    std::weak_ptr<clients::call_scope> caller;
    std::string level;
    std::function<void(const json::raw_json&)> logged;
    clients::watch at_lister;
    std::vector<std::pair<std::weak_ptr<managed_client>, clients::watch>>
        at_instances;  // those that have ended are dropped
  };

  // server_host, for the instances
  void server_dropped(const managed_client& s, const protocol::feature_kind& kind,
                      std::vector<std::string> why) override;
  void server_list(const managed_client& s, const protocol::feature_kind& kind, protocol::feature_list list) override;
  void server_offered(const managed_client&) override { context_.host.server_offered(*lister_); }
  void server_hints(const managed_client& s, const protocol::feature_kind& kind,
                    const std::optional<catalogs::told_hints>& hints) override {
    if (lists_for_all(s)) context_.host.server_hints(*lister_, kind, hints);
  }
  void server_list_changed(const managed_client& s, const protocol::feature_kind& kind) override {
    if (lists_for_all(s)) context_.host.server_list_changed(*lister_, kind);
  }
  std::size_t server_ended(const managed_client&) override { return context_.host.server_ended(*lister_); }
  void server_moved() override;

  bool is_for_all(const std::string& principal) const;
  bool lists_for_all(const managed_client& s) const;
  result<instance*> instance_for(const clients::call_scope_ptr& scope);
  result<instance*> begin(const clients::call_scope_ptr& scope);
  server_options instance_options(const std::string& cwd, const std::string& principal) const;
  void scope_ended(const clients::call_scope* key);
  void look();
  void watch_logs_at(const std::shared_ptr<managed_client>& client, log_watch& w);
  void look_soon();
  bool stands_still(const instance& i) const;
  std::string who() const { return "tool server \"" + name() + "\""; }

  std::shared_ptr<managed_client> lister_;
  server_context context_;
  std::vector<instance> instances_;
  std::vector<std::weak_ptr<log_watch>> log_watches_;
  std::string log_subject_;  // of the log that is being told
  std::uint64_t last_number_ = 0;
  bool stopping_ = false, dropped_ = false, look_posted_ = false;
};

}  // namespace mcpbx::mcp::supervise
