// Delivery of news that all callers get at the same moment: each caller's part is made and written in one go, instead
// of by a handler of its own in a later turn, when its memory has left the processor's caches.
#pragma once
#include "mcp/protocol/features.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace mcpbx::daemon::front {

class news_round;

/// Interface of everybody who hears of changes, between news_round::enter() and leave().
class news_reader {
 public:
  news_reader() = default;
  virtual ~news_reader() { leave(); }
  news_reader(const news_reader&) = delete;
  news_reader& operator=(const news_reader&) = delete;
  /// Reports that the list of entries of this kind has changed. The reader may leave in here, and must not be
  /// destroyed.
  virtual void list_changed(const mcp::protocol::feature_kind& /*kind*/) {}
  /// Hears of nothing any more.
  void leave() noexcept;

 private:
  friend class news_round;
  // All readers are in a list, so that a round touches nothing but them: with thousands, each memory more that is not
  // in the caches counts.
  news_round* round_ = nullptr;
  news_reader *before_ = nullptr, *behind_ = nullptr;
};

class news_round {
 public:
  /// Largest number of readers that are notified in one turn.
  static constexpr std::size_t per_turn = 256;

  /// An outbox with news in it.
  class outlet {
   public:
    virtual ~outlet() = default;
    /// Writes what waits. The outlet is kept alive meanwhile.
    virtual void deliver() = 0;
  };

  news_round() = default;
  ~news_round();
  news_round(const news_round&) = delete;
  news_round& operator=(const news_round&) = delete;

  /// Tells `r` of changes from now on.
  void enter(news_reader& r) noexcept;
  /// Tells all readers of a change, in later turns; changes of one kind in one turn are one. Readers that enter behind
  /// its beginning are left out.
  void changed(const mcp::protocol::feature_kind& kind, const boost::asio::any_io_executor& executor);
  /// Takes an outlet that asks for the end of its turn. Returns false if no reader is being notified; the outlet then
  /// waits by itself.
  bool take(std::weak_ptr<outlet> o);

 private:
  friend class news_reader;
  using kinds = std::vector<const mcp::protocol::feature_kind*>;
  /// A round that is under way.
  struct telling {
    kinds what;
    news_reader* next = nullptr;  // null: all were told
    news_reader* last = nullptr;
  };
  void begin(const boost::asio::any_io_executor& executor);
  void tell(const boost::asio::any_io_executor& executor, const std::shared_ptr<telling>& t);
  void forget(news_reader& r) noexcept;

  news_reader *first_ = nullptr, *last_ = nullptr;
  kinds changed_;
  std::vector<std::weak_ptr<telling>> under_way_;
  bool open_ = false;
  std::vector<std::weak_ptr<outlet>> outlets_;  // of the reader that is being notified
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpbx::daemon::front
