// CFILE_EXPORT marks the classes, functions and function templates that libcfile.so exports.
// They are declared in public headers and defined in sources.
// All other symbols are hidden (cfile/CMakeLists.txt).
//
// An instance of a template is hidden if one of its arguments is a hidden class.
#pragma once

// A class inside an exported class is also exported. CFILE_HIDDEN prevents this.
#define CFILE_EXPORT __attribute__((visibility("default")))
#define CFILE_HIDDEN __attribute__((visibility("hidden")))
