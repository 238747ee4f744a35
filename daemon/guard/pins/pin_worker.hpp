// Reads, compares and writes the file of pins. All functions block; call them on a lane.
#pragma once
#include "daemon/guard/pins/pin_register.hpp"
#include "daemon/guard/pins/pins.hpp"
#include "mcp/client/catalog/definition_gate.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::pins {

/// Pin settings of a configured server.
struct pinned_server {
  std::string name;
  pin_mode mode = pin_mode::off;
  std::string origin;             ///< result of origin_text()
  plain_name_of plain_name = {};  ///< called on the lane; null: its tools have no plain names
};

/// A server with its list of tools and the decision about it.
struct pin_listing {
  pinned_server server;
  mcp::protocol::feature_list tools;  ///< null: not known
  std::uint64_t generation = 0;       ///< generation of the list, for the caller
  bool judge = false;                 ///< a decision is wanted; `tools` is not null then
  mcp::catalogs::definition_decision decision{};
};

struct pin_list_request {
  pin_choice which;
  bool definitions = false;
  std::function<void(pin_report)> then;
  pin_report report{};
};

struct pin_accept_request {
  pin_choice which;
  std::string sha256;
  std::function<void(result<std::size_t>)> then;
  result<std::size_t> outcome = std::size_t{0};
};

/// Work that is done with one read and at most one write of the file.
struct pin_job {
  std::string now;  ///< UTC
  /// All servers have listed their tools or will not soon, so free plain names are assigned permanently. Before that, a
  /// server that comes earlier in the configuration may still claim them.
  bool settled = true;
  std::vector<pin_listing> servers;
  std::vector<pin_accept_request> accepts;
  std::vector<pin_list_request> lists;
  bool failed = false;  ///< the file could not be used; the decisions must be made again later
};

class pin_worker {
 public:
  /// `path` is the file's path, or the reason why there is none. The folder is created at the first write. Other
  /// daemons may use the same file.
  explicit pin_worker(result<std::string> path) : path_(std::move(path)) {}

  /// Fills in all decisions, outcomes and reports. The first list of a server pins all its tools; later pins need an
  /// accept. A file that cannot be read or understood is left as it is.
  void work(pin_job& job);
  /// Fills them in for a job that cannot be done, for this reason.
  void failed(pin_job& job, const std::string& what) { cannot_compare(job, {errc::internal, what}); }

 private:
  result<pin_file> read();
  result<void> write(pin_job& job);
  bool apply(pin_job& job, pin_file& file);
  void fill(pin_list_request& l, const pin_job& job, const pin_book& book) const;
  void cannot_compare(pin_job& job, const error& why);
  void cannot_write(pin_job& job, const error& why);
  result<std::string> path_;
};

}  // namespace mcpbx::daemon::pins
