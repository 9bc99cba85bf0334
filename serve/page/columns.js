/* The columns of a family: their types and shares, and the most frequent values
 * of those that are open, among the rows of the search. */

let columns = []; /* {path, share, types, values} */
let columnsOf = null; /* the family that they are of */
let sampledRows = 0;
const columnsTurn = new Turn();
const facetsTurn = new Turn();
const facetValues = new Map(); /* by path: values that were seen */

async function readColumns() {
    const signal = columnsTurn.start();
    const family = state.family;
    const list = byId('column-list');

    if (columnsOf === family)
        return;
    columnsOf = family;
    columns = [];
    facetValues.clear();
    list.replaceChildren(element('li', {class: 'soft'}, 'Reading a sample …'));
    try {
        const answer = await allLines(await askFamily('columns', family,
            [['timeout', '20s']], signal));

        sampledRows = numberAt(answer.end, 'rows');
        columns = answer.rows.map((row) => ({
            path: row.get('column'),
            share: numberAt(row, 'rows') / Math.max(1, sampledRows),
            types: [...row.get('types')].map(([type, count]) => [type, Number(count.text)]),
            values: ['example', 'smallest', 'largest'].map((name) => row.get(name)),
        }));
        showColumns();
        if (rows.length === 0 && end !== null)
            showRows(); /* now it is known why there are none */
    } catch (error) {
        if (isAbort(error))
            return;
        columnsOf = null;
        list.replaceChildren(element('li', {}, failureBox(error, readColumns)));
    }
}

function isScalarColumn(column) {
    return column.types.some(([type]) => type !== 'map' && type !== 'array');
}

/* Whether the values of a path are elements of arrays. */
function isInArray(path) {
    return path.replace(/\\[^]/g, '').includes('[]');
}

/* Whether its values can be counted. */
function isCountable(column) {
    return isScalarColumn(column) && column.path !== '';
}

/* The types by their frequency, in short words. */
function typeText(column) {
    const short = {string: 'text', boolean: 'bool', timestamp: 'time',
        integer: 'number', unsigned: 'number', double: 'number'};
    const names = [...column.types].sort((a, b) => b[1] - a[1])
        .map(([type]) => short[type] || type);

    return [...new Set(names)].join(' · ');
}

function typeTitle(column) {
    return column.types.map(([type, count]) => `${thousands(count)} ${type}`).join(', ') +
        ` in a sample of ${countOf(sampledRows, 'row')}`;
}

/* ---------------------------------------------------------------- lists --- */

function toggled(list, one) {
    return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}

function columnItem(column) {
    const isOpen = state.facet.includes(column.path);
    const name = appendText(element('span', {class: 'name'}), plainPath(column.path) || '""');
    const head = element('button', {
        type: 'button',
        class: 'column',
        title: `${visible(column.path)}: ${typeTitle(column)}`,
        'aria-expanded': String(isOpen),
        click: () => go({facet: toggled(state.facet, column.path)}),
    }, name, element('span', {class: 'type'}, typeText(column)),
    shareBar(column.share), element('span', {class: 'share'}, shareText(column.share)));
    const item = element('li', {'data-path': column.path}, head);

    if (isOpen)
        item.append(facetOf(column));
    return item;
}

function showColumns() {
    const wanted = byId('column-filter').value.toLowerCase();
    const shown = columns.filter((column) =>
        plainPath(column.path).toLowerCase().includes(wanted));
    const open = document.activeElement instanceof Element &&
        document.activeElement.closest('#column-list > li');
    const items = shown.slice(0, 300).map(columnItem);

    if (columns.length === 0)
        items.push(element('li', {class: 'soft'}, 'No row has a column.'));
    else if (shown.length === 0)
        items.push(element('li', {class: 'soft'}, 'No column has this in its name.'));
    else if (shown.length > 300)
        items.push(element('li', {class: 'soft'}, `and ${thousands(shown.length - 300)} more`));
    byId('column-list').replaceChildren(...items);
    byId('column-count').textContent = thousands(columns.length);
    if (open) {
        const again = items.find((item) => item.dataset.path === open.dataset.path);

        if (again !== undefined)
            again.querySelector('button').focus();
    }
}

/* --------------------------------------------------------------- facets --- */

/* The place of a facet: what may be asked of the column, and its values once
 * they are known. */
function facetOf(column) {
    const path = conditionPath(column.path);
    const place = element('div', {class: 'facet'});
    const isShown = state.column.includes(column.path);
    const acts = element('p', {class: 'actions'});

    if (path === '') {
        place.append(element('p', {class: 'soft'}, 'A column without a name cannot be in a condition.'));
        return place;
    }
    acts.append(button('exists', () => addCondition(path + '?'), {title: 'rows with this column'}),
        button('missing', () => addCondition(path + '!'), {title: 'rows without this column'}));
    if (!isInArray(path)) {
        acts.append(button(isShown ? 'unpin' : 'pin',
            () => go({column: toggled(state.column, column.path)}),
            {title: 'show only the columns that are pinned', 'aria-pressed': String(isShown)}),
        button('sort', () => go({order: state.order === column.path ? `${column.path}:desc` : column.path}),
            {title: 'order the rows by this column'}));
    }
    place.append(acts);
    if (isCountable(column)) {
        const known = facetValues.get(column.path);

        place.append(element('ol', {class: 'values', 'data-facet': column.path},
            ...(known === undefined ? [element('li', {class: 'soft'}, 'Counting …')]
                : facetLines(column, known))));
    }
    return place;
}

/* A value as a condition. For elements of arrays, != would mean another element.
 */
function valueLine(path, value, count, share) {
    const isMissing = value === undefined;
    const can = isMissing || fitsCondition(value);
    const condition = isMissing ? path + '!' : `${path}=${can ? conditionValue(value) : ''}`;
    const isNot = !isMissing && isInArray(path);
    const without = isMissing ? path + '?'
        : `${path}${isNot ? '' : '!'}=${can ? conditionValue(value) : ''}`;
    const title = (isNot ? 'not ' : '') + visible(without);

    return element('li', {},
        element('button', {
            type: 'button', class: 'pick', disabled: !can,
            title: can ? visible(condition) : 'too long for a condition',
            click: () => addCondition(condition),
        }, shareBar(share, 'behind'),
        isMissing ? element('span', {class: 'soft'}, 'missing') : scalar(value, 80),
        element('span', {class: 'count'}, thousands(count))),
        can ? button('≠', () => addCondition(without, isNot), {
            class: 'not', title, 'aria-label': `without ${title}`,
        }) : '');
}

function facetLines(column, known) {
    const path = conditionPath(column.path);
    const most = Math.max(1, ...known.values.map(([, count]) => count));

    if (known.failure !== undefined)
        return [element('li', {}, failureBox(known.failure, () => countFacets(true)))];
    if (known.values.length === 0)
        return [element('li', {class: 'soft'}, 'No rows')];
    return known.values.map(([value, count]) => valueLine(path, value, count, count / most));
}

/* Counts the values of all facets that are open. */
async function countFacets(again = false) {
    const signal = facetsTurn.start();

    if (again)
        facetValues.clear();
    for (const path of state.facet) {
        const column = columns.find((one) => one.path === path);
        const known = {values: []};

        if (column === undefined || !isCountable(column) || facetValues.has(path))
            continue;
        try {
            const {rows} = await allLines(await askFamily('group', state.family, [
                ...conditions(), ['by', path.replaceAll(',', '\\,')], ['count', '1'],
                ['top', '10'], ['memory', '256m'], ['timeout', '20s']], signal));

            known.values = rows.map((row) => {
                const values = [...row.values()];
                const count = Number(values[values.length - 1].text);

                return [values.length === 1 ? undefined : values[0], count];
            });
        } catch (error) {
            if (isAbort(error))
                return;
            known.failure = error;
        }
        facetValues.set(path, known);
        for (const list of document.querySelectorAll('#column-list .values')) {
            if (list.dataset.facet === path)
                list.replaceChildren(...facetLines(column, known));
        }
    }
}

function addCondition(condition, isNot = false) {
    go({q: withCondition(byId('q').value, condition, isNot)});
}

/* The rows with a value in any column, and no other condition. */
function findValue(value) {
    go({q: '', since: '', until: '', any: [conditionValue(value)]});
}
