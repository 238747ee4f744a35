// Which journal runs are kept in: store.url made into one.
#pragma once
#include "conf/environment.hpp"
#include "conf/model.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace mcpbx::daemon {

/// The journal of `store.url`: in memory for "none", for PostgreSQL (which gave a notice) and without the key; else
/// SQLite, at the path or at mcpbx.db in the state directory. Where the place cannot be told (a reference without
/// value, no HOME) the journal is one whose appends fail with the reason, so that only runs are out of service. `time`
/// must outlive the journal.
std::unique_ptr<journal> make_journal(const conf::configuration& config, const conf::environment& env,
                                      boost::asio::any_io_executor executor, time_source& time);

}  // namespace mcpbx::daemon
