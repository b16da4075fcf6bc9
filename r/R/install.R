install_smrmr <- function(source = "git+https://github.com/smrmr/smrmr", python = NULL,
                          envname = "r-smrmr") {
  path <- without_library_path(make_environment(source, python, envname))
  message("smrmr is installed in the virtual environment ", envname, ". Start R again to use it.")
  invisible(path)
}

make_environment <- function(source, python, envname) {
  if (!reticulate::virtualenv_exists(envname)) {
    reticulate::virtualenv_create(envname, python = python, packages = character())
  }
  path <- reticulate::virtualenv_python(envname)
  is_new <- "import sys; sys.exit(sys.version_info < (3, 11))"
  if (system2(path, c("-c", shQuote(is_new))) != 0) {
    fail(
      "smrmr needs Python 3.11 or newer, and ", path, " is older. ",
      "Give another one: install_smrmr(python = \"/usr/bin/python3.11\") after ",
      "reticulate::virtualenv_remove(\"", envname, "\")."
    )
  }
  reticulate::virtualenv_install(envname, source, ignore_installed = FALSE)
  path
}

# R sets a path of libraries, by which a Python that someone built would load those of the system.
without_library_path <- function(expr) {
  before <- Sys.getenv("LD_LIBRARY_PATH", NA)
  if (!is.na(before)) {
    Sys.unsetenv("LD_LIBRARY_PATH")
    on.exit(Sys.setenv(LD_LIBRARY_PATH = before))
  }
  expr
}
