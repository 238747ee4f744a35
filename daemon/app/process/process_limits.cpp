// Limits set by setrlimit and a timer signal.
#include "daemon/app/process/process_limits.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace mcpbx::daemon::process {

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

void end_at_the_latest(unsigned seconds) {
  struct sigaction end{};
  end.sa_handler = [](int) { ::_exit(0); };
  ::sigaction(SIGALRM, &end, nullptr);
  itimerval earlier{};  // setitimer instead of alarm(), which rounds the remaining time to whole seconds
  ::getitimer(ITIMER_REAL, &earlier);
  const bool is_set = earlier.it_value.tv_sec != 0 || earlier.it_value.tv_usec != 0;
  if (!is_set || earlier.it_value.tv_sec >= static_cast<time_t>(seconds)) ::alarm(seconds);
}

}  // namespace mcpbx::daemon::process
