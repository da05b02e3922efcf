#include "core/text/json.h"

namespace tensorbraid {

nlohmann::json ParseJson(std::string_view text) { return nlohmann::json::parse(text); }

nlohmann::ordered_json ParseOrderedJson(std::string_view text) { return nlohmann::ordered_json::parse(text); }

nlohmann::json ParseJsonOrDiscard(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string JsonText(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonText(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tensorbraid
