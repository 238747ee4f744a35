// Back-pressure on answers while memory for messages runs short. No I/O.
#pragma once
#include "mcp/support/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace mcpbx::http::clients {

/// Limits the exchanges that read. Above three quarters of the bound (byte_account) only `most_short` go on, so that
/// they finish and release their bytes; TCP makes the other peers wait. Above the bound it is one, and none while bytes
/// become fewer. An exchange that receives nothing for a second gives its place to the oldest waiting one.
class read_gate : public std::enable_shared_from_this<read_gate> {
 public:
  static constexpr std::size_t most_short = 8;  ///< exchanges that read while bytes run short
  static constexpr milliseconds patience{1'000};

  /// Resumes reading. Returns false if nothing is left to read.
  using resumption = std::function<bool()>;

  /// Place of one exchange, for the exchange's life.
  class place {
   public:
    place() = default;
    explicit place(std::shared_ptr<read_gate> gate) : gate_(std::move(gate)), number_(++gate_->last_) {}
    ~place();
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    /// Returns true while bytes do not run short, so that no permission is needed.
    bool is_free() const { return !gate_ || gate_->is_open(); }
    /// Returns true if the exchange may read now. If not, calls `resume` once, in a later turn, when it may.
    bool may_read(resumption resume);

   private:
    std::shared_ptr<read_gate> gate_;
    std::uint64_t number_ = 0;
  };

  /// `time` must outlive the gate.
  explicit read_gate(time_source& time) : time_(time) {}

 private:
  struct reader {
    std::uint64_t number = 0;
    time_point last;
  };

  bool is_open() const;
  std::size_t places() const;
  bool admits(std::uint64_t number, resumption resume);
  void leave(std::uint64_t number);
  void let_in();
  void look();
  void arm();

  time_source& time_;
  std::unique_ptr<timer> timer_;
  std::uint64_t last_ = 0;
  std::vector<reader> reading_;                  // exchanges that may read while bytes run short
  std::map<std::uint64_t, resumption> waiting_;  // waiting exchanges, oldest first
  std::size_t last_total_ = 0;                   // bytes in use at the last look
  unsigned looks_ = 0;
  bool armed_ = false, draining_ = false;
};

}  // namespace mcpbx::http::clients
