// The configured models as callers see them, and what their endpoints offer.
#pragma once
#include "mcp/support/error.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// A model that an endpoint offers.
struct offered_row {
  std::string id;    ///< what `model` of an entry takes
  std::string name;  ///< a name for people, or ""
};

/// An entry of `models`.
struct model_row {
  std::string name, api;
  std::string model;     ///< the provider's id; "" where there is none
  std::string endpoint;  ///< its address without what may hold a secret; "" where there is none
  std::string fallback;  ///< fallbackModel
  std::string problem;   ///< why the entry cannot be used now, or ""
  bool is_default = false;
  // What the endpoint said, when it was asked.
  std::vector<offered_row> offered;
  bool more = false;            ///< it offers others beside those
  std::string offered_problem;  ///< why there is no list, or ""
};

class model_directory {
 public:
  virtual ~model_directory() = default;
  /// Gives the entries in the order of the configuration, or the one called `name`; with `remote` the endpoints are
  /// asked first. `done` is called once, at once or within 30 s. errc::not_found names the nearest entry.
  virtual void list(const std::string& name, bool remote, std::function<void(result<std::vector<model_row>>)> done) = 0;
  /// How many tools a request may have, 0: any number: of the model `name` (as requests name it, "" the default) where
  /// it speaks `api`, else of that API's models in general. An empty `api`: of tools that are shown as text.
  virtual std::size_t max_tools(std::string_view name, std::string_view api) const = 0;
};

}  // namespace mcpbx::daemon
