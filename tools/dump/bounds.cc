#include "tools/dump/bounds.h"

#include "tools/utf8.h"
#include "tools/value_text.h"

namespace cfile::tools {

BoundTexts TextOfBounds(const ColumnType& type, const BlockStatistics& statistics) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) {
    const auto text = [&](const std::optional<Owned<T>>& value) -> std::optional<std::string> {
      if (!value) return std::nullopt;
      std::string out;
      T bound(*value);
      if constexpr (kIsFloat<T>) {
        // The sign of a zero bound has no meaning: files store bounds that hold both zeros.
        if (bound == 0) bound = 0;
      }
      AppendText<T>(type, bound, out);
      return out;
    };
    return BoundTexts{text(statistics.Min<T>()), text(statistics.Max<T>())};
  });
}

Json JsonBound(const std::optional<std::string>& text, bool exact) {
  if (!text) return nullptr;
  return {{"text", JsonBytes(*text)}, {"exact", exact}};
}

std::string BoundInLine(const std::optional<std::string>& text, size_t max_bytes) {
  if (!text) return "-";
  return CutInLine(Printable(*text), max_bytes);
}

std::string CutInLine(const std::string& text, size_t max_bytes) {
  const std::string_view shown = CutText(text, max_bytes);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

}  // namespace cfile::tools
