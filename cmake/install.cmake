# install.cmake - what `cmake --install` lays down: header, libraries, program,
# CMake package, pkg-config file, documentation.  All of it may be moved.
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/clattn)

install(TARGETS clattn_shared clattn_localized EXPORT clattn)
install(FILES include/clattn/clattn.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/clattn)
if(CLATTN_BUILD_CLI)
  install(TARGETS clattn)
endif()

install(EXPORT clattn NAMESPACE clattn:: FILE clattn-targets.cmake
  DESTINATION ${package})
configure_package_config_file(cmake/clattn-config.cmake.in
  clattn-config.cmake INSTALL_DESTINATION ${package}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change what the header says.
write_basic_package_version_file(clattn-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clattn-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/clattn-config-version.cmake
  DESTINATION ${package})

# The file finds its prefix from its own place, unless that cannot be.
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH up /${pkgconfig} /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(kind LIB INCLUDE)
  set(pc_${kind}DIR "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}DIR})
    set(pc_${kind}DIR ${CMAKE_INSTALL_${kind}DIR})
  endif()
endforeach()
configure_file(cmake/clattn.pc.in clattn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clattn.pc DESTINATION ${pkgconfig})

file(GLOB documents docs/*.md)
install(FILES README.md CHANGELOG.md LICENSE SECURITY.md ${documents}
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
