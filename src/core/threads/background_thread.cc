#include "core/threads/background_thread.h"

#include <sys/resource.h>

#include <utility>

#include "core/system/file_access.h"
#include "core/threads/thread.h"

namespace tensorbraid {

void RunInBackground(const std::string& name, std::function<void()> body) {
  Thread thread(name, [body = WithCurrentFileAccess(std::move(body))] {
    // On Linux this is the priority of the calling thread alone. Without it, the work is only less considerate. Beside
    // threads that leave no core idle, 9 gives it an eighth of a core; 19 would stop it nearly, and 0 would give it
    // half.
    constexpr int kNice = 9;
    (void)::setpriority(PRIO_PROCESS, 0, kNice);
    body();
  });
  thread.Detach();
}

}  // namespace tensorbraid
