# Tables to select from, and the answer of Python to compare with.

n <- 90

numbers <- function() {
  set.seed(1)
  x <- matrix(rnorm(n * 25), n, dimnames = list(paste0("s", seq_len(n)), paste0("g", 1:25)))
  x[, 2] <- x[, 1] + 0.1 * x[, 2]
  x
}

# A data frame with every kind of column that a study has.
study <- function() {
  x <- numbers()
  d <- data.frame(x)
  d$kind <- factor(rep(c("u", "v", "w"), length.out = n))
  d$stage <- factor(rep(c("late", "early"), length.out = n), c("early", "late"), ordered = TRUE)
  d$counts <- rep(c(3L, 1L, 4L, 1L, 5L, 9L), length.out = n)
  d$marked <- rep(c(TRUE, FALSE, FALSE), length.out = n)
  d$age <- 50 + 10 * x[, 3] + rnorm(n)
  d$plate <- factor(rep(c("one", "two"), each = n / 2))
  d$y <- 2 * x[, 5] + x[, 7]^2 + 0.05 * d$age + rnorm(n)
  d
}

# What Python makes of the same numbers, read from a file.
from_oracle <- function(d, target, covariates = character(), groups = character(), settings = list()) {
  paths <- tempfile(c("table", "question", "answer"))
  on.exit(unlink(paths))
  exact <- d
  exact[] <- lapply(d, function(v) {
    if (is.double(v)) sprintf("%.17g", v) else if (is.logical(v)) ifelse(v, "True", "False") else v
  })
  write.csv(exact, paths[1], row.names = FALSE, quote = FALSE)
  factors <- lapply(Filter(is.factor, d), levels)
  asked <- list(
    target = I(target), covariates = I(covariates), groups = I(groups), factors = factors,
    ordered = I(names(Filter(is.ordered, d))), settings = settings
  )
  writeLines(as_json(asked), paths[2])
  said <- system2(
    reticulate::py_exe(), shQuote(c(testthat::test_path("oracle.py"), paths)),
    stdout = TRUE, stderr = TRUE
  )
  if (!file.exists(paths[3])) stop(paste(said, collapse = "\n"))
  read.csv(paths[3], na.strings = "", check.names = FALSE)
}

# Enough of JSON for questions: lists with names, vectors marked by I(), and single values.
as_json <- function(v) {
  if (is.list(v)) {
    inside <- paste0("\"", names(v), "\": ", vapply(v, as_json, ""), recycle0 = TRUE)
    return(paste0("{", paste(inside, collapse = ", "), "}"))
  }
  text <- if (is.character(v)) paste0("\"", v, "\"", recycle0 = TRUE) else tolower(as.character(v))
  if (inherits(v, "AsIs") || length(v) > 1) paste0("[", paste(text, collapse = ", "), "]") else text
}

# Features in the same order, every number equal to 1e-12 of itself, every text the same.
expect_like_python <- function(found, oracle) {
  ours <- as.data.frame(found, layer = "all")
  expect_identical(names(ours), names(oracle))
  for (name in names(ours)) {
    if (is.numeric(ours[[name]])) {
      theirs <- as.numeric(oracle[[name]])
      expect_identical(is.na(ours[[name]]), is.na(theirs), label = name)
      differ <- abs(ours[[name]] - theirs) > 1e-12 * abs(theirs)
      expect_false(any(differ, na.rm = TRUE), label = name)
    } else {
      texts <- as.character(oracle[[name]])
      if (is.logical(ours[[name]])) texts <- as.logical(texts)
      ours[[name]][ours[[name]] == ""] <- NA
      expect_identical(ours[[name]], texts, label = name)
    }
  }
}

# The message of the error that an expression ends in.
said <- function(expr) {
  message <- tryCatch({
    expr
    "no error"
  }, smrmr_error = conditionMessage)
  expect_no_match(message, "Traceback|py_call|File \"")
  message
}
