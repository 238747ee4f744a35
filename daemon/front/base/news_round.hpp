// Delivery of news that all callers get at the same moment: each caller's part is made and written in one go, instead
// of by a handler of its own in a later turn, when its memory has left the processor's caches.
#pragma once
#include "mcp/protocol/features.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace mcpbx::daemon {

/// Interface of everybody who hears of changes.
class news_reader {
 public:
  virtual ~news_reader() = default;
  /// Reports that the list of entries of this kind has changed.
  virtual void list_changed(const mcp::feature_kind& /*kind*/) {}
};

class news_round {
 public:
  /// Largest number of readers that are notified in one turn.
  static constexpr std::size_t per_turn = 256;
  using readers = std::vector<std::weak_ptr<news_reader>>;

  /// An outbox with news in it.
  class outlet {
   public:
    virtual ~outlet() = default;
    /// Writes what waits. The outlet is kept alive meanwhile.
    virtual void deliver() = 0;
  };

  /// Tells all readers of a change, in later turns; changes of one kind in one turn are one. `all` is asked who they
  /// are when it begins, unless the round is gone by then.
  void changed(const mcp::feature_kind& kind, const boost::asio::any_io_executor& executor,
               std::function<readers()> all);
  /// Takes an outlet that asks for the end of its turn. Returns false if no reader is being notified; the outlet then
  /// waits by itself.
  bool take(std::weak_ptr<outlet> o);

 private:
  using kinds = std::vector<const mcp::feature_kind*>;
  void tell(const boost::asio::any_io_executor& executor, readers to, kinds what, std::size_t at);

  kinds changed_;
  bool open_ = false;
  std::vector<std::weak_ptr<outlet>> outlets_;  // of the reader that is being notified
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpbx::daemon
