/* Live rows: the newest on top. While the reader is further down, or has a row
 * open, new rows wait until they are asked for, so nothing moves under the
 * eyes. */

const tailTurn = new Turn();
const tailPause = 1500; /* ms between two questions */
const tailMax = 1000; /* rows that are shown, and that wait */
let isLive = false;
let waiting = []; /* rows that are not shown yet, the newest first */
let newest = ''; /* the greatest time that was seen; '': none */
let seen = new Set(); /* keys of the rows at that time, or of all lately */

function tailOrder() {
    const path = timeColumn();

    return path === undefined ? '_key:desc' : `${path}:desc`;
}

/* Asks for rows that were not seen, the newest first. */
async function readTail(signal, limit) {
    const path = timeColumn();
    const parameters = [...conditions().filter(([name]) => name !== 'since' || newest === ''),
        ['limit', String(limit)], ['order', tailOrder()]];

    if (state.column.length > 0)
        parameters.push(selection(path === undefined ? state.column : [path, ...state.column]));

    if (path !== undefined && newest !== '')
        parameters.push(['since', newest]);
    const {rows: lines} = await allTail(await askFamily('find', state.family, parameters, signal));
    const fresh = lines.filter((row) => !seen.has(compact(row.key)));

    for (const row of fresh) {
        const [time] = path === undefined ? [] : valuesAt(row.columns, path);

        if (typeof time === 'string' && time > newest)
            newest = time;
        seen.add(compact(row.key));
    }
    if (seen.size > 20 * tailMax)
        seen = new Set([...seen].slice(-10 * tailMax));
    return fresh;
}

async function allTail(response) {
    const read = [];

    await eachLine(response, (line) => {
        read.push(rowOf(line));
    });
    return {rows: read};
}

/* Whether new rows may come in on top without moving what is read. */
function isAtTop() {
    const scroll = byId('rows').querySelector('.scroll, .json');
    const focused = document.activeElement;

    return byId('row').hidden && byId('rows').getBoundingClientRect().top > 0 &&
        (scroll === null || scroll.scrollTop < 4) &&
        !(focused instanceof Element && focused.closest('[data-row]') !== null) &&
        String(getSelection()) === '';
}

function showWaiting() {
    const pill = byId('waiting');

    pill.hidden = waiting.length === 0;
    pill.textContent = `${countOf(waiting.length, 'new row')} ↑`;
}

/* Puts the rows that wait on top. */
function takeWaiting() {
    const count = waiting.length;

    rows = waiting.concat(rows).slice(0, tailMax);
    waiting = [];
    showRows();
    showWaiting();
    for (const row of byId('rows').querySelectorAll('[data-row]')) {
        if (Number(row.dataset.row) < count)
            row.classList.add('fresh');
    }
}

function pause(signal) {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, tailPause);

        signal.addEventListener('abort', () => {
            clearTimeout(timer);
            resolve();
        });
    });
}

async function follow() {
    const signal = tailTurn.start();

    waiting = [];
    newest = '';
    seen = new Set();
    end = null;
    showSieve();
    showWaiting();
    try {
        rows = await readTail(signal, 50);
        showRows();
        while (!signal.aborted) {
            await pause(signal);
            if (signal.aborted || document.hidden)
                continue;
            const fresh = await readTail(signal, tailMax);

            waiting = fresh.concat(waiting).slice(0, tailMax);
            if (waiting.length > 0 && isAtTop())
                takeWaiting();
            showWaiting();
        }
    } catch (error) {
        if (isAbort(error) || signal.aborted)
            return;
        setLive(false);
        byId('failure').replaceChildren(failureBox(error, () => setLive(true)));
    }
}

function setLive(is) {
    isLive = is;
    byId('live').setAttribute('aria-pressed', String(is));
    document.body.classList.toggle('is-live', is);
    if (is) {
        byId('failure').replaceChildren();
        rowsTurn.stop();
        follow();
    } else {
        tailTurn.stop();
        waiting = [];
        showWaiting();
    }
}
