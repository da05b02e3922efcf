#include "core/text/text_table.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tensorbraid {

std::string Formatted(const char* format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

std::string SizeText(double bytes) {
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) break;
    bytes /= 1000;
    unit = next;
  }
  return Formatted(bytes < 10 && unit[0] != 'B' ? "%.1f %s" : "%.0f %s", bytes, unit);
}

std::string RateText(double rate) { return Formatted(rate < 100 ? "%.1f" : "%.0f", rate); }

std::string PercentText(double share) { return Formatted("%.0f %%", 100 * share); }

std::string AgeText(double seconds) {
  if (seconds < 120) return Formatted(seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return seconds < 7200 ? Formatted("%.0f min", seconds / 60) : Formatted("%.1f h", seconds / 3600);
}

std::string TableText(const std::vector<TextRow>& rows) {
  std::vector<size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    // The last cell of a short row may be long: it is the problem of a task.
    const size_t cells = row.size() < rows[0].size() ? row.size() - 1 : row.size();
    for (size_t i = 0; i < cells; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TextRow& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - std::min(widths[i], row[i].size()) + 2, ' ');
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace tensorbraid
