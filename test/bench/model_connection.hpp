// A keep-alive connection to bench_model: posts a body, gives the events of the streamed answer. Knows what bench_model
// writes (one event per chunk) and nothing more.
#pragma once
#include <string>
#include <string_view>

namespace mcpbx::bench {

class model_connection {
 public:
  explicit model_connection(int port);
  ~model_connection();
  model_connection(const model_connection&) = delete;
  model_connection& operator=(const model_connection&) = delete;

  int fd() const noexcept { return fd_; }
  void post(std::string_view body);
  /// Reads once and calls `f(json)` for every event. True when the answer is complete.
  template <class F>
  bool read(F&& f) {
    fill();
    std::string_view chunk;
    while (next(chunk)) {
      if (chunk.empty()) return true;
      if (chunk.starts_with("data: {")) f(chunk.substr(6, chunk.size() - 8));
    }
    return false;
  }

 private:
  void fill();
  bool next(std::string_view& chunk);  // an empty chunk is the last one
  int fd_ = -1;
  std::string in_;
  std::size_t at_ = 0;
  bool in_body_ = false;
};

}  // namespace mcpbx::bench
