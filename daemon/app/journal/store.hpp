// Creation of the journal that store.url names.
#pragma once
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/store/journal.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace mcpbx::daemon::journals {

/// Returns the journal of `store.url`: in memory for "none"; in a PostgreSQL database, whose URL is resolved for each
/// connection; else in SQLite, at the path or at mcpbx.db in the state directory. If the place is unknown (a reference
/// without value, no HOME), every call of the journal fails with the reason. Without the key it is "sqlite:", or in
/// memory if there is no place or `by_default` is false (a private daemon). `closed` is record_rules::closed. `time`
/// must outlive the journal.
std::unique_ptr<store::journal> make_journal(const conf::model::configuration& config,
                                             const references::start_values& values, const conf::environment& env,
                                             boost::asio::any_io_executor executor, time_source& time,
                                             bool by_default = true, decltype(store::record_rules::closed) closed = {});

/// Returns the file of the SQLite journal; "" if something else keeps the runs. errc::config: the place is unknown.
result<std::string> sqlite_path(const conf::model::configuration& config, const references::start_values& values,
                                const conf::environment& env);

}  // namespace mcpbx::daemon::journals
