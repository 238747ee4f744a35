// Findings about models: their keys, their addresses, and one request where that was asked for.
#include "daemon/cli/doctor/findings.hpp"
#include "daemon/cli/doctor/words.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::cli::doctor {
namespace {

using namespace mcpbx::cli::doctor::checks;
using namespace mcpbx::redact;

std::string at_entry(const model_facts& m) {
  return m.entry_at.empty() ? "its entry" : "its entry, " + m.entry_at;
}

void judge_address(const model_facts& m, findings& out) {
  using enum address_facts::outcome;
  const std::string subject = "model " + m.name;
  const auto& a = m.address;
  const std::string why = reason_behind(a.detail);
  // A model without an address of its own is a provider in the network, or a program at its usual port.
  const bool is_here = a.shown.starts_with("http:");
  const std::string correct = m.has_address ? "correct \"baseUrl\" in " + at_entry(m)
                              : is_here ? "start that program, or write its address as \"baseUrl\" in " + at_entry(m)
                                        : "connect this machine to the network";
  const std::string proxy = a.shown.starts_with("https:") ? "; behind a proxy, export HTTPS_PROXY=… && mcpbx stop" : "";
  switch (a.state) {
    case answers:
      out.push_back({model_ok, subject, a.shown + " answers, and its key is there"});
      break;
    case unresolved:
      out.push_back({model_unresolved, subject, "the name of " + a.shown + " does not resolve" + why, correct + proxy});
      break;
    case unreachable:
      out.push_back({model_unreachable, subject, a.shown + " could not be reached" + why,
                     correct + (m.has_address ? ", or start that program" : "") + proxy});
      break;
    case certificate:
      if (speaks_no_tls(a.detail)) {
        out.push_back({model_unreachable, subject, a.shown + " does not speak TLS",
                       mend_without_tls(a.shown, "baseUrl", at_entry(m), correct)});
        break;
      }
      out.push_back({model_certificate, subject, "the certificate of " + a.shown + " is not accepted" + why,
                     "name the authority's file as \"caFile\" in " + at_entry(m)});
      break;
    case slow:
      out.push_back(
          {model_slow, subject, a.shown + " did not answer in time" + why, "mcpbx doctor " + shell_word(m.name)});
      break;
    case unchecked:
      out.push_back({model_unchecked, subject, (a.shown.empty() ? "its address" : a.shown) + " was not tried" + why});
      break;
  }
}

void judge_model(const facts& all, const model_facts& m, findings& out) {
  const std::string subject = "model " + m.name;
  for (const auto& sentence : m.missing) out.push_back({model_key, subject, sentence, export_for(sentence)});
  if (m.missing.empty() && !m.problem.empty())
    out.push_back({model_problem, subject, cut_for_people(m.problem, 700, {.mark = " …"}), export_for(m.problem)});
  if (!m.has_endpoint) {
    if (m.missing.empty() && m.problem.empty()) out.push_back({model_ok, subject, "it needs no network"});
  } else if (m.missing.empty() || m.address.state != address_facts::outcome::answers) {
    judge_address(m, out);
  }
  if (!all.online || !m.missing.empty() || !m.problem.empty()) return;
  if (!m.asked)
    out.push_back({model_not_asked, subject, m.answer_problem.empty() ? "no request was made" : m.answer_problem,
                   "mcpbx --standalone doctor " + shell_word(m.name) + " --online"});
  else if (m.answer_problem.empty())
    out.push_back({model_answers, subject, "it has answered a request"});
  else
    out.push_back({model_fails, subject, cut_for_people(m.answer_problem, 700, {.mark = " …"}),
                   "mcpbx models " + shell_word(m.name) + " --remote"});
}

}  // namespace

void judge_models(const facts& all, findings& out) {
  if (std::ranges::none_of(all.models, [](const model_facts& m) { return !m.built_in || m.has_endpoint; }))
    out.push_back({model_none, "models", "no model is configured; `ask` can only use demo, which is no language model",
                   "export OPENAI_API_KEY=… && mcpbx stop"});
  for (const auto& m : all.models) judge_model(all, m, out);
}

}  // namespace mcpbx::cli::doctor
