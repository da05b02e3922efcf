// Errors are values: every library call that can fail returns a Status or a StatusOr. Nothing is thrown.
//
// The code tells the caller what to do: Unavailable (retry later), Aborted (start again from the last good state),
// InvalidArgument (fix the program), DataLoss (use an older checkpoint), DeadlineExceeded, Cancelled, Unimplemented.
#ifndef TENSORBRAID_CORE_STATUS_H_
#define TENSORBRAID_CORE_STATUS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tensorbraid {

using Status = absl::Status;
template <typename T>
using StatusOr = absl::StatusOr<T>;
using absl::OkStatus;

// For the end of main(): prints an error as "NOT_FOUND: message" on standard error. Returns 0 for OK, 2 for an error
// that would occur again if the program were started again (InvalidArgument, Unimplemented), and 1 for other errors.
// Blocks until compilers of accelerators have ended, since a plugin may crash if the program ends while it compiles.
int ExitCode(const Status& status);

// "NOT_FOUND: message", or "OK".
std::string ToString(const Status& status);

// Puts "context: " before the message of `status` and keeps its code and payloads. OK stays OK.
Status Annotate(const Status& status, const std::string& context);

namespace internal {
inline const Status& AsStatus(const Status& status) { return status; }
template <typename T>
const Status& AsStatus(const StatusOr<T>& value) {
  return value.status();
}
}  // namespace internal

#define TB_CONCAT_INNER(a, b) a##b
#define TB_CONCAT(a, b) TB_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Status or StatusOr), if it is one, from the enclosing function.
#define TF_RETURN_IF_ERROR(expr)                                         \
  do {                                                                   \
    auto&& tb_result = (expr);                                           \
    if (!::tensorbraid::internal::AsStatus(tb_result).ok()) [[unlikely]] \
      return ::tensorbraid::internal::AsStatus(tb_result);               \
  } while (false)

// Assigns the value of a StatusOr to `lhs` (which may declare a variable), or returns its error from the enclosing
// function. It may be used several times on one line.
#define TF_ASSIGN_OR_RETURN(lhs, expr) TB_ASSIGN_OR_RETURN_IMPL(TB_CONCAT(tb_or_, __COUNTER__), lhs, expr)
#define TB_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) [[unlikely]]                    \
    return tmp.status();                         \
  lhs = *std::move(tmp)

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_STATUS_H_
