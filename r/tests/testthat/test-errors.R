# Oracle: the sentences that a user of R should read.

test_that("wrong data and settings are told in words of R", {
  x <- numbers()
  y <- x[, 5] + rnorm(n)
  expect_match(said(select(x, unname(y)[-1])), "X has 90 rows and y has 89")
  expect_match(said(select(x, y, fdr = 20)), "fdr = 20 is not a level between 0 and 1")
  expect_match(said(select(x, y, target = "clases")), "target = \"clases\" is not known")
  expect_match(said(select(x, y, farget = "classes")), "unused argument (farget)", fixed = TRUE)
  expect_match(said(select(x, y, 1, 2, 0.1, "classes")), "need names")
  expect_match(said(select(x, y, only = 26)), "not between 1 and 25")
  expect_match(said(select(x, as.Date("2026-01-01") + y)), "y is a Date")
  expect_match(said(select(x, y, aggregate = "mean")), "aggregate needs groups")
  x[3, 4] <- NA
  expect_match(said(select(x, y)), "missing or infinite values \\(g4: 1\\)")
  expect_s3_class(select(x, y, missing = "impute-median"), "smrmr_selection")
  y[2] <- NA
  expect_match(said(select(numbers(), y)), "y has 1 missing")
})

test_that("text among features, and names that repeat, are told by name", {
  d <- study()
  d$id <- paste0("p", seq_len(n))
  expect_match(said(select(y ~ ., d)), "neither numbers nor factors: id")
  x <- numbers()
  colnames(x)[2] <- "g1"
  expect_match(said(select(x, d$y)), "the same name: g1")
  expect_match(said(select(y ~ ., d["y"])), "x has no columns")
  expect_match(said(select(matrix(letters, 13), 1:13)), "matrix of character")
})

test_that("names of rows are compared", {
  x <- numbers()
  y <- setNames(x[, 5] + rnorm(n), rownames(x))
  expect_match(said(select(x, rev(y))), "in another order: put y into the order of x")
  names(y)[1] <- "other"
  expect_warning(select(x, y), "such as \"s1\" in x and \"other\" in y")
})

test_that("formulas that cannot be taken are refused", {
  d <- study()
  expect_match(said(select(y ~ g1:g2, d)), "Interactions")
  expect_match(said(select(y ~ .)), "needs a data frame")
  expect_match(said(select(~g1, d)), "has no target")
  expect_match(said(select(y ~ ., d, covariates = ~agee)), "there is no column agee")
})

test_that("Surv that is not right-censored is refused", {
  y <- survival::Surv(rep(0, n), rep(1:2, n / 2), rep(1, n))
  expect_match(said(select(numbers(), y)), "Only right-censored")
})

test_that("stages need an order", {
  y <- factor(rep(c("low", "high"), n / 2))
  expect_match(said(select(numbers(), y, target = "ordinal")), "factor without an order. Use factor")
})

test_that("warnings of Python are warnings of R", {
  x <- numbers()
  counts <- rep(1:3, n / 3) + 0
  expect_warning(select(x, counts), "target = \"")
})
