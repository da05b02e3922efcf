#include "cli/plan_flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text/json.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

template <typename T>
bool ReadAll(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

StatusOr<std::vector<int>> ParseCounts(const std::string& flag, const std::string& text, int most) {
  std::vector<int> counts;
  for (const std::string& word : StrSplit(text, ',')) {
    const std::vector<std::string> ends = StrSplit(word, '-');
    int first = 0, last = 0;
    if (ends.size() > 2 || !ReadAll(ends[0], &first) || !ReadAll(ends.back(), &last) || first < 1 || last < first ||
        last > most || (!counts.empty() && first <= counts.back())) {
      return InvalidArgument(flag, ": '", text, "' is no list of rising numbers from 1 to ", most,
                             ", such as 1,2,4 or 1-8");
    }
    counts.push_back(first);
    int power = 1;
    while (power <= first) power *= 2;
    for (; power < last; power *= 2) counts.push_back(power);
    if (last > first) counts.push_back(last);
  }
  return counts;
}

StatusOr<double> ParseBandwidth(const std::string& text) {
  const std::pair<const char*, double> units[] = {{"gbit", 1e9 / 8}, {"mbit", 1e6 / 8}, {"GB", 1e9}, {"MB", 1e6}};
  for (const auto& [unit, bytes] : units) {
    double number = 0;
    if (text.ends_with(unit) &&
        ReadAll(std::string_view(text).substr(0, text.size() - std::string(unit).size()), &number) && number > 0 &&
        std::isfinite(number)) {
      return number * bytes;
    }
  }
  return InvalidArgument("'", text,
                         "' is no bandwidth; expected a number with its unit, such as 10gbit, 100mbit or "
                         "1.25GB (bytes per second)");
}

StatusOr<std::pair<std::string, Shape>> ParseShapeFlag(const std::string& text) {
  const size_t equals = text.rfind('=');
  std::vector<int64_t> dims;
  bool valid = equals != std::string::npos && equals > 0;
  if (valid && equals + 1 < text.size()) {
    for (const std::string& word : StrSplit(std::string_view(text).substr(equals + 1), ',')) {
      int64_t dim = 0;
      valid = valid && ReadAll(word, &dim) && dim >= 0;
      dims.push_back(dim);
    }
  }
  if (!valid) return InvalidArgument("'", text, "' is no shape of a tensor, such as images=100,784");
  return std::pair(text.substr(0, equals), Shape(dims));
}

StatusOr<double> ReadAllPairs(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<double> speeds;
  for (const std::string& line : StrSplit(text, '\n')) {
    const auto json = ParseJsonOrDiscard(line);
    const auto is = [&json](const char* key, const char* value) { return json.contains(key) && json[key] == value; };
    if (!json.is_object() || !is("bench", "allpairs") || !json.contains("from") || is("from", "all")) continue;
    const auto gb_s = json.find("gb_s");
    if (gb_s != json.end() && gb_s->is_number() && gb_s->get<double>() > 0) speeds.push_back(gb_s->get<double>() * 1e9);
  }
  if (speeds.empty()) {
    return InvalidArgument("'", path,
                           "' has no line of a pair of tasks; make it with 'tensorbraid bench allpairs --json'");
  }
  std::sort(speeds.begin(), speeds.end());
  return speeds[speeds.size() / 2];
}

}  // namespace tensorbraid
