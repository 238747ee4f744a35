// Runs look-ups on keyed lanes and remembers answers for times when no name server responds.
#include "mcp/http/client/name_lookups.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace mcpbx::http::clients {

namespace asio = boost::asio;

namespace {

constexpr milliseconds patience{2'000};         // longest wait for a look-up if an earlier answer is known
constexpr milliseconds known_for{60 * 60'000};  // an older address may belong to another host by now
constexpr std::size_t most_known = 256;

}  // namespace

result<addresses> look_up_name(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (const int rc = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); rc != 0)
    return fail(rc == EAI_NONAME ? errc::not_found : errc::unavailable, gai_strerror(rc));
  addresses all;
  for (auto* a = found; a != nullptr; a = a->ai_next) {
    asio::ip::tcp::endpoint e;
    if (a->ai_addrlen > e.capacity()) continue;
    e.resize(a->ai_addrlen);
    std::copy_n(reinterpret_cast<const char*>(a->ai_addr), a->ai_addrlen, reinterpret_cast<char*>(e.data()));
    if (std::find(all.begin(), all.end(), e.address()) == all.end()) all.push_back(e.address());
  }
  ::freeaddrinfo(found);
  if (all.empty()) return fail(errc::unavailable, "it has no address");
  return all;
}

name_lookups::name_lookups(asio::any_io_executor executor, time_source& time, look_up how)
    : executor_(std::move(executor)),
      time_(time),
      how_(how ? std::move(how) : look_up(look_up_name)),
      lanes_(executor_, "name look-up") {}

void name_lookups::find(const void* asker, const std::string& host, on_found done) {
  const auto [place, is_new] = pending_.try_emplace(host);
  auto& p = place->second;
  const auto* const before = known(host);
  if (p.late && before) return answer({asker, std::move(done)}, *before);
  p.waiters.push_back({asker, std::move(done)});
  if (!is_new) return;
  if (before) {
    p.patience = time_.make_timer();
    p.patience->arm(time_.now() + patience, [this, host] {
      auto& late = pending_.at(host);
      late.late = true;
      if (const auto* const old = known(host))
        for (auto& w : std::exchange(late.waiters, {})) answer(std::move(w), *old);
    });
  }
  begin(host);
}

void name_lookups::begin(const std::string& host) {
  auto posted = lanes_.post(host, [how = how_, host, executor = executor_, weak = weak_from_this()] {
    result<addresses> found = fail(errc::internal, "the look-up ended with an exception");
    try {
      found = how(host);
    } catch (const std::exception& e) {
      found = fail(errc::internal, e.what());
    }
    asio::post(executor, [weak, host, found = std::move(found)]() mutable {
      if (const auto self = weak.lock()) self->came(host, std::move(found));
    });
  });
  if (!posted) came(host, std::unexpected(std::move(posted.error())));
}

void name_lookups::came(const std::string& host, result<addresses> found) {
  auto p = pending_.extract(host);
  if (found) {
    remember(host, *found);
  } else if (found.error().code == errc::not_found) {
    known_.erase(host);
  } else if (const auto* const before = known(host)) {
    // No name server answers at the moment, so use the earlier answer.
    found = *before;
  }
  for (auto& w : p.mapped().waiters) answer(std::move(w), found);
}

// Answers in a turn of its own, because askers may ask again, leave or destroy their client in it.
void name_lookups::answer(waiter w, result<addresses> found) {
  asio::post(executor_, [done = std::move(w.done), found = std::move(found)]() mutable { done(std::move(found)); });
}

void name_lookups::forget(const void* asker) {
  for (auto& [host, p] : pending_) {
    for (auto& w : p.waiters)
      if (w.asker == asker)  // destroy the callback later: it may own the asker, which is calling us
        asio::post(executor_, [done = std::move(w.done)] {});
    std::erase_if(p.waiters, [asker](const waiter& w) { return w.asker == asker; });
  }
}

void name_lookups::remember(const std::string& host, const addresses& found) {
  if (known_.size() >= most_known && !known_.contains(host))
    known_.erase(std::ranges::min_element(known_, {}, [](const auto& k) { return k.second.at; }));
  known_[host] = {found, time_.now()};
}

const addresses* name_lookups::known(const std::string& host) const {
  const auto k = known_.find(host);
  if (k == known_.end() || time_.now() - k->second.at > known_for) return nullptr;
  return &k->second.found;
}

}  // namespace mcpbx::http::clients
