# The numbers that tests/test_randomized_response_oracles.py holds the package to, from R's RRreg, rr and GLMMRR.
# Run from the root of the repository: Rscript tests/oracles/randomized_response.R > tests/oracles/randomized_response.json
# The three packages are installed from their public repositories (github.com/danheck/RRreg, github.com/cran/rr,
# github.com/cran/GLMMRR). The data are made here, by a generator of numbers that Python repeats (tests/oracles/asked.py).
suppressPackageStartupMessages({library(RRreg); library(rr); library(GLMMRR)})
options(digits = 15)
set.seed(1) # RRreg and rr begin at random values

state <- 2027
draw <- function() { state <<- (state * 16807) %% 2147483647; state / 2147483647 }
n <- 2400
asked <- data.frame(age = numeric(n), female = numeric(n), truth = numeric(n), group = rep(1:2, n / 2))
for (i in 1:n) {
  asked$age[i] <- round(8 * draw() - 4, 4)
  asked$female[i] <- as.numeric(draw() < 0.5)
  asked$truth[i] <- as.numeric(draw() < plogis(-0.5 + 0.6 * asked$age[i] - 0.4 * asked$female[i]))
}
# A column of reports, 0 or 1: the chance of 1 is `yes` for those who have the trait and `no` for the others.
reported <- function(yes, no) {
  u <- numeric(n)
  for (i in 1:n) u[i] <- draw()
  as.numeric(u < ifelse(asked$truth == 1, yes, no))
}
asked$direct <- asked$truth
asked$warner <- reported(0.8, 0.2)
asked$forced <- reported(11 / 12, 1 / 6)
asked$unrelated <- reported(0.79, 0.09)
asked$crosswise <- reported(0.25, 0.75)
asked$kuk <- reported(0.8, 0.3)
asked$mangat <- reported(1, 0.3)
asked$triangular <- reported(1, 0.25)
asked$cards <- 0
for (i in 1:3) asked$cards <- asked$cards + reported(0.8, 0.3)
# Two groups of people with two chances each; a fifth of those without the trait, or a third of those with it, evade.
first <- asked$group == 1
asked$cheated <- reported(0, 0) # keeps the generator in step
u <- numeric(n); for (i in 1:n) u[i] <- draw()
evades <- numeric(n); for (i in 1:n) evades[i] <- as.numeric(draw() < 0.25)
asked$cheated <- as.numeric(ifelse(asked$truth == 1, 1, ifelse(evades == 1, 0, u < ifelse(first, 0.2, 0.75))))
asked$denied <- as.numeric(ifelse(asked$truth == 1 & evades == 1, 0, ifelse(asked$truth == 1, 1, u < ifelse(first, 0.8, 0.25))))
asked$unknown <- as.numeric(ifelse(u < ifelse(first, 0.7, 0.3), asked$truth == 1, evades == 1))
# An open answer that depends on the trait, for the trait as a predictor.
u <- numeric(n); for (i in 1:n) u[i] <- draw()
asked$vote <- as.numeric(u < plogis(-0.3 + 0.3 * asked$age + 0.9 * asked$truth))
# Half are asked directly and half by Warner's spinner.
asked$arms <- ifelse(asked$group == 1, asked$truth, asked$warner)

out <- list()
note <- function(name, value, error) out[[name]] <<- list(value = as.numeric(value), error = as.numeric(error))
formula <- function(y) as.formula(paste(y, "~ age + female"))

# Logits: RRreg by optim and its Hessian; rr by the scores, or by a Hessian; GLMMRR by glm and the expected information.
rrreg_models <- list(
  warner = list("Warner", 0.8), forced = list("FR", c(1 / 12, 1 / 6)), unrelated = list("UQTknown", c(0.7, 0.3)),
  crosswise = list("Crosswise", 0.25), kuk = list("Kuk", c(0.8, 0.3)), mangat = list("Mangat", 0.7),
  triangular = list("Triangular", 0.25))
for (y in names(rrreg_models)) {
  m <- rrreg_models[[y]]
  fit <- RRlog(formula(y), data = asked, model = m[[1]], p = m[[2]], LR.test = FALSE, fit.n = 1)
  note(paste("RRreg logit", y), coef(fit), sqrt(diag(vcov(fit))))
  out[[paste("RRreg logit", y, "likelihood")]] <- list(value = as.numeric(logLik(fit)))
}
fit <- RRlog(formula("warner"), data = asked, model = "Warner", p = 0.8, fit.n = 1)
out[["RRreg likelihood ratios"]] <- list(value = as.numeric(-2 * fit$deltaLogLik))
fit <- RRlog(arms ~ age + female + I(group == 2), data = asked, model = "Warner", p = 0.8, group = asked$group - 1, LR.test = FALSE, fit.n = 1)
note("RRreg two arms", coef(fit), sqrt(diag(vcov(fit))))
rr_designs <- list(
  warner = list(design = "mirrored", p = 0.8), forced = list(design = "forced-known", p = 0.75, p0 = 1 / 12, p1 = 1 / 6),
  unrelated = list(design = "unrelated-known", p = 0.7, q = 0.3), different = list(design = "disguised", p = 0.75))
asked$different <- 1 - asked$crosswise # rr takes no p below a half
for (y in names(rr_designs)) for (hessian in c(FALSE, TRUE)) {
  fit <- suppressWarnings(do.call(rrreg, c(list(formula(y), data = asked, start = c(0, 0, 0), optim = hessian, em.converge = 1e-10), rr_designs[[y]])))
  note(paste("rr logit", y, if (hessian) "Hessian" else "scores"), fit$est, fit$se)
}
glmmrr_models <- list(
  warner = list("Warner", 0.8, NA), forced = list("Forced", 0.75, 2 / 3), unrelated = list("UQM", 0.7, 0.3),
  crosswise = list("Crosswise", 0.25, NA), kuk = list("Kuk", 0.8, 0.3), triangular = list("Triangular", 0.25, NA))
for (link in c("logit", "probit", "cloglog")) for (y in names(glmmrr_models)) {
  m <- glmmrr_models[[y]]
  asked$model <- m[[1]]; asked$p1 <- m[[2]]; asked$p2 <- m[[3]]
  fit <- suppressWarnings(RRglm(formula(y), link = paste0("RRlink.", link), RRmodel = model, p1 = p1, p2 = p2, data = asked, na.action = "na.pass", epsilon = 1e-14, maxit = 200))
  note(paste("GLMMRR", link, y), coef(fit), sqrt(diag(vcov(fit))))
}

# Shares and their standard errors.
for (y in names(rrreg_models)) {
  m <- rrreg_models[[y]]
  fit <- RRuni(response = asked[[y]], model = m[[1]], p = m[[2]], MLest = FALSE)
  one <- if (m[[1]] == "FR") 2 else 1
  note(paste("RRreg share", y), fit$pi[one], fit$piSE[one])
}
fit <- RRuni(response = asked$cards, model = "Kuk", p = c(0.8, 0.3), Kukrep = 3, MLest = FALSE)
note("RRreg share cards", fit$pi, fit$piSE)
fit <- RRuni(response = asked$cheated, model = "CDM", p = c(0.2, 0.75), group = asked$group, MLest = FALSE)
note("RRreg cheating detection", c(fit$pi, fit$beta, fit$gamma), c(fit$piSE, fit$betaSE, fit$gammaSE))
fit <- RRuni(response = asked$denied, model = "SLD", p = c(0.2, 0.75), group = asked$group, MLest = FALSE)
note("RRreg lie detector", c(fit$pi, fit$t), c(fit$piSE, fit$tSE))
fit <- RRuni(response = asked$unknown, model = "UQTunknown", p = c(0.7, 0.3), group = asked$group, MLest = FALSE)
note("RRreg unknown share", c(fit$pi, fit$piUQ), c(fit$piSE, fit$piUQSE))

# The trait as a predictor of an open answer.
fit <- suppressWarnings(rrreg.predictor(vote ~ age + forced, data = asked, rr.item = "forced", design = "forced-known", p = 0.75, p0 = 1 / 12, p1 = 1 / 6,
  fit.sens = "glm", fit.outcome = "glm", bstart = c(-0.5, 0.5), tstart = c(0, 0.5, 0.5), optim = TRUE, em.converge = 1e-8))
note("rr predictor", c(fit$est.t, fit$est.b), c(fit$se.t, fit$se.b))

versions <- sapply(c("RRreg", "rr", "GLMMRR"), function(p) paste(p, packageVersion(p)))
vectors <- function(x) paste0("[", paste(sprintf("%.15g", as.numeric(x)), collapse = ", "), "]")
cat("{\n")
cat(paste0('  "R": "', paste(c(R.version.string, versions), collapse = ", "), '",\n'))
sums <- colSums(asked[, c("age", "female", "truth", names(rrreg_models), "cards", "cheated", "denied", "unknown", "vote", "arms")])
cat(paste0('  "sums": {', paste(sprintf('"%s": %.4f', names(sums), sums), collapse = ", "), "},\n"))
cat(paste(sapply(names(out), function(k) paste0('  "', k, '": {"value": ', vectors(out[[k]]$value),
  if (!is.null(out[[k]]$error)) paste0(', "error": ', vectors(out[[k]]$error)) else "", "}")), collapse = ",\n"))
cat("\n}\n")
