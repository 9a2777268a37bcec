# The numbers that tests/test_sdcnway_oracles.py holds the package to, from R's SDCNway 1.0.1 (github.com/cran/SDCNway).
# Run from the root of the repository: Rscript tests/oracles/sdcnway.R > tests/oracles/sdcnway.json
# The records are made here, by a generator of numbers that Python repeats (tests/oracles/weighted_records.py).
suppressPackageStartupMessages(library(SDCNway))
options(digits = 15)

state <- 4711
draw <- function() { state <<- (state * 16807) %% 2147483647; state / 2147483647 }
sizes <- c(region = 5, age = 9, sex = 2, education = 6)
n <- 600
records <- as.data.frame(matrix(0, n, 5, dimnames = list(NULL, c(names(sizes), "weight"))))
for (i in 1:n) {
  lean <- draw() # keys go together, so that independence and pairs differ
  for (key in names(sizes)) records[i, key] <- floor(sizes[[key]] * (0.4 * lean + 0.6 * draw()))
  records$weight[i] <- round((1.5 + 4 * draw()) * (1 + records$region[i]), 3)
}

out <- c()
found <- sdc_loglinear(records, "weight", names(sizes), degree = 2, numiter = 5000, epsilon = 1e-12) # row 1: degree 1
for (kind in c("pi", "pi_k")) for (degree in 1:2) {
  risk <- found$ll_tables[[paste0(kind, "_results")]][degree, c("tau1Risk", "tau2Risk")]
  out <- c(out, sprintf('  "degree %d, %s": {"tau1": %.15g, "tau2": %.15g}', degree, kind, risk[1], risk[2]))
}
cat("{\n", paste(out, collapse = ",\n"), "\n}\n", sep = "")
