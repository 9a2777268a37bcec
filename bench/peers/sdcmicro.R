# What goes wrong in sdcMicro, shown by running it: prints the figures that docs/peer_bugs.md quotes, as JSON.
# bench/peer_bugs.py runs it where R has sdcMicro, and else quotes sdcmicro.json, which is what it printed last.
# sdcMicro is at github.com/sdcTools/sdcMicro.
if (!requireNamespace("sdcMicro", quietly = TRUE)) quit(status = 3)
suppressPackageStartupMessages(library(sdcMicro))
facts <- list(date = as.character(Sys.Date()), R = as.character(getRversion()), version = as.character(packageVersion("sdcMicro")))

# A population of 200,000 in 2,000 cells, and 1 % of it: how many uniques of the sample are unique in the population,
# and how many matches with a unique of the sample are right, against what modRisk expects.
set.seed(1)
people <- data.frame(a = factor(sample(20, 2e5, TRUE, (20:1)^2)), b = factor(sample(10, 2e5, TRUE, (10:1)^2)), c = factor(sample(10, 2e5, TRUE, (10:1)^2)))
cell <- interaction(people)
size <- table(cell)
drawn <- sample(nrow(people), 2000)
seen <- table(cell[drawn])
alone <- names(seen)[seen == 1]
facts$alone <- length(alone)
facts$population_unique <- sum(size[alone] == 1)
facts$right <- sum(1 / size[alone])
sampled <- people[drawn, ]; sampled$w <- 100
for (v in c("a", "b", "c")) sampled[[v]] <- factor(sampled[[v]], levels = levels(people[[v]]))
found <- modRisk(sampled, method = "default", weights = "w", formulaM = ~ a + b + c)
cells <- sum(seen > 0) # modRisk divides by the cells that occur
facts$tau1 <- found$gr1 * cells
facts$tau2 <- found$gr2 * cells

# Two strata with other shares: how many transition matrices are kept, and whose.
set.seed(2)
x <- factor(c(rep(c("a", "b"), c(900, 100)), rep(c("a", "b"), c(100, 900))))
frame <- data.frame(x = x, stratum = rep(1:2, each = 1000))
masked <- pram(frame, variables = "x", strata_variables = "stratum")
kept <- attr(masked, "pram_params")$x$Rs
facts$matrices <- if (is.matrix(kept)) 1 else length(kept)
shares <- c(0.1, 0.9)
facts$moved_second <- max(abs(shares %*% kept - shares))
facts$moved_first <- max(abs(rev(shares) %*% kept - rev(shares)))

# pd = 0.8 with a rare category: the smallest chance of staying.
set.seed(3)
y <- factor(rep(c("often", "rare"), c(990, 10)))
facts$diagonal <- min(sapply(1:200, function(i) min(diag(attr(pram(y, pd = 0.8, alpha = 1), "pram_params")[[1]]$Rs))))
facts$diagonal_half <- min(sapply(1:200, function(i) min(diag(attr(pram(y, pd = 0.8, alpha = 0.5), "pram_params")[[1]]$Rs))))

# A matrix whose lines sum to one and whose columns do not; and one with impossible transitions.
line <- matrix(c(0.7, 0.3, 0.4, 0.6), 2, byrow = TRUE, dimnames = list(c("a", "b"), c("a", "b")))
set.seed(4)
z <- factor(rep(c("a", "b"), c(20000, 20000)))
masked <- pram(z, pd = line)
moved <- table(masked$x, masked$x_pram)
facts$lines <- moved["a", "b"] / 20000 # 0.3 by lines, 0.4 by columns
five <- matrix(0, 5, 5, dimnames = list(1:5, 1:5))
five[cbind(1:5, 1:5)] <- c(0.9, 0.8, 0.8, 0.8, 0.9)
five[cbind(1:4, 2:5)] <- 0.1; five[cbind(2:5, 1:4)] <- 0.1
base <- data.frame(id = 1:20000, v = factor(rep(1:5, 4000)))
masked <- pram(base, variables = "v", pd = five)
facts$impossible <- sum(abs(as.integer(masked$v) - as.integer(masked$v_pram)) > 1)
shown <- sapply(facts, function(x) if (is.character(x)) paste0('"', x, '"') else format(x, digits = 8))
cat("{\n", paste0(' "', names(facts), '": ', shown, collapse = ",\n"), "\n}\n", sep = "")
