// Parses and writes JSON. The parser and the writer of nlohmann::json are templates, which a compiler needs two seconds
// to instantiate in each unit that calls them. These functions are compiled once.
#ifndef TENSORBRAID_CORE_TEXT_JSON_H_
#define TENSORBRAID_CORE_TEXT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tensorbraid {

// The value that `text` describes. Throws nlohmann::json::parse_error if `text` is not JSON.
nlohmann::json ParseJson(std::string_view text);
// The same, with the keys of objects in the order of the text.
nlohmann::ordered_json ParseOrderedJson(std::string_view text);
// The value that `text` describes; if `text` is not JSON, a value of the type `discarded`. Does not throw.
nlohmann::json ParseJsonOrDiscard(std::string_view text);

// The text of `json`: in one line, or with lines that are indented by `indent` spaces for each level. Bytes that are
// not UTF-8 become U+FFFD.
std::string JsonText(const nlohmann::json& json, int indent = -1);
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_JSON_H_
