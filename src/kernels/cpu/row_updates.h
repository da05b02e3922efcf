// How scattered updates change elements.
#ifndef TENSORBRAID_KERNELS_CPU_ROW_UPDATES_H_
#define TENSORBRAID_KERNELS_CPU_ROW_UPDATES_H_

#include <algorithm>
#include <type_traits>

#include "core/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"

namespace tensorbraid {

// Each is a function of an element and what comes to it, in their ComputeType. Integers wrap around.
struct AddTo {
  template <typename C>
  static C Of(C to, C update) {
    if constexpr (std::is_same_v<C, bool>)
      return to || update;
    else if constexpr (std::is_integral_v<C>)
      return static_cast<C>(uint64_t(to) + uint64_t(update));
    else
      return to + update;
  }
};
struct SubtractFrom {
  template <typename C>
  static C Of(C to, C update) {
    if constexpr (std::is_same_v<C, bool>)
      return to != update;
    else if constexpr (std::is_integral_v<C>)
      return static_cast<C>(uint64_t(to) - uint64_t(update));
    else
      return to - update;
  }
};
struct MultiplyBy {
  template <typename C>
  static C Of(C to, C update) {
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(uint64_t(to) * uint64_t(update));
    else
      return to * update;
  }
};
struct DivideBy {
  template <typename C>
  static C Of(C to, C update) {
    if constexpr (std::is_integral_v<C> && std::is_signed_v<C>) {
      if (update == C{-1}) return static_cast<C>(-uint64_t(to));  // of the smallest number there is no negative
    }
    return static_cast<C>(to / update);
  }
};
struct LesserOf {
  template <typename C>
  static C Of(C to, C update) {
    return update < to ? update : to;
  }
};
struct GreaterOf {
  template <typename C>
  static C Of(C to, C update) {
    return to < update ? update : to;
  }
};
// For any element, whatever it means.
struct ReplaceBy {};

// to[i] = How(to[i], update[i])
template <typename How, typename E>
void UpdateElements(E* to, const E* update, int64_t n) {
  if constexpr (std::is_same_v<How, ReplaceBy>) {
    CopyElements(update, n, to);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      to[i] = E(How::template Of<ComputeType<E>>(ComputeType<E>(to[i]), ComputeType<E>(update[i])));
    }
  }
}

// to[i] = How(to[i], update)
template <typename How, typename E>
void UpdateElements(E* to, const E& update, int64_t n) {
  if constexpr (std::is_same_v<How, ReplaceBy>) {
    std::fill_n(to, n, update);
  } else {
    const ComputeType<E> u(update);
    for (int64_t i = 0; i < n; ++i) to[i] = E(How::template Of<ComputeType<E>>(ComputeType<E>(to[i]), u));
  }
}

// InvalidArgument when How divides integers and a divisor is 0.
template <typename How, typename E>
Status CheckUpdates(const Tensor& updates) {
  if constexpr (std::is_same_v<How, DivideBy> && std::is_integral_v<E>) {
    const auto divisors = updates.data<E>();
    if (std::find(divisors.begin(), divisors.end(), E{}) != divisors.end()) {
      return InvalidArgument("integers cannot be divided by 0");
    }
  }
  return OkStatus();
}

// Calls f.template operator()<T>() for each type that has an order.
template <typename F>
void ForEachOrderedType(const F& f) {
  ForEachType<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
              uint64_t>(f);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ROW_UPDATES_H_
