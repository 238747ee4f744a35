// Release of a name: each request that waits for it is called in a turn of its own.
#include "daemon/front/base/begun_names.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace mcpbx::daemon::front {

std::shared_ptr<void> begun_names::hold(const std::string& name) {
  all_->names.emplace(name, std::vector<std::function<void()>>());
  return {nullptr, [weak = std::weak_ptr(all_), name, executor = executor_](void*) {
            const auto all = weak.lock();
            if (!all) return;
            auto one = all->names.extract(name);
            all->count -= one.mapped().size();
            for (auto& then : one.mapped()) boost::asio::post(executor, std::move(then));
          }};
}

result<void> begun_names::wait(const std::string& name, std::function<void()> then) {
  if (all_->count >= max_waiting)
    return fail(errc::limit,
                std::to_string(max_waiting) + " requests wait for runs that are about to begin; try again later");
  all_->names.at(name).push_back(std::move(then));
  ++all_->count;
  return {};
}

}  // namespace mcpbx::daemon::front
