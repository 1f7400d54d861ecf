#include "tools/key_text.h"

#include <type_traits>

#include "absl/strings/str_cat.h"

namespace cfile::tools {

absl::StatusOr<CompoundKey> ParseCompoundKey(const std::vector<ColumnType>& types,
                                             const std::vector<std::string>& texts) {
  if (texts.size() > types.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the table is sorted by ", types.size(),
                                                   " columns, so expected at most as many KEYs"));
  }
  CompoundKey key(types);
  std::string scratch;
  for (size_t i = 0; i < texts.size(); ++i) {
    const absl::Status status = VisitType(types[i], [&]<typename T>(std::type_identity<T>) {
      const auto value = ParseKey<T>(types[i], texts[i], scratch);
      if (value.ok()) key.Add<T>(*value);
      return value.status();
    });
    if (!status.ok()) return status;
  }
  return key;
}

}  // namespace cfile::tools
