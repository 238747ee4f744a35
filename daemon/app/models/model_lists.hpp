// The answer of `mcpbx/models`: the entries of the configuration, and the models that their endpoints offer.
#pragma once
#include "daemon/app/models/models.hpp"
#include "daemon/front/base/model_directory.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::models {

class model_lists final : public front::model_directory {
 public:
  /// Most lists with `remote` at the same time; more are refused.
  static constexpr std::size_t max_open = 8;

  /// Returns the models of the present snapshot.
  using present_models = std::function<std::shared_ptr<model_set>()>;
  /// Every list shows the models that are present when it is requested. `client` and `time` must outlive this object.
  model_lists(present_models models, boost::asio::any_io_executor executor, http::clients::client& client,
              time_source& time);
  ~model_lists() override;
  model_lists(const model_lists&) = delete;
  model_lists& operator=(const model_lists&) = delete;

  void list(const std::string& name, bool remote,
            std::function<void(result<std::vector<front::model_row>>)> done) override;
  std::size_t max_tools(std::string_view name, std::string_view api) const override;

 private:
  struct job;
  void out_of_time(const std::shared_ptr<job>& j);
  void end(const std::shared_ptr<job>& j);
  void check_values(const std::shared_ptr<job>& j, std::size_t at, const conf::model::model_entry& e);
  void ask(const std::shared_ptr<job>& j, std::size_t at, const conf::model::model_entry& e);
  void answered(const std::shared_ptr<job>& j);

  present_models models_;
  boost::asio::any_io_executor executor_;
  http::clients::client& client_;
  time_source& time_;
  std::vector<std::shared_ptr<job>> open_;
};

}  // namespace mcpbx::daemon::models
