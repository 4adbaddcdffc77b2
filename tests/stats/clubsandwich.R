# Makes clubsandwich_inputs.csv and clubsandwich.csv: Rscript clubsandwich.R, in this folder.
# CR2 errors and Satterthwaite's degrees of freedom with the default (identity) target, which is rho = 0.
# Its weights are inverse variances: with target = 1 / weights, one weight to a group, its variance is that of
# our rule (inside a group of unequal weights it takes another root of I - H_gg). Its degrees of freedom then
# suppose errors of variance 1 / weight, ours errors of one variance, so they are left out.
suppressMessages(library(clubSandwich))
set.seed(20)
sizes <- list(
  even_12_of_5 = rep(5, 12), even_30_of_2 = rep(2, 30), singles_20 = rep(1, 20),
  twins = c(rep(2, 10), rep(1, 11)), eights_and_ones = c(rep(8, 4), rep(1, 16)),
  falling = c(20, 10, 5, 5, 3, 2, 2, 1, 1, 1), giant = c(30, rep(1, 11)), two_groups = c(3, 5),
  uneven_weighted = c(6, 4, 4, 3, 2, 2, 1, 1), singles_weighted = rep(1, 14),
  macro_crossed = rep(3, 12), macro_nested = c(5, 4, 3, 3, 2, 2, 1, 1, 1, 4), macro_mixed = c(6, 5, 4, 3, 2, 2, 2, 1)
)
inputs <- NULL
results <- NULL
for (name in names(sizes)) {
  n_g <- sizes[[name]]
  group <- rep(seq_along(n_g), n_g)
  n <- length(group)
  y <- round(rnorm(length(n_g))[group] + rnorm(n), 3)
  w <- if (grepl("weighted", name)) round(runif(length(n_g), 0.5, 4), 2)[group] else rep(1, n)
  cell <- rep(1, n)
  if (name == "macro_crossed") cell <- rep(1:3, 12)
  if (name == "macro_nested") cell <- 1 + (group %% 2)
  if (name == "macro_mixed") cell <- rep(1:2, length.out = n)
  d <- data.frame(design = name, y = y, group = group, cell = cell, weight = w)
  inputs <- rbind(inputs, d)
  k <- length(unique(cell))
  # With contrasts that sum to 0 the intercept is the mean of the cells' means.
  fit <- if (k == 1) lm(y ~ 1, weights = weight, data = d) else lm(y ~ C(factor(cell), contr.sum), data = d)
  weighted <- grepl("weighted", name)
  v <- if (weighted) vcovCR(fit, cluster = d$group, type = "CR2", target = 1 / d$weight) else
    vcovCR(fit, cluster = d$group, type = "CR2")
  test <- coef_test(fit, vcov = v, test = "Satterthwaite")[1, ]
  value <- coef(fit)[[1]]
  se <- test$SE
  df <- if (weighted) NA else test$df_Satt
  results <- rbind(results, data.frame(design = name, value = value, se = se, df = df))
}
write.csv(inputs, "clubsandwich_inputs.csv", row.names = FALSE, quote = FALSE)
results[, -1] <- format(results[, -1], digits = 12, trim = TRUE)
head <- paste0("# R ", getRversion(), ", clubSandwich ", packageVersion("clubSandwich"))
writeLines(head, "clubsandwich.csv")
suppressWarnings(write.table(results, "clubsandwich.csv", append = TRUE, sep = ",", row.names = FALSE, quote = FALSE))
