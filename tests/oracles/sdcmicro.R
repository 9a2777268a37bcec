# sdcMicro's pram and localSuppression on a public file: the tables that tests/oracles/public_files.py measures.
# Rscript tests/oracles/sdcmicro.R keys.csv folder key key ... [--strata key]
# keys.csv has one column for each key. Written are: suppressed.csv (3-anonymity by local suppression), pram.csv (its
# defaults, within strata), strong.csv (pd = 0.5, alpha = 1) and versions.csv.
suppressPackageStartupMessages(library(sdcMicro))
given <- commandArgs(trailingOnly = TRUE)
folder <- given[2]
keys <- given[3:(length(given) - 2)]
strata <- given[length(given)]
table <- read.csv(given[1], colClasses = "character", na.strings = character(0))
for (key in keys) table[[key]] <- as.factor(table[[key]])
write <- function(columns, name) write.csv(columns, file.path(folder, name), row.names = FALSE, na = "")

set.seed(1)
changing <- setdiff(keys, strata)
for (how in list(list("pram.csv", 0.8, 0.5), list("strong.csv", 0.5, 1))) {
  spent <- system.time(masked <- pram(table, variables = changing, strata_variables = strata, pd = how[[2]], alpha = how[[3]]))
  columns <- data.frame(lapply(c(setNames(paste0(changing, "_pram"), changing), setNames(strata, strata))[keys], function(name) masked[[name]]))
  write(columns, how[[1]])
  cat(how[[1]], spent[["elapsed"]], "s\n")
}
spent <- system.time(found <- localSuppression(table[, keys], k = 3, keyVars = keys))
write(found$xAnon, "suppressed.csv")
cat("suppressed.csv", spent[["elapsed"]], "s\n")
write(data.frame(R = R.version.string, sdcMicro = as.character(packageVersion("sdcMicro"))), "versions.csv")
