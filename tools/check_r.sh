#!/bin/sh
# Builds the R package of r/, runs R CMD check on it, where warnings are errors, and the R blocks
# of docs/r.md, in a folder of its own. What R needs is installed from Debian's packages where that is possible.
# RETICULATE_PYTHON names the Python that has smrmr.
set -eu

packages="r-base-core r-cran-reticulate r-cran-testthat r-cran-knitr r-cran-rmarkdown
    r-cran-survival r-cran-matrix r-bioc-summarizedexperiment pandoc"
here=$(cd "$(dirname "$0")/.." && pwd)

missing() {
    command -v R >/dev/null && command -v pandoc >/dev/null || return 0
    ! Rscript -e 'needed <- c("reticulate", "testthat", "knitr", "rmarkdown", "survival",
        "Matrix", "SummarizedExperiment")
        quit(status = !all(vapply(needed, requireNamespace, NA, quietly = TRUE)))' >/dev/null 2>&1
}

if missing; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q && apt-get install -qy --no-install-recommends $packages
    else
        echo "R or packages that it needs are missing. As root, on Debian or Ubuntu:" >&2
        echo "apt-get install" $packages >&2
        exit 1
    fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
R CMD build "$here/r"

manual=
if ! command -v pdflatex >/dev/null; then
    echo "LaTeX is missing: the manual is not printed, all else is checked."
    manual=--no-manual
fi
R CMD check $manual smrmr_*.tar.gz || { cat smrmr.Rcheck/tests/*.fail 2>/dev/null; exit 1; }
R_LIBS="$work/smrmr.Rcheck" Rscript "$here/tools/run_r_blocks.R" "$here/docs/r.md"
if grep -q '^Status:.*\(WARNING\|ERROR\)' smrmr.Rcheck/00check.log; then
    echo "R CMD check has warnings." >&2
    exit 1
fi
