# From tables of R to a selection.

select <- function(x, ...) {
  UseMethod("select")
}

select.default <- function(x, y, covariates = NULL, groups = NULL, fdr = 0.1, ...) {
  x <- as_features(x)
  beside <- list(y = y, covariates = covariates, groups = groups)
  for (name in names(beside)) {
    check_row_names(x, beside[[name]], name)
  }
  settings <- c(list(fdr = fdr), as_settings(list(...), colnames(x)))
  y <- as_target(y, settings$target)
  if (inherits(y, "Surv")) {
    settings$target <- "survival"
  }
  if (is.atomic(covariates) && is.null(dim(covariates)) && !is.null(covariates)) {
    covariates <- list(covariate = covariates)
  }
  covariates <- as_table(covariates)
  settings <- named_dict(lapply(settings, setting_to_python))
  found <- call_python(
    bridge()$select,
    X = data_to_python(x), y = data_to_python(y), covariates = data_to_python(covariates),
    groups = data_to_python(as_groups(groups)), settings = settings
  )
  as_selection(found, match.call())
}

select.formula <- function(x, data, covariates = NULL, groups = NULL, fdr = 0.1, ...) {
  if (missing(data) || !is.data.frame(data)) {
    fail("a formula needs a data frame: select(y ~ ., data = d).")
  }
  if (length(x) != 3) {
    fail("the formula has no target. Write it as y ~ . or y ~ a + b.")
  }
  data <- as.data.frame(data) # which may be another kind of one, with columns by other rules
  covariates <- columns_of(covariates, data)
  groups <- columns_of(groups, data)
  y <- eval(x[[2]], data, environment(x))
  used <- c(all.vars(x[[2]]), names(covariates), names(groups))
  features <- data[features_of(x, data, used)]
  if (is.null(dim(y))) {
    attr(y, "smrmr_name") <- deparse1(x[[2]])
  }
  found <- select.default(features, y, covariates, one_column(groups), fdr, ...)
  found$call <- match.call()
  found
}

select.SummarizedExperiment <- function(x, y, covariates = NULL, groups = NULL, fdr = 0.1,
                                        assay = 1, annotation = NULL, ...) {
  if (!requireNamespace("SummarizedExperiment", quietly = TRUE)) {
    fail("the package SummarizedExperiment is needed to read such an object.")
  }
  about <- as.data.frame(SummarizedExperiment::colData(x), optional = TRUE)
  values <- as_numbers(SummarizedExperiment::assay(x, assay))
  if (is.character(y) && length(y) < ncol(x)) {
    target <- columns_of(y, about)
    name <- if (length(target) == 1) names(target)
    y <- if (length(target) == 1) target[[1]] else target
    attr(y, "smrmr_name") <- name
  }
  found <- select.default(
    t(values), y, columns_of(covariates, about), one_column(columns_of(groups, about)), fdr, ...
  )
  if (!is.null(annotation)) {
    about_features <- as.data.frame(SummarizedExperiment::rowData(x), optional = TRUE)
    found <- annotate(found, rownames(x), columns_of(annotation, about_features)[[1]])
  }
  found$call <- match.call()
  found
}

# Features as a numeric matrix or a data frame whose columns have names that differ.
as_features <- function(x) {
  x <- if (is.data.frame(x)) as.data.frame(x) else as_numbers(x)
  if (ncol(x) == 0) {
    fail("x has no columns. Features are needed beside the target.")
  }
  if (is.null(colnames(x))) {
    colnames(x) <- paste0("V", seq_len(ncol(x)))
  }
  if (anyDuplicated(colnames(x))) {
    repeated <- unique(colnames(x)[duplicated(colnames(x))])
    fail(
      "columns of x have the same name: ", some_names(repeated),
      ". Use colnames(x) <- make.unique(colnames(x))."
    )
  }
  if (is.data.frame(x)) {
    good <- vapply(x, function(column) {
      is.null(dim(column)) && (is.factor(column) || is.logical(column) || is.numeric(column))
    }, NA)
    if (!all(good)) {
      fail(
        "columns of x are neither numbers nor factors: ", some_names(names(x)[!good]),
        ". Make labels factors, x$a <- factor(x$a), and leave out what names rows."
      )
    }
  }
  x
}

# A matrix of numbers; sparse and delayed ones are read whole.
as_numbers <- function(x) {
  values <- if (is.matrix(x)) x else as.matrix(x)
  if (!is.numeric(values) && !is.logical(values)) {
    fail("x is a matrix of ", typeof(values), ". Numbers are needed; a data frame may hold factors.")
  }
  values
}

as_target <- function(y, target = NULL) {
  if (inherits(y, "Surv") && !identical(attr(y, "type"), "right")) {
    fail(
      "y is a Surv object of type \"", attr(y, "type"), "\". Only right-censored times are ",
      "supported: Surv(time, event)."
    )
  }
  if (identical(target, "ordinal") && is.factor(y) && !is.ordered(y)) {
    fail("y is a factor without an order. Use factor(y, levels = c(...), ordered = TRUE).")
  }
  if (is.character(y) || is.factor(y) || is.numeric(y) || is.logical(y) || is.data.frame(y)) {
    return(as_table(y))
  }
  fail(
    "y is a ", class(y)[1], ". A vector of numbers, a factor, a matrix of several outputs or a ",
    "Surv object is needed."
  )
}

# Tables beside x: matrices get names of columns, lists become data frames.
as_table <- function(data) {
  if (is.list(data)) {
    data <- as.data.frame(data, optional = TRUE)
  }
  if (is.matrix(data) && !inherits(data, "Surv") && is.null(colnames(data))) {
    colnames(data) <- paste0("V", seq_len(ncol(data)))
  }
  data
}

# Labels of groups of rows.
as_groups <- function(groups) {
  if (is.null(groups)) NULL else setNames(as.character(groups), names(groups))
}

# Names that are checked against those that Python knows; positions become names of features.
as_settings <- function(settings, features) {
  given <- names(settings)
  if (length(settings) && (is.null(given) || any(given == ""))) {
    fail("settings beside x, y, covariates, groups and fdr need names, such as target = \"classes\".")
  }
  given[given == "seed"] <- "random_state"
  known <- from_python(bridge()$settings())
  if (length(unknown <- setdiff(given, known))) {
    fail("unused argument (", some_names(unknown), "). Settings are ", toString(shown(known)), ".")
  }
  names(settings) <- given
  for (name in intersect(given, c("only", "always_keep", "partners"))) {
    if (is.numeric(settings[[name]])) {
      settings[[name]] <- at_positions(features, settings[[name]], name)
    }
  }
  settings
}

shown <- function(known) {
  known[known == "random_state"] <- "seed"
  known
}

at_positions <- function(names, positions, what) {
  if (!all(positions %in% seq_along(names))) {
    fail(what, " has positions that are not between 1 and ", length(names), ".")
  }
  names[positions]
}

# Columns of a table by their names or a formula; other values are taken as they are.
columns_of <- function(which, data) {
  if (inherits(which, "formula")) {
    which <- all.vars(which)
  } else if (!is.character(which) || length(which) == nrow(data)) {
    return(which)
  }
  if (length(missing <- setdiff(which, names(data)))) {
    fail("there is no column ", some_names(missing), ". There are ", some_names(names(data)), ".")
  }
  data[which]
}

one_column <- function(groups) {
  if (is.data.frame(groups)) interaction(groups, drop = TRUE) else groups
}

# Names of the columns on the right of a formula; a dot stands for all that are not used elsewhere.
features_of <- function(formula, data, used) {
  right <- formula[[3]]
  if (identical(right, quote(.))) {
    return(setdiff(names(data), used))
  }
  left <- setdiff(names(data), used)
  named <- attr(terms(as.formula(call("~", right)), data = data[left]), "term.labels")
  named <- gsub("^`|`$", "", named)
  if (length(unknown <- setdiff(named, names(data)))) {
    fail(
      "the formula names ", some_names(unknown), ", which is no column. Interactions and ",
      "transformed columns cannot be features: put columns into the data frame first."
    )
  }
  named
}

# Rows go by position, so names of rows must not say otherwise.
check_row_names <- function(x, other, what) {
  ours <- given_row_names(x)
  theirs <- given_row_names(other)
  if (is.null(ours) || is.null(theirs) || identical(ours, theirs) || length(ours) != length(theirs)) {
    return(invisible())
  }
  first <- which(ours != theirs)[1]
  differ <- paste0(
    "rows of x and ", what, " have different names, such as \"", ours[first], "\" in x and \"",
    theirs[first], "\" in ", what, "."
  )
  if (setequal(ours, theirs)) {
    fail(differ, " They are the same names in another order: put ", what, " into the order of x.")
  }
  warning(differ, " They are matched by position.", call. = FALSE)
}

given_row_names <- function(data) {
  if (is.data.frame(data)) {
    return(if (.row_names_info(data) > 0) row.names(data))
  }
  if (is.list(data)) NULL else if (is.null(dim(data))) names(data) else rownames(data)
}

some_names <- function(names) {
  more <- length(names) - 5
  paste0(toString(head(names, 5)), if (more > 0) paste(" and", more, "more"))
}
