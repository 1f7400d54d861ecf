// What people write: CSV, names of types, values of all types. Values that are read are printed and
// read again.
#include <cstdlib>

#include "tools/import/csv_reader.h"
#include "tools/value_text.h"

namespace {

using namespace cfile;

void Expect(bool holds) {
  if (!holds) std::abort();
}

void ReadCsv(std::string_view text, char delimiter) {
  tools::CsvReader reader("fuzz.csv", text, delimiter);
  while (true) {
    const auto more = reader.Next();
    if (!more.ok() || !*more) return;
    volatile char sink = 0;
    for (const tools::CsvField& field : reader.fields()) {
      for (const char c : field.text) sink = c;
    }
    (void)sink;
  }
}

void ReadValue(const ColumnType& type, std::string_view text) {
  encodings::VisitPhysicalType(type.physical(), [&](auto t) {
    using T = typename decltype(t)::type;
    std::string scratch, again, scratch_again, third;
    const auto value = tools::ParseText<T>(type, text, scratch);
    if (!value.ok()) return;
    tools::AppendText<T>(type, *value, again);
    const auto parsed = tools::ParseText<T>(type, again, scratch_again);
    Expect(parsed.ok());
    tools::AppendText<T>(type, *parsed, third);
    Expect(again == third);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  if (text[0] == 'c') {
    ReadCsv(text.substr(1), ',');
    return 0;
  }
  // A type, a line end, a value.
  const size_t line = text.find('\n');
  const auto type = ColumnType::Parse(std::string(text.substr(0, line)));
  if (!type.ok()) return 0;
  Expect(ColumnType::Parse(type->ToString()).ok());
  if (line != text.npos) ReadValue(*type, text.substr(line + 1));
  return 0;
}
