#include "tensorbraid/wire.h"

#include <array>

#include "core/strings.h"

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
  return InvalidArgument("wire type '", WireName(types.parameters),
                         "' is for gradients; the values of variables can be sent as float32, float16, bfloat16 or int8");
}

}  // namespace tensorbraid
