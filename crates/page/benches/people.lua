-- One annotator a thread, each with one connection: ask for the question, answer it, ask for the next.
-- `crates/page/benches/people` starts wrk with it. COOKIES is a file with one annotator's cookie a line.

local threads = 0
local cookies = {}
for line in io.lines(os.getenv("COOKIES")) do cookies[#cookies + 1] = line end

function setup(thread)
  threads = threads + 1
  thread:set("cookie", cookies[threads])
end

local form = nil
answers = 0

function request()
  if form then
    local body = form
    form = nil
    return wrk.format("POST", "/test", { Cookie = cookie, ["Content-Type"] = "application/x-www-form-urlencoded" }, body)
  end
  return wrk.format("GET", "/test", { Cookie = cookie })
end

function response(status, headers, body)
  if status == 303 then answers = answers + 1 end
  local item = body:match('name="item" value="(%d+)"')
  if item then
    local shown = body:match('name="shown" value="(%d+)"')
    local seal = body:match('name="seal" value="(%x+)"')
    form = "item=" .. item .. "&shown=" .. shown .. "&seal=" .. seal .. "&choice=" .. math.random(0, 9)
  end
end
