#include "core/background_thread.h"

#include <sys/resource.h>

#include <utility>

#include "core/file_access.h"
#include "core/thread.h"

namespace tensorbraid {

void RunInBackground(const std::string& name, std::function<void()> body) {
  Thread thread(name, [body = WithCurrentFileAccess(std::move(body))] {
    // On Linux this is the priority of the calling thread alone. Without it, the work is only less considerate.
    constexpr int kNice = 15;
    (void)::setpriority(PRIO_PROCESS, 0, kNice);
    body();
  });
  thread.Detach();
}

}  // namespace tensorbraid
