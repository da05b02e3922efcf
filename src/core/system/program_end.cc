#include "core/system/program_end.h"

#include <utility>
#include <vector>

#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

struct Ends {
  Mutex mu;
  std::vector<void (*)()> ends TB_GUARDED_BY(mu);
};

Ends& AllEnds() {
  static auto* const all = new Ends;
  return *all;
}

}  // namespace

void AtProgramEnd(void (*end)()) {
  Ends& all = AllEnds();
  MutexLock lock(all.mu);
  all.ends.push_back(end);
}

void EndProgram() {
  Ends& all = AllEnds();
  std::vector<void (*)()> ends;
  {
    MutexLock lock(all.mu);
    ends = std::exchange(all.ends, {});
  }
  for (void (*end)() : ends) end();
}

}  // namespace tensorbraid
