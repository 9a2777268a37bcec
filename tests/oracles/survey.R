# The numbers that tests/test_sample.py holds the package to, from R's `survey`.
# Run from the root of the repository: Rscript tests/oracles/survey.R > tests/oracles/survey.json
# The data are made here, by a linear congruential generator that Python repeats (tests/oracles/people.py).
suppressPackageStartupMessages(library(survey))
options(digits = 15, survey.lonely.psu = "fail")

state <- 12345
draw <- function() { state <<- (state * 16807) %% 2147483647; state / 2147483647 }
n_strata <- 6; per_stratum <- 4; per_cluster <- 5
rows <- list()
for (h in 1:n_strata) for (c in 1:per_stratum) {
  shift <- draw()
  for (i in 1:per_cluster) {
    u <- draw(); v <- draw()
    answer <- if (u < 0.3 + 0.3 * shift) "never" else if (u < 0.8) "once" else "often"
    rows[[length(rows) + 1]] <- data.frame(stratum = h, cluster = c, person = i, answer = answer,
      sex = if (v < 0.5) "f" else "m", region = if (draw() < 0.4) "north" else "south",
      weight = round(10 + 20 * draw(), 3), clusters = 10 + h, people = 8 + c)
  }
}
people <- do.call(rbind, rows)
people$answer <- factor(people$answer, levels = c("never", "once", "often"))
shown <- function(x) sprintf("%.15g", as.numeric(x))
out <- list()
note <- function(name, value, error) out[[name]] <<- list(value = as.numeric(value), error = as.numeric(error))

plain <- svydesign(ids = ~1, weights = ~weight, data = people)
strata <- svydesign(ids = ~1, strata = ~stratum, weights = ~weight, data = people)
clusters <- svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = people, nest = TRUE)
corrected <- svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, fpc = ~clusters, data = people, nest = TRUE)
two <- svydesign(ids = ~cluster + person, strata = ~stratum, weights = ~weight, fpc = ~clusters + people, data = people, nest = TRUE)
for (name in c("plain", "strata", "clusters", "corrected", "two")) {
  d <- get(name)
  m <- svymean(~answer, d); note(paste0(name, " mean"), coef(m), SE(m))
  t <- svytotal(~answer, d); note(paste0(name, " total"), coef(t), SE(t))
  r <- svyratio(~I(answer == "often"), ~I(answer == "never"), d); note(paste0(name, " ratio"), coef(r), SE(r))
  f <- svymean(~answer, subset(d, sex == "f")); note(paste0(name, " domain"), coef(f), SE(f))
  out[[paste0(name, " df")]] <- list(value = degf(d))
}
jkn <- as.svrepdesign(clusters, type = "JKn"); m <- svymean(~answer, jkn); note("jkn mean", coef(m), SE(m))
jk1 <- as.svrepdesign(plain, type = "JK1"); m <- svymean(~answer, jk1); note("jk1 mean", coef(m), SE(m))
pairs <- people[people$cluster <= 2, ]
halves <- svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = pairs, nest = TRUE)
for (rho in c(0, 0.3)) {
  b <- as.svrepdesign(halves, type = if (rho == 0) "BRR" else "Fay", fay.rho = rho)
  t <- svytotal(~answer, b); note(paste0("brr total ", rho), coef(t), SE(t))
}
post <- calibrate(clusters, ~sex, c(`(Intercept)` = 2500, sexm = 1200)); m <- svymean(~answer, post); note("post mean", coef(m), SE(m))
t <- svytotal(~answer, post); note("post total", coef(t), SE(t))
rake <- calibrate(clusters, ~sex + region, c(`(Intercept)` = 2500, sexm = 1200, regionsouth = 1400), calfun = "raking", epsilon = 1e-13, maxit = 500)
m <- svymean(~answer, rake); note("rake mean", coef(m), SE(m)); t <- svytotal(~answer, rake); note("rake total", coef(t), SE(t))
one <- people[!(people$stratum == 2 & people$cluster > 1), ]
for (rule in c("certainty", "adjust", "average")) {
  options(survey.lonely.psu = rule)
  d <- svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = one, nest = TRUE)
  m <- svymean(~answer, d); note(paste0("lonely ", rule), coef(m), SE(m))
}
options(survey.lonely.psu = "fail")
g <- svyglm(I(answer == "often") ~ sex + region, design = clusters, family = quasibinomial(), control = list(epsilon = 1e-14, maxit = 100)); note("glm", coef(g), SE(g))
x <- svychisq(~answer + sex, clusters, statistic = "F"); out[["chisq"]] <- list(value = c(x$statistic, x$p.value, x$parameter))
vectors <- function(x) paste0("[", paste(shown(x), collapse = ", "), "]")
cat("{\n")
cat(paste0('  "R": "', R.version.string, ', survey ', packageVersion("survey"), '",\n'))
cat(paste(sapply(names(out), function(k) paste0('  "', k, '": {"value": ', vectors(out[[k]]$value),
  if (!is.null(out[[k]]$error)) paste0(', "error": ', vectors(out[[k]]$error)) else "", "}")), collapse = ",\n"))
cat("\n}\n")
