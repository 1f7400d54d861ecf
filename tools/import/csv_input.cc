#include "tools/import/csv_input.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

std::string_view TextOf(const Source& source) {
  const std::span<const uint8_t> bytes = source.InMemory();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

CsvInput::CsvInput(std::shared_ptr<const Source> source, char delimiter,
                   std::vector<std::string> null_texts)
    : source_(std::move(source)),
      reader_(source_->name(), TextOf(*source_), delimiter),
      null_texts_(std::move(null_texts)) {
  for (const std::string& text : null_texts_) {
    if (!text.empty()) begins_null_text_[static_cast<uint8_t>(text.front())] = true;
  }
}

absl::StatusOr<CsvInput> CsvInput::Open(const std::string& path, char delimiter,
                                        std::vector<std::string> null_texts) {
  absl::StatusOr<std::shared_ptr<const Source>> source = OpenMappedSource(path);
  if (!source.ok()) return source.status();
  CsvInput input(*std::move(source), delimiter, std::move(null_texts));
  if (absl::Status status = input.ReadHeader(); !status.ok()) return status;
  return input;
}

absl::Status CsvInput::ReadHeader() {
  const absl::StatusOr<bool> found = reader_.Next();
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::InvalidArgumentError(
        absl::StrCat(source_->name(),
                     ": the file is empty; a header with the names of its "
                     "columns is missing"));
  }
  for (const CsvField& field : reader_.fields()) {
    if (field.text.empty()) {
      return reader_.Error(field.start,
                           absl::StrCat("column ", columns_.size() + 1, " has no name"));
    }
    if (const std::optional<size_t> other = Find(field.text); other.has_value()) {
      return reader_.Error(field.start,
                           absl::StrCat("columns ", *other + 1, " and ", columns_.size() + 1,
                                        " are both named ", Quoted(field.text)));
    }
    columns_.emplace_back(field.text);
  }
  first_row_ = reader_.offset();
  return absl::OkStatus();
}

std::optional<size_t> CsvInput::Find(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

bool CsvInput::IsNullText(std::string_view text) const {
  return std::find(null_texts_.begin(), null_texts_.end(), text) != null_texts_.end();
}

absl::Status CsvInput::Error(size_t column, std::string_view message) const {
  return reader_.Error(reader_.fields()[column].start,
                       absl::StrCat("column ", Quoted(columns_[column]), ": ",
                                    absl::string_view(message.data(), message.size())));
}

absl::Status CsvInput::Error(size_t column, const absl::Status& status) const {
  return Error(column, {status.message().data(), status.message().size()});
}

}  // namespace cfile::tools
