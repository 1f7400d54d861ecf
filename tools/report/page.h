// Writes the page of `cfile-dump report` from its data.
#pragma once

#include <string>
#include <string_view>

#include "tools/dump/dump.h"

namespace cfile::tools {

// Returns a complete HTML page in UTF-8. The page loads nothing. Its content security policy allows
// only the script and the style that the build has embedded.
// `title`: any bytes. `data`: the JSON object that page.js shows. report.cc builds the object;
// file_description.h says which members describe a file. All strings in `data` are UTF-8. The page
// shows all strings as text, whatever they contain.
std::string MakePage(std::string_view title, const Json& data);

}  // namespace cfile::tools
