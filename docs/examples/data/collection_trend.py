"""What was collected each day of a month, and the students by class and gender, as pandas frames.

    pip install pandas pyarrow
    CAMPUS_URL=http://localhost:4000 CAMPUS_KEY=<an API key> python3 collection_trend.py 2026-07
"""
import os
import sys

import pandas as pd

URL = os.environ.get("CAMPUS_URL", "http://localhost:4000")
HEADERS = {"Authorization": f"Bearer {os.environ['CAMPUS_KEY']}"}

month = pd.Period(sys.argv[1] if len(sys.argv) > 1 else pd.Timestamp.today(), "M")
days = f"from={month.start_time:%Y-%m-%d}&to={month.end_time:%Y-%m-%d}"
trend = pd.read_csv(f"{URL}/reports/collection-trend?format=csv&{days}", storage_options=HEADERS)
print(trend[["Start", "Receipts", "Total"]].to_string(index=False))

# Parquet has the types: whole numbers, days, and exact amounts.
students = pd.read_parquet(f"{URL}/o/recs/registration?format=parquet", storage_options=HEADERS)
print(students.groupby(["class", "gender"]).size().unstack(fill_value=0))
