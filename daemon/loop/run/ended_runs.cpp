// Tells of a run that has ended.
#include "daemon/loop/run/ended_runs.hpp"

#include "daemon/loop/json/event_json.hpp"

namespace mcpbx::daemon::run {

std::shared_ptr<run_feed> feed_of(const core::run_facts& ended, std::uint64_t numbers_above) {
  auto feed = std::make_shared<run_feed>(
      ended.started.run,
      run_feed::options{.keep = true, .numbers_above = numbers_above, .principal = ended.started.principal});
  // These events lie before the reopen(), so readers get them as a snapshot.
  if (ended.rounds > 0)
    feed->push({run_event::kind::round, {}, {}, event_json::round(ended.rounds, ended.started.model)});
  const auto& said = ended.answer;
  const auto& text = said.text->empty() ? said.partial_text : *said.text;
  if (!text.empty()) feed->push({run_event::kind::text, {}, text, {}});
  feed->reopen();
  feed->done(event_json::run_result(ended));
  return feed;
}

}  // namespace mcpbx::daemon::run
