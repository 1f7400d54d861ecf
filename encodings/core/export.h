// CFILE_EXPORT marks what libcfile.so exports: classes, functions and function templates of public
// headers that are defined in sources. All other symbols are hidden (cfile/CMakeLists.txt).
//
// An instance of a template is hidden if one of its arguments is a hidden class.
#pragma once

// A nested class of an exported class is exported, too; CFILE_HIDDEN prevents this.
#define CFILE_EXPORT __attribute__((visibility("default")))
#define CFILE_HIDDEN __attribute__((visibility("hidden")))
