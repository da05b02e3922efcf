#include "train/reports/line_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Sizes in pixels.
constexpr double kWidth = 760;
constexpr double kLeft = 76, kRight = 24;  // margins of the panels
constexpr double kTitleHeight = 38;
constexpr double kPanelHeight = 210;
// Above each panel. It has the numbers of the horizontal axis of the previous panel, and the legend of this one.
constexpr double kPanelGap = 60;
constexpr double kFooterHeight = 56;
constexpr size_t kMaxPoints = 400;  // of a series

// Colours that colour-blind people can distinguish, too. Source: Okabe and Ito, "Color Universal Design", 2008.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

std::string Number(double value, const char* format = "%.1f") {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string Text(double x, double y, const std::string& attributes, const std::string& text) {
  return StrCat("<text x=\"", Number(x), "\" y=\"", Number(y), "\" ", attributes, ">", Escaped(text), "</text>\n");
}

std::string Line(double x1, double y1, double x2, double y2, const char* colour) {
  return StrCat("<line x1=\"", Number(x1), "\" y1=\"", Number(y1), "\" x2=\"", Number(x2), "\" y2=\"", Number(y2),
                "\" stroke=\"", colour, "\"/>\n");
}

// An interval of numbers, and where it is drawn.
struct Axis {
  double low, high;   // of the numbers, low < high
  double begin, end;  // pixels of `low` and of `high`
  bool log_scale = false;

  double Pixel(double value) const {
    const double part = log_scale ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return begin + part * (end - begin);
  }
};

// Extends the interval, so that it is not empty. A linear axis then begins and ends at a tick. A logarithmic axis gets
// a margin of a factor of 1.1 at each end.
void Round(Axis& axis, int ticks) {
  if (axis.low == axis.high && axis.log_scale) {
    axis.low /= 2;
    axis.high *= 2;
  } else if (axis.low == axis.high) {
    const double margin = axis.low == 0 ? 1 : std::abs(axis.low) / 2;
    axis.high = axis.low + margin;
    axis.low -= margin;
  }
  if (axis.log_scale) {
    axis.low /= 1.1;
    axis.high *= 1.1;
    return;
  }
  const std::vector<double> at = AxisTicks(axis.low, axis.high, ticks, false);
  if (at.size() < 2) return;
  const double distance = at[1] - at[0];
  axis.low = distance * std::floor(axis.low / distance + 1e-9);
  axis.high = distance * std::ceil(axis.high / distance - 1e-9);
}

// The finite points. If there are too many, each group of neighbours is replaced by its mean. The last point stays
// unchanged, because the legend shows its value.
std::vector<std::pair<double, double>> Drawable(const ChartSeries& series, bool log_scale) {
  std::vector<std::pair<double, double>> points;
  for (const auto& p : series.points) {
    if (std::isfinite(p.first) && std::isfinite(p.second) && (!log_scale || p.second > 0)) points.push_back(p);
  }
  if (points.size() <= kMaxPoints) return points;
  std::vector<std::pair<double, double>> means;
  // The size of a group: the number of points before the last one, divided by kMaxPoints - 1 and rounded up.
  const size_t group = (points.size() - 1 + kMaxPoints - 2) / (kMaxPoints - 1);
  for (size_t begin = 0; begin + 1 < points.size(); begin += group) {
    const size_t end = std::min(begin + group, points.size() - 1);
    double x = 0, y = 0;
    for (size_t i = begin; i < end; ++i) {
      x += points[i].first / static_cast<double>(end - begin);
      y += points[i].second / static_cast<double>(end - begin);
    }
    means.emplace_back(x, y);
  }
  means.push_back(points.back());
  return means;
}

// Draws a panel that begins `top` pixels below the upper edge of the image. `x` is the horizontal axis of all panels.
std::string DrawPanel(const ChartPanel& panel, const Axis& x, double top) {
  std::vector<std::vector<std::pair<double, double>>> curves;
  Axis y = {.low = 0, .high = 0, .begin = top + kPanelHeight, .end = top, .log_scale = panel.log_scale};
  bool empty = true;
  for (const ChartSeries& series : panel.series) {
    curves.push_back(Drawable(series, panel.log_scale));
    for (const auto& [_, value] : curves.back()) {
      y.low = empty ? value : std::min(y.low, value);
      y.high = empty ? value : std::max(y.high, value);
      empty = false;
    }
  }
  if (empty) y.low = panel.log_scale ? 0.1 : 0, y.high = 1;
  Round(y, 5);

  std::string out;
  for (const double tick : AxisTicks(x.low, x.high, 8, false)) {
    out += Line(x.Pixel(tick), y.begin, x.Pixel(tick), y.end, "#e4e4e4");
    out += Text(x.Pixel(tick), y.begin + 18, "text-anchor=\"middle\" class=\"tick\"", Number(tick, "%.10g"));
  }
  for (const double tick : AxisTicks(y.low, y.high, 5, panel.log_scale)) {
    out += Line(x.begin, y.Pixel(tick), x.end, y.Pixel(tick), "#e4e4e4");
    out += Text(x.begin - 8, y.Pixel(tick) + 4, "text-anchor=\"end\" class=\"tick\"", Number(tick, "%.6g"));
  }
  out += Line(x.begin, y.begin, x.end, y.begin, "#555555");
  out += Line(x.begin, y.begin, x.begin, y.end, "#555555");
  const double middle = (y.begin + y.end) / 2;
  out +=
      Text(20, middle, StrCat("text-anchor=\"middle\" transform=\"rotate(-90 20 ", Number(middle), ")\""), panel.label);

  double legend = x.begin;
  for (size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].empty()) continue;
    const std::string colour = kColours[i % std::size(kColours)];
    std::string path;
    for (const auto& [px, py] : curves[i]) path += Number(x.Pixel(px)) + "," + Number(y.Pixel(py)) + " ";
    path.pop_back();
    out += StrCat("<polyline fill=\"none\" stroke=\"", colour,
                  "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" points=\"", path, "\"/>\n");
    const auto [last_x, last_y] = curves[i].back();
    out += StrCat("<circle cx=\"", Number(x.Pixel(last_x)), "\" cy=\"", Number(y.Pixel(last_y)), "\" r=\"3.5\" fill=\"",
                  colour, "\"/>\n");
    const std::string name = panel.series[i].name + " " + Number(last_y, "%.4g");
    out += StrCat("<rect x=\"", Number(legend), "\" y=\"", Number(top - 19), "\" width=\"16\" height=\"4\" fill=\"",
                  colour, "\"/>\n");
    out += Text(legend + 22, top - 12, "", name);
    legend += 22 + 8.0 * static_cast<double>(name.size()) + 20;  // 8 pixels: a wide letter of this size
  }
  return out;
}

}  // namespace

std::vector<double> AxisTicks(double low, double high, int count, bool log_scale) {
  std::vector<double> ticks;
  if (log_scale) {
    // An axis that spans two powers of ten or more has ticks at powers of ten only.
    const bool between = high / low < 100;
    for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high; ++power) {
      for (const int digit : {1, 2, 5}) {
        const double tick = digit * std::pow(10, power);
        if (tick >= low && tick <= high && (digit == 1 || between)) ticks.push_back(tick);
      }
    }
    return ticks;
  }
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double distance = 10 * power;
  for (const int digit : {5, 2, 1}) {
    if (digit * power >= rough * (1 - 1e-9)) distance = digit * power;
  }
  // Multiples of the distance, without an error that grows from tick to tick.
  const double first = std::ceil(low / distance - 1e-9);
  for (int i = 0; (first + i) * distance <= high + 1e-9 * distance; ++i) {
    const double n = first + i;
    ticks.push_back(n == 0 ? 0 : n * distance);
  }
  return ticks;
}

std::string DrawChart(const Chart& chart) {
  // The small numbers here and below are distances in pixels.
  const double height =
      kTitleHeight + static_cast<double>(chart.panels.size()) * (kPanelHeight + kPanelGap) + kFooterHeight - 16;
  Axis x = {.low = 0, .high = 0, .begin = kLeft, .end = kWidth - kRight};
  for (const ChartPanel& panel : chart.panels) {
    for (const ChartSeries& series : panel.series) {
      for (const auto& p : Drawable(series, panel.log_scale)) {
        x.low = std::min(x.low, p.first);
        x.high = std::max(x.high, p.first);
      }
    }
  }
  if (x.low == x.high) x.high = 1;
  std::string out =
      StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", Number(kWidth, "%.0f"), "\" height=\"",
             Number(height, "%.0f"), "\" viewBox=\"0 0 ", Number(kWidth, "%.0f"), " ", Number(height, "%.0f"),
             "\">\n<title>", Escaped(chart.title), "</title>\n",
             "<style>text { font: 14px sans-serif; fill: #222222 } .tick { font-size: 12px; fill: #555555 } "
             ".title { font-size: 18px; font-weight: bold }</style>\n",
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  out += Text(kLeft, 34, "class=\"title\"", chart.title);
  double top = kTitleHeight - 8;
  for (const ChartPanel& panel : chart.panels) {
    top += kPanelGap - 12;
    out += DrawPanel(panel, x, top);
    top += kPanelHeight + 12;
  }
  out += Text((x.begin + x.end) / 2, top + 26, "text-anchor=\"middle\"", chart.x_label);
  return out + "</svg>\n";
}

}  // namespace tensorbraid
