"""A program as schools have had them for years: it logs in, and reads the paths of the interface document.

    CAMPUS_URL=http://localhost:4000 CAMPUS_USER=admin CAMPUS_PASSWORD=demo-admin python3 fee_defaulters.py 5

Prints the students of a class who owe fees of this session, from the largest balance on, as CSV. It needs
nothing but Python.
"""
import csv
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import date
from decimal import Decimal

URL = os.environ.get("CAMPUS_URL", "http://localhost:4000")


def send(method, path, parameters=None, body=None, token=None):
    """The JSON of an answer; 429 and 503 say themselves when to ask again."""
    query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path + query, data, headers, method=method)
    for attempts_left in (2, 1, 0):
        try:
            with urllib.request.urlopen(request) as answer:
                # Amounts keep every digit.
                return json.load(answer, parse_float=Decimal)
        except urllib.error.HTTPError as fault:
            if fault.code in (429, 503) and attempts_left:
                time.sleep(int(fault.headers.get("Retry-After", "1")))
                continue
            problem = json.load(fault)
            sys.exit(f"{problem['title']}: {problem['detail']} (request {problem['instance']})")


def log_in():
    body = {"user_name": os.environ["CAMPUS_USER"], "password": os.environ["CAMPUS_PASSWORD"]}
    return send("POST", "/auth", body=body)["access_token"]


def session_months(today):
    """April to today, as the report takes them."""
    year = today.year if today.month >= 4 else today.year - 1
    return f"{year}-04", f"{today.year}-{today.month:02}"


def main(school_class):
    token = log_in()
    today = date.fromisoformat(os.environ.get("CAMPUS_TODAY", date.today().isoformat()))
    start, end = session_months(today)
    months = {"start_month": start, "end_month": end, "class": school_class}
    report = send("GET", "/getfeedefaultersv2.svc", months, token=token)
    students = {
        student["_id"]: student
        for student in send(
            "GET",
            "/o/recs/registration",
            {"stream": "true", "oquery": f"class={school_class}", "project": "name,guardian_phone"},
            token=token,
        )
    }
    out = csv.writer(sys.stdout)
    out.writerow(["admission no", "name", "phone", "months due", "balance"])
    for row in sorted(report["rows"], key=lambda row: row["balance"], reverse=True):
        phone = students.get(row["studentId"], {}).get("guardian_phone", "")
        out.writerow([row["admissionNo"], row["name"], phone, row["monthsDueCount"], row["balance"]])
    print(f"# {len(report['rows'])} students owe {report['totals']['balance']}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "5")
