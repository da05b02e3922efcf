// Joins and splits text, and makes errors from text. In Debian's build of Abseil, absl::string_view is another type
// than std::string_view; StrCat accepts both.
#ifndef TENSORBRAID_CORE_TEXT_STRINGS_H_
#define TENSORBRAID_CORE_TEXT_STRINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

namespace internal {
template <typename T>
const T& Printable(const T& v) {
  return v;
}
inline absl::string_view Printable(std::string_view v) { return {v.data(), v.size()}; }
inline std::string Printable(const Shape& v) { return v.ToString(); }
inline std::string Printable(DType v) { return DTypeName(v); }
}  // namespace internal

template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(internal::Printable(args)...);
}

std::string StrJoin(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> StrSplit(std::string_view text, char separator);
// The candidate nearest to `word` in edit distance, or "" if none is so near that `word` is likely a typing mistake.
std::string NearestWord(std::string_view word, const std::vector<std::string>& candidates);

template <typename... Args>
Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(StrCat(args...));
}
template <typename... Args>
Status FailedPrecondition(const Args&... args) {
  return absl::FailedPreconditionError(StrCat(args...));
}
template <typename... Args>
Status NotFound(const Args&... args) {
  return absl::NotFoundError(StrCat(args...));
}
template <typename... Args>
Status AlreadyExists(const Args&... args) {
  return absl::AlreadyExistsError(StrCat(args...));
}
template <typename... Args>
Status Internal(const Args&... args) {
  return absl::InternalError(StrCat(args...));
}
template <typename... Args>
Status Unavailable(const Args&... args) {
  return absl::UnavailableError(StrCat(args...));
}
template <typename... Args>
Status Aborted(const Args&... args) {
  return absl::AbortedError(StrCat(args...));
}
template <typename... Args>
Status Cancelled(const Args&... args) {
  return absl::CancelledError(StrCat(args...));
}
template <typename... Args>
Status Unimplemented(const Args&... args) {
  return absl::UnimplementedError(StrCat(args...));
}
template <typename... Args>
Status DataLoss(const Args&... args) {
  return absl::DataLossError(StrCat(args...));
}
template <typename... Args>
Status DeadlineExceeded(const Args&... args) {
  return absl::DeadlineExceededError(StrCat(args...));
}
template <typename... Args>
Status OutOfRange(const Args&... args) {
  return absl::OutOfRangeError(StrCat(args...));
}
template <typename... Args>
Status ResourceExhausted(const Args&... args) {
  return absl::ResourceExhaustedError(StrCat(args...));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_STRINGS_H_
