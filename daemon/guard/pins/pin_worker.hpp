// What is done to the file of pins, blocking: read, compared, written. Used on a lane.
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

namespace mcpbx::daemon {

/// A configured server, as far as its pins go.
struct pinned_server {
  std::string name;
  pin_mode mode = pin_mode::off;
  std::string origin;             ///< origin_text
  plain_name_of plain_name = {};  ///< null: its tools have no plain names. Called on the lane
};

/// The same with what it lists, and what is decided about that.
struct pin_listing {
  pinned_server server;
  mcp::feature_list tools;       ///< null: not known
  std::uint64_t generation = 0;  ///< of the list, for whoever asks
  bool judge = false;            ///< a decision is asked for; then it has tools
  mcp::definition_decision decision{};
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

/// What is done in one go.
struct pin_job {
  std::string now;  ///< UTC
  /// Every server has listed its tools, or will not soon: plain names that nobody has are given for good. Before, a
  /// server that comes first in the file may still want them.
  bool settled = true;
  std::vector<pin_listing> servers;
  std::vector<pin_accept_request> accepts;
  std::vector<pin_list_request> lists;
  bool failed = false;  ///< the file could not be read or written; what was decided without it is to be decided anew
};

class pin_worker {
 public:
  /// The file's path, or why there is no place for it. Its folder is created when it is first written; other daemons
  /// may use the file too.
  explicit pin_worker(result<std::string> path) : path_(std::move(path)) {}

  /// Fills in every decision, outcome and report. First sight of a server's tools pins them all; from then on nothing
  /// is pinned but by an accept. A file that cannot be read or understood is left as it is.
  void work(pin_job& job);
  /// The same when nothing can be done, for this reason.
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

}  // namespace mcpbx::daemon
