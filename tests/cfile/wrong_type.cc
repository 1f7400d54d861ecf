// This file must not compile: `long long` and std::string are not types of values.
// tests/CMakeLists.txt checks that the compiler reports the error, so that users do not get an
// error of the linker instead.
#include <string>

#include "cfile/compound_key.h"
#include "cfile/reader.h"
#include "cfile/writer.h"

auto Write() { return cfile::Writer<std::string>::Create("file", cfile::ColumnType::String()); }
auto Read(const cfile::Reader& reader) { return reader.NewCursor<long long>(); }
auto Get(const cfile::Reader& reader) { return reader.Get<long long>(0); }
auto Add(cfile::CompoundKey& key) { return key.Add(std::string("key")); }
