# Runs the R blocks of a page as a reader would, and compares what they print with the text blocks
# that follow. Words are the same, numbers agree to 2%.
#
#   Rscript tools/run_r_blocks.R docs/r.md

words_of <- function(lines) {
  words <- unlist(strsplit(lines, "[[:space:](),:]+"))
  words[words != ""]
}

same <- function(ours, theirs) {
  numbers <- suppressWarnings(cbind(as.numeric(ours), as.numeric(theirs)))
  close <- abs(numbers[, 1] - numbers[, 2]) <= 0.02 * abs(numbers[, 2])
  ifelse(is.na(close), ours == theirs, close)
}

page <- normalizePath(commandArgs(TRUE)[1])
lines <- readLines(page, encoding = "UTF-8")
setwd(tempdir())
fences <- grep("^```", lines)
starts <- fences[c(TRUE, FALSE)]
ends <- fences[c(FALSE, TRUE)]
stopifnot(length(starts) == length(ends))
n_run <- 0
for (k in which(lines[starts] == "```r")) {
  code <- lines[seq(starts[k] + 1, ends[k] - 1)]
  printed <- capture.output(source(textConnection(code), local = globalenv()))
  n_run <- n_run + 1
  if (k < length(starts) && lines[starts[k + 1]] == "```text" && starts[k + 1] == ends[k] + 1) {
    ours <- words_of(printed)
    theirs <- words_of(lines[seq(starts[k + 1] + 1, ends[k + 1] - 1)])
    if (length(ours) != length(theirs) || !all(same(ours, theirs))) {
      stop(page, ", line ", starts[k], " prints:\n", paste(printed, collapse = "\n"))
    }
  }
}
stopifnot(n_run > 0)
cat(n_run, "blocks of", basename(page), "print what the page says\n")
