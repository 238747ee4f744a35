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

namespace mcpbx::daemon {

/// What a name in a request means: "" the default, profile:NAME the model of that profile (the default when it has
/// none). Gives NAME or NAME/ID; "" when no model is meant; a profile that does not exist comes back as it is.
std::string_view meant_model(const conf::configuration& all, std::string_view name);
/// The entry of that model, or null.
const conf::model_entry* model_entry_of(const conf::configuration& all, std::string_view name);
/// Whether such a name leads to an entry. errc::config names the nearest.
result<void> check_model_name(const conf::configuration& all, std::string_view name);

/// The address of an entry's API: its own, or the usual one. errc::config when its references cannot be resolved, or
/// when there is none.
result<std::string> base_url_of(const conf::model_entry& e, const start_values& values);
/// How many tools a request to the entry's model may have; 0: any number.
std::size_t max_tools_of(const conf::model_entry& e);

/// What the models of every snapshot are made with. Everything given by reference must outlive them.
struct model_surroundings {
  boost::asio::any_io_executor executor;
  http::client& client;
  time_source& time;
  random_source& random;
  keyed_lanes& keys;
};

/// A snapshot that is replaced has its set with it; models that are in use outlive their set.
class model_set {
 public:
  model_set(configuration_ptr from, model_surroundings around) : from_(std::move(from)), around_(std::move(around)) {}

  const conf::configuration& configuration() const noexcept { return from_->config; }
  const start_values& values() const noexcept { return from_->values; }

  /// A configured name, NAME/ID (that entry with another model id), profile:NAME, or "" for the default. errc::config
  /// names the nearest, says how to get a model when none is configured, or why this one cannot be used.
  result<std::shared_ptr<providers::model>> find(std::string_view name);

  /// How the endpoint of an entry is reached: address, trust, limits, credentials; the wire's other switches are not
  /// set. They may outlive the set.
  result<providers::chat_model_options> connection_options(const conf::model_entry& e);

 private:
  result<std::shared_ptr<providers::model>> make(const conf::model_entry& e, std::string_view id);
  result<std::shared_ptr<providers::model>> make_rehearsal(const conf::model_entry& e) const;
  result<std::shared_ptr<providers::model>> make_replay(const conf::model_entry& e, std::string_view id);

  configuration_ptr from_;
  model_surroundings around_;
  std::map<std::string, std::shared_ptr<providers::model>, std::less<>> made_;
};

}  // namespace mcpbx::daemon
