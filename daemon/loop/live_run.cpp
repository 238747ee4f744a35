// The records' order is the journal's table: a record is written before what it starts, and told after it was applied.
#include "daemon/loop/live_run.hpp"

#include "daemon/loop/call_ids.hpp"
#include "daemon/loop/call_result.hpp"
#include "daemon/loop/caller_tools.hpp"
#include "daemon/loop/event_json.hpp"
#include "daemon/loop/read_result.hpp"
#include "daemon/loop/words.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <chrono>

namespace mcpbx::daemon {
namespace {

namespace asio = boost::asio;

constexpr milliseconds settle_time{1'000};  // what the first round waits for servers that are still starting

void add_paragraph(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += "\n\n";
  text += more;
}

// `ours` is "" when no tool is offered. A conversation that is gone on with may have the advice already.
void add_guidance(std::string& system, const run_limits& l, const std::string& ours) {
  if (!l.guidance || l.max_rounds == 0 || ours.empty()) return;
  const auto& advice = l.guidance_text.empty() ? ours : l.guidance_text;
  if (l.guidance_text.empty() ? !words::has_guidance(system) : system.find(advice) == std::string::npos)
    add_paragraph(system, advice);
}

}  // namespace

live_run::live_run(run_surroundings& around, run_request request, bool goes_on, std::shared_ptr<providers::model> model,
                   std::shared_ptr<providers::model> status_model, std::shared_ptr<run_feed> feed)
    : around_(around),
      request_(std::move(request)),
      goes_on_(goes_on),
      model_(std::move(model)),
      feed_(std::move(feed)),
      inbox_(around.executor),
      own_tools_(caller_entries(request_.client_tools)),
      began_(around.time.now()),
      round_began_(began_) {
  if (status_model)
    status_.emplace(std::move(status_model), around.time,
                    [this](status_writer::line line) { inbox_.push(std::move(line)); });
}

std::int64_t live_run::ms_since(time_point then) const {
  return std::chrono::duration_cast<milliseconds>(around_.time.now() - then).count();
}

std::int64_t live_run::elapsed_ms() const {
  const auto now = paused_since_.value_or(around_.time.now());
  return std::chrono::duration_cast<milliseconds>(now - began_ - paused_).count();
}

void live_run::stop(stop_reason why, std::string text) {
  inbox_.push(stop_asked{why, std::move(text)});
}

asio::awaitable<void> live_run::live() {
  if (auto begun = co_await inherit(); !begun) {
    refused_ = std::move(begun.error());
    tell_recorded();
    co_return;
  }
  journal_ = left_ ? std::move(left_->journal) : around_.store.open_run(name());
  arm_limit();
  auto early = co_await wait_for_tools();
  if (left_) {
    go_on_from_records();
  } else {
    records first;
    first.emplace_back(opening());
    co_await write(std::move(first), request_.detach);
  }
  tell_recorded();
  if (early) co_await react(std::move(*early));
  for (;;) {
    co_await carry_out_all();
    if (core_.ended()) break;
    watch_clock();
    co_await react(co_await inbox_.next());
  }
  limit_.reset();
  if (status_) status_->drop_all();
}

// The fold of the records says what is to be done now; time that no process lived does not count.
void live_run::go_on_from_records() {
  take_offer();
  std::int64_t before_ms = 0;
  for (const auto& r : left_->records) {
    core_.apply(r);
    if (const auto* round = std::get_if<record::round_started>(&r)) before_ms = round->elapsed_ms;
  }
  const auto& started = std::get<record::run_started>(left_->records.front());
  call_ids_ = ids_of(started.inherited);
  call_ids_.merge(ids_of(started.messages));
  began_ -= milliseconds(before_ms);
  arm_limit();
  core_.resume();
  for (const auto& c : core_.commands()) todo_.push_back(c);
  if (core_.parked()) hand_over();
  left_.reset();
}

// What the session held before, for a run that goes on with one.
asio::awaitable<result<void>> live_run::inherit() {
  if (!goes_on_) co_return result<void>();
  auto history = co_await history_of(around_.store, request_.session);
  if (!history) co_return std::unexpected(std::move(history.error()));
  inherited_ = std::move(*history);
  const bool waits = !inherited_.empty() && inherited_.back()->role != providers::role::assistant;
  if (request_.messages.empty() && !waits)
    co_return fail(errc::invalid_argument,
                   "the session " + request_.session + " has no question that waits for an answer; give input");
  co_return result<void>();
}

asio::awaitable<void> live_run::react(item i) {
  auto what = on_item(i);
  const bool empty = what.batch.empty();
  co_await write(std::move(what.batch), what.synced);
  if (!what.then) co_return;
  if (!empty && store_broken_)
    what.then(fail(errc::io, "the answer could not be kept; the run ends"));
  else
    what.then({});
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
      batch.emplace_back(
          record::round_started{begin->depth, model_->name(), begin->with_tools, elapsed_ms(), begin->shortened});
      co_await write(std::move(batch));
    } else if (auto* model = std::get_if<command::call_model>(&next)) {
      call_model(*model);
    } else if (auto* intend = std::get_if<command::intend_calls>(&next)) {
      co_await write(decide(*intend));
    } else if (auto* run = std::get_if<command::run_call>(&next)) {
      run_call(*run);
    } else if (auto* question = std::get_if<command::ask>(&next)) {
      ask(question->question);
    } else if (auto* mine = std::get_if<command::park>(&next)) {
      records batch;
      batch.emplace_back(record::parked{std::move(mine->call_ids)});
      co_await write(std::move(batch), true);
    } else if (std::holds_alternative<command::hand_over>(next)) {
      hand_over();
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
      store_fault_ = why;
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

live_run::reaction live_run::on_item(item& i) {
  reaction r;
  auto& batch = r.batch;
  if (auto* reply = std::get_if<providers::model_reply>(&i)) {
    if (!model_call_) return r;  // it was cancelled when its reply had just come
    model_call_.reset();
    batch.emplace_back(with_lanes({with_unique_ids(std::move(reply->message), call_ids_, core_.calls(), around_.random),
                                   reply->reason,
                                   std::move(reply->raw_reason),
                                   reply->usage,
                                   ms_since(round_began_),
                                   {}}));
  } else if (auto* broken = std::get_if<providers::model_error>(&i)) {
    if (!model_call_) return r;
    model_call_.reset();
    batch.emplace_back(record::model_failed{std::move(*broken), ms_since(round_began_)});
  } else if (auto* done = std::get_if<call_done>(&i)) {
    const auto sent = std::ranges::find(sent_, done->id, &sent_call::id);
    if (sent == sent_.end() || !core_.is_open(done->id)) return r;  // it was closed before
    if (try_again(*sent, done->outcome)) return r;
    batch.emplace_back(to_call_result(std::move(done->id), done->outcome, sent->tool, sent->server,
                                      ms_since(sent->since), core_.attempts(sent->id)));
    sent_.erase(sent);
    if (status_) status_->drop(std::get<record::call_result>(batch.back()).call_id);
  } else if (auto* line = std::get_if<status_writer::line>(&i)) {
    status_->drop(line->call);
    if (line->usage)
      batch.emplace_back(record::status_line{std::move(line->call), std::move(line->text), *line->usage, line->ms});
    else
      name_tool(line->call);
  } else if (auto* due = std::get_if<retry_due>(&i)) {
    const auto sent = std::ranges::find(sent_, due->id, &sent_call::id);
    if (sent == sent_.end() || !core_.is_open(due->id)) return r;
    batch.push_back(next_attempt(*sent));
    if (std::holds_alternative<record::call_result>(batch.back())) sent_.erase(sent);
  } else if (auto* asked = std::get_if<stop_asked>(&i)) {
    batch.emplace_back(record::cancel{asked->why, std::move(asked->text)});
  } else if (auto* answer = std::get_if<answer_given>(&i)) {
    return on_answer(*answer);
  } else if (auto* given = std::get_if<results_given>(&i)) {
    if (!core_.parked()) return r;  // it was cancelled meanwhile
    parked_limit_.reset();
    results_taken_ = false;
    r.synced = true;
    for (auto& one : given->results) batch.emplace_back(std::move(one));
  }
  return r;
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
  add_guidance(request_.system, request_.limits, offer_->guidance);
  if (request_.answer_schema) add_paragraph(request_.system, words::answer_format(request_.answer_schema));
  record::run_started r;
  r.run = name();
  r.session = request_.session;
  r.principal = request_.principal;
  r.model = model_->name();
  r.inherited_count = inherited_.size();
  r.inherited_after = inherited_.last_run;
  r.inherited = std::move(inherited_);
  r.messages.reserve(messages.size() + 1);
  if (!request_.system.empty()) r.messages.push_back(providers::system_message(request_.system));
  r.messages.insert(r.messages.end(), messages.begin(), messages.end());
  messages.clear();
  call_ids_ = ids_of(r.inherited);
  call_ids_.merge(ids_of(r.messages));
  r.profile = request_.profile;
  r.tools = request_.tools;
  r.approve = request_.approve;
  r.client_tools = request_.client_tools;
  r.answer_schema = request_.answer_schema;
  r.detached = request_.detach;
  r.limits = request_.limits;
  if (r.limits.mark_results) r.nonce = hex(around_.random.next(), 16);
  return r;
}

void live_run::take_offer() {
  auto now = around_.tools.snapshot();
  const bool reads = !core_.kept().empty();
  if (offer_ && now == catalog_ && reads == offers_reading_) return;
  catalog_ = std::move(now);
  const auto before = std::exchange(base_offer_, around_.offers.offer(catalog_, request_.tools, model_->api()));
  auto own = own_tools_;
  if (reads) own.push_back(read_result::entry());
  if (own.empty())
    offer_ = base_offer_;
  else if (!offer_ || reads != offers_reading_ || before->set != base_offer_->set)
    offer_ = around_.offers.with_own(*base_offer_, own, model_->api());
  offers_reading_ = reads;
}

void live_run::call_model(const command::call_model& c) {
  round_began_ = around_.time.now();
  providers::model_request ask;
  ask.messages = core_.messages();
  if (c.with_tools && !offer_->set->tools.empty()) ask.tools = offer_->set;
  ask.answer_schema = core_.started().answer_schema;
  if (!offer_->set->tools.empty())
    ask.note = words::round_prompt(core_.limits(), core_.rounds(), c.depth, c.with_tools);
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
  const bool own = is_caller_tool(*entry), built_in = read_result::is(*entry);
  // It may have changed since the round was begun with it.
  const auto now = around_.tools.snapshot();
  if (const auto* withheld = own ? nullptr : now->find_withheld(entry->name))
    return closing_record(
        {id, record::result_cause::refused, "Not executed: " + mcp::withheld_text(entry->name, *withheld)});
  if (!own && !built_in && entry->owner.expired())
    return closing_record({id, record::result_cause::unavailable,
                           "Not executed: the server \"" + entry->server + "\" of this tool is gone."});
  if (auto problem = around_.arguments.problem(*entry, call.name, call.arguments); !problem.empty())
    return closing_record({id, record::result_cause::bad_arguments, std::move(problem)});
  const auto arguments_hash = stable_hash(call.arguments.text());
  if (const auto why = own || built_in ? std::string_view() : needs_approval(*entry); !why.empty()) {
    // What was shown to a person must be what is called.
    const auto present = now->find(entry->name);
    if (!present || present->hash != entry->hash)
      return closing_record({id, record::result_cause::refused,
                             "Not executed: the server \"" + entry->server +
                                 "\" changed its definition of this tool, which needs a yes of the user."});
    if (!core_.approved(id, entry->hash, arguments_hash)) {
      if (request_.limits.approve == approval_mode::none)
        return closing_record({id, record::result_cause::refused,
                               "Not executed: this tool needs a yes of the user, and this run may not ask for one."});
      if (request_.limits.approve == approval_mode::ask) return approval_question(id, *entry, arguments_hash, why);
    }
  }
  record::call_intent intent;
  intent.call_id = id;
  intent.to_caller = own;
  intent.name = entry->name;
  intent.server = entry->server;
  intent.definition_hash = entry->hash;
  intent.arguments_hash = arguments_hash;
  intent.attempt = core_.attempts(id) + 1;
  intent.repeatable = built_in || entry->manner.max_retries > 0;
  return intent;
}

// Calls that are closed one after another are one commit.
live_run::records live_run::close(command::close_call first) {
  records batch;
  const auto add = [&](const command::close_call& c) {
    auto r = closing_record(c);
    if (status_) status_->drop(c.call_id);
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
  if (const auto before = std::ranges::find(sent_, c.call_id, &sent_call::id); before != sent_.end())
    before->client = server;
  else
    sent_.push_back({c.call_id, entry->name, entry->server, server, 0, around_.time.now(), {}, {}});
  ++around_.counters.calls;
  if (read_result::is(*entry)) return run_built_in(c.call_id);
  if (!server) {  // it went away between the intent and now
    inbox_.push(call_done{
        c.call_id, mcp::call_outcome::failed(errc::unavailable, "the server \"" + entry->server + "\" is gone")});
    return;
  }
  mcp::server_call out;
  out.params = call_params(entry->tool, call.arguments);
  out.name = entry->name;
  out.limits = entry->manner.limits;
  out.done = [weak = weak_from_this(), id = c.call_id](mcp::call_outcome outcome) {
    if (auto self = weak.lock()) self->inbox_.push(call_done{id, std::move(outcome)});
  };
  out.progress = [weak = weak_from_this(), id = c.call_id](const raw_json& params) {
    if (auto self = weak.lock(); self && self->core_.is_open(id))
      self->emit(run_event::kind::tool_progress, event_json::tool_progress(id, params), id);
  };
  out.log = [weak = weak_from_this(), id = c.call_id](const raw_json& params) {
    if (auto self = weak.lock(); self && self->core_.is_open(id))
      self->emit(run_event::kind::tool_log, event_json::tool_log(id, params), id);
  };
  out.asker = this;
  const auto ticket = server->call(std::move(out));
  if (auto sent = std::ranges::find(sent_, c.call_id, &sent_call::id); sent != sent_.end()) sent->ticket = ticket;
}

// The calls stay in sent_ until they are closed, so that their results can tell how long they ran.
void live_run::cancel_open() {
  model_call_.reset();
  if (status_) status_->drop_all();
  questions_.clear();
  parked_limit_.reset();
  for (auto& sent : sent_) {
    sent.again.reset();
    if (auto server = sent.client.lock()) server->cancel(sent.ticket, "the run was cancelled");
  }
}

}  // namespace mcpbx::daemon
