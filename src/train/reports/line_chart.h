// Draws curves as an SVG image (https://www.w3.org/TR/SVG11/), without fonts or scripts of its own.
#ifndef TENSORBRAID_TRAIN_REPORTS_LINE_CHART_H_
#define TENSORBRAID_TRAIN_REPORTS_LINE_CHART_H_

#include <string>
#include <utility>
#include <vector>

namespace tensorbraid {

struct ChartSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // (x, y) by increasing x
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

// The image, as the text of an SVG file. Points with a coordinate that is not finite are left out. Of a series with
// many points, means of neighbours are drawn. The legend gives the last value of each series.
std::string DrawChart(const Chart& chart);

// Round numbers from `low` to `high` for the ticks of an axis: about `count` with distances of 1, 2 or 5 times a power
// of ten. On a logarithmic axis, `low` > 0 and they are 1, 2 and 5 times powers of ten, or powers of ten alone.
std::vector<double> AxisTicks(double low, double high, int count, bool log_scale);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPORTS_LINE_CHART_H_
