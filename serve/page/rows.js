/* The rows: a table, or JSON. */

const pageSize = 100;
const answerMax = 48e6; /* characters of rows that are held */
const rowsTurn = new Turn();
let rows = []; /* {key, columns, matched, size} */
let end = null; /* the last line of the answer */
let held = 0; /* characters */

function rowOf(line) {
    const columnsOfRow = readJson(line);
    const key = columnsOfRow.get('_key');
    const matched = columnsOfRow.get('_matched');
    const isAsked = state.any.length > 0 || asksAnyColumn();

    columnsOfRow.delete('_key');
    if (isAsked && Array.isArray(matched))
        columnsOfRow.delete('_matched');
    return {
        key,
        columns: columnsOfRow,
        matched: isAsked && Array.isArray(matched) ? matched : [],
        size: line.length,
    };
}

const operator = /^((?:\\[^]|[^\\=!<>~?:])+)([=!<>~?:])/;

/* Whether a word of the search is looked for in any column. */
function asksAnyColumn() {
    return splitWords(state.q).some(({text}) =>
        !operator.test(text) && !['or', 'and', 'not', '(', ')'].includes(text));
}

/* The columns that conditions name. */
function namedColumns() {
    return splitWords(state.q).map(({text}) => operator.exec(text))
        .filter((found) => found !== null)
        .map((found) => found[1].replace(/\\([=!<>~?:"'( ])/g, '$1'));
}

/* The first name of a path. */
function topOf(path) {
    return /^(?:\\[^]|[^.[\\])*/.exec(path)[0]
        .replace(/\\(x[0-9a-f]{2}|[^])/g, (all, part) => part.length === 1
            ? part : String.fromCharCode(parseInt(part.slice(1), 16)));
}

/* ------------------------------------------------------------- requests --- */

function selection(paths) {
    return ['select', paths.map((path) => path.replaceAll(',', '\\,')).join(',')];
}

function rowParameters(limit, cursor) {
    const parameters = [...conditions(), ['limit', String(limit)]];
    const areSeveral = selectsFamilies(state.family);

    if (!areSeveral)
        parameters.push(['explain', '1']);
    if (state.order !== '')
        parameters.push(['order', state.order]);
    else if (cursor !== null && !areSeveral)
        parameters.push(['cursor', cursor]);
    if (state.column.length > 0)
        parameters.push(selection(state.column));
    return parameters;
}

async function readRows(parameters, signal) {
    const response = await askFamily('find', state.family, parameters, signal);
    const got = [];

    end = await eachLine(response, (line) => {
        held += line.length;
        if (held > answerMax && got.length > 0)
            throw new Failure(0, 'The rows are too large to show more of them. Pin some columns, or export them.');
        got.push(rowOf(line));
    });
    return got;
}

/* Finds the first rows of the state. */
async function findRows() {
    const signal = rowsTurn.start();
    const place = byId('rows');

    held = 0;
    end = null;
    place.classList.add('waits');
    byId('failure').replaceChildren();
    try {
        rows = await readRows(rowParameters(pageSize, ''), signal);
        if (byId('q').value.trim() === state.q)
            clearMistake();
        showRows();
        showSieve();
        return true;
    } catch (error) {
        if (isAbort(error))
            return false;
        rows = [];
        showRows();
        showSieve();
        byId('rows').replaceChildren();
        if (isRefused(error))
            return false;
        if (error.at !== null && error.at.parameter === 'q')
            showMistake(error);
        else
            byId('failure').replaceChildren(failureBox(error, () => show(null)));
        return false;
    } finally {
        if (!signal.aborted)
            place.classList.remove('waits');
    }
}

/* Finds the rows after those that are shown. */
async function moreRows() {
    const signal = rowsTurn.start();
    const cursor = end.get('cursor');
    const from = rows.length;

    try {
        const more = await readRows(cursor === undefined
            ? [...rowParameters(pageSize, null), ['skip', String(rows.length)]]
            : rowParameters(pageSize, cursor), signal);

        rows = rows.concat(more);
        showRows();
        showSieve();
        const next = byId('rows').querySelector(`[data-row="${from}"]`);

        if (next !== null)
            next.focus({preventScroll: true});
    } catch (error) {
        if (!isAbort(error))
            byId('failure').replaceChildren(failureBox(error, moreRows));
    }
}

/* ---------------------------------------------------------------- table --- */

const columnMax = 24; /* of a table; the others are in the view of a row */
const insideMax = 4; /* of these, paths inside maps and arrays that matched */

/* The columns of the table: {path, value(row), isNumber, matches(row)}. Those of
 * conditions come first, also from inside maps; maps and arrays come last. */
function tableColumns() {
    const seen = new Map();
    const named = namedColumns();
    const inside = new Set([...named, ...rows.flatMap((row) => row.matched)]
        .filter((path) => path !== escapeName(topOf(path))));

    for (const row of rows) {
        for (const [name, value] of row.columns) {
            const one = seen.get(name) || {path: escapeName(name), count: 0, containers: 0, nulls: 0, texts: 0};

            one.count++;
            one.containers += Number(isContainer(value));
            one.nulls += Number(value === null);
            one.texts += Number(value !== null && !(value instanceof Numeral));
            one.isNumber = one.texts === 0 && one.nulls < one.count;
            one.value = (of) => of.columns.get(name);
            one.matches = (of) => named.includes(one.path) || of.matched.includes(one.path);
            seen.set(name, one);
        }
    }
    const rank = (one) => named.includes(one.path) ? 0 : one.nulls === one.count ? 3
        : one.containers * 2 > one.count ? 2 : 1;
    const list = [...seen.values()];

    if (state.column.length === 0)
        list.sort((a, b) => rank(a) - rank(b) || b.count - a.count);
    return [...[...inside].slice(0, insideMax).map(insideColumn), ...list];
}

/* A column of what is at a path inside others. */
function insideColumn(path) {
    return {
        path,
        isNumber: false,
        value: (row) => {
            const values = valuesAt(row.columns, path);

            return values.length < 2 ? values[0]
                : values.map((value) => typeof value === 'string' ? value : compact(value, 80)).join(', ');
        },
        matches: (row) => namedColumns().includes(path) || row.matched.includes(path),
    };
}

function headCell(column) {
    const {path} = column;
    const isUp = state.order === path && !isLive;
    const isDown = state.order === `${path}:desc` || (isLive && path === timeColumn());
    const head = element('th', {
        scope: 'col', class: column.isNumber ? 'number' : '',
        'aria-sort': isUp ? 'ascending' : isDown ? 'descending' : 'none',
    });

    if (isInArray(path) || path === '' || isLive)
        head.append(plainPath(path) || '""');
    else
        head.append(button(plainPath(path), () => go({order: isUp ? `${path}:desc` : isDown ? '' : path}),
            {title: `order by ${plainPath(path)}`}));
    head.append(isUp ? ' ↑' : isDown ? ' ↓' : '');
    return head;
}

function tableRow(row, index, columnsShown) {
    return element('tr', {
        tabindex: index === 0 ? 0 : -1, 'data-row': index,
        click: () => openRow(index), 'aria-label': `row ${visible(compact(row.key, 80))}`,
    }, element('th', {scope: 'row'}, keyText(row.key, 60)),
    ...columnsShown.map((column) => {
        const value = column.value(row);
        const kind = `${column.isNumber ? 'number' : ''} ${column.matches(row) ? 'marked' : ''}`;

        return value === undefined ? element('td', {class: 'none'})
            : element('td', {class: kind}, scalar(value, 140));
    }));
}

function keyText(key, max) {
    return scalar(Array.isArray(key) ? key.map((part) => typeof part === 'string'
        ? part : compact(part)).join(' · ') : key, max);
}

function tableOf() {
    const all = tableColumns();
    const shown = all.slice(0, columnMax);
    const isUp = !isLive && (state.order === '' || state.order === '_key');
    const isDown = isLive ? timeColumn() === undefined : state.order === '_key:desc';
    const head = element('tr', {}, element('th', {scope: 'col'},
        isLive ? 'key' : button('key', () => go({order: state.order === '' ? '_key:desc' : ''}), {title: 'order by the key'}),
        isUp ? ' ↑' : isDown ? ' ↓' : ''), ...shown.map(headCell));
    const table = element('table', {class: 'table'}, element('thead', {}, head),
        element('tbody', {}, ...rows.map((row, index) => tableRow(row, index, shown))));

    return [element('div', {class: 'scroll', tabindex: -1}, table),
        all.length > shown.length ? element('p', {class: 'soft note'},
            `${thousands(all.length - shown.length)} more columns are in the view of a row. Pin the ones you want here.`) : ''];
}

/* ----------------------------------------------------------------- JSON --- */

/* Whether what is at `path` in a row matched, or has what did. */
function isMarked(path, marked) {
    return marked.some((one) => one === path || one.startsWith(path + '.') || one.startsWith(path + '[]'));
}

function appendJson(parent, value, path, marked, indent) {
    if (!isContainer(value)) {
        const max = 1000;
        const isText = typeof value === 'string';
        const place = element('span', {class: `value ${typeOf(value)}`});

        appendText(place, isText ? JSON.stringify(cut(value, max)) : value instanceof Numeral ? value.text : String(value));
        parent.append(place);
        if (isText && value.length > max)
            parent.append(element('span', {class: 'soft'}, ` … ${bytesText(value.length)}`));
        return;
    }
    const isMap = value instanceof Map;
    const count = isMap ? value.size : value.length;
    let at = 0;

    if (count === 0 || compact(value, 60).length <= 60) {
        parent.append(element('span', {class: 'value'}, appendText(element('bdi'), compact(value))));
        return;
    }
    parent.append(isMap ? '{' : '[');
    for (const item of value) {
        const below = isMap ? `${path}.${escapeName(item[0])}` : `${path}[]`;
        const line = element('span', {class: isMarked(below, marked) ? 'marked' : ''});

        if (++at > 200) {
            parent.append('\n', '  '.repeat(indent + 1), element('span', {class: 'soft'}, `and ${thousands(count - 200)} more`));
            break;
        }
        if (isMap)
            line.append(appendText(element('span', {class: 'member'}), JSON.stringify(item[0])), ': ');
        appendJson(line, isMap ? item[1] : item, below, marked, indent + 1);
        parent.append('\n', '  '.repeat(indent + 1), line, at < count ? ',' : '');
    }
    parent.append('\n', '  '.repeat(indent), isMap ? '}' : ']');
}

function jsonOf(row, index) {
    const marked = [...row.matched, ...namedColumns()];
    const text = element('pre');
    let at = 0;

    text.append('{', '\n  ', element('span', {class: 'member'}, '"_key"'), ': ');
    appendJson(text, row.key, '', [], 1);
    for (const [name, value] of row.columns) {
        const path = escapeName(name);
        const line = element('span', {class: isMarked(path, marked) ? 'marked' : ''});

        line.append(appendText(element('span', {class: 'member'}), JSON.stringify(name)), ': ');
        appendJson(line, value, path, marked, 1);
        text.append(',\n  ', line);
        at++;
    }
    text.append(at === 0 ? '}' : '\n}');
    return element('article', {
        tabindex: index === 0 ? 0 : -1, 'data-row': index, click: () => openRow(index),
        'aria-label': `row ${visible(compact(row.key, 80))}`,
    }, text);
}

/* ------------------------------------------------------------------ all --- */

function emptyText() {
    const unknown = namedColumns().filter((path) => columns.length > 0 &&
        !columns.some((column) => column.path === path));
    const isAll = state.q === '' && state.any.length === 0 && state.since === '' && state.until === '';
    const box = element('div', {class: 'empty'}, element('p', {},
        isAll ? 'This family has no rows.' : 'No row meets these conditions.'));

    for (const path of unknown) {
        box.append(appendText(element('p', {class: 'soft'}),
            `No row of the sample has a column ${plainPath(path)}.`));
    }
    if (!isAll)
        box.append(button('Clear the search', () => go({q: '', any: [], since: '', until: ''})));
    return box;
}

function showRows() {
    const place = byId('rows');
    const mayHaveMore = end !== null && rows.length > 0 && rows.length % pageSize === 0 &&
        numberAt(end, 'rows') > 0;

    closeRow(false);
    byId('as-table').setAttribute('aria-pressed', String(state.view !== 'json'));
    byId('as-json').setAttribute('aria-pressed', String(state.view === 'json'));
    if (rows.length === 0) {
        place.replaceChildren(end === null ? '' : emptyText());
    } else if (state.view === 'json') {
        place.replaceChildren(element('div', {class: 'json'}, ...rows.map(jsonOf)));
    } else {
        place.replaceChildren(...tableOf());
    }
    if (mayHaveMore) {
        place.append(element('p', {class: 'more'},
            button(`Show ${pageSize} more`, moreRows, {id: 'more'})));
    }
}

function showCount(count) {
    byId('count').textContent = count === null || count === undefined ? '' : countOf(count, 'row');
}

/* Arrows move between rows; Enter opens one. */
function rowKey(event) {
    const now = event.target.closest('[data-row]');
    const moves = {ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 10, PageUp: -10};

    if (now === null || event.ctrlKey || event.metaKey || event.altKey)
        return;
    if (event.key === 'Enter' && event.target === now) {
        event.preventDefault(); /* or it presses the button that gets the focus */
        openRow(Number(now.dataset.row));
    } else if (event.key in moves) {
        const index = Math.max(0, Math.min(rows.length - 1, Number(now.dataset.row) + moves[event.key]));

        event.preventDefault();
        focusRow(index);
        if (!byId('row').hidden)
            openRow(index, false);
    }
}

function focusRow(index) {
    const next = byId('rows').querySelector(`[data-row="${index}"]`);

    if (next === null)
        return;
    for (const other of byId('rows').querySelectorAll('[data-row][tabindex="0"]'))
        other.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    next.scrollIntoView({block: 'nearest'});
}
