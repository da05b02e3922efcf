// Simulates synchronous training with spare replicas, from measured step times.
#ifndef TENSORBRAID_BENCHMARKS_SPARE_REPLICAS_H_
#define TENSORBRAID_BENCHMARKS_SPARE_REPLICAS_H_

#include <cstdint>
#include <random>
#include <vector>

namespace tensorbraid {

struct SpareReplicas {
  double step_ms = 0;        // mean time of a synchronous step
  double dropped_share = 0;  // of the gradients that arrived
};

// Simulates `steps` synchronous steps of `total` replicas. Each step ends when `needed` of its gradients have arrived.
// The time of each gradient is drawn from `measured_ms`, which must not be empty. A replica whose gradient is in time
// waits for the end of the step. A late replica finishes its gradient, which is dropped, and then takes part in the
// current step. REQUIRES: 1 <= needed <= total.
inline SpareReplicas SimulateSpareReplicas(const std::vector<double>& measured_ms, int needed, int total, int64_t steps,
                                           uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return measured_ms[random() % measured_ms.size()]; };
  struct Replica {
    double ends;   // when its gradient arrives
    int64_t step;  // the step to which the gradient belongs
  };
  std::vector<Replica> replicas(total);
  for (Replica& r : replicas) r = {draw(), 0};
  double now = 0;
  int64_t arrived = 0, dropped = 0;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<Replica*> in_time;
    while (static_cast<int>(in_time.size()) < needed) {
      Replica* next = nullptr;
      for (Replica& r : replicas) {
        const bool waits = r.step > step;
        if (!waits && (next == nullptr || r.ends < next->ends)) next = &r;
      }
      now = next->ends;
      ++arrived;
      if (next->step < step) {
        ++dropped;
        *next = {now + draw(), step};
        continue;
      }
      next->step = step + 1;
      in_time.push_back(next);
    }
    for (Replica* r : in_time) r->ends = now + draw();
  }
  return {now / static_cast<double>(steps), static_cast<double>(dropped) / static_cast<double>(arrived)};
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_BENCHMARKS_SPARE_REPLICAS_H_
