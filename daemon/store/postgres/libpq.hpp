// Table of libpq's functions, loaded for the first PostgreSQL journal, so that other daemons neither need the library
// nor pay for loading it. libpq's header is used for its types only.
#pragma once
#include "mcp/support/error.hpp"

#include <libpq-fe.h>

namespace mcpbx::daemon::postgres {

struct libpq {
  decltype(&::PQconninfoParse) conninfo_parse = nullptr;
  decltype(&::PQconninfoFree) conninfo_free = nullptr;
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQstatus) status = nullptr;
  decltype(&::PQsocket) socket = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQerrorMessage) error_message = nullptr;
  decltype(&::PQparameterStatus) parameter_status = nullptr;
  decltype(&::PQbackendPID) backend_pid = nullptr;
  decltype(&::PQsetnonblocking) set_nonblocking = nullptr;
  decltype(&::PQsetNoticeProcessor) set_notice_processor = nullptr;
  decltype(&::PQsendQuery) send_query = nullptr;
  decltype(&::PQsendPrepare) send_prepare = nullptr;
  decltype(&::PQsendQueryPrepared) send_prepared = nullptr;
  decltype(&::PQsetSingleRowMode) set_single_row_mode = nullptr;
  decltype(&::PQflush) flush = nullptr;
  decltype(&::PQconsumeInput) consume_input = nullptr;
  decltype(&::PQisBusy) is_busy = nullptr;
  decltype(&::PQgetResult) get_result = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQresultErrorField) error_field = nullptr;
  decltype(&::PQcmdStatus) command_status = nullptr;
  decltype(&::PQntuples) rows = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
  decltype(&::PQgetlength) length = nullptr;
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQfreemem) free_memory = nullptr;

  /// Loads the library once for the life of the process. errc::config: missing or too old, with the package to install.
  /// Thread-safe.
  static result<const libpq*> load();
};

}  // namespace mcpbx::daemon::postgres
