#include "graph/model/user_lines.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

std::string_view BaseName(const char* file) {
  const std::string_view path(file);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string LocationText(const SourceLine& line) { return StrCat(BaseName(line.file), ":", line.line); }

ScopedLocation::ScopedLocation(const Graph& graph, const SourceLine& line) : impl_(&ImplOf(graph)) {
  std::optional<SourceLine>& outer = impl_->here().user_line;
  if (outer.has_value()) {
    impl_ = nullptr;
  } else {
    outer = line;
  }
}
ScopedLocation::~ScopedLocation() {
  if (impl_ != nullptr) impl_->here().user_line.reset();
}

ScopedUserCode::ScopedUserCode(const Graph& graph)
    : impl_(ImplOf(graph)), outer_(std::exchange(impl_.here().user_line, std::nullopt)) {}
ScopedUserCode::~ScopedUserCode() { impl_.here().user_line = outer_; }

}  // namespace tensorbraid
