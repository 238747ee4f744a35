// Where records go before they take effect. One interface; `none` keeps them in memory for the life of the run.
#pragma once
#include "daemon/store/record.hpp"
#include "mcp/support/error.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

/// The journal of one run.
class run_journal {
 public:
  virtual ~run_journal() = default;
  /// Appends in order, all or nothing; returns when the records are as safe as `synced` asks. An error (errc::io) means
  /// that nothing was appended.
  virtual boost::asio::awaitable<result<void>> append(std::vector<run_record> records, bool synced) = 0;
};

class journal {
 public:
  virtual ~journal() = default;
  virtual std::unique_ptr<run_journal> open_run(const std::string& run) = 0;
};

/// `store.url: none`: nothing outlives the daemon; the records of a run are kept only while `keep` says so (tests).
class memory_journal final : public journal {
 public:
  explicit memory_journal(bool keep = false) : keep_(keep) {}
  std::unique_ptr<run_journal> open_run(const std::string& run) override;
  /// With keep: the records of every run so far, by run name in order of opening.
  const std::vector<std::pair<std::string, std::shared_ptr<std::vector<run_record>>>>& kept() const { return kept_; }

 private:
  bool keep_;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<run_record>>>> kept_;
};

}  // namespace mcpbx::daemon
