#include "tools/import/csv_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/layout_options.h"
#include "tools/time_format.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr char kCharsetHint[] =
    "; say the charset of the file, for example: --charset windows-1252";

std::string_view TextOf(const Source& source) {
  const std::span<const uint8_t> bytes = source.InMemory();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

CsvInput::CsvInput(std::shared_ptr<const Source> source, const CsvDialect& dialect,
                   std::vector<std::string> null_texts)
    : source_(std::move(source)),
      reader_(source_->name(), TextOf(*source_), dialect),
      null_texts_(std::move(null_texts)),
      decimal_comma_(dialect.decimal_comma) {
  for (const std::string& text : null_texts_) {
    if (!text.empty()) begins_null_text_[static_cast<uint8_t>(text.front())] = true;
  }
}

absl::StatusOr<CsvInput> CsvInput::Open(std::shared_ptr<const Source> source,
                                        const CsvDialect& dialect,
                                        std::vector<std::string> null_texts) {
  CsvInput input(std::move(source), dialect, std::move(null_texts));
  CFILE_RETURN_IF_ERROR(input.ReadHeader());
  return input;
}

absl::Status CsvInput::ReadHeader() {
  CFILE_ASSIGN_OR_RETURN(const bool found, reader_.Next());
  if (!found) {
    return absl::InvalidArgumentError(
        absl::StrCat(source_->name(),
                     ": the file is empty; a header with the names of its "
                     "columns is missing"));
  }
  for (size_t i = 0; i < reader_.fields().size(); ++i) {
    const CsvField& field = reader_.fields()[i];
    const uint64_t offset = reader_.FieldOffset(i);
    if (field.text.find('\0') != field.text.npos) {
      return reader_.Error(offset, absl::StrCat("the name ", Quoted(field.text),
                                                " has a zero byte: this is not a text file"));
    }
    if (IsUtf8(field.text)) continue;
    return reader_.Error(
        offset, absl::StrCat("the name ", Quoted(field.text), " is not valid UTF-8", kCharsetHint));
  }
  names_ = NameColumns(reader_.fields());
  first_record_ = reader_.record_offset();
  first_row_ = reader_.offset();
  return absl::OkStatus();
}

std::shared_ptr<CsvInput::ColumnNames> CsvInput::NameColumns(std::span<const CsvField> header) {
  auto names = std::make_shared<ColumnNames>();
  names->columns.reserve(header.size());  // so that the keys of `numbers` stay valid
  // A name in the header belongs to the first column that has it, and to no other.
  std::unordered_set<std::string_view> in_file;
  for (const CsvField& field : header) in_file.insert(field.text);
  std::unordered_map<std::string, size_t> last_number;  // by NAME: the last N of NAME_N
  for (const CsvField& field : header) {
    const size_t column = names->columns.size();
    std::string name(field.text);
    if (name.empty()) name = absl::StrCat("column_", column + 1);
    const std::string base = name;
    const auto is_taken = [&] {
      return names->numbers.contains(name) || (name != field.text && in_file.contains(name));
    };
    while (is_taken()) {
      size_t& number = last_number.try_emplace(base, 1).first->second;
      name = absl::StrCat(base, "_", ++number);
    }
    if (name != field.text) names->renamed.push_back({column, std::string(field.text), name});
    names->columns.push_back(std::move(name));
    names->numbers.emplace(names->columns.back(), column);
  }
  return names;
}

void CsvInput::TakeHeaderForRow() {
  has_header_ = false;
  first_row_ = first_record_;
  if (names_are_set_) return;
  const std::vector<CsvField> no_names(columns().size());
  std::shared_ptr<ColumnNames> names = NameColumns(no_names);
  names->renamed.clear();
  names_ = std::move(names);
}

absl::Status CsvInput::SetNames(const std::vector<std::string>& names) {
  const auto error = [&](const std::string& message) {
    return absl::InvalidArgumentError(absl::StrCat("--names: ", message));
  };
  if (names.size() != columns().size()) {
    return error(absl::StrCat(names.size(), " names for the ", columns().size(), " columns of ",
                              source_->name()));
  }
  std::vector<CsvField> fields(names.size());
  for (size_t i = 0; i < names.size(); ++i) fields[i].text = names[i];
  std::shared_ptr<ColumnNames> named = NameColumns(fields);
  for (const RenamedColumn& column : named->renamed) {
    if (column.from.empty()) return error(absl::StrCat("name ", column.column + 1, " is empty"));
    return error(absl::StrCat("two columns have the name ", Quoted(column.from)));
  }
  names_ = std::move(named);
  names_are_set_ = true;
  return absl::OkStatus();
}

absl::Status CsvInput::Choose(const std::vector<std::string>& columns) {
  std::vector<size_t> fields;
  std::vector<CsvField> names;
  for (const std::string& column : columns) {
    const std::optional<size_t> field = Find(column);
    if (!field) return NoSuchColumn("--columns", column, name(), this->columns());
    if (std::ranges::count(fields, *field) > 0)
      return absl::InvalidArgumentError(absl::StrCat("--columns ", column, ": given twice"));
    fields.push_back(*field);
    names.push_back({.text = column});
  }
  std::shared_ptr<ColumnNames> chosen = NameColumns(names);
  for (RenamedColumn column : names_->renamed) {
    if (const auto found = std::ranges::find(columns, column.to); found != columns.end())
      chosen->renamed.push_back(std::move(column));
  }
  names_ = std::move(chosen);
  names_are_set_ = true;
  reader_.Choose(std::move(fields));
  return absl::OkStatus();
}

std::optional<RecordPlace> CsvInput::NextPiece(uint64_t& next) const {
  if (next == reader_.size()) return std::nullopt;
  const RecordPlace piece{.begin = next, .end = reader_.RecordEnd(next, kPieceBytes)};
  next = piece.end;
  return piece;
}

std::optional<size_t> CsvInput::Find(std::string_view column) const {
  const auto found = names_->numbers.find(column);
  if (found == names_->numbers.end()) return std::nullopt;
  return found->second;
}

void CsvInput::Release(uint64_t begin, uint64_t end) const {
  static const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // When a page is used, the system may also load the pages around it, so pages before `begin` may
  // be in memory again, although they were released earlier.
  begin -= std::min<uint64_t>(begin, 256 << 10);
  begin -= begin % page_bytes;
  // The text is a mapped file, so the system can load it again.
  (void)madvise(const_cast<char*>(TextOf(*source_).data()) + begin, end - begin, MADV_DONTNEED);
}

void CsvInput::AddTo(TypeInference& inference, size_t column) {
  const CsvField& field = reader_.fields()[column];
  const std::optional<std::string_view> text =
      decimal_comma_ ? WithDecimalPoint(StripBlanks(field.text), scratch_) : field.text;
  // A text in quotes cannot become a null, so it need not be compared with others. The same is true
  // of what looks like a number and is none; "" stands for it.
  inference.Add(text.value_or(""), reader_.FieldOffset(column), text.has_value() && !field.quoted);
}

bool CsvInput::IsNullText(std::string_view text) const {
  return std::find(null_texts_.begin(), null_texts_.end(), text) != null_texts_.end();
}

absl::Status CsvInput::Error(size_t column, std::string_view message) const {
  return reader_.Error(reader_.FieldOffset(column),
                       absl::StrCat("column ", Quoted(columns()[column]), ": ",
                                    absl::string_view(message.data(), message.size())));
}

absl::Status CsvInput::Error(size_t column, const absl::Status& status) const {
  // The error of a value says that it is not UTF-8, but does not know the options.
  const bool is_utf8 = IsUtf8(reader_.fields()[column].text);
  return MarkedLike(status,
                    Error(column, absl::StrCat(status.message(), is_utf8 ? "" : kCharsetHint)));
}

}  // namespace cfile::tools
