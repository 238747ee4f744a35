// Reads only the kinds of records that count something.
#include "daemon/store/records/usage_report.hpp"

#include "daemon/store/records/record_format.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <type_traits>

namespace mcpbx::daemon::stored {
namespace {

constexpr std::string_view others = "(others)";

template <class Name>
Name name_of_others() {
  if constexpr (std::is_same_v<Name, usage_report::tool_name>)
    return {std::string(others), ""};
  else
    return std::string(others);
}

template <class Map>
void add_to_group(Map& group, const typename Map::key_type& name, const usage_counts& counts) {
  const bool room = group.contains(name) || group.size() + 1 < usage_report::most_names;
  group[room ? name : name_of_others<typename Map::key_type>()] += counts;
}

bool counts_something(std::string_view text) {
  constexpr std::array<std::string_view, 6> kinds{R"("type":"round_started")", R"("type":"assistant")",
                                                  R"("type":"model_failed")",  R"("type":"call_intent")",
                                                  R"("type":"call_result")",   R"("type":"status_line")"};
  const auto head = text.substr(0, 40);  // to_text() writes the type behind the version
  for (const auto kind : kinds)
    if (head.contains(kind)) return true;
  return false;
}

std::string day_of(std::int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
  return text;
}

bool ended_without_answer(std::string_view reason) {
  constexpr std::array<std::string_view, 7> kinds{"damaged",      "timeout",     "cancelled",  "provider_error",
                                                  "context_full", "store_error", "interrupted"};
  for (const auto kind : kinds)
    if (reason == kind) return true;
  return false;
}

void add_tokens(usage_counts& to, const providers::usage& u) {
  to.input_tokens += u.input;
  to.output_tokens += u.output;
  to.cached_tokens += u.cached;
}

}  // namespace

usage_counts& usage_counts::operator+=(const usage_counts& other) {
  runs += other.runs;
  failed_runs += other.failed_runs;
  model_calls += other.model_calls;
  failed_model_calls += other.failed_model_calls;
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  cached_tokens += other.cached_tokens;
  calls += other.calls;
  failed_calls += other.failed_calls;
  return *this;
}

usage_report& usage_report::operator+=(const usage_report& other) {
  total += other.total;
  for (const auto& [name, counts] : other.models) add_to_group(models, name, counts);
  for (const auto& [name, counts] : other.servers) add_to_group(servers, name, counts);
  for (const auto& [name, counts] : other.tools) add_to_group(tools, name, counts);
  for (const auto& [name, counts] : other.days) add_to_group(days, name, counts);
  return *this;
}

void run_usage::add(std::string_view text) {
  if (!counts_something(text)) return;
  if (const auto r = record_from(text)) take(*r);
}

void run_usage::take(const run_record& r) {
  if (const auto* round = std::get_if<record::round_started>(&r)) {
    model_ = round->model;
  } else if (const auto* said = std::get_if<record::assistant>(&r)) {
    auto& counts = of_model();
    ++counts.model_calls;
    add_tokens(counts, said->usage);
    for (const auto* call : said->message->calls()) calls_[call->id] = {call->name, ""};
  } else if (const auto* failed = std::get_if<record::model_failed>(&r)) {
    auto& counts = of_model();
    ++counts.model_calls;
    ++counts.failed_model_calls;
    add_tokens(counts, failed->error.usage);
  } else if (const auto* status = std::get_if<record::status_line>(&r)) {
    add_tokens(of_model(), status->usage);
  } else if (const auto* intent = std::get_if<record::call_intent>(&r)) {
    calls_[intent->call_id] = {intent->name, intent->server};
  } else if (const auto* result = std::get_if<record::call_result>(&r)) {
    const auto known = calls_.find(result->call_id);
    auto& counts = tools_[known == calls_.end() ? usage_report::tool_name() : known->second];
    ++counts.calls;
    if (result->is_error || result->cause != record::result_cause::server) ++counts.failed_calls;
  }
}

void run_usage::count_into(usage_report& report) const {
  usage_counts whole;
  whole.runs = 1;
  whole.failed_runs = ended_without_answer(row_.reason) ? 1 : 0;
  for (const auto& [name, counts] : tools_) {
    add_to_group(report.tools, name, counts);
    add_to_group(report.servers, name.second, counts);
    whole += counts;
  }
  // Calls count for the model that the run began with, even if another one made them.
  usage_counts of_run = whole;
  for (const auto& [model, counts] : models_) {
    whole += counts;
    if (model == row_.model)
      of_run += counts;
    else
      add_to_group(report.models, model, counts);
  }
  add_to_group(report.models, row_.model, of_run);
  add_to_group(report.days, day_of(row_.started_ms), whole);
  report.total += whole;
}

}  // namespace mcpbx::daemon::stored
