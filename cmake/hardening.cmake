# hardening.cmake - what the compiler and linker can do against a fault that is
# exploited: stack and calls guarded, copies checked, nothing both writable and
# executable, addresses drawn at random.  Flags that they do not know are left
# out.  tests/hygiene looks at the result.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

# harden_by(<flag>...): compile with each that is known.
macro(harden_by)
  foreach(flag ${ARGN})
    string(MAKE_C_IDENTIFIER "CLATTN_KNOWS${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
      add_compile_options(${flag})
    endif()
  endforeach()
endmacro()

# harden_links_by(<flag>...): link with each that is known.
macro(harden_links_by)
  foreach(flag ${ARGN})
    string(MAKE_C_IDENTIFIER "CLATTN_LINKS${flag}" known)
    check_linker_flag(C ${flag} ${known})
    if(${known})
      add_link_options(${flag})
    endif()
  endforeach()
endmacro()

if(CLATTN_HARDEN)
  check_pie_supported(LANGUAGES C)
  harden_by(-fstack-protector-strong -fstack-clash-protection -fcf-protection
    -Wformat-security)
  harden_links_by(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
    -Wl,-z,separate-code)
  # It needs optimisation, and hides copies from the sanitizers.  Distributions
  # may have set a lower level.
  if(NOT CLATTN_SANITIZE AND NOT CLATTN_FUZZ)
    add_compile_options(
      "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>"
      "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=3>")
  endif()
endif()
