-- Sends the requests of a file in turn. The file holds, for each, its length in bytes, a line feed and the bytes.
-- With MARKS, every request gets a student and a day of its own: see `MARK_PLACE` and `newMark` in questions.ts.
local requests, place, sent = {}, 0, 0
local first_day = os.getenv('MARKS')
local day_seconds = 86400
local marked_students = 3744

function init()
  local file = assert(io.open(os.getenv('REQUESTS'), 'rb'))
  for line in file:lines() do
    requests[#requests + 1] = file:read(tonumber(line))
  end
  file:close()
end

function request()
  place = place % #requests + 1
  if not first_day then return requests[place] end
  local of_day = sent % marked_students
  local twelve = 1 + math.floor(of_day / 9)
  local student = string.format('stu-%05d', 12 * twelve + of_day % 9)
  local day = os.date('!%Y-%m-%d', first_day + math.floor(sent / marked_students) * day_seconds)
  local class, section = tostring(of_day % 9 + 1), string.char(65 + twelve % 8)
  sent = sent + 1
  return (requests[place]:gsub('stu%-00000', student):gsub('0000%-00%-00', day):gsub('~', class):gsub('|', section))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
