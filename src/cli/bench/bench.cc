#include "cli/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text/json.h"
#include "core/text/strings.h"
#include "tensorbraid/core/wire.h"

namespace tensorbraid {
namespace {

using nlohmann::ordered_json;

// The result as text such as "softmax  median_ms 0.2871  steps_per_s 3412", with numbers rounded for readability.
std::string AsText(const ordered_json& result) {
  std::string text;
  for (const auto& [key, value] : result.items()) {
    if (key == "bench") {
      text = value.get<std::string>();
      continue;
    }
    text += "  " + key + " ";
    if (value.is_number_float()) {
      char number[32];
      std::snprintf(number, sizeof number, "%.4g", value.get<double>());
      text += number;
    } else {
      text += value.is_string() ? value.get<std::string>() : JsonText(value);
    }
  }
  return text;
}

}  // namespace

int64_t BenchOptions::variable_bytes() const {
  return bytes > 0 ? std::max<int64_t>(bytes, 4) : std::max<int64_t>(std::llround(mb * 1e6), 4);
}

double Minimum(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double Percentile(std::vector<double> values, double percent) {
  const auto at = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(at == 0 ? 0 : at - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

Status RunBench(const BenchOptions& options) {
  const auto wire = ParseWireRules(options.wire);
  if (!wire.ok()) return Annotate(wire.status(), "--wire");
  if (options.sum && options.name != "pull") return InvalidArgument("--sum is for pull");
  if (options.beside.has_value() && (options.name != "softmax" || options.mode == "local")) {
    return InvalidArgument("--beside is for softmax with --mode=async or --mode=sync");
  }
  if (!options.target.empty() && options.name != "allpairs") return InvalidArgument("--target is for allpairs");
  if (options.target.empty() && (options.tls.enabled() || !options.token_file.empty())) {
    return InvalidArgument("the --tls options and --token_file are for --target");
  }
  const bool is_exact =
      options.name == "push" || options.name == "pull" || options.name == "allpairs" || options.name == "save";
  if (is_exact && !wire->empty()) {
    return InvalidArgument(options.name, " checks that values arrive exactly; use --wire with nullstep");
  }
  StatusOr<BenchResults> results = BenchResults();
  if (options.name == "step") {
    results = BenchStep(options);
  } else if (options.name == "softmax") {
    results = BenchSoftmax(options);
  } else if (options.name == "lenet" || options.name == "lstm" || options.name == "crnn") {
    results = BenchModels(options);
  } else if (options.name == "allpairs") {
    results = BenchAllPairs(options);
  } else if (options.name == "nullstep") {
    results = BenchNullStep(options);
  } else if (options.name == "sparse") {
    results = BenchSparse(options);
  } else if (options.name == "save") {
    results = BenchSave(options);
  } else {
    results = BenchTransfer(options);
  }
  if (!results.ok()) return results.status();
  for (const ordered_json& result : *results) {
    std::printf("%s\n", options.json ? JsonText(result).c_str() : AsText(result).c_str());
  }
  return OkStatus();
}

}  // namespace tensorbraid
