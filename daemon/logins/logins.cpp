// Files on the lane, entries and people's requests on the speaking thread.
#include "daemon/logins/logins.hpp"

#include "mcp/auth/metadata.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcpbx::daemon {
namespace {

// Reads the serial number, which is a time. One that no daemon can have written would be later than all that follow.
std::int64_t serial_of(const raw_json& entry, std::int64_t now_ms) {
  constexpr std::int64_t day_ms = std::chrono::milliseconds(std::chrono::days(1)).count();
  const auto serial = find_member(entry, "serial").as_integer().value_or(0);
  return serial < 0 || serial > now_ms + day_ms ? 0 : serial;
}

// Reads the grant of a server out of the file at this time in milliseconds since 1970.
grant_keeper::found grant_in(credential_file& file, const std::string& server, const std::string& url,
                             std::int64_t now_ms) {
  const auto text = file.find(credential_file::entry_name(server, url));
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const auto wrong = [&](const std::string& what) {
    return fail(errc::parse, "the tokens in " + file.path() + " cannot be understood: " + what);
  };
  const auto json = raw_json::parse(**text, 16);
  if (!json) return wrong(json.error().message);
  if (find_member(*json, "url").as_string() != url) return std::nullopt;
  auto read = auth::read_grant(find_member(*json, "grant"));
  if (!read) return wrong(read.error().message);
  return kept_grant{std::move(*read), serial_of(*json, now_ms)};
}

std::string entry_text(const std::string& url, const kept_grant& g) {
  return "{\"url\":" + json_quoted(url) + ",\"serial\":" + std::to_string(g.serial) +
         ",\"grant\":" + auth::grant_json(g.grant) + "}";
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
      file_(path_ ? std::make_shared<credential_file>(*path_, std::move(o.find_key)) : nullptr),
      hooks_(std::move(h)),
      alive_(std::make_shared<int>()),
      renewals_(parts_.executor, "renewals"),
      lane_("logins", 1) {}

logins::~logins() {
  alive_.reset();
  for (const auto& e : entries_) e->drop();
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

void logins::set_entries(std::vector<login_entry> entries) {
  std::vector<std::shared_ptr<entry_tokens>> next;
  for (auto& e : entries) {
    const auto same = std::ranges::find_if(
        entries_, [&](const auto& old) { return old && old->entry().fingerprint == e.fingerprint; });
    if (same != entries_.end())
      next.push_back(std::exchange(*same, nullptr));
    else
      next.push_back(std::make_shared<entry_tokens>(parts_, static_cast<grant_keeper&>(*this), std::move(e)));
  }
  // Code of those who wait runs inside, with the new entries.
  for (const auto& old : std::exchange(entries_, std::move(next)))
    if (old) old->leave("its entry has changed");
}

entry_tokens* logins::find(std::string_view server) const {
  const auto found = std::ranges::find_if(entries_, [&](const auto& e) { return e->entry().server == server; });
  return found == entries_.end() ? nullptr : found->get();
}

std::shared_ptr<mcp::authorizer> logins::tokens_of(std::string_view server) const {
  auto* const found = find(server);
  return found ? found->shared_from_this() : nullptr;
}

std::shared_ptr<mcp::authorizer> logins::tokens_at(std::string_view server, const std::string& url) const {
  auto* const found = find(server);
  return found ? found->at(url) : nullptr;
}

error logins::unknown(std::string_view server) const {
  std::vector<std::string_view> known;
  for (const auto& e : entries_) known.push_back(e->entry().server);
  return {errc::not_found, "there is no server " + json_quoted(cut_utf8(server, 128)) +
                               " with a url that could need a login" + did_you_mean(server, known) +
                               "; `mcpbx auth status` lists those that have one"};
}

// Requests of people.

void logins::begin(std::string_view server, std::function<void(result<login_invitation>)> then) {
  auto* const tokens = find(server);
  if (!tokens) return then(std::unexpected(unknown(server)));
  if (tokens->entry().own_authorization)
    return then(fail(errc::config, "server " + json_quoted(server) +
                                       " gets the Authorization header of its entry, so that nothing would use the "
                                       "tokens of a login; take it out of \"headers\" first"));
  const auto told = std::make_shared<bool>(false);
  const auto shared = std::make_shared<std::function<void(result<login_invitation>)>>(std::move(then));
  tokens->log_in(
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

void logins::when_over(std::string_view server, std::function<void(result<void>)> then) {
  auto* const tokens = find(server);
  if (!tokens) return then(std::unexpected(unknown(server)));
  if (!tokens->is_logging_in()) {
    if (tokens->last_outcome()) return then(*tokens->last_outcome());
    return then(fail(errc::invalid_argument, "no login to server " + json_quoted(server) + " is under way"));
  }
  tokens->when_logged_in(std::move(then));
}

result<void> logins::complete(std::string_view server, std::string_view pasted) {
  auto* const tokens = find(server);
  if (!tokens) return std::unexpected(unknown(server));
  auto* const present = tokens->present_login();
  if (!present) return fail(errc::invalid_argument, "no login to server " + json_quoted(server) + " is under way");
  return present->pasted(pasted);
}

void logins::log_out(std::string_view server, std::function<void(result<void>)> then) {
  auto* const tokens = find(server);
  if (!tokens) return then(std::unexpected(unknown(server)));
  tokens->log_out(std::move(then));
}

login_status logins::status_of(const entry_tokens& t) const {
  login_status s;
  s.server = t.entry().server;
  s.url = t.entry().address;
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
  // A grant that has not been loaded yet is read for this.
  const auto waiting = std::make_shared<std::size_t>(entries_.size() + 1);
  const auto end = [this, waiting, then = std::move(then)] {
    if (--*waiting != 0) return;
    on_lane(
        [file = file_] {
          if (file) static_cast<void>(file->read());
          return std::string(to_string(file ? file->protection() : key_place::none));
        },
        [this, then](std::string protection) {
          login_report report{{}, std::move(protection), path_.value_or("")};
          for (const auto& e : entries_) report.servers.push_back(status_of(*e));
          then(std::move(report));
        });
  };
  for (const auto& e : std::vector(entries_)) e->prepare_status(end);
  end();
}

// The file.

void logins::load(const std::string& server, const std::string& url, std::function<void(found)> then) {
  using loaded = done_elsewhere<std::optional<kept_grant>>;
  on_lane(
      [file = file_, server, url, now = parts_.time.wall_ms()] {
        // Without a file nothing was kept.
        return loaded{file ? grant_in(*file, server, url, now) : found(std::nullopt)};
      },
      [then = std::move(then)](loaded l) { then(std::move(l.value)); });
}

void logins::lock(const std::string& server, const std::string& url,
                  std::function<void(result<held_lock>, found)> then) {
  struct locked {
    result<held_lock> held = fail(errc::unavailable, "there is no thread for it");
    found stored = fail(errc::unavailable, "there is no thread for it");
  };
  // Another daemon may keep the lock for seconds: only the renewals of this server wait for it, and nobody's file.
  elsewhere([this, server](auto job) { return renewals_.post(server, std::move(job)); },
            [file = file_, server, url] {
              locked out;
              if (!file) return out;
              auto lock = file->lock_renewal(credential_file::entry_name(server, url));
              if (lock)
                out.held = std::make_shared<state_lock>(std::move(*lock));
              else
                out.held = std::unexpected(lock.error());
              return out;
            },
            [this, server, url, then = std::move(then)](locked l) {
              on_lane(
                  [file = file_, server, url, l = std::move(l), now = parts_.time.wall_ms()]() mutable {
                    if (!l.held) return std::move(l);
                    l.stored = grant_in(*file, server, url, now);
                    return std::move(l);
                  },
                  [then](locked l) { then(std::move(l.held), std::move(l.stored)); });
            });
}

void logins::save(const std::string& server, const std::string& url, std::optional<kept_grant> g, bool replaces,
                  held_lock held, std::function<void(result<void>)> then) {
  on_lane(
      [file = file_, why = path_ ? std::string() : path_.error().message, server, url, g = std::move(g), replaces,
       held = std::move(held), now = parts_.time.wall_ms()]() mutable -> done_elsewhere<void> {
        if (!file) return {fail(errc::io, why)};
        std::optional<std::string> text;
        if (g) {
          const auto present = grant_in(*file, server, url, now);
          if (present && *present && (*present)->serial > g->serial) return {result<void>()};
          text = entry_text(url, *g);
        }
        const auto name = credential_file::entry_name(server, url);
        auto written = text && replaces ? file->replace(name, *text) : file->write(name, text);
        held.reset();
        return {std::move(written)};
      },
      [then = std::move(then)](const done_elsewhere<void>& saved) { then(saved.value); });
}

void logins::open_browser(const std::vector<std::string>& command, std::string_view address) {
  if (command.empty()) return;
  auto words = command;
  words.emplace_back(address);
  hooks_.run(std::move(words));
}

void logins::tokens_changed(const std::string& server, bool held) {
  hooks_.tokens_changed(server, held);
}

}  // namespace mcpbx::daemon
