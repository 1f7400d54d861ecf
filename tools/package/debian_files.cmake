# cpack runs this script before it packs. The script adds the copyright and the changelogs, and compresses the man pages.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, if it is set
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  file(MAKE_DIRECTORY ${folder}/doc/${package})
  file(COPY_FILE ${CPACK_CFILE_SOURCE_DIR}/tools/package/debian_copyright ${folder}/doc/${package}/copyright)
  file(COPY_FILE ${CPACK_CFILE_SOURCE_DIR}/CHANGELOG.md ${folder}/doc/${package}/changelog)
  file(WRITE ${folder}/doc/${package}/changelog.Debian
    "cfile (${CPACK_CFILE_VERSION}) unstable; urgency=medium\n\n  * This version of cfile; the file changelog says what is new.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  if(EXISTS ${folder}/zsh/site-functions) # Debian's zsh reads this folder only in /usr/local
    file(RENAME ${folder}/zsh/site-functions ${folder}/zsh/vendor-completions)
  endif()
  file(CHMOD ${folder}/doc/${package}/copyright PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB files ${folder}/doc/${package}/changelog* ${folder}/man/man1/*.1)
  file(CHMOD ${files} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  execute_process(COMMAND gzip -9nf ${files} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
