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

/// Returns the journal of `store.url`; every call of one whose place is unknown fails with the reason. `by_default`:
/// keeps runs without that key as well. `closed` is record_rules::closed. `time` must outlive the journal.
std::unique_ptr<store::journal> make_journal(const conf::model::configuration& config,
                                             const references::start_values& values, const conf::environment& env,
                                             boost::asio::any_io_executor executor, time_source& time,
                                             bool by_default = true, decltype(store::record_rules::closed) closed = {});

/// Returns the file of the SQLite journal; "" if something else keeps the runs. errc::config: the place is unknown.
result<std::string> sqlite_path(const conf::model::configuration& config, const references::start_values& values,
                                const conf::environment& env);

}  // namespace mcpbx::daemon::journals
