// Sends queries without blocking and waits for answers with poll(), so that a stopped server or a dead network costs
// the answer limit and not forever. Values travel in binary form, so that no text is cut or quoted.
#include "daemon/store/postgres/postgres_connection.hpp"

#include <poll.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

namespace mcpbx::daemon::postgres {
namespace {

// Numbers of types in the catalog of every PostgreSQL (pg_type.dat).
constexpr Oid int8_type = 20, text_type = 25, text_array_type = 1009, int8_array_type = 1016;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xff);
}

std::string without_nul(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text)
    if (c == '\0')
      out += "\xef\xbf\xbd";
    else
      out += c;
  return out;
}

// Writes the head of a binary array as array_send does: dimensions, flag for NULLs, element type, then size and lower
// bound of each dimension.
std::string array_head(Oid element, std::size_t size) {
  std::string out;
  put(out, size == 0 ? 0 : 1, 4);
  put(out, 0, 4);
  put(out, element, 4);
  if (size == 0) return out;
  put(out, size, 4);
  put(out, 1, 4);
  return out;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

result<postgres_target> postgres_target_of(const libpq& pq, const std::string& url) {
  char* ignored = nullptr;  // not shown, because it may quote the whole URL
  PQconninfoOption* const all = pq.conninfo_parse(url.c_str(), &ignored);
  if (ignored) pq.free_memory(ignored);
  if (!all)
    return fail(errc::config,
                "store.url: it cannot be read as a PostgreSQL URL; write postgresql://user@host:5432/database, with "
                "special characters of the user and password as %XX");
  std::string host, port, database, user, password;
  for (auto* o = all; o->keyword; ++o) {
    if (!o->val) continue;
    const std::string_view key = o->keyword;
    if (key == "host" || (key == "hostaddr" && host.empty())) host = o->val;
    if (key == "port") port = o->val;
    if (key == "dbname") database = o->val;
    if (key == "user") user = o->val;
    if (key == "password") password = o->val;
  }
  pq.conninfo_free(all);
  if (database.empty()) database = user;
  const bool one_port = !port.empty() && !port.contains(',');  // several hosts have a list of them
  return postgres_target{"postgresql://" + host + (one_port ? ":" + port : "") + "/" + database, std::move(password)};
}

postgres_values& postgres_values::keep(Oid type, std::string bytes) {
  types_.push_back(type);
  bytes_.push_back(std::move(bytes));
  return *this;
}

postgres_values& postgres_values::add(std::int64_t value) {
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(value), 8);
  return keep(int8_type, std::move(bytes));
}

postgres_values& postgres_values::add(std::string_view text) {
  return keep(text_type, without_nul(text));
}

postgres_values& postgres_values::add(std::span<const std::int64_t> values) {
  auto bytes = array_head(int8_type, values.size());
  for (const auto v : values) {
    put(bytes, 8, 4);
    put(bytes, static_cast<std::uint64_t>(v), 8);
  }
  return keep(int8_array_type, std::move(bytes));
}

postgres_values& postgres_values::add(std::span<const std::string_view> texts) {
  auto bytes = array_head(text_type, texts.size());
  for (const auto text : texts) {
    const auto clean = without_nul(text);
    put(bytes, clean.size(), 4);
    bytes += clean;
  }
  return keep(text_array_type, std::move(bytes));
}

std::string_view postgres_row::text(int column) const {
  const auto length = pq_.length(rows_, row_, column);
  return {pq_.value(rows_, row_, column), static_cast<std::size_t>(length)};
}

std::int64_t postgres_row::integer(int column) const {
  const auto digits = text(column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

postgres_connection::outcome<std::unique_ptr<postgres_connection>> postgres_connection::open(const libpq& pq,
                                                                                             const options& o) {
  const auto connect_s = std::to_string(o.connect_s), sending_ms = std::to_string(o.answer_limit.count());
  // The URL may override the keys before it; the encoding behind it is fixed.
  const std::array keys{"connect_timeout",
                        "tcp_user_timeout",
                        "keepalives_idle",
                        "keepalives_interval",
                        "keepalives_count",
                        "fallback_application_name",
                        "dbname",
                        "client_encoding",
                        static_cast<const char*>(nullptr)};
  const std::array values{connect_s.c_str(),
                          sending_ms.c_str(),
                          "30",
                          "10",
                          "3",
                          "mcpbx",
                          o.url.c_str(),
                          "UTF8",
                          static_cast<const char*>(nullptr)};
  PGconn* const handle = pq.connect(keys.data(), values.data(), 1);
  if (!handle) return std::unexpected(failure{"", "", "there is no memory for a connection"});
  std::unique_ptr<postgres_connection> made(new postgres_connection(pq, handle, o.answer_limit));
  if (!made->alive()) return std::unexpected(made->broken());
  // Drop notices of the server, which would go to standard error.
  pq.set_notice_processor(handle, [](void*, const char*) {}, nullptr);
  if (pq.set_nonblocking(handle, 1) != 0) return std::unexpected(made->broken());
  return made;
}

postgres_connection::~postgres_connection() = default;

bool postgres_connection::alive() const {
  return !silent_ && pq_.status(handle_.get()) == CONNECTION_OK;
}

bool postgres_connection::quiet() const {
  pollfd one{pq_.socket(handle_.get()), POLLIN, 0};
  return alive() && ::poll(&one, 1, 0) == 0;
}

std::string postgres_connection::parameter(const char* name) const {
  const char* value = pq_.parameter_status(handle_.get(), name);
  return value ? value : "";
}

postgres_connection::failure postgres_connection::broken(std::string what) {
  if (what.empty()) what = first_line(pq_.error_message(handle_.get()));
  return {"", "", what.empty() ? "the connection was lost" : std::move(what)};
}

postgres_connection::failure postgres_connection::refusal(const PGresult* r) const {
  const auto field = [&](int code) {
    const char* value = pq_.error_field(r, code);
    return std::string(value ? value : "");
  };
  // An answer that the library makes itself, after the loss of a connection, has no SQLSTATE.
  auto what = first_line(field(PG_DIAG_MESSAGE_PRIMARY));
  if (what.empty()) what = first_line(pq_.error_message(handle_.get()));
  return {field(PG_DIAG_SQLSTATE), field(PG_DIAG_CONSTRAINT_NAME), std::move(what)};
}

postgres_connection::outcome<postgres_connection::answer> postgres_connection::next() {
  using clock = std::chrono::steady_clock;
  for (const auto until = clock::now() + limit_;;) {
    const int unsent = pq_.flush(handle_.get());
    if (unsent < 0) return std::unexpected(broken());
    if (unsent == 0 && !pq_.is_busy(handle_.get())) return answer(pq_.get_result(handle_.get()), clearer{&pq_});
    const auto left = std::chrono::ceil<milliseconds>(until - clock::now()).count();
    pollfd one{pq_.socket(handle_.get()), static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN), 0};
    const int ready = left > 0 ? ::poll(&one, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      silent_ = true;
      return std::unexpected(broken("the server gave no answer for " + std::to_string(limit_.count()) + " ms"));
    }
    if ((one.revents & ~POLLOUT) != 0 && !pq_.consume_input(handle_.get())) return std::unexpected(broken());
  }
}

// Reads the remaining answers. Nothing else may be sent before.
postgres_connection::outcome<void> postgres_connection::drain() {
  for (;;) {
    auto one = next();
    if (!one) return std::unexpected(std::move(one.error()));
    if (!*one) return {};
  }
}

postgres_connection::outcome<std::string> postgres_connection::execute(const std::string& sql) {
  if (!alive() || !pq_.send_query(handle_.get(), sql.c_str())) return std::unexpected(broken());
  std::string tag;
  for (;;) {
    auto one = next();
    if (!one) return std::unexpected(std::move(one.error()));
    if (!*one) return tag;
    const auto status = pq_.result_status(one->get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      auto why = refusal(one->get());
      drain();
      return std::unexpected(std::move(why));
    }
    tag = pq_.command_status(one->get());
  }
}

postgres_connection::outcome<const char*> postgres_connection::prepared(const char* sql,
                                                                        const postgres_values& values) {
  auto& name = statements_[sql];
  if (!name.empty()) return name.c_str();
  // Never reuse a name: a statement that could not be prepared is tried again under another one.
  const auto fresh = "s" + std::to_string(++made_);
  const auto& types = values.types_;
  if (!pq_.send_prepare(handle_.get(), fresh.c_str(), sql, static_cast<int>(types.size()), types.data()))
    return std::unexpected(broken());
  auto one = next();
  if (!one) return std::unexpected(std::move(one.error()));
  const bool done = *one && pq_.result_status(one->get()) == PGRES_COMMAND_OK;
  auto why = done ? failure() : refusal(one->get());
  auto rest = drain();
  if (!done) return std::unexpected(std::move(why));
  if (!rest) return std::unexpected(std::move(rest.error()));
  name = fresh;
  return name.c_str();
}

postgres_connection::outcome<void> postgres_connection::run(const char* sql, const postgres_values& values,
                                                            const row_sink& sink, result<void>& refused) {
  refused = {};
  if (!alive()) return std::unexpected(broken());
  auto name = prepared(sql, values);
  if (!name) return std::unexpected(std::move(name.error()));
  std::vector<const char*> bytes;
  std::vector<int> lengths;
  for (const auto& one : values.bytes_) {
    bytes.push_back(one.data());
    lengths.push_back(static_cast<int>(one.size()));
  }
  const std::vector<int> binary(bytes.size(), 1);
  if (!pq_.send_prepared(handle_.get(), *name, static_cast<int>(bytes.size()), bytes.data(), lengths.data(),
                         binary.data(), 0))
    return std::unexpected(broken());
  pq_.set_single_row_mode(handle_.get());
  for (;;) {
    auto one = next();
    if (!one) return std::unexpected(std::move(one.error()));
    if (!*one) return {};
    const auto status = pq_.result_status(one->get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_SINGLE_TUPLE) {
      auto why = refusal(one->get());
      drain();
      return std::unexpected(std::move(why));
    }
    const int rows = pq_.rows(one->get());
    for (int i = 0; i < rows && refused && sink; ++i) refused = sink(postgres_row(pq_, one->get(), i));
  }
}

postgres_connection::outcome<bool> postgres_connection::first(const char* sql, const postgres_values& values,
                                                              const std::function<void(const postgres_row&)>& take) {
  bool any = false;
  result<void> refused;
  auto done = run(
      sql, values,
      [&](const postgres_row& row) -> result<void> {
        if (!std::exchange(any, true) && take) take(row);
        return {};
      },
      refused);
  if (!done) return std::unexpected(std::move(done.error()));
  return any;
}

}  // namespace mcpbx::daemon::postgres
