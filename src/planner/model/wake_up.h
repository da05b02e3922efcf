// Measures what it costs this machine to hand over from one thread to another.
#ifndef TENSORBRAID_PLANNER_MODEL_WAKE_UP_H_
#define TENSORBRAID_PLANNER_MODEL_WAKE_UP_H_

namespace tensorbraid::planner {

// The cost of a message between two threads, without the work that it causes.
struct WakeUpCost {
  // Time of the cores per message, if more threads are ready than the machine has cores: threads poll, yield, sleep,
  // are woken and take turns. The median, the lowest and the highest of several measurements. The default was measured
  // with two threads on one core of a virtual machine (EPYC).
  double busy_ns = 2400, lowest_busy_ns = 2400, highest_busy_ns = 2400;
  // The delay until a sleeping thread runs, if a core is idle: the first quartile. 0: not measured.
  double idle_ns = 0;
  bool measured = false;
};

// Measures the machine on which it runs. The threads wait as those of the runtime do (docs/design/0016): they poll for
// 100 us, yield after each look, and then sleep on a futex. The time that other processes use the cores does not count.
// If the speed of the cores changed so much meanwhile that the work alone seems to have taken longer than the messages
// with it, the cost is the default and `measured` is false. Blocks for half a second, in which all cores are busy.
WakeUpCost MeasureWakeUp();

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_WAKE_UP_H_
