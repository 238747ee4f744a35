// Searches the orders depth first and remembers the places that it has visited.
#include "test/daemon/loop/core/order_explorer.hpp"

namespace mcpbx::daemon::test {
namespace {

using providers::end_reason;

std::vector<stored::run_record> prefix(const std::vector<stored::run_record>& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

providers::model_error error_of(providers::model_error::kind type) {
  providers::model_error e;
  e.type = type;
  e.message = "gone";
  return e;
}

stored::record::answer said(const std::string& question, std::string_view body) {
  return {question, mcpbx::json::raw_json::own(body), false, false, false};
}

stored::record::answer unanswered(const std::string& question, bool unattended, bool mute) {
  return {question, {}, true, unattended, mute};
}

// Returns the commands that follow if each further round makes one call, which fails, until the run ends.
lines future_of(script s) {
  const auto known = s.started.size();
  for (int i = 0; i < 4 && !s.core.facts().ended; ++i) {
    const auto id = "later" + std::to_string(i);
    s.model(reply("", {call(id)}));
    if (!s.running.empty()) s.answer(failed(id));
  }
  if (!s.core.facts().ended) s.model(reply("{}"));
  lines all;
  for (std::size_t i = known; i < s.started.size(); ++i)
    all.insert(all.end(), s.started[i].begin(), s.started[i].end());
  REQUIRE(s.core.facts().ended);
  all.push_back(s.core.facts().answer.reason_text);
  return all;
}

// Returns a key that tells the conversations of one explorer apart, except for the texts of their results.
std::string shape_of(const std::vector<providers::message_ptr>& messages) {
  std::string all;
  for (const auto& m : messages) {
    all += static_cast<char>('0' + static_cast<int>(m->role));
    for (const auto& b : m->blocks) {
      if (const auto* c = std::get_if<providers::tool_call_block>(&b)) all += c->id + (c->problem.empty() ? "+" : "?");
      if (const auto* r = std::get_if<providers::tool_result_block>(&b)) all += r->call_id + (r->is_error ? "!" : ".");
      if (std::holds_alternative<providers::text_block>(b)) all += 't';
    }
  }
  return all;
}

}  // namespace

std::string print(const stored::run_record& r) {
  std::string line(stored::name_of(r));
  if (const auto* x = std::get_if<stored::record::call_result>(&r))
    line += " " + x->call_id + " " + std::string(x->result.text());
  if (const auto* x = std::get_if<stored::record::run_ended>(&r))
    line += " " + std::string(stored::to_string(x->reason)) + " " + x->text;
  if (const auto* x = std::get_if<stored::record::cancel>(&r)) line += " " + std::string(stored::to_string(x->why));
  return line;
}

lines print_all(const std::vector<stored::run_record>& records) {
  lines all;
  for (const auto& r : records) all.push_back(print(r));
  return all;
}

void check_prefixes(const script& s) {
  core::run_core core;
  for (std::size_t i = 0; i < s.records.size(); ++i) {
    core.apply(s.records[i]);
    REQUIRE(print(core.commands()) == s.started[i]);
    REQUIRE(fault_of(core.facts().messages) == "");
  }
}

void check_recovery(const script& s) {
  for (std::size_t cut = 1; cut < s.records.size(); ++cut) {
    const auto rest = fold(s.records, cut).recovery();
    auto all = prefix(s.records, cut);
    for (std::size_t done = 0; done < rest.size(); ++done) {
      const auto again = fold(all, all.size()).recovery();
      const std::vector<stored::run_record> expected(rest.begin() + static_cast<std::ptrdiff_t>(done), rest.end());
      REQUIRE(print_all(again) == print_all(expected));
      all.push_back(rest[done]);
    }
    REQUIRE(fault_of(all) == "");
    const auto whole = fold(all, all.size());
    REQUIRE(fault_of(whole.facts().messages) == "");
    REQUIRE(wire_fault_of(whole.facts().messages) == "");
  }
}

void check_resumption(const script& s) {
  for (const bool well : {true, false})
    for (std::size_t cut = 1; cut < s.records.size(); ++cut) {
      script again(prefix(s.records, cut));
      for (int steps = 0; !again.core.facts().ended && steps < 100; ++steps) {
        again.settle();
        if (again.core.facts().ended) break;
        if (again.model_open)
          again.model(reply("{}"));
        else if (!again.asked.empty())
          again.says(again.asked.front(), well);
        else if (!again.running.empty())
          again.answer(well ? answered(again.running.front()) : failed(again.running.front()));
        else
          again.gives();
      }
      REQUIRE(again.core.facts().ended);
      REQUIRE(fault_of(again.records) == "");
      REQUIRE(fault_of(again.core.facts().messages) == "");
      REQUIRE(wire_fault_of(again.core.facts().messages) == "");
      // Applying all records gives the same run, whatever the crash interrupted.
      const auto whole = fold(again.records, again.records.size());
      REQUIRE(whole.facts().ended);
      REQUIRE(*whole.facts().answer.text == *again.core.facts().answer.text);
      REQUIRE(fault_of(whole.facts().messages) == "");
    }
}

void order_explorer::explore() {
  auto first = opening(limits);
  first.answer_schema = answer_schema;
  script s(std::vector<stored::run_record>{first});
  s.started = {print(s.core.commands())};
  follow(std::move(s), 0);
}

std::vector<stored::record::assistant> order_explorer::replies(std::size_t played) const {
  std::vector<stored::record::assistant> all;
  all.push_back(reply("done"));
  if (answer_schema) all.push_back(reply("{}"));
  all.push_back(reply("", {}, end_reason::malformed_call));
  if (played >= rounds) return all;
  all.push_back(reply("wait", {}, end_reason::pause));
  for (std::size_t count = 1; count <= calls; ++count) {
    std::vector<providers::tool_call_block> some;
    for (std::size_t i = 0; i < count; ++i)
      some.push_back(call("r" + std::to_string(played) + "c" + std::to_string(i)));
    auto other = some;
    if (people) {
      // A call that needs approval, one of the caller's own tools, and between them one of a server's tool.
      some.front().name = "guarded";
      if (count > 1) some.back().name = "mine";
      other.front().name = "mine";
      if (count > 1) other.back().name = "guarded";
      all.push_back(reply("", some));
      if (count != 2) all.push_back(reply("", other));
      continue;
    }
    all.push_back(reply("text", some));
    if (count < calls) continue;
    all.push_back(reply("", some, end_reason::length));
    all.push_back(reply("", some, end_reason::unknown));
    all.push_back(reply("", some, end_reason::malformed_call));
    // Blank text beside calls, and names that no API takes back.
    other.front().name = "unknown.lookup";
    other.back().name = "no such tool!";
    other.back().problem = "no JSON";
    other.back().arguments = {};
    all.push_back(reply(" \n", other));
  }
  if (serial)
    for (auto& r : all) r.serial_groups.assign(r.message->calls().size(), 1);
  return all;
}

// Returns a key for the point at which the model is asked. The future depends on the messages and on the failed rounds,
// and on single calls only if they are counted.
std::string order_explorer::place_of(const script& s, std::size_t played) const {
  std::string all = std::to_string(played) + " " + print(s.core.commands()).front() + " ";
  for (const auto& m : s.core.facts().messages) {
    std::size_t failures = 0;
    for (const auto& b : m->blocks)
      if (const auto* r = std::get_if<providers::tool_result_block>(&b)) failures += r->is_error ? 1 : 0;
    all += static_cast<char>('0' + static_cast<int>(m->role));
    if (m->role == providers::role::assistant && m->calls().empty()) all += 't';
    if (m->role != providers::role::tool_results) continue;
    all += failures == m->blocks.size() ? '!' : '.';
    if (counted) all += std::to_string(failures) + "/" + std::to_string(m->blocks.size());
  }
  if (counted)
    for (const auto& r : s.records)
      if (const auto* done = std::get_if<stored::record::call_result>(&r))
        all += done->cause == stored::record::result_cause::bad_arguments ? 'b' : ' ';
  return all;
}

bool order_explorer::first_time_here(const script& s, std::size_t played) {
  check_history(s.core.facts().messages);
  const auto [place, first] = places_.try_emplace(place_of(s, played));
  if (first) {
    place->second = future_of(s);
    return true;
  }
  ++meetings;
  REQUIRE(place->second == future_of(s));
  return false;
}

void order_explorer::follow(script s, std::size_t played) {
  for (;;) {
    ++steps;
    if (s.core.facts().ended) return finished(s);
    inject(s);
    if (s.todo.empty()) break;
    s.carry_out_one();
  }
  // Otherwise nothing would ever happen again.
  REQUIRE((s.model_open || s.handed_over || !s.asked.empty() || !s.running.empty()));
  const auto go = [&](auto&& change, std::size_t more = 0) {
    script next = s;
    change(next);
    follow(std::move(next), played + more);
  };
  if (s.model_open) {
    if (!first_time_here(s, played)) return;
    const auto closed = [](script& next) -> script& {
      next.model_open = false;
      return next;
    };
    for (auto& r : replies(played)) go([&](script& next) { closed(next).take(r); }, 1);
    for (const auto type : {providers::model_error::kind::cut, providers::model_error::kind::time_limit,
                            providers::model_error::kind::context_full})
      go([&](script& next) { closed(next).take(stored::record::model_failed{error_of(type), 1}); });
    return;
  }
  for (const auto& question : s.asked) {
    const auto say = [&](stored::record::answer a) {
      go([&](script& next) {
        std::erase(next.asked, question);
        next.take(std::move(a));
      });
    };
    if (question.starts_with("d_")) {
      stored::record::answer gone{question, mcpbx::json::raw_json::literal(R"({"action":"cancel"})")};
      say(gone);
      gone.withdrawn = true;
      say(gone);
      continue;
    }
    say(said(question, R"({"approve":true})"));
    say(said(question, R"({"approve":false})"));
    say(unanswered(question, false, false));
    say(unanswered(question, true, false));
    say(unanswered(question, false, true));
  }
  if (s.handed_over) go([](script& next) { next.gives(); });
  for (const auto& id : s.running) {
    const auto take = [&](stored::run_record r) {
      go([&](script& next) {
        std::erase(next.running, id);
        std::erase(next.asked, "d_" + id);
        next.take(std::move(r));
      });
    };
    const auto was_asked = [&](const stored::run_record& r) {
      const auto* q = std::get_if<stored::record::question>(&r);
      return q && q->during_call && q->call_id == id;
    };
    if (asking && std::ranges::none_of(s.records, was_asked)) go([&](script& next) { next.take(script::during(id)); });
    take(answered(id));
    take(failed(id));
    if (!again || s.core.attempts(id) > 1) continue;
    stored::record::call_intent second;
    second.call_id = id;
    second.attempt = 2;
    second.repeatable = true;
    take(second);
  }
}

// Ends copies of the run from outside at this point, for each reason, and lets the store fail during a cancel.
void order_explorer::inject(const script& s) {
  for (const auto why : {stored::stop_reason::cancelled, stored::stop_reason::timeout, stored::stop_reason::interrupted,
                         stored::stop_reason::store_error}) {
    script next = s;
    next.take(stored::record::cancel{why, ""});
    while (!next.core.facts().ended) {
      ++steps;
      next.carry_out_one();
      if (why != stored::stop_reason::cancelled || next.core.facts().ended) continue;
      script broken = next;
      broken.take(stored::record::cancel{stored::stop_reason::store_error, "disk full"});
      broken.settle();
      REQUIRE(broken.core.facts().answer.reason == stored::stop_reason::store_error);
      finished(broken);
    }
    if (why == stored::stop_reason::store_error) REQUIRE(next.core.facts().answer.reason == why);
    finished(next);
  }
}

void order_explorer::finished(const script& s) {
  ++ends;
  ++reasons[s.core.facts().answer.reason];
  REQUIRE(fault_of(s.records) == "");
  REQUIRE(s.running.empty());
  REQUIRE(s.asked.empty());
  REQUIRE_FALSE(s.model_open);
  REQUIRE_FALSE(s.handed_over);
  check_history(s.core.facts().messages);
  if (ends % crash_every != 0) return;
  check_prefixes(s);
  check_recovery(s);
  check_resumption(s);
}

void order_explorer::check_history(const std::vector<providers::message_ptr>& messages) {
  if (!seen_.insert(shape_of(messages)).second) return;
  REQUIRE(fault_of(messages) == "");
  REQUIRE(wire_fault_of(messages) == "");
}

}  // namespace mcpbx::daemon::test
