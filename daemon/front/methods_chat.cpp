// mcpbx/chat and mcpbx/attach: a run for a request, new or known.
#include "daemon/front/methods.hpp"

#include <limits>

namespace mcpbx::daemon {
namespace {

struct attach_params {
  std::string run;
  run_feed::wish wish;
};

attach_params read_attach(mcp::param_reader& in) {
  attach_params p;
  if (auto run = in.text("run"))
    p.run = std::move(*run);
  else
    in.wrong("run", "expected the name of a run, got nothing");
  p.wish.after =
      static_cast<std::uint64_t>(in.integer("after", 0, std::numeric_limits<std::int64_t>::max()).value_or(0));
  p.wish.deltas = in.boolean("stream").value_or(true);
  return p;
}

}  // namespace

void add_chat_methods(own_methods& table, const chat_defaults& defaults) {
  table.bind(
      "mcpbx/chat", [&defaults](mcp::param_reader& in) { return read_chat(in, defaults); },
      [](connection& c, run_request r, const mcp::reply_once& reply) { c.chat(std::move(r), reply); });
  table.bind("mcpbx/attach", read_attach, [](connection& c, const attach_params& p, const mcp::reply_once& reply) {
    c.attach(p.run, p.wish, reply);
  });
}

}  // namespace mcpbx::daemon
