# The one place where values of R become values of Python, and the other way round.
# Numbers travel as bytes: to the last bit, whatever versions of reticulate and NumPy meet.

MOST_BYTES <- 2^28 # of numbers that travel together

# A vector, factor, matrix, data frame or Surv as pandas has it.
data_to_python <- function(data) {
  if (is.null(data)) {
    return(NULL)
  }
  if (inherits(data, "Surv")) {
    columns <- list(time = data[, "time"], event = data[, "status"])
    return(pandas()$DataFrame(named_dict(lapply(columns, vector_to_python))))
  }
  if (is.data.frame(data)) {
    if (all(vapply(data, function(v) is.double(v) && is.null(attributes(v)), NA))) {
      return(matrix_to_python(as.matrix(data))) # thousands of columns one by one take seconds
    }
    columns <- lapply(data, vector_to_python)
    names(columns) <- names(data)
    return(pandas()$DataFrame(named_dict(columns)))
  }
  if (is.matrix(data)) {
    return(matrix_to_python(data))
  }
  pandas()$Series(vector_to_python(data), name = attr(data, "smrmr_name"))
}

# One column. Missing integers and logicals become missing numbers.
vector_to_python <- function(v) {
  if (is.factor(v)) {
    v <- droplevels(v)
    codes <- numbers_to_python(ifelse(is.na(v), -1, as.integer(v) - 1))$astype("int64")
    levels <- as.list(levels(v))
    return(pandas()$Categorical$from_codes(codes, levels, ordered = is.ordered(v)))
  }
  if (is.character(v)) {
    return(texts_to_python(v))
  }
  numbers <- numbers_to_python(as.double(v))
  if (anyNA(v)) {
    return(numbers)
  }
  switch(typeof(v), logical = numbers$astype("bool"), integer = numbers$astype("int64"), numbers)
}

texts_to_python <- function(v) {
  texts <- as.list(enc2utf8(as.character(v)))
  texts[is.na(v)] <- list(NULL)
  unname(texts)
}

numbers_to_python <- function(v) {
  numpy()$frombuffer(writeBin(as.double(v), raw(), endian = "little"), dtype = "<f8")
}

matrix_to_python <- function(m) {
  per_block <- max(1, floor(MOST_BYTES / 8 / max(nrow(m), 1)))
  starts <- seq(1, ncol(m), by = per_block)
  blocks <- lapply(starts, function(start) {
    part <- m[, start:min(start + per_block - 1, ncol(m)), drop = FALSE]
    shape <- reticulate::tuple(nrow(part), ncol(part))
    numbers_to_python(part)$reshape(shape, order = "F")
  })
  values <- if (length(blocks) == 1) blocks[[1]] else numpy()$concatenate(blocks, axis = 1L)
  if (is.logical(m) && !anyNA(m)) {
    values <- values$astype("bool")
  }
  pandas()$DataFrame(values, columns = texts_to_python(colnames(m)), copy = FALSE)
}

# A setting: one value, several, or names with values. Whole numbers are whole in Python.
setting_to_python <- function(value) {
  if (is.null(value)) {
    return(NULL)
  }
  if (is.factor(value)) {
    value <- setNames(as.character(value), names(value))
  }
  if (is.numeric(value) && all(is.finite(value) & value == round(value) & abs(value) < 2^31)) {
    storage.mode(value) <- "integer"
  }
  if (!is.null(names(value))) {
    return(named_dict(lapply(as.list(value), setting_to_python)))
  }
  if (length(value) == 1 && is.atomic(value)) {
    return(value)
  }
  lapply(as.list(unname(value)), setting_to_python)
}

# Names as keys; reticulate's dict() would take names for arguments of its own.
named_dict <- function(values) {
  pairs <- Map(function(name, value) reticulate::tuple(name, value), names(values), values)
  reticulate::import_builtins(convert = FALSE)$dict(unname(pairs))
}

# Text, numbers and lists of these.
from_python <- function(value) {
  reticulate::py_to_r(value)
}

# A table as smrmr_r.table hands it out.
table_from_python <- function(table) {
  columns <- lapply(from_python(table), function(column) {
    switch(column$kind,
      text = vapply(column$values, text_or_na, "", USE.NAMES = FALSE),
      logical = as.logical(from_bytes(column$values, "integer")),
      integer = from_bytes(column$values, "integer"),
      double = missing_as_na(from_bytes(column$values, "double"))
    )
  })
  as.data.frame(columns, stringsAsFactors = FALSE, optional = TRUE)
}

text_or_na <- function(text) if (is.null(text)) NA_character_ else text

from_bytes <- function(bytes, type) {
  readBin(bytes, type, length(bytes) / c(integer = 4, double = 8)[[type]], endian = "little")
}

missing_as_na <- function(values) {
  values[is.nan(values)] <- NA
  values
}
