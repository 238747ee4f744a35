// Files on the lane, entries and people's requests on the speaking thread.
#include "daemon/logins/logins.hpp"

#include "daemon/logins/kept_grants.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::logins {
namespace {

error none_under_way(const login_target& whose) {
  return {errc::invalid_argument, "no login to server " + json::json_quoted(whose.server) + " is under way"};
}

// Reads the grants of these tokens that have not been read yet, then calls `then`.
void prepare_all(std::vector<std::shared_ptr<entry_tokens>> tokens, std::function<void()> then) {
  const auto waiting = std::make_shared<std::size_t>(tokens.size() + 1);
  const auto end = [waiting, then = std::move(then)] {
    if (--*waiting == 0) then();
  };
  for (const auto& one : tokens) one->prepare_status(end);
  end();
}

// An outcome of work elsewhere, which has failed unless the work was done.
template <class T>
struct done_elsewhere {
  result<T> value = fail(errc::unavailable, "there is no thread for it");
};

}  // namespace

logins::logins(login_parts parts, options o, hooks h)
    : parts_(std::move(parts)),
      path_(std::move(o.path)),
      file_(path_ ? std::make_shared<credentials::credential_file>(*path_, std::move(o.find_key)) : nullptr),
      person_(std::move(o.person)),
      hooks_(std::move(h)),
      alive_(std::make_shared<int>()),
      renewals_(parts_.executor, "renewals"),
      lane_("logins", 1) {}

logins::~logins() {
  alive_.reset();
  for (const auto* all : {&entries_, &of_callers_})
    for (const auto& e : *all) e->drop();
}

// Gives `work` to a thread by `post`, and runs `then(its result)` on the speaking thread, unless this object is gone by
// then. If there is no thread, `then` gets an empty result.
template <class Post, class Work, class Then>
void logins::elsewhere(Post post, Work work, Then then) {
  using outcome = std::invoke_result_t<Work>;
  auto back = [executor = parts_.executor, weak = std::weak_ptr(alive_), then = std::move(then)](outcome o) mutable {
    boost::asio::post(executor, [weak = std::move(weak), then = std::move(then), o = std::move(o)]() mutable {
      if (!weak.expired()) then(std::move(o));
    });
  };
  auto shared = std::make_shared<decltype(back)>(std::move(back));
  const auto posted = post([work = std::move(work), shared]() mutable { (*shared)(work()); });
  if (!posted) (*shared)(outcome{});
}

template <class Work, class Then>
void logins::on_lane(Work work, Then then) {
  elsewhere([this](auto job) { return lane_.post(std::move(job)); }, std::move(work), std::move(then));
}

void logins::set_entries(std::vector<login_entry> entries, std::vector<std::string> callers) {
  callers_ = std::move(callers);
  std::vector<tokens_ptr> next, kept;
  const auto take = [](std::vector<tokens_ptr>& from, std::vector<tokens_ptr>& to, const login_entry& e) {
    for (auto& old : from)
      if (old && old->entry().server == e.server && old->entry().fingerprint == e.fingerprint &&
          old->entry().per_caller == e.per_caller)
        to.push_back(std::exchange(old, nullptr));
  };
  for (auto& e : entries) {
    if (e.per_caller) take(of_callers_, kept, e);
    const auto before = next.size();
    take(entries_, next, e);
    if (next.size() == before)
      next.push_back(std::make_shared<entry_tokens>(parts_, static_cast<grant_keeper&>(*this), std::move(e)));
  }
  // Code of those who wait runs inside, with the new entries.
  auto gone = std::exchange(entries_, std::move(next));
  for (auto& one : std::exchange(of_callers_, std::move(kept))) gone.push_back(std::move(one));
  for (const auto& old : gone)
    if (old) old->leave("its entry has changed");
}

logins::tokens_ptr logins::find(std::string_view server) const {
  const auto found = std::ranges::find_if(entries_, [&](const auto& e) { return e->entry().server == server; });
  return found == entries_.end() ? nullptr : *found;
}

// Returns the tokens of a caller of this entry: a person has its own ones, and so has everybody if it is shared.
logins::tokens_ptr logins::tokens_for(const tokens_ptr& shared, const std::string& principal) {
  if (!shared->entry().per_caller || principal.empty() || stored::is_person(principal)) return shared;
  for (const auto& one : of_callers_)
    if (one->entry().server == shared->entry().server && one->entry().principal == principal) return one;
  login_entry own = shared->entry();
  own.principal = principal;
  // The browser of the daemon's desk is the person's, who would give the caller a login of the person's own.
  if (own.grant == auth::flow::grant_kind::person) own.opens = false;
  return of_callers_.emplace_back(
      std::make_shared<entry_tokens>(parts_, static_cast<grant_keeper&>(*this), std::move(own)));
}

// Returns the login that a person means.
result<logins::tokens_ptr> logins::look_up(const login_target& whose) {
  const auto shared = find(whose.server);
  if (!shared) return std::unexpected(unknown(whose.server));
  if (whose.principal.empty() || stored::is_person(whose.principal)) return shared;
  const std::string server = "server " + json::json_quoted(whose.server);
  if (!shared->entry().per_caller)
    return fail(
        errc::invalid_argument,
        server + " has one login for all its callers; \"sharing\": \"perCaller\" in its entry gives each its own");
  if (std::ranges::find(callers_, whose.principal) == callers_.end()) {
    std::string known;
    for (const auto& one : callers_) known += (known.empty() ? "" : ", ") + one;
    return fail(errc::invalid_argument, "there is no caller " + json::json_quoted(cut_utf8(whose.principal, 128)) +
                                            " that could log in to " + server + "; those beside you are: " + known);
  }
  return tokens_for(shared, whose.principal);
}

std::shared_ptr<mcp::connect::authorizer> logins::tokens_of(std::string_view server) const {
  return find(server);
}

std::shared_ptr<mcp::connect::authorizer> logins::tokens_at(std::string_view server, const std::string& url,
                                                            const std::string& principal) {
  const auto shared = find(server);
  if (!shared) return nullptr;
  return tokens_for(shared, principal)->at(url);
}

bool logins::is_same_account(std::string_view server, std::string_view principal) const {
  const auto shared = find(server);
  if (!shared || !shared->entry().per_caller || principal.empty() || stored::is_person(principal)) return true;
  const auto own = std::ranges::find_if(
      of_callers_, [&](const auto& e) { return e->entry().server == server && e->entry().principal == principal; });
  return shared->grant().empty() && (own == of_callers_.end() || (*own)->grant().empty());
}

error logins::unknown(std::string_view server) const {
  std::vector<std::string_view> known;
  for (const auto& e : entries_) known.push_back(e->entry().server);
  return {errc::not_found, "there is no server " + json::json_quoted(cut_utf8(server, 128)) +
                               " with a url that could need a login" + did_you_mean(server, known) +
                               "; `mcpbx auth status` lists those that have one"};
}

// Requests of people.

void logins::begin(const login_target& whose, const login_presence& waits,
                   std::function<void(result<login_invitation>)> then) {
  const auto found = look_up(whose);
  if (!found) return then(std::unexpected(found.error()));
  const auto& tokens = *found;
  if (tokens->entry().own_authorization)
    return then(fail(errc::config, "server " + json::json_quoted(whose.server) +
                                       " gets the Authorization header of its entry, so that nothing would use the "
                                       "tokens of a login; take it out of \"headers\" first"));
  const auto told = std::make_shared<bool>(false);
  const auto shared = std::make_shared<std::function<void(result<login_invitation>)>>(std::move(then));
  tokens->log_in(
      waits,
      [weak = tokens->weak_from_this(), told, shared] {
        const auto t = weak.lock();
        if (!t || *told) return;
        const login* const present = t->present_login();
        if (!present) return;  // it has ended: the other handler tells how
        *told = true;
        t->note_shown();
        const auto& flow = present->flow();
        (*shared)(login_invitation{std::string(present->address()), present->redirect_uri(), flow.issuer(),
                                   flow.resource(), flow.scopes(), present->opened_address()});
      },
      [told, shared](const result<void>& over) {
        if (std::exchange(*told, true)) return;
        if (over)
          (*shared)(login_invitation{});
        else
          (*shared)(std::unexpected(over.error()));
      });
}

void logins::when_over(const login_target& whose, const login_presence& waits, std::function<void(result<void>)> then) {
  const auto found = look_up(whose);
  if (!found) return then(std::unexpected(found.error()));
  const auto& tokens = *found;
  if (!tokens->is_logging_in()) {
    if (tokens->last_outcome()) return then(*tokens->last_outcome());
    return then(std::unexpected(none_under_way(whose)));
  }
  tokens->when_logged_in(waits, std::move(then));
}

void logins::left(const login_target& whose) {
  if (const auto found = look_up(whose)) (*found)->end_if_unwanted();
}

result<void> logins::cancel(const login_target& whose) {
  const auto found = look_up(whose);
  if (!found) return std::unexpected(found.error());
  if (!(*found)->cancel_login("somebody has cancelled it")) return std::unexpected(none_under_way(whose));
  return {};
}

result<void> logins::complete(const login_target& whose, std::string_view pasted) {
  const auto found = look_up(whose);
  if (!found) return std::unexpected(found.error());
  auto* const present = (*found)->present_login();
  if (!present) return std::unexpected(none_under_way(whose));
  return present->pasted(pasted);
}

void logins::log_out(const login_target& whose, std::function<void(result<void>)> then) {
  if (const auto found = look_up(whose)) return (*found)->log_out(std::move(then));
  forget_former(whose, std::move(then));
}

// Logs a caller out that is none any more: taken out of the configuration, it may have left a login behind.
void logins::forget_former(const login_target& whose, std::function<void(result<void>)> then) {
  const auto shared = find(whose.server);
  if (!shared || !shared->entry().per_caller) return then(std::unexpected(look_up(whose).error()));
  prepare_all({shared}, [this, weak = std::weak_ptr(alive_), whose, then = std::move(then)]() mutable {
    if (weak.expired()) return;
    find_kept([this, whose, then = std::move(then)] {
      const auto found = std::ranges::find_if(of_callers_, [&](const auto& e) {
        return e->entry().server == whose.server && e->entry().principal == whose.principal;
      });
      if (found != of_callers_.end()) return tokens_ptr(*found)->log_out(then);
      const auto known = look_up(whose);
      then(known ? result<void>() : std::unexpected(known.error()));
    });
  });
}

login_status logins::status_of(const entry_tokens& t) const {
  login_status s;
  s.server = t.entry().server;
  s.url = t.entry().address;
  if (t.entry().per_caller) s.principal = t.entry().principal.empty() ? person_ : t.entry().principal;
  const auto& g = t.grant();
  s.issuer = g.issuer;
  s.resource = g.resource;
  s.scopes = g.scopes;
  s.expires_at_ms = g.expires_at_ms;
  s.renews = !g.refresh_token.empty();
  s.problem = t.problem();
  const login* const present = t.present_login();
  const bool ended = g.expires_at_ms >= 0 && g.expires_at_ms <= parts_.time.wall_ms() && !s.renews;
  s.state = present ? "under_way" : g.empty() ? "none" : ended || g.access_token.empty() ? "expired" : "logged_in";
  if (present) s.address = present->address();
  return s;
}

void logins::status(std::function<void(login_report)> then) {
  const auto weak = std::weak_ptr(alive_);
  prepare_all(entries_, [this, weak, then = std::move(then)]() mutable {
    if (weak.expired()) return;
    find_kept([this, weak, then = std::move(then)]() mutable {
      prepare_all(of_callers_, [this, weak, then = std::move(then)] {
        if (!weak.expired()) report_all(then);
      });
    });
  });
}

// Makes the tokens of the callers whose logins are on disk, which have not asked for them yet.
void logins::find_kept(std::function<void()> then) {
  std::vector<grant_place> places;
  for (const auto& e : entries_)
    if (e->entry().per_caller) places.push_back({e->entry().server, e->url(), {}});
  if (!file_ || places.empty()) return then();
  on_lane([file = file_, places = std::move(places)] { return logins_in(*file, places); },
          [this, then = std::move(then)](const std::vector<kept_login>& found) {
            for (const auto& one : found)
              if (const auto shared = find(one.server)) static_cast<void>(tokens_for(shared, one.principal));
            then();
          });
}

void logins::report_all(const std::function<void(login_report)>& then) {
  on_lane(
      [file = file_] {
        if (file) static_cast<void>(file->read());
        return std::string(credentials::to_string(file ? file->protection() : credentials::key_place::none));
      },
      [this, then](std::string protection) {
        login_report report{{}, std::move(protection), path_.value_or("")};
        for (const auto& e : entries_) report.servers.push_back(status_of(*e));
        for (const auto& e : of_callers_)
          if (auto s = status_of(*e); s.state != "none" || !s.problem.empty()) report.servers.push_back(std::move(s));
        then(std::move(report));
      });
}

// The file.

void logins::load(const grant_place& at, std::function<void(found)> then) {
  using loaded = done_elsewhere<std::optional<kept_grant>>;
  on_lane(
      [file = file_, at, now = parts_.time.wall_ms()] {
        // Without a file nothing was kept.
        return loaded{file ? grant_in(*file, at, now) : found(std::nullopt)};
      },
      [then = std::move(then)](loaded l) { then(std::move(l.value)); });
}

void logins::lock(const grant_place& at, std::function<void(result<held_lock>, found)> then) {
  struct locked {
    result<held_lock> held = fail(errc::unavailable, "there is no thread for it");
    found stored = fail(errc::unavailable, "there is no thread for it");
  };
  // Another daemon may keep the lock for seconds: only the renewals of this login wait for it, and nobody's file.
  elsewhere([this, at](auto job) { return renewals_.post(at.server + "\n" + at.principal, std::move(job)); },
            [file = file_, at] {
              locked out;
              if (!file) return out;
              auto lock = file->lock_renewal(entry_name(at));
              if (lock)
                out.held = std::make_shared<guard::state_lock>(std::move(*lock));
              else
                out.held = std::unexpected(lock.error());
              return out;
            },
            [this, at, then = std::move(then)](locked l) {
              on_lane(
                  [file = file_, at, l = std::move(l), now = parts_.time.wall_ms()]() mutable {
                    if (!l.held) return std::move(l);
                    l.stored = grant_in(*file, at, now);
                    return std::move(l);
                  },
                  [then](locked l) { then(std::move(l.held), std::move(l.stored)); });
            });
}

void logins::save(const grant_place& at, std::optional<kept_grant> g, bool replaces, held_lock held,
                  std::function<void(result<void>)> then) {
  on_lane(
      [file = file_, why = path_ ? std::string() : path_.error().message, at, g = std::move(g), replaces,
       held = std::move(held), now = parts_.time.wall_ms()]() mutable -> done_elsewhere<void> {
        if (!file) return {fail(errc::io, why)};
        auto written = save_grant(*file, at, g, replaces, now);
        held.reset();
        return {std::move(written)};
      },
      [then = std::move(then)](const done_elsewhere<void>& saved) { then(saved.value); });
}

void logins::find_client(const grant_place& at, const std::string& client_id, std::function<void(found)> then) {
  const auto is_it = [client_id](const auth::grant& g) {
    return g.client.source == auth::identity_source::configured && g.client.id == client_id && !g.issuer.empty();
  };
  std::vector<grant_place> places{{at.server, at.url, {}}};
  for (const auto& one : callers_) places.push_back({at.server, at.url, one});
  // Tokens that could not be written are known here alone.
  for (const auto* all : {&entries_, &of_callers_})
    for (const auto& e : *all)
      if (e->entry().server == at.server && e->url() == at.url && is_it(e->grant()))
        return then(kept_grant{e->grant()});
  using looked = done_elsewhere<std::optional<kept_grant>>;
  on_lane(
      [file = file_, places = std::move(places), is_it, now = parts_.time.wall_ms()]() -> looked {
        if (file)
          for (const auto& one : places) {
            auto stored = grant_in(*file, one, now);
            if (!stored || (*stored && is_it((*stored)->grant))) return {std::move(stored)};
          }
        return {found(std::nullopt)};
      },
      [then = std::move(then)](looked l) { then(std::move(l.value)); });
}

void logins::open_browser(const std::vector<std::string>& command, std::string_view address) {
  if (command.empty()) return;
  auto words = command;
  words.emplace_back(address);
  hooks_.run(std::move(words));
}

}  // namespace mcpbx::daemon::logins
