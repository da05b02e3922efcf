#include "graph/model/mistakes.h"

#include <string>
#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {
namespace {

thread_local std::string logged_mistake;  // see TakeLoggedMistake

}  // namespace

void LogMistake(std::string_view function, const std::source_location& loc, std::string_view message) {
  logged_mistake = StrCat(function, " (", LocationText(loc), "): ", message);
  TB_LOG(Error, "graph") << logged_mistake;
}

std::string TakeLoggedMistake() {
  const std::string mistake = std::exchange(logged_mistake, "");
  return mistake.empty() ? "" : StrCat("; the last mistake outside of a graph: ", mistake);
}

}  // namespace tensorbraid
