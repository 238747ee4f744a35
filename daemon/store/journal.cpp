// Defaults of the journal interface, and the journal in memory. Without `keep` that one drops each record at once, so
// that runs cost no memory here.
#include "daemon/store/journal.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iterator>

namespace mcpbx::daemon::store {
namespace {

class memory_run final : public run_journal {
 public:
  explicit memory_run(std::shared_ptr<std::vector<stored::run_record>> kept) : kept_(std::move(kept)) {}

  boost::asio::awaitable<result<void>> append(std::vector<stored::run_record> records, bool) override {
    if (kept_)
      kept_->insert(kept_->end(), std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()));
    co_return result<void>{};
  }

 private:
  std::shared_ptr<std::vector<stored::run_record>> kept_;
};

std::unexpected<error> no_sessions() {
  return fail(errc::config,
              "sessions are not kept, because store.url is \"none\"; set it to \"sqlite:\", or take the key out");
}

}  // namespace

void journal::load_history(std::string, answer<history> then) {
  then(no_sessions());
}
void journal::list_sessions(stored::session_query, answer<std::vector<stored::session_row>> then) {
  then(no_sessions());
}
void journal::read_session(std::string, answer<stored::session_contents> then) {
  then(no_sessions());
}
void journal::erase_session(std::string, answer<void> then) {
  then(no_sessions());
}
void journal::take_unfinished(answer<std::vector<unfinished_run>> then) {
  then(std::vector<unfinished_run>());
}
void journal::find_ended(std::string run, answer<std::vector<stored::run_record>> then) {
  then(fail(errc::not_found, "no run is named \"" + run +
                                 "\", and those that have ended are not kept, because store.url is \"none\"; set it to "
                                 "\"sqlite:\", or take the key out"));
}
void journal::find_owner(std::string, answer<std::optional<std::string>> then) {
  then(std::nullopt);
}

void journal::count_usage(stored::look_back, answer<usage_page> then) {
  then(no_sessions());
}
void journal::find_words(stored::look_back, std::string, std::size_t, answer<found_page> then) {
  then(no_sessions());
}

boost::asio::awaitable<result<journal::history>> history_of(journal& from, std::string session) {
  auto start = [&from](auto handler, std::string id) {
    auto kept = std::make_shared<decltype(handler)>(std::move(handler));
    from.load_history(std::move(id), [kept](result<journal::history> outcome) {
      auto call = std::move(*kept);
      std::move(call)(std::move(outcome));
    });
  };
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(result<journal::history>)>(
      std::move(start), boost::asio::use_awaitable, std::move(session));
}

std::unique_ptr<run_journal> memory_journal::open_run(const std::string& run) {
  std::shared_ptr<std::vector<stored::run_record>> records;
  if (keep_) {
    records = std::make_shared<std::vector<stored::run_record>>();
    kept_.emplace_back(run, records);
  }
  return std::make_unique<memory_run>(std::move(records));
}

}  // namespace mcpbx::daemon::store
