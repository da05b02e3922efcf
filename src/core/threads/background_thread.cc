#include "core/threads/background_thread.h"

#include <sys/resource.h>

#include <utility>

#include "core/system/file_access.h"
#include "core/threads/thread.h"

namespace tensorbraid {

void RunAtLowPriority(const std::string& name, std::function<void()> body) {
  Thread thread(name, [body = WithCurrentFileAccess(std::move(body))] {
    // On Linux, setpriority() applies to the calling thread alone. If the call fails, the work runs with the usual
    // priority. Beside threads that leave no core idle, a nice value of 9 gives the work an eighth of a core; 19 would
    // nearly stop it, and 0 would give it half.
    constexpr int kNice = 9;
    (void)::setpriority(PRIO_PROCESS, 0, kNice);
    body();
  });
  thread.Join();
}

}  // namespace tensorbraid
