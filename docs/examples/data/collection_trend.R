# What was collected each day of a month, and the students by class and gender. Base R, without packages.
#
#   CAMPUS_URL=http://localhost:4000 CAMPUS_KEY=<an API key> Rscript collection_trend.R 2026-07

url_of <- Sys.getenv("CAMPUS_URL", "http://localhost:4000")
month <- commandArgs(trailingOnly = TRUE)
first <- as.Date(paste0(if (length(month) > 0) month[1] else format(Sys.Date(), "%Y-%m"), "-01"))
last <- seq(first, by = "month", length.out = 2)[2] - 1

read_table <- function(path) {
  address <- url(
    paste0(url_of, path),
    headers = c(Authorization = paste("Bearer", Sys.getenv("CAMPUS_KEY"))),
    method = "libcurl"
  )
  read.csv(address, encoding = "UTF-8", check.names = FALSE)
}

trend <- read_table(paste0("/reports/collection-trend?format=csv&from=", first, "&to=", last))
print(trend[, c("Start", "Receipts", "Total")])

students <- read_table("/o/recs/registration?format=csv&project=class,gender")
print(table(students$class, students$gender))
