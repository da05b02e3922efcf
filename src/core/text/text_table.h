// Tables and numbers for a terminal.
#ifndef TENSORBRAID_CORE_TEXT_TEXT_TABLE_H_
#define TENSORBRAID_CORE_TEXT_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace tensorbraid {

// As printf, up to 255 characters.
__attribute__((format(printf, 1, 2))) std::string Formatted(const char* format, ...);
std::string SizeText(double bytes);     // "3.1 MB"
std::string RateText(double rate);      // "12.5"
std::string PercentText(double share);  // "25 %"
std::string AgeText(double seconds);    // "12 s", "5 min"

using TextRow = std::vector<std::string>;
// The rows as lines, with cells below each other. The first row is the headline. The last cell of a row that is shorter
// than the first one may be long.
std::string TableText(const std::vector<TextRow>& rows);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_TEXT_TABLE_H_
