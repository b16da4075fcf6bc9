# Oracle: Python called in a process of its own, which reads the same numbers from a file.

test_that("a matrix, a data frame and a formula give what Python gives", {
  x <- numbers()
  y <- 2 * x[, 5] + x[, 7]^2 + rnorm(n)
  d <- data.frame(x, y = y)
  oracle <- from_oracle(d, "y")
  found <- select(x, y)
  expect_true(all(c("g5", "g7") %in% as.data.frame(found)$feature))
  expect_like_python(found, oracle)
  expect_like_python(select(data.frame(x), y), oracle)
  expect_like_python(select(y ~ ., data = d), oracle)
})

test_that("factors, integers, logicals, covariates and groups of rows arrive as they are", {
  d <- study()
  oracle <- from_oracle(d, "y", c("age", "plate"), settings = list(fdr = 0.2))
  expect_like_python(select(y ~ ., d, covariates = ~ age + plate, fdr = 0.2), oracle)
  expect_like_python(select(y ~ ., d, covariates = c("age", "plate"), fdr = 0.2), oracle)
  features <- d[setdiff(names(d), c("y", "age", "plate"))]
  expect_like_python(select(features, d$y, covariates = d[c("age", "plate")], fdr = 0.2), oracle)
  oracle <- from_oracle(d, "y", "age", "plate")
  expect_like_python(select(y ~ ., d, covariates = "age", groups = ~plate), oracle)
})

test_that("classes, stages and several outputs are read as Python reads them", {
  d <- data.frame(numbers())
  d$class <- factor(ifelse(d$g5 > 0.5, "ill", ifelse(d$g7 > 0.3, "well", "between")))
  expect_like_python(select(class ~ ., d), from_oracle(d, "class"))
  d$class <- factor(d$class, c("well", "between", "ill"), ordered = TRUE)
  ordinal <- from_oracle(d, "class", settings = list(target = "ordinal"))
  expect_like_python(select(class ~ ., d, target = "ordinal"), ordinal)
  d$class <- d$g5 > 0
  expect_like_python(select(class ~ . , d), from_oracle(d, "class"))
  d$class <- d$g5 + d$g8
  d$other <- d$g5 - d$g9 + rnorm(n)
  outputs <- select(as.matrix(d[1:25]), as.matrix(d[c("class", "other")]))
  expect_like_python(outputs, from_oracle(d, c("class", "other")))
})

test_that("Surv is survival", {
  d <- data.frame(numbers())
  hazard <- exp(1.2 * d$g5)
  d$time <- rexp(n) / hazard
  d$event <- as.numeric(d$time < 2)
  oracle <- from_oracle(d, c("time", "event"), settings = list(target = "survival"))
  expect_like_python(select(survival::Surv(time, event) ~ ., d), oracle)
  expect_like_python(select(d[1:25], survival::Surv(d$time, d$event == 1)), oracle)
})

test_that("settings arrive", {
  d <- data.frame(numbers(), y = numbers()[, 5] + rnorm(n))
  asked <- list(only = I(c("g3", "g5")), alike = "none", panel_size = 3, max_memory = "500MB")
  oracle <- from_oracle(d, "y", settings = asked)
  expect_like_python(select(y ~ ., d, only = c(3, 5), alike = "none", panel_size = 3,
                            max_memory = "500MB"), oracle)
  groups <- rep(c("a", "b", "c", "d", "e"), 5)
  oracle <- from_oracle(d, "y", settings = list(feature_groups = I(groups)))
  expect_like_python(select(y ~ ., d, feature_groups = factor(groups)), oracle)
  named <- setNames(groups, names(d)[1:25])
  expect_like_python(select(y ~ ., d, feature_groups = named), oracle)
})

test_that("knockoffs take a seed", {
  x <- numbers()
  found <- select(x, x[, 5] + x[, 9], control = "knockoffs", seed = 3, fdr = 0.5)
  again <- select(x, x[, 5] + x[, 9], control = "knockoffs", seed = 3, fdr = 0.5)
  other <- select(x, x[, 5] + x[, 9], control = "knockoffs", seed = 4, fdr = 0.5)
  expect_identical(as.data.frame(found, layer = "all"), as.data.frame(again, layer = "all"))
  expect_false(identical(as.data.frame(found, layer = "all"), as.data.frame(other, layer = "all")))
  expect_output(print(found))
})

test_that("formulas name features, and a dot leaves out what is used elsewhere", {
  d <- study()
  found <- select(log(y + 100) ~ g5 + g7 + kind + age, d, groups = "plate")
  expect_setequal(as.data.frame(found, layer = "all")$feature, c("g5", "g7", "kind", "age"))
  found <- select(y ~ . - g5, d, covariates = ~age, groups = ~ plate)
  expect_setequal(
    as.data.frame(found, layer = "all")$feature, setdiff(names(d), c("y", "g5", "age", "plate"))
  )
  `odd name` <- data.frame(`a b` = d$g5, g7 = d$g7, y = d$y, check.names = FALSE)
  found <- select(y ~ `a b` + g7, `odd name`)
  expect_setequal(as.data.frame(found, layer = "all")$feature, c("a b", "g7"))
})

test_that("a SummarizedExperiment is read by its columns", {
  d <- study()
  experiment <- SummarizedExperiment::SummarizedExperiment(
    list(raw = t(exp(numbers())), log = t(numbers())),
    colData = S4Vectors::DataFrame(d[c("y", "age", "plate", "kind")])
  )
  oracle <- from_oracle(d[c(paste0("g", 1:25), "y", "age", "plate")], "y", "age", "plate")
  found <- select(experiment, "y", covariates = "age", groups = "plate", assay = "log")
  expect_like_python(found, oracle)
  found <- select(experiment, experiment$y, covariates = ~age, groups = experiment$plate, assay = 2)
  expect_like_python(found, oracle)
  SummarizedExperiment::rowData(experiment)$symbol <- c(NA, paste0("SYM", 2:25))
  annotated <- select(experiment, "y", annotation = "symbol", fdr = 0.9)
  table <- as.data.frame(annotated, layer = "all")
  expect_identical(table$annotation[match(c("g1", "g7"), table$feature)], c("", "SYM7"))
  expect_output(print(annotated), "SYM5")
  expect_match(explain(annotated, "SYM7"), "^g7")
  expect_match(said(select(experiment, "wrong")), "there is no column wrong. There are y, age, plate")
})

test_that("a sparse matrix is one of numbers", {
  x <- round(pmax(numbers(), 0), 1)
  y <- x[, 5] + 0.1 * rnorm(n)
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_identical(as.data.frame(select(sparse, y)), as.data.frame(select(x, y)))
})

test_that("other kinds of data frames and names of rows that repeat are taken", {
  d <- data.frame(numbers(), y = numbers()[, 5] + rnorm(n))
  odd <- structure(d, class = c("other_frame", "data.frame"))
  registerS3method("[", "other_frame", function(x, ...) stop("by other rules"))
  expect_identical(as.data.frame(select(y ~ ., odd)), as.data.frame(select(y ~ ., d)))
  age <- setNames(rnorm(n), rep(c("a", "b"), n / 2))
  expect_warning(found <- select(y ~ ., data.frame(d, row.names = paste0("r", 1:n)), age), "other|names")
  expect_match(found$statement, "adjusted for covariate")
})
