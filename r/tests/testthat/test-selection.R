found <- select(response ~ ., data = load_example())
true <- attr(load_example(), "true")

test_that("the example finds what acts on its outcome", {
  expect_setequal(as.data.frame(found)$feature, true)
  expect_output(print(found), "9 of 150 features are associated")
  expect_output(print(found, n = 2), "and 3 more")
  expect_output(print(summary(found)), "signals that add to all others: 5")
})

test_that("an empty answer shows what came close", {
  set.seed(4)
  empty <- select(numbers(), rnorm(n))
  expect_identical(nrow(as.data.frame(empty)), 0L)
  expect_output(print(empty), "The closest, which are no findings:\n *feature")
})

test_that("layers are tables", {
  expect_identical(row.names(as.data.frame(found)), as.character(1:5))
  expect_identical(nrow(as.data.frame(found, layer = "all")), 150L)
  expect_identical(nrow(as.data.frame(found, layer = "associated")), 9L)
  expect_identical(nrow(as.data.frame(found, layer = "pairs")), 0L)
  expect_match(said(as.data.frame(found, layer = "al")), "layer = \"al\" is not known")
})

test_that("features are explained by name and by position", {
  expect_match(explain(found, "gene011"), "^gene011 is not selected")
  expect_identical(explain(found, 11), explain(found, "gene011"))
  expect_length(explain(found, true), 5)
  expect_match(said(explain(found, "Gene011")), "Did you mean 'gene011'")
  expect_match(said(explain(found, 0)), "not between 1 and 150")
})

test_that("another level needs no new fit", {
  again <- select(response ~ ., data = load_example(), fdr = 0.001)
  for (layer in c("signals", "associated", "own")) {
    expect_identical(
      as.data.frame(update(found, fdr = 0.001), layer = layer), as.data.frame(again, layer = layer)
    )
  }
  expect_match(said(update(found, fdr = 2)), "fdr = 2 is not a level")
})

test_that("what was saved is read in another session", {
  path <- tempfile(fileext = ".rds")
  saveRDS(found, path)
  code <- paste0(
    "library(smrmr); f <- readRDS('", path, "'); cat(as.data.frame(f)$feature); ",
    "cat(' ', explain(f, 11))"
  )
  rscript <- file.path(R.home("bin"), "Rscript")
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  printed <- system2(rscript, c("-e", shQuote(code)), stdout = TRUE, env = libraries)
  expect_match(printed, paste(as.data.frame(found)$feature, collapse = " "), fixed = TRUE)
  expect_match(printed, explain(found, 11), fixed = TRUE)
})

test_that("effects are drawn, and a report is written", {
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  expect_identical(plot(found), found)
  grDevices::dev.off()
  expect_gt(file.size(path), 3000)
  expect_match(said(plot(found, layer = "pairs")), "nothing to plot")
  path <- tempfile(fileext = ".html")
  expect_identical(report(found, path), path)
  expect_match(paste(readLines(path, warn = FALSE), collapse = " "), "gene041")
  expect_match(said(report(found, "/no/such/folder/r.html")), "/no/such/folder")
})
