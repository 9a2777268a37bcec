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
# Tests of a table: Pearson's statistic, and the Wald test with R's degrees of freedom.
x <- svychisq(~answer + sex, clusters, statistic = "Chisq"); out[["pearson"]] <- list(value = x$statistic)
for (name in c("plain", "clusters", "corrected", "jkn")) {
  x <- svychisq(~answer + sex, get(name), statistic = "adjWald")
  out[[paste(name, "wald")]] <- list(value = c(x$statistic, x$p.value, x$parameter))
}
# The Rao-Scott test at the hypothesis itself: products of centred indicators in the place of the table's cells.
m <- svymean(~answer + sex, clusters)
for (i in 1:2) people[[paste0("p", i)]] <- ((people$answer == levels(people$answer)[i]) - coef(m)[i]) * ((people$sex == "f") - coef(m)[4])
again <- svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = people, nest = TRUE)
r <- svytotal(~p1 + p2, again); n <- nrow(people); size <- sum(people$weight)
simple <- function(p) diag(p) - outer(p, p)
a <- kronecker(simple(coef(m)[1:3])[1:2, 1:2], coef(m)[4] * coef(m)[5]) / n
e <- coef(r) / size; values <- eigen(solve(a, vcov(r) / size^2), only.values = TRUE)$values
x2 <- as.numeric(t(e) %*% solve(a, e)); nu <- sum(values)^2 / sum(values^2)
out[["rao-scott"]] <- list(value = c(x2, nu, pf(x2 / sum(values), nu, nu * degf(clusters), lower.tail = FALSE)))
# Domains, differences and ratios of domains, by every kind of variance.
post <- calibrate(clusters, ~sex, c(`(Intercept)` = 2500, sexm = 1200))
region_post <- calibrate(clusters, ~region, c(`(Intercept)` = 2500, regionsouth = 1400))
jkn_post <- calibrate(jkn, ~sex, c(`(Intercept)` = 2500, sexm = 1200))
halves_brr <- as.svrepdesign(halves, type = "BRR", mse = TRUE)
jkn_mse <- as.svrepdesign(clusters, type = "JKn", mse = TRUE)
for (name in c("plain", "strata", "clusters", "corrected", "two", "region_post", "jkn_mse", "halves_brr")) {
  d <- get(name)
  if (inherits(d, "svyrep.design")) {
    share <- function(w, of) sum(w * (of$answer == "never")) / sum(w)
    k <- withReplicates(d, function(w, of) share(w[of$sex == "f"], of[of$sex == "f", ]) - share(w[of$sex == "m"], of[of$sex == "m", ]))
    note(paste(name, "difference"), coef(k), SE(k))
    k <- withReplicates(d, function(w, of) share(w[of$sex == "f"], of[of$sex == "f", ]) / share(w[of$sex == "m"], of[of$sex == "m", ]))
    note(paste(name, "risk ratio"), coef(k), SE(k))
  } else {
    b <- svytotal(~I((answer == "never") * (sex == "f")) + I(1 * (sex == "f")) + I((answer == "never") * (sex == "m")) + I(1 * (sex == "m")), d)
    four <- c("fn", "f", "mn", "m")
    b <- structure(setNames(as.numeric(coef(b)), four), var = matrix(vcov(b), 4, 4, dimnames = list(four, four)), statistic = "total", class = "svystat")
    k <- svycontrast(b, quote(fn / f - mn / m)); note(paste(name, "difference"), coef(k), SE(k))
    k <- svycontrast(b, quote((fn / f) / (mn / m))); note(paste(name, "risk ratio"), coef(k), SE(k))
  }
  m <- svymean(~answer, d); k <- svycontrast(m, list(c(answernever = -1, answeroften = 1)))
  note(paste(name, "contrast"), coef(k), SE(k))
  t <- svytotal(~answer, subset(d, sex == "f")); note(paste(name, "domain total"), coef(t), SE(t))
  out[[paste(name, "degrees")]] <- list(value = degf(d))
}
jkn_post_mse <- calibrate(jkn_mse, ~sex, c(`(Intercept)` = 2500, sexm = 1200))
m <- svymean(~answer, jkn_post_mse); note("jkn post mean", coef(m), SE(m))
t <- svytotal(~answer, jkn_post_mse); note("jkn post total", coef(t), SE(t))
# Moments of two items by the delta method: correlation, mean and variance of the sum.
items <- update(clusters, x = as.numeric(answer) - 1, y = as.numeric(sex == "f"), z = as.numeric(region == "north"))
items_jkn <- as.svrepdesign(items, type = "JKn", mse = TRUE)
four <- c("x", "y", "xx", "xy")
m <- svymean(~x + y + I(x * x) + I(x * y), items)
m <- structure(setNames(as.numeric(coef(m)), four), var = matrix(vcov(m), 4, 4, dimnames = list(four, four)), statistic = "mean", class = "svystat")
k <- svycontrast(m, quote((xy - x * y) / sqrt((xx - x * x) * (y - y * y)))); note("items correlation", coef(k), SE(k))
r <- function(w, of) { w <- w / sum(w); x <- of$x; y <- of$y; sum(w * (x - sum(w * x)) * (y - sum(w * y))) / sqrt(sum(w * (x - sum(w * x))^2) * sum(w * (y - sum(w * y))^2)) }
k <- withReplicates(items_jkn, r); note("items_jkn correlation", coef(k), SE(k))
m <- svymean(~I(x + y + z), items); note("items sum", coef(m), SE(m))
m <- svymean(~factor(x + y + z), items); note("items distribution", coef(m), SE(m))
# One-sided and two-sided limits of a mean by Student's distribution.
m <- svymean(~answer, clusters); out[["limits"]] <- list(value = as.numeric(confint(m, df = degf(clusters))))
out[["one side"]] <- list(value = as.numeric(confint(m, df = degf(clusters), level = 0.9)[, 2]))
vectors <- function(x) paste0("[", paste(shown(x), collapse = ", "), "]")
cat("{\n")
cat(paste0('  "R": "', R.version.string, ', survey ', packageVersion("survey"), '",\n'))
cat(paste(sapply(names(out), function(k) paste0('  "', k, '": {"value": ', vectors(out[[k]]$value),
  if (!is.null(out[[k]]$error)) paste0(', "error": ', vectors(out[[k]]$error)) else "", "}")), collapse = ",\n"))
cat("\n}\n")
