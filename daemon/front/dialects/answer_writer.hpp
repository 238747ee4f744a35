// Interface of the writers: one per dialect turns what a run says into the stream or the body of its API. No I/O.
#pragma once
#include "daemon/front/dialects/run_outcome.hpp"
#include "mcp/http/server/server_connection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::dialects {

/// Members that identify an answer.
struct answer_head {
  std::string id, model;
  std::int64_t created = 0;  ///< seconds since 1970
};

/// Everything that a run without a stream has said.
struct said_text {
  std::vector<std::string> rounds;  ///< text of each round that has some
  std::string thinking;
};

/// Writes one answer: either begin(), parts and one end, or one body. Functions with `out` append whole events to it.
class answer_writer {
 public:
  virtual ~answer_writer() = default;

  /// Returns what stands in front of the run's name in the id of an answer.
  virtual std::string_view id_prefix() const = 0;
  /// Sets the head, once, before all others. The model may be "" still.
  virtual void name(answer_head head) { head_ = std::move(head); }
  bool has_model() const noexcept { return !head_.model.empty(); }
  void set_model(std::string model) { head_.model = std::move(model); }

  virtual void begin(std::string& out) = 0;
  /// Writes a part of the text; `new_round`: the first one of a round that follows another with text.
  virtual void text(std::string& out, std::string_view part, bool new_round) = 0;
  virtual void reasoning(std::string& out, std::string_view part) = 0;
  /// Writes something without a meaning, so that no proxy closes a silent connection.
  virtual void keep_alive(std::string& out) = 0;
  /// Ends the stream. `o` has no fault; its text was not written yet.
  virtual void end(std::string& out, const run_outcome& o) = 0;
  /// Ends a stream that is cut by a fault.
  virtual void broken(std::string& out, const request_fault& f) = 0;

  /// Returns the answer to a request without a stream. `o` has no fault; its text is not among what was said.
  virtual std::string body(said_text said, const run_outcome& o) = 0;
  /// Returns the body of an error answer.
  virtual std::string error_body(const request_fault& f) const = 0;
  /// Returns the name of the header in which this API's clients look for the id of a request.
  virtual std::string_view request_id_header() const { return "x-request-id"; }

 protected:
  answer_head head_;
};

/// Joins texts with an empty line between them.
std::string joined_rounds(std::vector<std::string> texts);

/// Returns the answer with the status, headers and body of `f` in the writer's dialect.
http::servers::server_answer fault_answer(const answer_writer& w, const request_fault& f,
                                          std::string_view request_id = {});

}  // namespace mcpbx::daemon::dialects
