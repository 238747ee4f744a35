// Method mcpbx/models: the configured models.
#include "daemon/front/rpc/methods.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret.hpp"

#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

struct models_params {
  std::string model;
  bool remote = false;
};

models_params read_models(mcp::server::param_reader& in) {
  models_params p;
  p.model = in.text("model", 512).value_or("");
  p.remote = in.boolean("remote").value_or(false);
  return p;
}

void append_text(json::json_writer& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out.member(key, text);
}

json::raw_json rows_json(const std::vector<front::model_row>& rows, bool remote) {
  std::string json;
  json::json_writer out(json);
  out.begin_array();
  for (const auto& r : rows) {
    out.begin_object().member("name", r.name).member("api", r.api);
    append_text(out, "model", r.model);
    append_text(out, "endpoint", r.endpoint);
    if (r.is_default) out.member("default", true);
    append_text(out, "fallbackModel", r.fallback);
    append_text(out, "problem", redact::redactor::redact(r.problem));
    if (remote && r.offered_problem.empty()) {
      out.key("offered").begin_array();
      for (const auto& o : r.offered) {
        out.begin_object().member("id", o.id);
        append_text(out, "name", o.name);
        out.end_object();
      }
      out.end_array();
      if (r.more) out.member("more", true);
    }
    append_text(out, "offeredProblem", redact::redactor::redact(r.offered_problem));
    out.end_object();
  }
  out.end_array();
  return out.json();
}

}  // namespace

void add_model_methods(front::own_methods& table) {
  table.bind("mcpbx/models", read_models,
             [](rpc_caller& c, const models_params& p, const mcp::server::reply_once& reply) {
               auto* const models = c.door().daemon.models();
               if (models == nullptr) return reply.result(json::raw_json::literal("[]"));
               models->list(p.model, p.remote, [reply, remote = p.remote](result<std::vector<front::model_row>> rows) {
                 if (!reply.open()) return;
                 if (!rows) return reply.error(mcp::server::to_rpc_error(rows.error()));
                 reply.result(rows_json(*rows, remote));
               });
             });
}

}  // namespace mcpbx::daemon::rpc_door
