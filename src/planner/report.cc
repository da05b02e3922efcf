#include "planner/report.h"

#include <algorithm>
#include <functional>

#include "core/text/json.h"
#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "train/reports/line_chart.h"

namespace tensorbraid::planner {
namespace {

// Three digits: "0.123 ms", "45.6 ms", "1.20 s".
std::string Time(double ms) {
  if (ms >= 1000) return Formatted("%.3g s", ms / 1000);
  return ms >= 1 ? Formatted("%.3g ms", ms) : Formatted("%.3g us", ms * 1000);
}

std::string Rate(double per_s) { return per_s >= 1000 ? Formatted("%.0f", per_s) : Formatted("%.3g", per_s); }

std::string Range(const PlanRow& row) {
  return StrCat(Rate(row.lowest_steps_per_s), "-", Rate(row.highest_steps_per_s));
}

std::string Staleness(const PlanRow& row) {
  if (row.configuration.mode == Mode::kSync) {
    return row.configuration.spares > 0 ? Formatted("%.0f%% late", 100 * row.prediction.dropped_share) : "-";
  }
  return Formatted("%.1f", row.prediction.mean_staleness);
}

}  // namespace

std::string Caution(const std::vector<PlanRow>& rows) {
  for (const PlanRow& row : rows) {
    if (!row.prediction.tasks_compete) continue;
    return StrCat("From ", row.configuration.workers, row.configuration.workers == 1 ? " worker" : " workers",
                  " on, tasks of a machine compete for its cores. In what order its scheduler runs them is not "
                  "predicted, so the likely speeds are further apart there (docs/scaling.md).\n");
  }
  return "";
}

std::string MeasuredText(const MeasuredStep& measured, const MeasuredMachine& machine, double model_ns) {
  std::string text = Formatted("measured here, %s: %.4g ms a step",
                               measured.local ? "in one process" : "one PS and one worker", measured.step_ns / 1e6);
  if (measured.longest_ns > 0) {
    text +=
        Formatted(" (%.4g to %.4g in parts of the measurement)", measured.shortest_ns / 1e6, measured.longest_ns / 1e6);
  }
  text += Formatted("; the model alone gives %.4g ms\n", model_ns / 1e6);
  const WakeUpCost& wake = machine.wake;
  if (wake.measured) {
    text += Formatted(
        "to wake a thread costs %.2g us (%.2g to %.2g) where all cores are busy; on an idle core it takes %.2g us\n",
        wake.busy_ns / 1e3, wake.lowest_busy_ns / 1e3, wake.highest_busy_ns / 1e3, wake.idle_ns / 1e3);
  }
  return text;
}

std::string BusyWarning(const MeasuredMachine& machine) {
  if (!IsBusy(machine)) return "";
  return Formatted(
      "WARNING: other programs used %.0f %% of this machine's cores during the measurement, so the predictions "
      "are less sure. Measure again while the machine is idle.\n",
      100 * machine.others_share);
}

std::string ScalingTable(const std::vector<PlanRow>& rows) {
  std::string text = Formatted("%7s  %9s  %9s  %13s  %10s  %8s  %9s  %-11s  %7s  %9s\n", "workers", "step", "steps/s",
                               "likely", "examples/s", "speed-up", "efficiency", "bound", "PS link", "staleness");
  for (const PlanRow& row : rows) {
    const Prediction& p = row.prediction;
    text += Formatted("%7d  %9s  %9s  %13s  %10s  %8.2f  %8.0f%%  %-11s  %6.0f%%  %9s\n", row.configuration.workers,
                      Time(p.step_ms).c_str(), Rate(p.steps_per_s).c_str(), Range(row).c_str(),
                      Rate(p.examples_per_s).c_str(), row.speed_up, 100 * row.speed_up / row.configuration.workers,
                      std::string(BoundName(p.bound)).c_str(), 100 * p.server_link_use, Staleness(row).c_str());
  }
  return text;
}

std::string SearchTable(const std::vector<PlanRow>& rows, size_t count) {
  std::string text = Formatted("%3s  %-10s  %-17s  %-11s  %6s  %9s  %10s  %8s  %-11s  %9s\n", "PS", "mode", "wire",
                               "placement", "batch", "step", "examples/s", "speed-up", "bound", "staleness");
  for (size_t i = 0; i < std::min(count, rows.size()); ++i) {
    const Configuration& c = rows[i].configuration;
    const Prediction& p = rows[i].prediction;
    text += Formatted("%3d  %-10s  %-17s  %-11s  %6s  %9s  %10s  %8.2f  %-11s  %9s\n", c.servers,
                      StrCat(ModeName(c.mode), c.sum_per_host ? " sums" : "").c_str(), WireText(c.wire).c_str(),
                      std::string(PlacementName(c.placement)).c_str(),
                      c.batch > 0 ? Formatted("%lld", static_cast<long long>(c.batch)).c_str() : "as is",
                      Time(p.step_ms).c_str(), Rate(p.examples_per_s).c_str(), rows[i].speed_up,
                      std::string(BoundName(p.bound)).c_str(), Staleness(rows[i]).c_str());
  }
  return text;
}

std::string JsonLines(const std::vector<PlanRow>& rows) {
  std::string text;
  for (const PlanRow& row : rows) {
    const Configuration& c = row.configuration;
    const Prediction& p = row.prediction;
    const nlohmann::ordered_json json = {{"workers", c.workers},
                                         {"ps", c.servers},
                                         {"mode", ModeName(c.mode)},
                                         {"spares", c.spares},
                                         {"wire", WireText(c.wire)},
                                         {"placement", PlacementName(c.placement)},
                                         {"batch", c.batch},
                                         {"sum_per_host", c.sum_per_host},
                                         {"step_ms", p.step_ms},
                                         {"steps_per_s", p.steps_per_s},
                                         {"lowest_steps_per_s", row.lowest_steps_per_s},
                                         {"highest_steps_per_s", row.highest_steps_per_s},
                                         {"updates_per_s", p.updates_per_s},
                                         {"examples_per_s", p.examples_per_s},
                                         {"speed_up", row.speed_up},
                                         {"bound", BoundName(p.bound)},
                                         {"compute_share", p.compute_share},
                                         {"straggler_share", p.straggler_share},
                                         {"worker_link_use", p.worker_link_use},
                                         {"tasks_compete", p.tasks_compete},
                                         {"others_share", row.others_share},
                                         {"ps_link_use", p.server_link_use},
                                         {"ps_cpu_use", p.server_cpu_use},
                                         {"mean_staleness", p.mean_staleness},
                                         {"max_staleness", p.max_staleness},
                                         {"dropped_share", p.dropped_share},
                                         {"bounds",
                                          {{"compute", row.bounds.compute},
                                           {"worker_link", row.bounds.worker_link},
                                           {"ps_link", row.bounds.server_link},
                                           {"ps_cpu", row.bounds.server_cpu}}}};
    text += JsonText(json) + "\n";
  }
  return text;
}

std::string SpeedUpChart(const std::vector<PlanRow>& rows) {
  Chart chart;
  chart.title = "Speed-up over the number of workers, and what each bound allows";
  chart.x_label = "workers";
  ChartPanel panel;
  panel.label = "speed-up";
  ChartSeries predicted;
  predicted.name = "predicted";
  double top = 1;
  for (const PlanRow& row : rows) {
    predicted.points.emplace_back(row.configuration.workers, row.speed_up);
    top = std::max(top, 1.2 * row.speed_up);
  }
  panel.series.push_back(std::move(predicted));
  const std::pair<const char*, double Bounds::*> bounds[] = {{"compute", &Bounds::compute},
                                                             {"worker links", &Bounds::worker_link},
                                                             {"PS links", &Bounds::server_link},
                                                             {"PS CPUs", &Bounds::server_cpu}};
  for (const auto& [name, member] : bounds) {
    ChartSeries series;
    series.name = name;
    for (const PlanRow& row : rows) {
      const double steps_per_s = row.bounds.*member;
      if (steps_per_s == 0 || row.prediction.steps_per_s == 0) continue;
      // A bound far above everything else would only flatten the picture.
      const double bound = row.speed_up * steps_per_s / row.prediction.steps_per_s;
      if (bound <= 1.5 * top) series.points.emplace_back(row.configuration.workers, bound);
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  chart.panels.push_back(std::move(panel));
  return DrawChart(chart);
}

}  // namespace tensorbraid::planner
