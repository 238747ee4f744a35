// Rows of the model list, one per entry. All endpoints are asked at the same time.
#include "daemon/app/models/model_lists.hpp"

#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"
#include "providers/call/model_listing.hpp"
#include "providers/wire/registry/registry.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::models {
namespace {

// Limit for slow endpoints, because a person may wait at a terminal.
constexpr milliseconds list_time{30'000};

bool has_endpoint(const conf::model::model_entry& e) {
  return providers::registry::find_api(conf::loop::to_string(*e.api)) != nullptr;
}

// Returns true if a program gives the key or a header. A list must not run it, because it may ask the user.
bool runs_program(const conf::model::model_entry& e) {
  const auto runs = [](const conf::model::reference_string& value) { return value.text.contains("${cmd:"); };
  return (e.api_key && runs(*e.api_key)) ||
         std::ranges::any_of(e.headers, [&](const auto& header) { return runs(header.second); });
}

front::model_row row_of(model_set& models, const conf::model::model_entry& e) {
  front::model_row r;
  r.name = e.name;
  r.api = conf::loop::to_string(*e.api);
  r.fallback = e.fallback_model.value_or("");
  const auto usual = meant_model(models.configuration(), "");
  r.is_default = usual.substr(0, usual.find('/')) == e.name;
  if (has_endpoint(e)) {
    if (const auto model = models.values().value(*e.model)) r.model = redact::redactor::redact(*model);
    // Redacts the whole URL before it is cut: the redactor would not recognise a part of a secret.
    if (const auto base = base_url_of(e, models.values())) {
      const auto shown = redact::redactor::redact(*base);
      r.endpoint = shown.substr(0, shown.find('?'));
    }
  }
  if (const auto made = models.find(e.name); !made) r.problem = made.error().message;
  return r;
}

}  // namespace

struct model_lists::job {
  std::shared_ptr<model_set> models;
  std::vector<front::model_row> rows;
  std::vector<std::unique_ptr<providers::call::model_listing>> asking;
  std::vector<bool> reading;     // rows whose key and headers are being read
  std::unique_ptr<timer> limit;  // ends the reading, which a file of a dead mount would hold up
  std::size_t left = 0;
  bool remote = false, ended = false;
  std::function<void(result<std::vector<front::model_row>>)> done;
};

model_lists::model_lists(present_models models, boost::asio::any_io_executor executor, http::clients::client& client,
                         time_source& time)
    : models_(std::move(models)), executor_(std::move(executor)), client_(client), time_(time) {}

model_lists::~model_lists() = default;

void model_lists::list(const std::string& name, bool remote,
                       std::function<void(result<std::vector<front::model_row>>)> done) {
  auto models = models_();
  const auto& all = models->configuration();
  std::vector<const conf::model::model_entry*> wanted;
  for (const auto& e : all.models)
    if (name.empty() || e.name == name) wanted.push_back(&e);
  if (wanted.empty() && !name.empty()) {
    std::vector<std::string_view> names;
    for (const auto& e : all.models) names.push_back(e.name);
    return done(fail(errc::not_found, "there is no model \"" + std::string(cut_utf8(name, 100)) + "\"" +
                                          did_you_mean(name, names) + "; `mcpbx models` lists them"));
  }
  auto j = std::make_shared<job>();
  for (const auto* e : wanted) j->rows.push_back(row_of(*models, *e));
  const auto asked = std::ranges::count_if(open_, [](const auto& other) { return other->remote; });
  if (remote && static_cast<std::size_t>(asked) >= max_open)
    return done(fail(errc::limit, "endpoints are being asked for " + std::to_string(asked) +
                                      " other callers; ask again in a moment"));
  j->models = std::move(models);
  j->done = std::move(done);
  j->asking.resize(wanted.size());
  j->reading.resize(wanted.size());
  j->remote = remote;
  j->limit = time_.make_timer();
  j->limit->arm(time_.now() + list_time, [this, weak = std::weak_ptr(j)] {
    if (const auto open = weak.lock()) out_of_time(open);
  });
  j->left = 1;  // one for this function, so that `done` is not called before all were asked
  open_.push_back(j);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    check_values(j, i, *wanted[i]);
    if (remote) ask(j, i, *wanted[i]);
  }
  answered(j);
}

std::size_t model_lists::max_tools(std::string_view name, std::string_view api) const {
  const auto models = models_();
  const auto* e = model_entry_of(models->configuration(), name);
  if (api.empty()) return e != nullptr ? static_cast<std::size_t>(e->max_tools.value_or(0)) : 0;
  // Azure deployments use OpenAI's protocol.
  const auto* spoken = e != nullptr ? providers::registry::find_api(conf::loop::to_string(*e->api)) : nullptr;
  if (spoken != nullptr && (spoken->name == api || spoken->dialect_of == api)) return max_tools_of(*e);
  const auto* known = providers::registry::find_api(api);
  return known != nullptr ? known->max_tools : 0;
}

// Resolves the key and the headers of an entry, so that the list shows a variable or a file that is missing.
void model_lists::check_values(const std::shared_ptr<job>& j, std::size_t at, const conf::model::model_entry& e) {
  if (!has_endpoint(e) || !j->rows[at].problem.empty() || runs_program(e)) return;
  const auto o = j->models->connection_options(e);
  if (!o) return;  // the same fault is the problem of the row already
  ++j->left;
  j->reading[at] = true;
  o->credentials([this, weak = std::weak_ptr(j), at](const result<std::vector<http::header>>& headers) {
    const auto open = weak.lock();
    if (!open || open->ended) return;
    open->reading[at] = false;
    if (!headers) open->rows[at].problem = headers.error().message;
    answered(open);
  });
}

void model_lists::ask(const std::shared_ptr<job>& j, std::size_t at, const conf::model::model_entry& e) {
  ++j->left;
  auto& row = j->rows[at];
  if (!has_endpoint(e)) {
    row.offered_problem = "The API " + row.api + " has no endpoint that could be asked.";
    return answered(j);
  }
  auto o = j->models->connection_options(e);
  if (!o) {
    row.offered_problem = o.error().message;
    return answered(j);
  }
  o->limits.first_byte = std::min(o->limits.first_byte, list_time);
  o->limits.total = std::min(o->limits.total, list_time);
  j->asking[at] = providers::call::list_models(
      std::move(*o), client_, time_, [this, weak = std::weak_ptr(j), at](result<providers::wire::model_list> got) {
        const auto open = weak.lock();
        if (!open || open->ended) return;
        auto& said = open->rows[at];
        if (!got) {
          said.offered_problem = got.error().message;
        } else {
          for (auto& m : got->models) said.offered.push_back({std::move(m.id), std::move(m.name)});
          said.more = got->more;
        }
        answered(open);
      });
}

void model_lists::answered(const std::shared_ptr<job>& j) {
  if (--j->left == 0) end(j);
}

// Ends a list whose values could not all be read. Endpoints have limits of their own, which end no later.
void model_lists::out_of_time(const std::shared_ptr<job>& j) {
  for (std::size_t i = 0; i < j->rows.size(); ++i) {
    if (j->reading[i]) j->rows[i].problem = "its key or a header could not be read within 30 s";
    if (j->asking[i] && j->rows[i].offered.empty() && j->rows[i].offered_problem.empty())
      j->rows[i].offered_problem = "no answer within 30 s";
  }
  end(j);
}

void model_lists::end(const std::shared_ptr<job>& j) {
  j->ended = true;
  std::erase(open_, j);
  // Posts, because this function may run inside an event of an object that `j` releases.
  boost::asio::post(executor_, [j] { j->done(std::move(j->rows)); });
}

}  // namespace mcpbx::daemon::models
