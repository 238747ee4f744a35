// Writer of answers in the form of Chat Completions.
#pragma once
#include "daemon/front/completions/completion_json.hpp"
#include "daemon/front/dialects/answer_writer.hpp"

#include <string>
#include <string_view>

namespace mcpbx::daemon::completions {

class completion_writer final : public dialects::answer_writer {
 public:
  /// `with_usage`: the stream ends with the token usage.
  explicit completion_writer(bool with_usage) { chunks_.with_usage = with_usage; }

  std::string_view id_prefix() const override { return "chatcmpl-"; }
  void begin(std::string& out) override;
  void text(std::string& out, std::string_view part, bool new_round) override;
  void reasoning(std::string& out, std::string_view part) override;
  void keep_alive(std::string& out) override;
  void end(std::string& out, const dialects::run_outcome& o) override;
  void broken(std::string& out, const dialects::request_fault& f) override { completion_json::append_error(out, f); }
  std::string body(dialects::said_text said, const dialects::run_outcome& o) override;
  std::string error_body(const dialects::request_fault& f) const override;

 private:
  completion_json::head& head();

  completion_json::head chunks_;
};

}  // namespace mcpbx::daemon::completions
