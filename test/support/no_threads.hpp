// While one of these lives, no thread can be started in this process, as where a limit on processes is reached.
#pragma once
#include <pthread.h>

#include <cstddef>

namespace mcpbx::test {

class no_threads {
 public:
  no_threads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    // More than there is room for, so that mapping the stack fails.
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~no_threads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  no_threads(const no_threads&) = delete;
  no_threads& operator=(const no_threads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace mcpbx::test
