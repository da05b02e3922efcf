// The types in which the values and the gradients of variables travel between tasks.
#ifndef TENSORBRAID_CORE_WIRE_H_
#define TENSORBRAID_CORE_WIRE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// How a float32 tensor is written into messages between tasks. The receiver converts it back to float32. Within a task
// nothing is converted. See docs/design/0017-wire-types.md.
enum class Wire {
  kDefault,   // as the server's option --wire says for the job of the variable; without one, as kFloat32
  kFloat32,   // unchanged
  kFloat16,   // half the bytes; rounded to nearest even; magnitudes from 65520 on become infinity
  kBFloat16,  // half the bytes; rounded to nearest even
  kInt8,      // a quarter of the bytes: blocks of 256 values, each with a float32 scale
  kOneBit,    // a 26th of the bytes: the sign of each value, and in each block of 256 the mean of each sign's values
  kTopK,      // a 50th of the bytes: the 1 % of the values with the largest magnitude
};

// The wire types of a variable. `parameters` applies to its values when other tasks read them, but not when the values
// are fetched or saved in a checkpoint. `gradients` applies to the gradients that other tasks send to the variable.
// kInt8, kOneBit and kTopK lose much of a gradient, so the sender keeps what is lost and adds it to the next gradient.
// Values can only be sent in kFloat32, kFloat16, kBFloat16 or kInt8.
//
//   .wire = Wire::kBFloat16                  one type for values and gradients
//   .wire = {Wire::kBFloat16, Wire::kTopK}   the type of values, the type of gradients
struct WireTypes {
  constexpr WireTypes() = default;
  // Gradients are sent in `wire`. Values are also sent in `wire` if it is kFloat32, kFloat16 or kBFloat16, otherwise as
  // kDefault says. To send values in kInt8, give both types.
  constexpr WireTypes(Wire wire)  // NOLINT: converts
      : parameters(wire == Wire::kFloat32 || wire == Wire::kFloat16 || wire == Wire::kBFloat16 ? wire : Wire::kDefault),
        gradients(wire) {}
  constexpr WireTypes(Wire parameters, Wire gradients) : parameters(parameters), gradients(gradients) {}

  Wire parameters = Wire::kDefault;  // the values
  Wire gradients = Wire::kDefault;

  friend bool operator==(const WireTypes&, const WireTypes&) = default;
};

// "float32", "float16", "bfloat16", "int8", "1bit", "topk"; "" for kDefault.
std::string_view WireName(Wire wire);
// The type with this name. InvalidArgument, with all names, if it does not exist; "" is kDefault.
StatusOr<Wire> WireOf(std::string_view name);
// OK if `types` can be used: values cannot be sent in kOneBit or kTopK. Otherwise InvalidArgument.
Status CheckWireTypes(const WireTypes& types);

// Returns the wire types of each job that the rules name. A rule is "ps:bfloat16" (both types), "ps:gradients=int8" or
// "ps:parameters=bfloat16". A later rule takes precedence. InvalidArgument for a malformed rule.
StatusOr<std::map<std::string, WireTypes>> ParseWireRules(const std::vector<std::string>& rules);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_WIRE_H_
