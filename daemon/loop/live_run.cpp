// The records' order is the journal's table: a record is written before what it starts, and told after it was applied.
#include "daemon/loop/live_run.hpp"

#include "daemon/loop/call_ids.hpp"
#include "daemon/loop/call_result.hpp"
#include "daemon/loop/event_json.hpp"
#include "daemon/loop/words.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <chrono>

namespace mcpbx::daemon {
namespace {

namespace asio = boost::asio;

constexpr milliseconds settle_time{1'000};  // what the first round waits for servers that are still starting

}  // namespace

live_run::live_run(run_surroundings& around, run_request request, std::shared_ptr<providers::model> model,
                   run_events& events)
    : around_(around),
      request_(std::move(request)),
      model_(std::move(model)),
      events_(&events),
      inbox_(around.executor),
      began_(around.time.now()),
      round_began_(began_) {}

std::int64_t live_run::ms_since(time_point then) const {
  return std::chrono::duration_cast<milliseconds>(around_.time.now() - then).count();
}

void live_run::stop(stop_reason why, std::string text) {
  inbox_.push(stop_asked{why, std::move(text)});
}

asio::awaitable<void> live_run::live() {
  journal_ = around_.store.open_run(name());
  if (request_.limits.timeout_ms > 0) {
    limit_ = around_.time.make_timer();
    limit_->arm(began_ + milliseconds(request_.limits.timeout_ms), [weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->stop(stop_reason::timeout, "the time limit of " + words::span_of(self->request_.limits.timeout_ms) +
                                             " for the run was reached");
    });
  }
  auto early = co_await wait_for_tools();
  records first;
  first.emplace_back(opening());
  co_await write(std::move(first));
  if (early) co_await write(on_item(*early));
  for (;;) {
    co_await carry_out_all();
    if (core_.ended()) break;
    auto next = co_await inbox_.next();
    co_await write(on_item(next));
  }
  limit_.reset();
}

// Whatever else comes while the servers start can only be a wish to stop.
asio::awaitable<std::optional<live_run::item>> live_run::wait_for_tools() {
  around_.tools.when_settled(settle_time, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->inbox_.push(settled{});
  });
  auto first = co_await inbox_.next();
  if (std::holds_alternative<settled>(first)) co_return std::nullopt;
  co_return std::move(first);
}

asio::awaitable<void> live_run::carry_out_all() {
  while (!todo_.empty()) {
    auto next = std::move(todo_.front());
    todo_.pop_front();
    if (auto* begin = std::get_if<command::begin_round>(&next)) {
      take_offer();
      records batch;
      batch.emplace_back(record::round_started{begin->depth, model_->name(), begin->with_tools, ms_since(began_)});
      co_await write(std::move(batch));
    } else if (auto* ask = std::get_if<command::call_model>(&next)) {
      call_model(*ask);
    } else if (auto* intend = std::get_if<command::intend_calls>(&next)) {
      co_await write(decide(*intend));
    } else if (auto* run = std::get_if<command::run_call>(&next)) {
      run_call(*run);
    } else if (std::holds_alternative<command::cancel_open>(next)) {
      cancel_open();
    } else if (auto* shut = std::get_if<command::close_call>(&next)) {
      co_await write(close(std::move(*shut)));
    } else if (auto* end = std::get_if<command::end>(&next)) {
      records batch;
      batch.emplace_back(record::run_ended{end->reason, std::move(end->text)});
      co_await write(std::move(batch), true);
    }
  }
}

// Journals, then applies. When the store fails the records are void and the run is led to its end in memory: its caller
// is told, and nothing is claimed to be kept that is not.
asio::awaitable<void> live_run::write(records batch, bool synced) {
  if (batch.empty()) co_return;
  if (!store_broken_) {
    auto written = co_await journal_->append(batch, synced);
    if (!written) {
      store_broken_ = true;
      const auto why = "the run's journal could not be written: " + written.error().message;
      log::error("run " + name() + ": " + why);
      const bool at_the_end = std::holds_alternative<record::run_ended>(batch.back());
      if (!std::holds_alternative<record::run_started>(batch.front())) batch.clear();
      if (at_the_end)
        batch.emplace_back(record::run_ended{stop_reason::store_error, words::unable(why)});
      else
        batch.emplace_back(record::cancel{stop_reason::store_error, why});
    }
  }
  for (const auto& r : batch) apply(r);
}

void live_run::apply(const run_record& r) {
  if (std::holds_alternative<record::cancel>(r)) todo_.clear();
  core_.apply(r);
  for (const auto& c : core_.commands()) todo_.push_back(c);
  std::visit([this](const auto& one) { tell(one); }, r);
}

live_run::records live_run::on_item(item& i) {
  records batch;
  if (auto* reply = std::get_if<providers::model_reply>(&i)) {
    if (!model_call_) return batch;  // it was cancelled when its reply had just come
    model_call_.reset();
    batch.emplace_back(record::assistant{with_unique_ids(std::move(reply->message), core_.calls(), around_.random),
                                         reply->reason, std::move(reply->raw_reason), reply->usage,
                                         ms_since(round_began_)});
  } else if (auto* broken = std::get_if<providers::model_error>(&i)) {
    if (!model_call_) return batch;
    model_call_.reset();
    batch.emplace_back(record::model_failed{std::move(*broken), ms_since(round_began_)});
  } else if (auto* done = std::get_if<call_done>(&i)) {
    const auto sent = std::ranges::find(sent_, done->id, &sent_call::id);
    if (sent == sent_.end() || !core_.is_open(done->id)) return batch;  // it was closed before
    batch.emplace_back(
        to_call_result(std::move(done->id), done->outcome, sent->tool, sent->server, ms_since(sent->since)));
    sent_.erase(sent);
  } else if (auto* asked = std::get_if<stop_asked>(&i)) {
    batch.emplace_back(record::cancel{asked->why, std::move(asked->text)});
  }
  return batch;
}

// The system prompt (the request's, else the model's) with the guidance, then the conversation as it came.
record::run_started live_run::opening() {
  take_offer();
  auto& messages = request_.messages;
  if (!messages.empty() && messages.front()->role == providers::role::system) {
    const auto own = messages.front()->text();
    request_.system = request_.system.empty() ? own : request_.system + "\n\n" + own;
    messages.erase(messages.begin());
  }
  if (request_.system.empty()) request_.system = model_->default_system();
  if (around_.guidance && request_.limits.max_rounds > 0 && !offer_->guidance.empty() &&
      !words::has_guidance(request_.system))
    request_.system += request_.system.empty() ? offer_->guidance : "\n\n" + offer_->guidance;
  record::run_started r;
  r.run = name();
  r.principal = request_.principal;
  r.model = model_->name();
  r.messages.reserve(messages.size() + 1);
  if (!request_.system.empty()) r.messages.push_back(providers::system_message(request_.system));
  r.messages.insert(r.messages.end(), messages.begin(), messages.end());
  messages.clear();
  r.tools = request_.tools;
  r.limits = request_.limits;
  return r;
}

void live_run::take_offer() {
  auto now = around_.tools.snapshot();
  if (offer_ && now == catalog_) return;
  catalog_ = std::move(now);
  offer_ = around_.offers.offer(catalog_, request_.tools, model_->api());
}

void live_run::call_model(const command::call_model& c) {
  round_began_ = around_.time.now();
  formulating_ = false;
  providers::model_request ask;
  ask.messages = core_.messages();
  if (c.with_tools && !offer_->set->tools.empty()) ask.tools = offer_->set;
  model_call_ = model_->start(std::move(ask), *this);
}

live_run::records live_run::decide(const command::intend_calls& c) {
  records batch;
  batch.reserve(c.call_ids.size());
  for (const auto& id : c.call_ids) batch.push_back(intent_or_refusal(id));
  return batch;
}

run_record live_run::intent_or_refusal(const std::string& id) {
  const auto& call = *core_.find_call(id);
  const auto* entry = offer_->find(call.name);
  if (!entry)
    return closing_record({id, record::result_cause::unknown_tool,
                           words::unknown_tool(call.name, offer_->similar(call.name, 3), offer_->names)});
  if (entry->owner.expired())
    return closing_record({id, record::result_cause::unavailable,
                           "Not executed: the server \"" + entry->server + "\" of this tool is gone."});
  if (auto problem = around_.arguments.problem(*entry, call.name, call.arguments); !problem.empty())
    return closing_record({id, record::result_cause::bad_arguments, std::move(problem)});
  record::call_intent intent;
  intent.call_id = id;
  intent.name = entry->name;
  intent.server = entry->server;
  intent.definition_hash = entry->hash;
  intent.arguments_hash = stable_hash(call.arguments.text());
  return intent;
}

// Calls that are closed one after another are one commit.
live_run::records live_run::close(command::close_call first) {
  records batch;
  const auto add = [&](const command::close_call& c) {
    auto r = closing_record(c);
    if (auto sent = std::ranges::find(sent_, c.call_id, &sent_call::id); sent != sent_.end()) {
      r.ms = ms_since(sent->since);
      sent_.erase(sent);
    }
    batch.emplace_back(std::move(r));
  };
  add(first);
  for (; !todo_.empty() && std::holds_alternative<command::close_call>(todo_.front()); todo_.pop_front())
    add(std::get<command::close_call>(todo_.front()));
  return batch;
}

void live_run::run_call(const command::run_call& c) {
  const auto& call = *core_.find_call(c.call_id);
  const auto* entry = offer_->find(call.name);
  auto server = entry->owner.lock();
  sent_.push_back({c.call_id, entry->name, entry->server, server, 0, around_.time.now()});
  ++around_.counters.calls;
  if (!server) {  // it went away between the intent and now
    inbox_.push(call_done{
        c.call_id, mcp::call_outcome::failed(errc::unavailable, "the server \"" + entry->server + "\" is gone")});
    return;
  }
  mcp::server_call out;
  out.params = call_params(entry->tool, call.arguments);
  out.name = entry->name;
  out.done = [weak = weak_from_this(), id = c.call_id](mcp::call_outcome outcome) {
    if (auto self = weak.lock()) self->inbox_.push(call_done{id, std::move(outcome)});
  };
  out.progress = [weak = weak_from_this(), id = c.call_id](const raw_json& params) {
    if (auto self = weak.lock(); self && self->events_ && self->core_.is_open(id))
      self->emit(run_event::kind::tool_progress, event_json::tool_progress(id, params), id);
  };
  const auto ticket = server->call(std::move(out));
  if (auto sent = std::ranges::find(sent_, c.call_id, &sent_call::id); sent != sent_.end()) sent->ticket = ticket;
}

// The calls stay in sent_ until they are closed, so that their results can tell how long they ran.
void live_run::cancel_open() {
  model_call_.reset();
  for (const auto& sent : sent_)
    if (auto server = sent.client.lock()) server->cancel(sent.ticket, "the run was cancelled");
}

}  // namespace mcpbx::daemon
