// Which journal runs are kept in: store.url made into one.
#pragma once
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/store/journal.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace mcpbx::daemon {

/// The journal of `store.url`: in memory for "none"; in a PostgreSQL database; else in SQLite, at the path or at
/// mcpbx.db in the state directory. The URL of a database is resolved for each connection, by what it refers to then.
/// Where the place cannot be told (a reference without value, no HOME) the journal is one in which everything fails
/// with the reason, so that only runs are out of service. Without the key it is "sqlite:", or in memory where there is
/// no place and where `by_default` is false: in a daemon that comes and goes beside the usual one, whose runs in a
/// database are its own. `closed` is record_rules::closed. `time` must outlive the journal.
std::unique_ptr<journal> make_journal(const conf::configuration& config, const start_values& values,
                                      const conf::environment& env, boost::asio::any_io_executor executor,
                                      time_source& time, bool by_default = true,
                                      decltype(record_rules::closed) closed = {});

}  // namespace mcpbx::daemon
