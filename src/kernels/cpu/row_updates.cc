#include "runtime/variables/row_updates.h"

#include <algorithm>
#include <type_traits>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/prefetch.h"
#include "runtime/variables/row_stripes.h"

namespace tensorbraid {
namespace {

// Each kind of update is a function of the old element and the update, both in their ComputeType. If the struct has
// `kWraps`, signed and unsigned integers of one size give the same bits.
struct AddTo {
  static constexpr bool kWraps = true;
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
  static constexpr bool kWraps = true;
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
  static constexpr bool kWraps = true;
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
      if (update == C{-1})
        return static_cast<C>(-uint64_t(to));  // negate as unsigned: the negative of the smallest number wraps
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

// The arguments of UpdateRows.
struct Rows {
  std::span<const int64_t> rows;
  int64_t size;
  const Tensor& updates;
  Tensor* to;
  const RowsInTable* table;
};

// Combines one row of `size` elements with an update. `from` is a row, or one element for all.
using RowLoop = void (*)(void* to, const void* from, int64_t size);

// Calls `loop` for each row that is not negative. It is compiled once for all kinds of updates and all dtypes: only the
// loop over the elements of a row knows them.
void ForEachRow(const Rows& r, void* to, const void* from, size_t element_bytes, RowLoop loop) {
  const int64_t row_bytes = r.size * static_cast<int64_t>(element_bytes);
  const int64_t step = r.updates.shape().is_scalar() ? 0 : row_bytes;  // from an update to the next
  auto* const first = static_cast<char*>(to);
  const auto* const first_update = static_cast<const char*>(from);
  // Visits `count` rows; number_of(k) is the number of the k-th row.
  const auto visit = [&](size_t count, auto number_of) {
    constexpr size_t kAhead = cpu::kPrefetchedRows;
    for (size_t k = 0; k < count; ++k) {
      if (k + kAhead < count && r.rows[number_of(k + kAhead)] >= 0) {
        cpu::PrefetchRow<true>(first + r.rows[number_of(k + kAhead)] * row_bytes, row_bytes);
      }
      const size_t i = number_of(k);
      if (r.rows[i] >= 0) loop(first + r.rows[i] * row_bytes, first_update + static_cast<int64_t>(i) * step, r.size);
    }
  };
  if (r.table == nullptr) return visit(r.rows.size(), [](size_t k) { return k; });
  RowLocks* const locks = &r.table->locks;
  cpu::UpdateByStripe(r.table->pool, r.rows, std::span(&locks, 1), cpu::RowUpdateNs(row_bytes),
                      [&](std::span<const int64_t> numbers) {
                        visit(numbers.size(), [&](size_t k) { return static_cast<size_t>(numbers[k]); });
                      });
}

template <typename E>
void ForEachRow(const Rows& r, RowLoop loop, RowLoop loop_of_one) {
  ForEachRow(r, MutableElements<E>(*r.to), Elements<E>(r.updates), sizeof(E),
             r.updates.shape().is_scalar() ? loop_of_one : loop);
}

template <typename E>
Status Replace(const Rows& r) {
  ForEachRow<E>(
      r,
      [](void* to, const void* from, int64_t size) {
        CopyElements(static_cast<const E*>(from), size, static_cast<E*>(to));
      },
      [](void* to, const void* from, int64_t size) {
        std::fill_n(static_cast<E*>(to), size, *static_cast<const E*>(from));
      });
  return OkStatus();
}

template <typename How, typename E>
Status Change(const Rows& r) {
  using C = ComputeType<E>;
  if constexpr (std::is_same_v<How, DivideBy> && std::is_integral_v<E>) {
    const auto divisors = r.updates.data<E>();
    if (std::find(divisors.begin(), divisors.end(), E{}) != divisors.end()) {
      return cpu::CannotDivideRows();
    }
  }
  ForEachRow<E>(
      r,
      [](void* row, const void* update, int64_t size) {
        auto* const to = static_cast<E*>(row);
        const auto* const from = static_cast<const E*>(update);
#pragma GCC ivdep
        for (int64_t i = 0; i < size; ++i) to[i] = E(How::template Of<C>(C(to[i]), C(from[i])));
      },
      [](void* row, const void* update, int64_t size) {
        auto* const to = static_cast<E*>(row);
        const C one(*static_cast<const E*>(update));
        for (int64_t i = 0; i < size; ++i) to[i] = E(How::template Of<C>(C(to[i]), one));
      });
  return OkStatus();
}

// The type for which the loops are compiled: T, or the unsigned integer of the same size if that gives the same bits.
template <typename How, typename T>
auto LoopTypeOf() {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && requires { How::kWraps; }) {
    return std::make_unsigned_t<T>{};
  } else {
    return T{};
  }
}

template <typename... Ts>
struct Types {
  static constexpr DTypeSet kSet{DTypeOf<Ts>::value...};

  template <typename How>
  static Status ChangeRows(const Rows& r) {
    Status status = Unimplemented("this update of rows does not support type ", r.updates.dtype());
    (void)((r.updates.dtype() == DTypeOf<Ts>::value &&
            (status = Change<How, decltype(LoopTypeOf<How, Ts>())>(r), true)) ||
           ...);
    return status;
  }
};
using Ordered =
    Types<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;

template <typename... More>
using NumbersAnd = Types<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                         uint32_t, uint64_t, std::complex<float>, std::complex<double>, More...>;

}  // namespace

DTypeSet TypesOf(RowUpdate how) {
  if (how == RowUpdate::kReplace) return {};
  if (how == RowUpdate::kMin || how == RowUpdate::kMax) return Ordered::kSet;
  return NumbersAnd<>::kSet;
}

Status UpdateRows(RowUpdate how, std::span<const int64_t> rows, int64_t size, const Tensor& updates, Tensor* to,
                  const RowsInTable* table) {
  const Rows r{rows, size, updates, to, table};
  switch (how) {
    case RowUpdate::kReplace:
      return ForElementsOf(updates.dtype(), [&]<typename E>() { return Replace<E>(r); });
    case RowUpdate::kAdd:
      return NumbersAnd<bool, std::string>::ChangeRows<AddTo>(r);
    case RowUpdate::kSubtract:
      return NumbersAnd<bool>::ChangeRows<SubtractFrom>(r);
    case RowUpdate::kMultiply:
      return NumbersAnd<>::ChangeRows<MultiplyBy>(r);
    case RowUpdate::kDivide:
      return NumbersAnd<>::ChangeRows<DivideBy>(r);
    case RowUpdate::kMin:
      return Ordered::ChangeRows<LesserOf>(r);
    case RowUpdate::kMax:
      return Ordered::ChangeRows<GreaterOf>(r);
  }
  return OkStatus();
}

}  // namespace tensorbraid
