// One request of the Responses API: its body, the session that it goes on with, then its run.
#include "daemon/front/responses/responses_handler.hpp"

#include "daemon/front/base/door_context.hpp"
#include "daemon/front/dialects/answered_run.hpp"
#include "daemon/front/dialects/json_body.hpp"
#include "daemon/front/dialects/openai_error.hpp"
#include "daemon/front/responses/response_request.hpp"
#include "daemon/front/responses/response_writer.hpp"
#include "daemon/store/records/principal.hpp"

#include <string>
#include <utility>

namespace mcpbx::daemon::responses {
namespace {

void begin(const std::shared_ptr<routes::exchange>& x, response_request request) {
  auto writer = std::make_unique<response_writer>(std::move(request.echo), request.shows_reasoning);
  auto* const written = writer.get();
  // The writer lives as long as the run that calls this, and the exchange is open then.
  dialects::answered_run::start(x, std::move(request), std::move(writer),
                                [written, &door = x->door(), who = x->principal()](std::string session) {
                                  door.responses.keep({written->id(), std::move(session), who, written->take_items()});
                                });
}

void refuse(routes::exchange& x, const std::string& what) {
  x.refuse(dialects::error_answer(
      {400, "previous_response_id: " + what, "previous_response_id", "previous_response_not_found"}));
}

// Begins a run in the session, if the response's run is the latest one there.
void go_on(const std::shared_ptr<routes::exchange>& x, std::string session, response_request request) {
  if (session.empty())
    return refuse(*x, "no session is kept of that response (store.url); send the whole conversation as input");
  auto& store = x->door().daemon.store();
  store.read_session(
      session, [x, session, request = std::move(request)](const result<stored::session_contents>& kept) mutable {
        if (!x->open()) return;
        if (!kept || !stored::may_have(x->principal(), kept->row.principal))
          return refuse(*x, "expected a response whose session mcpbx still has; send the whole conversation as input");
        if (kept->runs.empty() || kept->runs.back().row.run != run_of_response(request.previous))
          return refuse(*x,
                        "another response goes on from that one already, and a session has one end; send the whole "
                        "conversation as input");
        request.run.session = std::move(session);
        begin(x, std::move(request));
      });
}

void find_session(const std::shared_ptr<routes::exchange>& x, response_request request) {
  auto& door = x->door();
  if (const auto* kept = door.responses.find(request.previous, x->principal()))
    return go_on(x, kept->session, std::move(request));
  const auto run = run_of_response(request.previous);
  door.daemon.recall_run(
      run, 0, [x, request = std::move(request)](const result<run::runner::recalled_run>& found) mutable {
        if (!x->open()) return;
        if (!found || !stored::may_have(x->principal(), found->feed->principal()))
          return refuse(*x, "expected a response that mcpbx still has; send the whole conversation as input");
        go_on(x, found->session, std::move(request));
      });
}

}  // namespace

void handle_response(const std::shared_ptr<routes::exchange>& x) {
  const auto body = dialects::json_body(*x);
  if (!body) return x->refuse(dialects::error_answer(body.error()));
  const auto& door = x->door();
  auto request = read_response_request(*body, *door.settings.chat(),
                                       [&](std::string_view id) { return door.responses.item(id, x->principal()); });
  if (!request) return x->refuse(dialects::error_answer(request.error()));
  if (request->previous.empty() || !request->continues.empty()) return begin(x, std::move(*request));
  find_session(x, std::move(*request));
}

}  // namespace mcpbx::daemon::responses
