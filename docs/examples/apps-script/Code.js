/**
 * Two sheets of a Google spreadsheet, filled from the gateway: the students, and what was collected each day.
 * Extensions › Apps Script, paste, and set the script properties CAMPUS_URL and CAMPUS_KEY (Project Settings).
 * A trigger by time (Triggers › refresh) keeps them up to date.
 */

// biome-ignore lint/correctness/noUnusedVariables: Google calls it when the spreadsheet is opened
function onOpen() {
  SpreadsheetApp.getUi().createMenu('Campus').addItem('Refresh', 'refresh').addToUi();
}

// biome-ignore lint/correctness/noUnusedVariables: the menu and the trigger call it
function refresh() {
  const fields = ['sequence', 'name', 'class', 'section', 'roll_no'];
  const students = readAll('/o/recs/registration', {
    oquery: 'status=active',
    project: fields.join(','),
    sort: 'class,section,roll_no',
  });
  fill('Students', fields, students);
  const trend = send('/reports/collection-trend', { interval: 'day' });
  fill('Collection', ['start', 'receipts', 'total'], JSON.parse(trend.getContentText()).rows);
}

/** All records, page by page: an answer of UrlFetchApp has 50 MB at most. */
function readAll(path, parameters) {
  const records = [];
  let after;
  do {
    const answer = send(path, { ...parameters, limit: 500, ...(after && { after }) });
    records.push(...JSON.parse(answer.getContentText()));
    after = answer.getHeaders()['x-next-cursor'];
  } while (after);
  return records;
}

function send(path, parameters) {
  const { CAMPUS_URL: url, CAMPUS_KEY: key } = PropertiesService.getScriptProperties().getProperties();
  const query = Object.entries(parameters)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');
  const answer = UrlFetchApp.fetch(`${url}${path}?${query}`, {
    headers: { Authorization: `Bearer ${key}`, Accept: 'application/json' },
    muteHttpExceptions: true,
  });
  if (answer.getResponseCode() === 200) return answer;
  const { title, detail } = JSON.parse(answer.getContentText());
  throw new Error(`${title}: ${detail}`);
}

function fill(name, columns, rows) {
  const book = SpreadsheetApp.getActiveSpreadsheet();
  const sheet = book.getSheetByName(name) ?? book.insertSheet(name);
  const cells = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))];
  sheet.clearContents();
  sheet.getRange(1, 1, cells.length, columns.length).setValues(cells);
}
