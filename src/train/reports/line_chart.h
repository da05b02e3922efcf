// Draws curves as an SVG image (https://www.w3.org/TR/SVG11/). The image contains no fonts and no scripts.
#ifndef TENSORBRAID_TRAIN_REPORTS_LINE_CHART_H_
#define TENSORBRAID_TRAIN_REPORTS_LINE_CHART_H_

#include <string>
#include <utility>
#include <vector>

namespace tensorbraid {

struct ChartSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // (x, y), in order of increasing x
};

// Series that share a vertical axis.
struct ChartPanel {
  std::string label;
  std::vector<ChartSeries> series;
  bool log_scale = false;  // leaves out points that are not positive
};

struct Chart {
  std::string title;
  std::string x_label;
  std::vector<ChartPanel> panels;  // from top to bottom, with the same horizontal axis
};

// Returns the image, as the text of an SVG file. Points with a coordinate that is not finite are left out. If a series
// has too many points, each group of neighbours is drawn as one point, their mean. The legend gives the last value of
// each series.
std::string DrawChart(const Chart& chart);

// Returns round numbers from `low` to `high` for the ticks of an axis. On a linear axis, these are about `count`
// multiples of a distance that is 1, 2 or 5 times a power of ten. On a logarithmic axis, `low` must be positive. The
// ticks are 1, 2 and 5 times powers of ten, or powers of ten alone if `high` is at least 100 times `low`.
std::vector<double> AxisTicks(double low, double high, int count, bool log_scale);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPORTS_LINE_CHART_H_
