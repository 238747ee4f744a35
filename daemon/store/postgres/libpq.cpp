// Loads libpq and looks up each function by name. A missing one gives an error that names it.
#include "daemon/store/postgres/libpq.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace mcpbx::daemon::postgres {
namespace {

struct loaded {
  libpq table;
  std::string fault;  // reason why the table cannot be used, or ""
};

// Loads the library and never unloads it, because OpenSSL, which it loads, keeps handlers for the process's end.
loaded load_now() {
  constexpr const char* file = "libpq.so.5";
  loaded all;
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    all.fault = std::string("store.url is a PostgreSQL database and the library libpq cannot be loaded (") +
                (why ? why : file) + "); install Debian's package libpq5, then start the daemon again";
    return all;
  }
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (!function && all.fault.empty())
      all.fault = std::string("store.url is a PostgreSQL database and the library libpq is too old (it has no ") +
                  name + "); install the package libpq5 of Debian 12 or later, then start the daemon again";
  };
  auto& t = all.table;
  take(t.conninfo_parse, "PQconninfoParse");
  take(t.conninfo_free, "PQconninfoFree");
  take(t.connect, "PQconnectdbParams");
  take(t.status, "PQstatus");
  take(t.socket, "PQsocket");
  take(t.finish, "PQfinish");
  take(t.error_message, "PQerrorMessage");
  take(t.parameter_status, "PQparameterStatus");
  take(t.backend_pid, "PQbackendPID");
  take(t.set_nonblocking, "PQsetnonblocking");
  take(t.set_notice_processor, "PQsetNoticeProcessor");
  take(t.send_query, "PQsendQuery");
  take(t.send_prepare, "PQsendPrepare");
  take(t.send_prepared, "PQsendQueryPrepared");
  take(t.set_single_row_mode, "PQsetSingleRowMode");
  take(t.flush, "PQflush");
  take(t.consume_input, "PQconsumeInput");
  take(t.is_busy, "PQisBusy");
  take(t.get_result, "PQgetResult");
  take(t.result_status, "PQresultStatus");
  take(t.error_field, "PQresultErrorField");
  take(t.command_status, "PQcmdStatus");
  take(t.rows, "PQntuples");
  take(t.value, "PQgetvalue");
  take(t.length, "PQgetlength");
  take(t.clear, "PQclear");
  take(t.free_memory, "PQfreemem");
  return all;
}

}  // namespace

result<const libpq*> libpq::load() {
  static const loaded once = load_now();
  if (!once.fault.empty()) return fail(errc::config, once.fault);
  return &once.table;
}

}  // namespace mcpbx::daemon::postgres
