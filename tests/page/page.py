"""What a user does with the page, step by step. Each step is a claim.

SPDX-License-Identifier: MIT
"""
import base64
import glob
import json
import os
import subprocess
import sys
import time
import urllib.parse

from browser import Browser, WAIT_S

program, address, work = sys.argv[1:]
token = open("token").read()
colander = os.environ["COLANDER"]
browser = Browser(program, work)
FAILED = []


def claim(is_true, text):
    if not is_true:
        FAILED.append(text)
        print("FAILED: " + text, file=sys.stderr)


def equals(got, wanted, text):
    claim(got == wanted, f"{text}: {got!r}, not {wanted!r}")


def run(*words):
    return subprocess.run([colander, *words], check=True, text=True,
                          capture_output=True).stdout


def fragment_of(family="", **state):
    return urllib.parse.urlencode(
        ([("family", family)] if family else []) + list(state.items()))


def goes_on_to(family, **state):
    """The same without loading the page again."""
    browser.value("new Promise((go) => { addEventListener('popstate', () => "
                  "setTimeout(go), {once: true}); location.hash = " +
                  json.dumps(fragment_of(family, **state)) + "; })")
    settled()


def goes_to(family="", **state):
    """Opens the page with a state, and waits until its rows are there."""
    browser.open(address + "/#" + fragment_of(family, **state))
    browser.wait("document.querySelectorAll('#family-list li').length > 0")
    if family:
        settled()


def settled():
    """Waits until nothing is under way."""
    browser.wait("document.querySelector('.waits') === null && "
                 "(document.getElementById('count').textContent !== '' || "
                 "!document.getElementById('mistake').hidden)")


def state():
    fragment = browser.value("location.hash.slice(1)")
    return dict(urllib.parse.parse_qsl(fragment, keep_blank_values=True))


def search(text):
    browser.value("document.getElementById('q').select()")
    browser.click("#q")
    browser.value("document.getElementById('q').select()")
    browser.write(text)
    browser.key("Escape")
    browser.key("Enter")


def keys_of_rows():
    return browser.texts("#rows tbody th")


def count_of(text):
    return f"{text:,} row" + ("" if text == 1 else "s")


# ------------------------------------------------------------------ steps ---

def the_token_is_asked_for():
    browser.open(address + "/")
    browser.wait("document.getElementById('login').open")
    for typed, is_open in ("x" * 32, True), (token, False):
        browser.value("document.getElementById('token').focus()")
        browser.write(typed)
        browser.key("Enter")
        if is_open:
            browser.wait("!document.getElementById('login-wrong').hidden")
    browser.wait("!document.getElementById('login').open")
    browser.wait("document.querySelectorAll('#overview-rows tr').length", 6)
    claim(token not in browser.value("location.href + document.cookie + "
                                     "JSON.stringify(localStorage)"),
          "the token is only in the session")


def families_are_listed():
    rows = browser.texts("#overview-rows tr")
    events = [row for row in rows if row.startswith("events")]
    equals(len(events), 1, "the family events is listed once")
    claim("3,000" in events[0], "with its rows")
    for time_ in "2026-11-01 00:00", "2026-11-03 17:59":
        browser.wait(f"document.getElementById('overview-rows').textContent"
                     f".includes('{time_}')")
    claim(any("<img src=x" in row for row in rows), "markup in a name is text")
    claim(any("\\u202e" in row for row in rows), "hidden characters are shown")


def words_find_rows():
    goes_to("events")
    equals(browser.text("#count"), "3,000 rows", "all rows are counted")
    equals(len(keys_of_rows()), 100, "a hundred rows are shown")
    search("level=error service=api")
    browser.wait("document.getElementById('count').textContent",
                 count_of(int(run("find", address, "events", "level=error",
                                  "service=api", "--count"))))
    equals(state(), {"family": "events", "q": "level=error service=api"},
           "the URL has the query")
    claim(browser.value("document.querySelectorAll('td.marked').length") == 40,
          "the columns of conditions are marked")
    search("timeout")
    browser.wait("document.getElementById('count').textContent", "60 rows")
    equals(browser.value("[...document.querySelectorAll('tbody tr')].filter((row) "
                         "=> row.querySelector('.marked').textContent.startsWith("
                         "'timeout after')).length"), 60,
           "the column that matched is marked")
    browser.value("history.back()")
    browser.wait("document.getElementById('q').value", "level=error service=api")
    browser.wait("document.getElementById('count').textContent", "20 rows")


def more_rows_follow():
    goes_to("events", q="service=db")
    browser.click("#more")
    browser.wait("document.querySelectorAll('#rows tbody tr').length", 200)
    wanted = [json.loads(line)["_key"] for line in
              run("find", address, "events", "service=db", "--limit", "200")
              .splitlines()]
    equals([int(key) for key in keys_of_rows()], wanted, "they are the next ones")


def a_mistake_is_marked():
    goes_to("events")
    for text, marked in ("level=error ms<<5", "<5"), ("é level==x", "=x"), \
            ("ms>5 'open", "'open"), ("ms>5 level", "level"):
        search(text)
        browser.wait("!document.getElementById('mistake').hidden")
        browser.wait("document.querySelector('#echo mark').textContent", marked)
    claim("a column" in browser.text("#mistake-text"), "it says what is wrong")
    before = browser.text("#mistake-text")
    browser.value("document.getElementById('q').value = ''")
    browser.click("#q")
    browser.write("ms>5 not")
    browser.wait("!document.getElementById('mistake').hidden")
    claim(browser.text("#mistake-text") != before, "it comes while one types")
    browser.write(" ms>9")
    browser.wait("document.getElementById('mistake').hidden")


def columns_are_completed():
    goes_to("events", facet="level")
    browser.wait("document.querySelectorAll('[data-facet=level] .pick').length", 4)
    browser.click("#q")
    browser.write("lev")
    browser.wait("document.querySelectorAll('#offers li').length", 1)
    browser.key("Tab")
    equals(browser.value("document.getElementById('q').value"), "level",
           "the name is completed")
    browser.write("=")
    browser.wait("document.querySelectorAll('#offers li').length > 1")
    browser.write("err")
    browser.wait("document.querySelectorAll('#offers li').length", 1)
    browser.key("ArrowDown")
    browser.key("Enter")
    browser.key("Enter")
    browser.wait("document.getElementById('count').textContent", "60 rows")


def facets_are_counted():
    goes_to("events", q="ms<500")
    browser.click("[data-path=level] button")
    browser.wait("document.querySelectorAll('[data-facet=level] .pick').length", 4)
    wanted = {}
    for line in run("group", address, "events", "ms<500", "--by", "level",
                    "--count").splitlines():
        group = json.loads(line)
        wanted[group["level"]] = group["count"]
    got = dict(zip(browser.texts("[data-facet=level] .value"),
                   [int(one.replace(",", "")) for one in
                    browser.texts("[data-facet=level] .count")]))
    equals(got, wanted, "the counts are those of group")
    browser.click("[data-facet=level] li:nth-child(2) .pick")
    picked = list(got)[1]
    browser.wait("document.getElementById('q').value", f"ms<500 level={picked}")
    browser.wait("document.getElementById('count').textContent",
                 count_of(wanted[picked]))
    goes_to("events", facet="http.tags[]")
    browser.wait("document.querySelectorAll('[data-facet=\"http.tags[]\"] .pick').length", 6)
    equals(dict(zip(browser.texts(".facet .value"), browser.texts(".facet .count"))),
           {"x": "3,000", **{f"t{i}": "600" for i in range(5)}},
           "a row counts for each element of an array")
    browser.click(".facet li:nth-child(2) .not")
    browser.wait("document.getElementById('count').textContent", "2,400 rows")


def families_are_asked_as_one():
    goes_to("e*ents", q="level=error")
    browser.wait("document.getElementById('count').textContent", "60 rows")
    claim("e*ents" not in browser.texts("#family-list a"), "no family is called so")
    browser.wait("document.getElementById('failure').textContent", "")


def the_histogram_is_dragged():
    goes_to("events", q="level=error")
    browser.wait("document.querySelector('#histogram svg') !== null")
    browser.drag("#histogram svg", 0.2, 0.6)
    browser.wait("location.hash.includes('since=')")
    chosen = state()
    count = int(run("find", address, "events", "level=error", "--since",
                    chosen["since"], "--until", chosen["until"], "--count"))
    claim(5 < count < 55, "some of the rows are chosen")
    browser.wait("document.getElementById('count').textContent", count_of(count))
    browser.wait("document.querySelectorAll('#chips li').length", 2)
    browser.click("#chips li button")
    browser.wait("document.querySelectorAll('#chips li').length", 1)
    browser.value("document.querySelector('#histogram svg').focus()")
    settled()
    browser.wait("document.querySelector('#histogram svg') !== null")
    browser.value("document.querySelector('#histogram svg').focus()")
    browser.key("ArrowRight")
    browser.key("ArrowRight", 8)
    browser.key("Enter")
    browser.wait("document.querySelectorAll('#chips li').length", 2)


def a_row_is_viewed():
    goes_to("events", q="level=error")
    browser.click("#rows tbody tr:nth-child(3)")
    browser.wait("!document.getElementById('row').hidden")
    equals(browser.text("#row-key"), keys_of_rows()[2], "it is that row")
    labels = browser.texts("#row dt")
    claim("http.path" in labels and "http.tags[1]" in labels,
          f"each value has its path: {labels}")
    browser.key("Escape")
    browser.wait("document.getElementById('row').hidden")
    equals(browser.value("document.activeElement.dataset.row"), "2",
           "the row has the focus again")
    browser.key("ArrowDown")
    browser.key("Enter")
    browser.wait("document.getElementById('row-key').textContent", keys_of_rows()[3])
    path = browser.value("[...document.querySelectorAll('#row .leaf')].find((leaf) "
                         "=> leaf.textContent.startsWith('http.path'))"
                         ".querySelector('dd').textContent")
    browser.value("[...document.querySelectorAll('#row .leaf')].find((leaf) => "
                  "leaf.textContent.startsWith('http.path')).id = 'path-leaf'")
    browser.click("#path-leaf .acts button:nth-child(3)")
    browser.wait("location.hash.includes('any=')")
    equals(state().get("any"), path, "rows with this value are found")
    browser.wait("document.getElementById('count').textContent", "75 rows")
    equals(set(browser.texts("td.marked")), {path}, "and marked")
    claim("http.path" in browser.texts("#rows th button"), "in a column of their own")


def the_command_is_copied():
    browser.value("navigator.clipboard.writeText = async (text) => "
                  "{ window.copied = text; }")
    for query, any_ in ("level=error ms<500 or 'message~~number 1'", None), \
            ("", "it's"), ("'html~~$(touch harm)'", None):
        family = "hostile" if any_ or "harm" in query else "events"
        goes_to(family, **({"any": any_} if any_ else {"q": query}))
        browser.value("navigator.clipboard.writeText = async (text) => "
                      "{ window.copied = text; }")
        browser.click("#copy")
        browser.wait("typeof window.copied === 'string'")
        command = browser.value("copied")
        lines = subprocess.run(
            ["bash", "-c", command.replace("colander find", '"$COLANDER" find')],
            capture_output=True, text=True, check=False)
        count = int(browser.text("#count").split()[0].replace(",", ""))
        equals(len(lines.stdout.splitlines()), count,
               f"{command} finds the same rows ({lines.stderr})")
    claim(not os.path.exists("harm"), "a shell runs nothing of it")


def rows_are_exported():
    browser.say("Browser.setDownloadBehavior", behavior="allow",
                downloadPath=work + "/saved", eventsEnabled=False)
    goes_to("events", q="level=info", order="ms:desc")
    browser.value("window.showSaveFilePicker = undefined")
    browser.click("#export")
    end = time.monotonic() + WAIT_S
    while not glob.glob(work + "/saved/*.jsonl") and time.monotonic() < end:
        time.sleep(0.05)
    saved = open(glob.glob(work + "/saved/*.jsonl")[0]).read()
    equals(saved, run("find", address, "events", "level=info", "--order",
                      "ms:desc"), "the file has what find prints")
    browser.wait("document.getElementById('notice').textContent",
                 f"Exported {count_of(saved.count(chr(10)))}.")


def a_file_is_written_as_rows_come():
    goes_to("events")
    browser.value("""window.showSaveFilePicker = async () => ({
        createWritable: async () => ({
            write: async (text) => { window.saved = (window.saved || '') + text; },
            close: async () => { window.isClosed = true; },
            abort: async () => { window.isAborted = true; },
        })})""")
    browser.click("#export")
    browser.wait("window.isClosed === true")
    equals(browser.value("window.saved.split('\\n').length"), 3001,
           "the file has all rows, and no other line")
    browser.answers["find"] = base64.b64encode(b'{"_key":1}\n{"_key":2}\n').decode()
    browser.say("Fetch.enable", patterns=[{"urlPattern": "*/find?*"}])
    browser.click("#export")
    browser.wait("window.isAborted === true")
    browser.wait("document.getElementById('failure').textContent.includes("
                 "'not whole')")
    search("level=warn")
    browser.wait("document.querySelectorAll('#rows tbody tr').length", 0)
    claim("not whole" in browser.text("#failure"),
          "an answer that was cut is not shown as rows")
    browser.say("Fetch.disable")
    browser.answers.clear()


def put(number, minute):
    run("put", address, "events", json.dumps({
        "_key": number, "id": number, "at": f"2026-11-09T10:{minute:02d}:00Z",
        "level": "live"}))


def load(number, minute):
    with open("one.csv", "w") as file:
        file.write(f"id,at,level\n{number},2026-11-09T10:{minute:02d}:00Z,live\n")
    run("load", address, "events", "one.csv", "--key", "id", "--type", "at=time")


def live_rows_do_not_jump():
    goes_to("events")
    browser.click("#live")
    browser.wait("document.querySelectorAll('#rows tbody tr').length", 50)
    load(9001, 1)
    browser.wait("document.querySelector('#rows tbody th').textContent", "9001")
    browser.value("document.querySelector('#rows .scroll').scrollTop = 300")
    browser.value("""(() => {
        window.reading = document.querySelector('[data-row="20"]');
        window.place = reading.getBoundingClientRect().top;
    })()""")
    load(9002, 2)
    browser.wait("!document.getElementById('waiting').hidden")
    equals(browser.text("#waiting"), "1 new row ↑", "it waits")
    claim(browser.value("document.contains(reading) && "
                        "reading.getBoundingClientRect().top === place"),
          "what is read stays where it is")
    load(9003, 3)
    browser.wait("document.getElementById('waiting').textContent", "2 new rows ↑")
    browser.click("#waiting")
    browser.wait("document.querySelector('#rows tbody th').textContent", "9003")
    equals(keys_of_rows()[:3], ["9003", "9002", "9001"], "the newest are on top")
    browser.click("#live")
    browser.wait("document.getElementById('live').getAttribute('aria-pressed')",
                 "false")
    run("delete", address, "events", "level=live")


def a_token_that_is_lost_is_asked_for():
    goes_to("events")
    browser.value("sessionStorage.setItem('colander-token', 'x'.repeat(32))")
    search("level=error")
    browser.wait("document.getElementById('login').open")
    browser.value("document.getElementById('token').focus()")
    browser.write(token)
    browser.key("Enter")
    browser.wait("document.getElementById('count').textContent", "60 rows")


def what_the_filters_did_is_drawn():
    goes_to("events", q="level=error")
    browser.value("document.getElementById('sieve').open = true")
    text = browser.text("#sieve")
    claim("60" in text and "returned" in text, f"the rows are counted: {text}")
    if os.environ["COLANDER_FILTERS"] == "1":
        claim("candidates" in text or "Every row was read" in text,
              f"and what the filters did: {text}")
    goes_to("events", q="level=nothing")
    claim("No row meets" in browser.text("#rows"), "no rows is said")
    goes_to("events", q="levle=error")
    browser.wait("document.getElementById('rows').textContent.includes("
                 "'has a column levle')")


def hostile_rows_are_text():
    goes_to("hostile")
    for view in "", "json":
        goes_to("hostile", view=view)
        text = browser.text("#rows")
        for part in ("<script>window.harm = 1</script>", "<img src=x",
                     "user\\u202egpj.exe", "a\\0b\\u001b[31m" if view == "" else
                     "a\\u0000b\\u001b[31m", "<b>bold</b>",
                     "18446744073709551615", "9007199254740993"):
            claim(part in text, f"{part!r} is shown as text in '{view}'")
    equals(browser.value("window.harm"), None, "nothing has run")
    equals(browser.value("document.querySelectorAll('#rows img, #rows script, "
                         "#rows b').length"), 0, "nothing became markup")
    goes_to("hostile", key="x", q="'html~~LLLL'")
    browser.click("#rows tbody tr")
    browser.wait("!document.getElementById('row').hidden")
    claim("1,048,576 characters" in browser.text("#row"), "a large value is cut")
    browser.click("#row dd button")
    browser.wait("document.querySelector('#row dd').textContent.length > 60000")


def hostile_names_work():
    goes_to("hostile")
    browser.wait("document.querySelectorAll('#column-list > li').length > 10")
    claim("" not in browser.texts("#column-list .name"), "every column has a name")
    # each value of the row with odd columns, as a condition, finds that row
    count = browser.value("""(() => {
        const rows = [...document.querySelectorAll('#rows tbody tr')];
        rows.find((row) => row.querySelector('th').textContent === 'columns').click();
        return document.querySelectorAll('#row .leaf').length;
    })()""")
    equals(count, 12, "all values are listed")
    for index in range(count):
        goes_on_to("hostile", view="", step=index)
        browser.value("""(() => {
            const rows = [...document.querySelectorAll('#rows tbody tr')];
            rows.find((row) => row.querySelector('th').textContent === 'columns').click();
        })()""")
        if not browser.value(f"""(() => {{
            const one = document.querySelectorAll('#row .leaf')[{index}]
                .querySelector('.acts button');
            one.click();
            return one.textContent === '=';
        }})()"""):
            equals(index, 5, "only a column without a name has no condition")
            continue
        browser.wait("location.hash.includes('q=')")
        settled()
        condition = browser.value("document.getElementById('q').value")
        claim("columns" in keys_of_rows(), f"{condition!r} finds the row: "
              f"{browser.text('#mistake-text')} {browser.text('#failure')}")
    for path in browser.value("[...document.querySelectorAll('#column-list > li')]"
                              ".map((one) => one.dataset.path)"):
        goes_on_to("hostile", facet=path)
        browser.wait("[...document.querySelectorAll('.values')].every((list) => "
                     "!list.textContent.includes('Counting'))")
        claim(browser.value("document.querySelector('.facet .failure') === null"),
              f"the values of {path!r} are counted")
    for family in "..", "-x", "a/b ?%\"\\'\u202eevil", "<img src=x onerror=alert(1)>":
        goes_on_to(family)
        equals(browser.text("#count"), "1 row", f"the family {family!r} is found")


def nodes_of_a_cluster_are_shown():
    goes_to()
    browser.wait("document.querySelectorAll('#overview-rows tr').length > 0")
    claim(browser.value("document.getElementById('nodes').hidden"),
          "a server that is not a node shows none")
    place = {"node": "n1", "owner": True, "up_to_date": True,
             "phase": "following", "applied": 81340, "lag": 0,
             "checkpoint": 80112, "checkpoint_made": "2026-11-27T12:00:07Z"}
    late = {"node": "n2", "owner": True, "up_to_date": False,
            "phase": "following", "applied": 79429, "lag": 1911}
    answer = {
        "cluster": "prod", "node": "n1", "settled": True,
        "nodes": [{"node": "n1", "address": "http://10.0.0.7:7411",
                   "version": "0.2.0", "age_ms": 0, "partitions": 2},
                  {"node": "n2", "address": "<img src=x onerror=alert(1)>",
                   "age_ms": 1250, "partitions": 1}],
        "families": [{"family": "tweets", "topic": "t", "replicas": 2,
                      "partitions": [{"partition": 0, "nodes": [place, late]},
                                     {"partition": 1, "nodes": [
                                         {"node": "n2", "owner": True},
                                         {**late, "node": "n3", "owner": False,
                                          "phase": "stopped", "lag": 0}]}]}],
        "missing": ["tweets/0001 is served by no node, so finds fail"]}

    def answers(with_):
        browser.answers["nodes"] = base64.b64encode(
            json.dumps(with_).encode()).decode()

    answers(answer)
    browser.say("Fetch.enable", patterns=[{"urlPattern": "*/nodes"}])
    goes_to("events")
    goes_to()
    browser.wait("document.querySelectorAll('#nodes-rows tr').length", 2)
    equals(browser.text("#nodes-sum"), "2 nodes of the cluster prod, 2 partitions",
           "the nodes are counted")
    equals(browser.texts("#nodes-missing li"), answer["missing"],
           "what is missing is said")
    rows = browser.texts("#nodes-rows tr")
    claim("0.0 s ago" in rows[0] and "1.3 s ago" in rows[1] and
          "<img src=x" in rows[1], f"each node has a row: {rows}")
    equals(browser.texts("#partition-rows tr"), [], "partitions are folded")
    browser.click("#nodes-partitions summary")
    browser.wait("document.querySelectorAll('#partition-rows tr').length", 2)
    rows = browser.texts("#partition-rows tr")
    for text in ("tweets/0000", "n1 at 81,340", "n2 at 79,429 (1,911 to go)",
                 "at 80,112, 2026-11-27 12:00"):
        claim(text in rows[0], f"the partition is where it is: {rows[0]}")
    claim("n2 has not begun" in rows[1] and "n3 stopped at 79,429" in rows[1],
          f"one that is not served is marked: {rows[1]}")
    equals(browser.value("document.querySelectorAll('#partition-rows .bad').length"),
           1, "and only that one")
    browser.size(390, 844)
    claim(browser.value("document.documentElement.scrollWidth <= innerWidth"),
          "it fits a narrow screen")
    browser.size(1280, 800)
    answers({**answer, "nodes": answer["nodes"][:1], "missing": []})
    browser.wait("document.querySelectorAll('#nodes-rows tr').length", 1)
    claim(browser.text("#nodes-sum").endswith(", nothing is missing"),
          "it is asked for again")
    claim(browser.value("document.getElementById('nodes-missing').hidden"),
          "and what was missing is gone")
    browser.say("Fetch.disable")
    browser.answers.clear()


def a_narrow_screen_is_enough():
    browser.size(390, 800)
    for where in {}, {"family": "events"}, {"family": "hostile"}:
        goes_to(**where)
        claim(browser.value("document.documentElement.scrollWidth <= innerWidth"),
              f"nothing is wider than the screen: {where}")
    goes_to("events")
    browser.click("#menu")
    browser.click("[data-path=level] button")
    browser.wait("document.querySelectorAll('[data-facet=level] .pick').length", 4)
    browser.size(1280, 800)


def keys_are_enough():
    goes_to("events")
    browser.value("document.activeElement.blur()")
    browser.key("/")
    equals(browser.value("document.activeElement.id"), "q", "/ goes to the search")
    browser.write("level=error")
    browser.key("Escape")
    browser.key("Enter")
    browser.wait("document.getElementById('count').textContent", "60 rows")
    reached = set()
    for _ in range(60):
        browser.key("Tab")
        reached.add(browser.value("document.activeElement.id || "
                                  "document.activeElement.dataset.row || "
                                  "document.activeElement.tagName"))
        if "0" in reached:
            break
    claim({"fold", "as-json", "live", "copy", "export", "0"} <= reached,
          f"Tab reaches all: {reached}")
    browser.key("Enter")
    browser.wait("!document.getElementById('row').hidden")
    browser.key("Escape")
    browser.key("t")
    browser.wait("document.querySelectorAll('#rows article').length", 60)
    browser.key("?")
    browser.wait("document.getElementById('help').open")


steps = [
    the_token_is_asked_for, families_are_listed, words_find_rows,
    more_rows_follow, a_mistake_is_marked, columns_are_completed,
    facets_are_counted, families_are_asked_as_one, the_histogram_is_dragged,
    a_row_is_viewed,
    the_command_is_copied, rows_are_exported, a_file_is_written_as_rows_come,
    live_rows_do_not_jump, a_token_that_is_lost_is_asked_for,
    what_the_filters_did_is_drawn,
    hostile_rows_are_text, hostile_names_work, nodes_of_a_cluster_are_shown,
    a_narrow_screen_is_enough, keys_are_enough,
]
only = os.environ.get("COLANDER_STEP")
browser.size(1280, 800)
if only:
    browser.open(address + "/")
    browser.value(f"sessionStorage.setItem('colander-token', {token!r})")
for step in steps:
    if only and only != step.__name__:
        continue
    began = time.monotonic()
    try:
        step()
        seen = browser.value("window.seen")
        claim(seen == [], f"nothing else goes wrong: {seen}")
    except AssertionError as error:
        claim(False, f"{step.__name__}: {error}")
        browser.say("Fetch.disable")
    except Exception as error:
        claim(False, f"{step.__name__}: {type(error).__name__} {error}")
    print(f"{step.__name__}: {time.monotonic() - began:.1f} s")
elsewhere = {url for url in browser.urls
             if not url.startswith((address + "/", "data:", "blob:", "about:"))}
equals(elsewhere, set(), "only the server is asked")
paths = {urllib.parse.urlsplit(url).path for url in browser.urls
         if url.startswith(address)}
claim(paths <= {"/", "/families", "/nodes", "/find", "/columns", "/group"},
      f"the page only reads: {paths}")
claim(not any(token in url for url in browser.urls), "no URL has the token")
equals(browser.errors, [], "the browser has no complaint")
browser.close()
sys.exit(1 if FAILED else 0)
