# Python is started when it is first needed.

.python <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  chosen <- Sys.getenv("RETICULATE_PYTHON") != ""
  made <- formals(install_smrmr)$envname
  if (!chosen && reticulate::virtualenv_exists(made)) {
    reticulate::use_virtualenv(made, required = FALSE)
  }
}

numpy <- function() reticulate::import("numpy", convert = FALSE)
pandas <- function() reticulate::import("pandas", convert = FALSE)

# The Python half of this package, inst/python/smrmr_r.py.
bridge <- function() {
  if (is.null(.python$bridge)) {
    .python$bridge <- start_python()
  }
  .python$bridge
}

start_python <- function() {
  cure <- "Call smrmr::install_smrmr() and start R again."
  if (!reticulate::py_available(initialize = TRUE)) {
    fail("no Python was found. ", cure)
  }
  if (!reticulate::py_module_available("smrmr")) {
    path <- reticulate::py_config()$python
    fail("the Python package smrmr is not installed for ", path, ". ", cure)
  }
  folder <- system.file("python", package = "smrmr", mustWork = TRUE)
  reticulate::import_from_path("smrmr_r", folder, convert = FALSE)
}

# Calls a function of Python; what it warns of and its error become conditions of R.
call_python <- function(fun, ...) {
  answer <- bridge()$attempt(fun, named_dict(list(...)))
  for (text in from_python(answer$warnings)) {
    warning(text, call. = FALSE)
  }
  error <- from_python(answer$error)
  if (!is.null(error)) {
    fail(error)
  }
  answer$value
}

fail <- function(...) {
  stop(errorCondition(paste0(...), class = "smrmr_error"))
}
