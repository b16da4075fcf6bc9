library(testthat)
library(smrmr)

test_check("smrmr")
