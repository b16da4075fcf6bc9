# Laws: what goes to Python and comes back is the same, to the last bit.

and_back <- function(frame) {
  pandas_frame <- smrmr:::data_to_python(frame)
  smrmr:::table_from_python(smrmr:::bridge()$table(pandas_frame))
}

test_that("numbers keep every bit", {
  odd <- c(0.1 + 0.2, -0, 5e-324, .Machine$double.xmax, pi, 1e22, NA)
  frame <- data.frame(odd = odd, whole = c(1L, -7L, 2147483647L, 0L, 5L, 6L, 7L))
  back <- and_back(frame)
  expect_identical(back$odd[-7], odd[-7])
  expect_identical(1 / back$odd[2], -Inf)
  expect_true(is.na(back$odd[7]))
  expect_identical(back$whole, frame$whole)
})

test_that("missing values are missing, whatever their type", {
  frame <- data.frame(
    i = c(1L, NA, 3L), l = c(TRUE, NA, FALSE), c = c("a", NA, "NA"),
    f = factor(c("x", NA, "y")), f2 = factor(c("z", "x", NA), levels = c("unused", "z", "x"))
  )
  back <- and_back(frame)
  expect_identical(back$i, c(1, NA, 3))
  expect_identical(back$l, c(1, NA, 0))
  expect_identical(back$c, frame$c)
  expect_identical(back$f, c("x", NA, "y"))
  expect_identical(back$f2, c("z", "x", NA))
})

test_that("tables have numbers for rows, though a text comes first", {
  frame <- data.frame(t = c("a", "b"), n = 1:2)
  expect_identical(and_back(frame), frame)
})

test_that("names may be any text", {
  names <- c("convert", "x", "a b", "\u00e9\u4e2d", "data", "self")
  frame <- setNames(as.data.frame(matrix(1:12 / 7, 2)), names)
  expect_identical(and_back(frame), frame)
  expect_identical(and_back(as.matrix(frame)), frame)
})

test_that("large matrices travel in blocks", {
  m <- matrix(rnorm(60), 6)
  colnames(m) <- letters[1:10]
  one <- and_back(m)
  most <- smrmr:::MOST_BYTES
  blocks <- smrmr:::matrix_to_python
  environment(blocks) <- list2env(list(MOST_BYTES = 8 * 6 * 3), parent = environment(blocks))
  several <- smrmr:::table_from_python(smrmr:::bridge()$table(blocks(m)))
  expect_identical(several, one)
  expect_identical(as.matrix(one), m)
})
