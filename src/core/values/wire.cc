#include "tensorbraid/core/wire.h"

#include <array>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::array<std::string_view, 7> kWireNames = {"", "float32", "float16", "bfloat16", "int8", "1bit", "topk"};

}  // namespace

std::string_view WireName(Wire wire) { return kWireNames[static_cast<size_t>(wire)]; }

StatusOr<Wire> WireOf(std::string_view name) {
  for (size_t i = 0; i < kWireNames.size(); ++i) {
    if (kWireNames[i] == name) return static_cast<Wire>(i);
  }
  return InvalidArgument("wire type '", name, "' does not exist; use float32, float16, bfloat16, int8, 1bit or topk");
}

Status CheckWireTypes(const WireTypes& types) {
  if (types.parameters != Wire::kOneBit && types.parameters != Wire::kTopK) return OkStatus();
  return InvalidArgument(
      "wire type '", WireName(types.parameters),
      "' is for gradients; the values of variables can be sent as float32, float16, bfloat16 or int8");
}

StatusOr<std::map<std::string, WireTypes>> ParseWireRules(const std::vector<std::string>& rules) {
  std::map<std::string, WireTypes> types;
  for (const std::string& rule : rules) {
    const auto malformed = [&](std::string_view why) {
      return InvalidArgument("invalid wire rule '", rule, "'", why,
                             "; expected JOB:TYPE, JOB:parameters=TYPE or JOB:gradients=TYPE");
    };
    const size_t colon = rule.find(':');
    if (colon == 0 || colon == std::string::npos) return malformed("");
    const std::string job = rule.substr(0, colon);
    std::string name = rule.substr(colon + 1), what;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      what = name.substr(0, equals);
      name = name.substr(equals + 1);
      if (what != "parameters" && what != "gradients") return malformed("");
    }
    const StatusOr<Wire> wire = WireOf(name);
    if (!wire.ok()) return Annotate(wire.status(), StrCat("invalid wire rule '", rule, "'"));
    if (name.empty()) return malformed("");
    WireTypes& of_job = types[job];
    if (what.empty()) of_job = WireTypes(*wire);
    if (what == "parameters") of_job.parameters = *wire;
    if (what == "gradients") of_job.gradients = *wire;
    if (const Status valid = CheckWireTypes(of_job); !valid.ok()) return malformed(StrCat(": ", valid.message()));
  }
  return types;
}

}  // namespace tensorbraid
