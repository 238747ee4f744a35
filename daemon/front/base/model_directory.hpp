// Interface to the configured models and to the models that their endpoints offer.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::front {

/// A model that an endpoint offers.
struct offered_row {
  std::string id;    ///< value for `model` of an entry
  std::string name;  ///< a name for people, or ""
};

/// An entry of `models`.
struct model_row {
  std::string name, api;
  std::string model;     ///< the provider's id, or ""
  std::string endpoint;  ///< its address without secrets, or ""
  std::string fallback;  ///< fallbackModel
  std::string problem;   ///< reason why the entry cannot be used now (such as a missing variable), or ""
  bool is_default = false;
  // Answer of the endpoint, if it was asked.
  std::vector<offered_row> offered;
  bool more = false;            ///< the endpoint offers more than those listed
  std::string offered_problem;  ///< reason why there is no list, or ""
};

class model_directory {
 public:
  virtual ~model_directory() = default;
  /// Lists the entries in the order of the configuration, or the one called `name`; `remote` asks the endpoints first.
  /// Calls `done` once, at once or within 30 s. errc::not_found names the nearest entry.
  virtual void list(const std::string& name, bool remote, std::function<void(result<std::vector<model_row>>)> done) = 0;
  /// Returns the most tools of a request, 0: no limit: for the model `name` (as in requests, "" the default) if it uses
  /// `api`, else for models of that API in general. An empty `api` stands for tools shown as text.
  virtual std::size_t max_tools(std::string_view name, std::string_view api) const = 0;
};

}  // namespace mcpbx::daemon::front
