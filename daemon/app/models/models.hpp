// The configured models of one snapshot of the configuration, made when they are first asked for and kept.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/references/current_configuration.hpp"
#include "mcp/async/keyed_lanes.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/support/time.hpp"
#include "providers/call/chat_model.hpp"
#include "providers/model/message.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::models {

/// Resolves a name of a request: "" is the default, profile:NAME the model of that profile (or the default). Returns
/// NAME or NAME/ID, "" if no model is meant, and the name itself if the profile does not exist.
std::string_view meant_model(const conf::model::configuration& all, std::string_view name);
/// Returns the entry of the model `name`, or null.
const conf::model::model_entry* model_entry_of(const conf::model::configuration& all, std::string_view name);
/// Fails with errc::config, naming the nearest entry, if `name` leads to no entry.
result<void> check_model_name(const conf::model::configuration& all, std::string_view name);

/// Returns the address of an entry's API: its own, or the usual one. errc::config: its references cannot be resolved,
/// or there is no address.
result<std::string> base_url_of(const conf::model::model_entry& e, const references::start_values& values);
/// Returns the most tools that a request to the entry's model may have; 0: no limit.
std::size_t max_tools_of(const conf::model::model_entry& e);

/// Dependencies of the models of every snapshot. All references must outlive the models.
struct model_surroundings {
  boost::asio::any_io_executor executor;
  http::clients::client& client;
  time_source& time;
  random_source& random;
  async::keyed_lanes& keys;
};

/// The models of one snapshot. A model in use outlives its set.
class model_set {
 public:
  model_set(references::configuration_ptr from, model_surroundings around)
      : from_(std::move(from)), around_(std::move(around)) {}

  const conf::model::configuration& configuration() const noexcept { return from_->config; }
  const references::start_values& values() const noexcept { return from_->values; }

  /// Returns the model of a configured name, NAME/ID (that entry with another model id), profile:NAME, or "" for the
  /// default. errc::config names the nearest entry, says how to configure a model, or why this one cannot be used.
  result<std::shared_ptr<providers::model>> find(std::string_view name);

  /// Returns the address, trust, limits and credentials for an entry's endpoint; other wire options stay unset. The
  /// result may outlive the set.
  result<providers::call::chat_model_options> connection_options(const conf::model::model_entry& e);

 private:
  result<std::shared_ptr<providers::model>> make(const conf::model::model_entry& e, std::string_view id);
  result<std::shared_ptr<providers::model>> make_rehearsal(const conf::model::model_entry& e) const;
  result<std::shared_ptr<providers::model>> make_replay(const conf::model::model_entry& e, std::string_view id);

  references::configuration_ptr from_;
  model_surroundings around_;
  std::map<std::string, std::shared_ptr<providers::model>, std::less<>> made_;
};

}  // namespace mcpbx::daemon::models
