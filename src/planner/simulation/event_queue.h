// The clock of a simulation: events in the order of their times.
#ifndef TENSORBRAID_PLANNER_SIMULATION_EVENT_QUEUE_H_
#define TENSORBRAID_PLANNER_SIMULATION_EVENT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tensorbraid::planner {

// Events run in the order of their times, and events of the same time in the order in which they were added, so a
// simulation repeats exactly. Times are nanoseconds of the simulated clock, which begins at 0. Used by one thread.
class EventQueue {
 public:
  double now_ns() const { return now_ns_; }
  // REQUIRES: delay_ns >= 0.
  void After(double delay_ns, std::function<void()> event) { At(now_ns_ + delay_ns, std::move(event)); }
  // A time that has passed counts as now.
  void At(double time_ns, std::function<void()> event) {
    events_.push({time_ns < now_ns_ ? now_ns_ : time_ns, next_++, std::move(event)});
  }
  // Moves the clock to the next event and runs it. False if no event is left.
  bool RunNext() {
    if (events_.empty()) return false;
    // The queue only hands out constant references; the event is removed before anything can look at it again.
    auto event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ns_ = event.time_ns;
    event.run();
    return true;
  }

 private:
  struct Event {
    double time_ns;
    uint64_t number;
    std::function<void()> run;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.number > b.number;
    }
  };
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  double now_ns_ = 0;
  uint64_t next_ = 0;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_EVENT_QUEUE_H_
