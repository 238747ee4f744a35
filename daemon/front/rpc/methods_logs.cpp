// Method mcpbx/logs: the place of the daemon's log, or the last lines of a tool server's stderr and those to come.
#include "daemon/front/rpc/methods.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/client/stderr_lines.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t most_line_numbers = 10'000;
constexpr std::int64_t longest_wait_ms = 60'000;

struct logs_params {
  std::string server;
  std::int64_t after = -1;  ///< number of the last line that the caller knows; -1: none
  std::size_t lines = most_line_numbers;
  milliseconds wait{0};
};

logs_params read_logs(mcp::server::param_reader& in, const rpc_caller& c) {
  logs_params p;
  p.server = in.text("server", 1024).value_or("");
  p.after = in.integer("after", 0, INT64_MAX).value_or(-1);
  p.lines = static_cast<std::size_t>(in.integer("lines", 0, most_line_numbers).value_or(most_line_numbers));
  p.wait = milliseconds(in.integer("waitMs", 0, longest_wait_ms).value_or(0));
  if (p.server.empty() && (p.after >= 0 || in.has("lines") || in.has("waitMs")))
    in.wrong("server", "expected the name of a tool server, got nothing");
  if (!stored::is_person(c.principal())) in.wrong("", "expected the person, who alone may read logs");
  return p;
}

error unknown_server(front::door_context& door, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& s : door.daemon.servers()) names.push_back(s.name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  return {errc::not_found, "there is no tool server " + json::json_quoted(cut_utf8(name, 128)) +
                               did_you_mean(name, known) + "; `mcpbx servers` lists them"};
}

json::raw_json lines_of(const mcp::clients::stderr_lines& book, const logs_params& p) {
  const auto& all = book.kept();
  const auto from = static_cast<std::uint64_t>(std::max<std::int64_t>(p.after, 0)) + 1;
  auto begin = std::ranges::lower_bound(all, from, {}, &mcp::clients::stderr_lines::line::number);
  const std::uint64_t first_kept = all.empty() ? book.next() : all.front().number;
  // Lines that the reader has missed, because the book is bounded or because it asked for few.
  std::uint64_t lost = p.after >= 0 && first_kept > from ? first_kept - from : 0;
  if (const auto count = static_cast<std::size_t>(all.end() - begin); count > p.lines) {
    const auto over = count - p.lines;
    begin += static_cast<std::ptrdiff_t>(over);
    if (p.after >= 0) lost += over;
  }
  std::string json;
  json::json_writer out(json);
  out.begin_object().member("server", p.server).member("last", book.next() - 1);
  if (lost > 0) out.member("lost", lost);
  out.key("lines").begin_array();
  for (; begin != all.end(); ++begin) {
    const bool cut = begin->text.size() >= mcp::clients::stderr_lines::longest_line - 3;
    out.begin_object().member("number", begin->number).member("atMs", begin->at_ms);
    out.member("text", redact::redacted_part(begin->text, {.back = cut})).end_object();
  }
  out.end_array().end_object();
  return out.json();
}

/// A request that waits for the next line, for a bounded time.
class line_wait : public std::enable_shared_from_this<line_wait> {
 public:
  line_wait(const std::shared_ptr<mcp::clients::stderr_lines>& book, logs_params p, mcp::server::reply_once reply,
            time_source& time)
      : book_(book), params_(std::move(p)), reply_(std::move(reply)), timer_(time.make_timer()) {}

  void begin(time_point ends) {
    // The book's handler owns this object, which therefore has no share in the book, and the timer none in this object.
    const auto book = book_.lock();
    wait_ = book->when_more([self = shared_from_this()] { self->answer(); });
    if (!wait_) {
      reply_.error(mcp::server::to_rpc_error(
          {errc::limit, "too many readers follow the log of " + params_.server + "; end one, or try again later"}));
      return;
    }
    timer_->arm(ends, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->answer();
    });
  }

 private:
  void answer() {
    const auto self = shared_from_this();
    timer_->cancel();
    wait_.reset();
    if (const auto book = book_.lock(); book && reply_.open()) reply_.result(lines_of(*book, params_));
  }

  std::weak_ptr<mcp::clients::stderr_lines> book_;
  logs_params params_;
  mcp::server::reply_once reply_;
  std::unique_ptr<timer> timer_;
  mcp::clients::stderr_lines::wait wait_;
};

void answer_logs(rpc_caller& c, logs_params p, const mcp::server::reply_once& reply) {
  auto& door = c.door();
  if (p.server.empty()) {
    std::string json;
    json::json_writer out(json);
    out.begin_object();
    if (door.settings.tell_log) door.settings.tell_log(out);
    out.end_object();
    return reply.result(out.json());
  }
  const auto servers = door.daemon.servers();
  const auto known = std::ranges::find(servers, p.server, &mcp::clients::server_status::name);
  if (known == servers.end()) return reply.error(mcp::server::to_rpc_error(unknown_server(door, p.server)));
  auto book = door.settings.stderr_of ? door.settings.stderr_of(p.server) : nullptr;
  if (!book || known->remote)
    return reply.error(mcp::server::to_rpc_error(
        {errc::invalid_argument, "the tool server " + json::json_quoted(p.server) +
                                     " has an address and no process here, so it has no log; `mcpbx servers " +
                                     shell_word(p.server) + "` tells its last error"}));
  const auto last = static_cast<std::int64_t>(book->next()) - 1;
  if (p.after > last)
    p.after = 0;  // the server was removed and added again, so its lines are counted from the beginning
  const bool has_more = last > p.after;
  if (has_more || p.wait.count() == 0 || p.after < 0) return reply.result(lines_of(*book, p));
  std::make_shared<line_wait>(book, p, reply, door.time)->begin(door.time.now() + p.wait);
}

}  // namespace

void add_log_methods(front::own_methods& table) {
  table.bind("mcpbx/logs", read_logs, answer_logs);
}

}  // namespace mcpbx::daemon::rpc_door
