#include "tools/key_text.h"

#include <type_traits>

#include "absl/strings/str_cat.h"

namespace cfile::tools {

absl::StatusOr<CompoundKey> ParseCompoundKey(const std::vector<KeyColumn>& columns,
                                             const std::vector<std::string>& texts) {
  if (texts.size() > columns.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the table is sorted by ", columns.size(),
                                                   columns.size() == 1 ? " column" : " columns",
                                                   ", so expected at most as many KEYs"));
  }
  CompoundKey key(columns);
  std::string scratch;
  for (size_t i = 0; i < texts.size(); ++i) {
    const ColumnType& type = columns[i].type;
    if (columns[i].nullable && texts[i] == "null") {
      key.AddNull();
      continue;
    }
    const std::string text = columns[i].nullable && texts[i] == "\"null\"" ? "null" : texts[i];
    const absl::Status status = VisitType(type, [&]<typename T>(std::type_identity<T>) {
      const auto value = ParseKey<T>(type, text, scratch);
      if (value.ok()) key.Add<T>(*value);
      return value.status();
    });
    if (!status.ok()) return status;
  }
  return key;
}

}  // namespace cfile::tools
