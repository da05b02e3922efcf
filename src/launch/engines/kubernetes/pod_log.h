// Reads the log of a pod, also when it has to be read again from the middle.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_LOG_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_LOG_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace tensorbraid {

// Takes the lines of `kubectl logs --timestamps`, and passes each line of the task on once, without its time. Not
// thread-safe.
class PodLog {
 public:
  // The log is read from its beginning or, with --since-time=since(), again. Kubernetes then repeats the lines of the
  // last second.
  void BeginReading() {
    is_repeated_ = !since_.empty();
    repeated_ = 0;
  }
  // The time of the last line, as Kubernetes wrote it; "" before the first.
  const std::string& since() const { return since_; }
  void Add(std::string_view line, const std::function<void(std::string_view)>& on_line);

 private:
  std::string since_;
  absl::Time last_ = absl::InfinitePast();
  int passed_on_ = 0;         // lines with the time of the last one
  bool is_repeated_ = false;  // what is read now has been read before
  int repeated_ = 0;          // lines with the time of the last one that were read again
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_LOG_H_
