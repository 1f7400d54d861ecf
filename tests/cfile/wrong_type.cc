// This file must not compile: `long long` and std::string are not types of values.
// tests/CMakeLists.txt compiles one function at a time and checks that the compiler reports an
// error that helps, so that users do not get an error of the linker instead.
#include <string>

#include "cfile/compound_key.h"
#include "cfile/reader.h"
#include "cfile/writer.h"

#ifdef CFILE_WRITE
auto Write() { return cfile::Writer<std::string>::Create("file", cfile::ColumnType::String()); }
#endif
#ifdef CFILE_READ
auto Read(const cfile::Reader& reader) { return reader.NewCursor<long long>(); }
#endif
#ifdef CFILE_GET
auto Get(const cfile::Reader& reader) { return reader.Get<long long>(0); }
#endif
#ifdef CFILE_KEY
auto Add(cfile::CompoundKey& key) { return key.Add(std::string("key")); }
#endif
