# The answer. What Python found is kept as JSON, so that saveRDS() keeps all of it.

as_selection <- function(found, call) {
  structure(
    list(
      json = from_python(call_python(found$to_json)),
      statement = from_python(call_python(bridge()$statement, found = found)),
      call = call,
      cache = new.env(parent = emptyenv())
    ),
    class = "smrmr_selection"
  ) |> remember(found)
}

# The same, whose tables say more of features than their names.
annotate <- function(object, names, texts) {
  known <- !is.na(texts)
  about <- setting_to_python(setNames(as.character(texts[known]), names[known]))
  as_selection(call_python(in_python(object)$with_annotations, about = about), object$call)
}

remember <- function(object, found) {
  object$cache$found <- found
  object
}

# The selection in Python; read again in a session that did not make it.
in_python <- function(object) {
  found <- object$cache$found
  if (is.null(found) || reticulate::py_is_null_xptr(found)) {
    found <- call_python(bridge()$from_json, text = object$json)
    object$cache$found <- found
  }
  found
}

print.smrmr_selection <- function(x, n = 10, digits = 3, ...) {
  writeLines(strwrap(x$statement, 80))
  findings <- as.data.frame(x)
  if (!nrow(findings)) {
    findings <- table_from_python(bridge()$table(call_python(in_python(x)$near_misses)))
    cat("\nThe closest, which are no findings:")
  }
  columns <- c("feature", "annotation", "p_value_alone", "p_value", "W", "q_value", "direction",
               "higher_in", "lower_in", "partner", "shape", "size")
  empty <- vapply(findings, function(column) all(is.na(column) | column == ""), NA)
  shown <- findings[intersect(columns, names(findings)[!empty])]
  cat("\n")
  print(head(shown, n), digits = digits, row.names = FALSE)
  if (nrow(shown) > n) {
    cat("... and", nrow(shown) - n, "more: as.data.frame() has all.\n")
  }
  invisible(x)
}

summary.smrmr_selection <- function(object, ...) {
  found <- from_python(call_python(bridge()$summary, found = in_python(object)))
  structure(c(found, list(call = object$call)), class = "summary.smrmr_selection")
}

print.summary.smrmr_selection <- function(x, ...) {
  what <- c(
    associated = "associated, each alone", signals = "signals that add to all others",
    own = "single features that do", pairs = "act together with another",
    panel = "panel to predict with"
  )
  x$call[[1]] <- quote(select)
  cat("Call:", deparse1(x$call), "\n")
  cat(x$size$n_rows, "rows,", x$size$n_features, "features, target:", x$size$target, "\n\n")
  for (layer in names(x$layers)) {
    names <- unlist(x$layers[[layer]])
    line <- paste0(what[[layer]], ": ", length(names))
    if (length(names)) {
      line <- paste0(line, " (", some_names(names), ")")
    }
    writeLines(strwrap(line, 80, exdent = 2))
  }
  counts <- paste(unlist(x$by_level), "at", names(x$by_level))
  cat("signals by level:", toString(counts), "\n")
  invisible(x)
}

as.data.frame.smrmr_selection <- function(x, row.names = NULL, optional = FALSE,
                                          layer = "signals", ...) {
  found <- in_python(x)
  frame <- if (identical(layer, "all")) {
    call_python(found$to_frame)
  } else {
    call_python(found$findings, layer = layer)
  }
  frame <- table_from_python(bridge()$table(frame))
  if (!is.null(row.names)) {
    row.names(frame) <- row.names
  }
  frame
}

# Effects of features alone, with their intervals.
plot.smrmr_selection <- function(x, layer = "associated", n = 20, xlab = "effect alone", ...) {
  shown <- head(as.data.frame(x, layer = layer), n)
  if (!nrow(shown) || is.null(shown$effect_alone)) {
    fail("there is nothing to plot: layer \"", layer, "\" has no features with effects.")
  }
  shown <- shown[rev(seq_len(nrow(shown))), ]
  places <- seq_len(nrow(shown))
  before <- par(mar = c(4, 1 + max(nchar(shown$feature)) * 0.55, 1, 1))
  on.exit(par(before))
  ends <- range(0, shown$effect_alone, shown$effect_alone_low, shown$effect_alone_high, na.rm = TRUE)
  plot(shown$effect_alone, places, xlim = ends, yaxt = "n", xlab = xlab, ylab = "", type = "n", ...)
  abline(v = 0, col = "grey")
  segments(shown$effect_alone_low, places, shown$effect_alone_high, places)
  points(shown$effect_alone, places, pch = 19)
  axis(2, places, shown$feature, las = 1)
  invisible(x)
}

# The same tests at another level, without a new fit.
update.smrmr_selection <- function(object, fdr, ...) {
  found <- call_python(in_python(object)$at, fdr = setting_to_python(fdr))
  as_selection(found, object$call)
}

explain <- function(object, ...) {
  UseMethod("explain")
}

explain.smrmr_selection <- function(object, feature, ...) {
  found <- in_python(object)
  if (is.numeric(feature)) {
    feature <- at_positions(from_python(call_python(bridge()$names, found = found)), feature, "feature")
  }
  said <- vapply(feature, function(name) {
    from_python(call_python(found$explain, feature = name))
  }, "")
  structure(unname(said), class = "smrmr_text")
}

print.smrmr_text <- function(x, ...) {
  writeLines(strwrap(unclass(x), 80))
  invisible(x)
}

report <- function(object, ...) {
  UseMethod("report")
}

report.smrmr_selection <- function(object, path = "smrmr-report.html", open = interactive(), ...) {
  path <- normalizePath(path, mustWork = FALSE)
  call_python(in_python(object)$report, path = path)
  if (open) {
    browseURL(path)
  }
  invisible(path)
}

load_example <- function(study = "response") {
  found <- call_python(bridge()$example, study = study)
  frame <- table_from_python(reticulate::py_get_item(found, "table"))
  attr(frame, "true") <- from_python(reticulate::py_get_item(found, "true"))
  frame
}
