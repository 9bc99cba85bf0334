/* The view of one row: each value with its path, and what can be done with
 * it. */

const leafMax = 400;
const valueMax = 4000; /* characters of a value, until more are asked for */
let openIndex = -1;

/* The scalars of a row, and its empty maps and arrays: {path, label, value}. */
function leavesOf(row) {
    const leaves = [];

    function walk(value, path, label) {
        if (leaves.length > leafMax)
            return;
        if (!isContainer(value) || (value.size || value.length || 0) === 0) {
            leaves.push({path, label, value});
            return;
        }
        if (value instanceof Map) {
            for (const [name, one] of value)
                walk(one, `${path}.${escapeName(name)}`, `${label}.${name}`);
        } else {
            value.forEach((one, at) => walk(one, `${path}[]`, `${label}[${at}]`));
        }
    }

    for (const [name, value] of row.columns)
        walk(value, escapeName(name), name);
    return leaves;
}

function showValue(place, value, max) {
    const isText = typeof value === 'string';

    place.replaceChildren(scalar(value, max, true));
    if (isText && value.length > max) {
        place.append(element('span', {class: 'soft'}, ` … ${thousands(value.length)} characters `),
            button('Show more', () => showValue(place, value, max * 16)));
    }
}

function leafLine(leaf, marked) {
    const path = conditionPath(leaf.path);
    const value = element('dd');
    const acts = element('span', {class: 'acts'});
    const isMarkedLeaf = marked.some((one) => leaf.path === one ||
        leaf.path.startsWith(one + '.') || leaf.path.startsWith(one + '[]'));

    showValue(value, leaf.value, valueMax);
    if (isContainer(leaf.value)) {
        acts.append(button('exists', () => addCondition(path + '?')));
    } else if (fitsCondition(leaf.value)) {
        const text = conditionValue(leaf.value);

        if (path !== '') {
            acts.append(button('=', () => addCondition(`${path}=${text}`), {title: 'only rows with this value here'}),
                button('≠', () => addCondition(`${path}!=${text}`), {title: 'only rows with another value here'}));
        }
        acts.append(button('find', () => findValue(leaf.value), {title: 'find rows with this value, in any column'}));
    }
    acts.append(button('copy', () => copyText(typeof leaf.value === 'string'
        ? leaf.value : compact(leaf.value), 'the value'), {title: 'copy the value'}));
    return element('div', {class: isMarkedLeaf ? 'leaf marked' : 'leaf'},
        appendText(element('dt'), leaf.label), value, acts);
}

function openRow(index, takesFocus = true) {
    const row = rows[index];
    const view = byId('row');
    const leaves = leavesOf(row);
    const marked = [...row.matched, ...namedColumns()];
    const list = element('dl', {}, ...leaves.slice(0, leafMax).map((leaf) => leafLine(leaf, marked)));

    for (const other of byId('rows').querySelectorAll('[aria-current]'))
        other.removeAttribute('aria-current');
    const here = byId('rows').querySelector(`[data-row="${index}"]`);

    if (here !== null)
        here.setAttribute('aria-current', 'true');
    openIndex = index;
    byId('row-key').replaceChildren(keyText(row.key, 200));
    byId('row-note').textContent = `${countOf(leaves.length, 'value')}, ${bytesText(row.size)}`;
    byId('row-values').replaceChildren(list, leaves.length > leafMax
        ? element('p', {class: 'soft note'}, 'This row has more values: copy it to see them all.') : '');
    byId('row-values').scrollTop = 0;
    view.hidden = false;
    document.body.classList.add('has-row');
    if (takesFocus)
        byId('row-close').focus();
}

function closeRow(returns = true) {
    const index = openIndex;

    byId('row').hidden = true;
    document.body.classList.remove('has-row');
    openIndex = -1;
    for (const other of byId('rows').querySelectorAll('[aria-current]'))
        other.removeAttribute('aria-current');
    if (returns && index >= 0)
        focusRow(index);
}

function copyRow() {
    const row = rows[openIndex];

    copyText(compact(new Map([['_key', row.key], ...row.columns])), 'the row');
}

function startRowView() {
    byId('row-close').addEventListener('click', () => closeRow());
    byId('row-copy').addEventListener('click', copyRow);
    byId('row-before').addEventListener('click', () => openRow(Math.max(0, openIndex - 1), false));
    byId('row-after').addEventListener('click', () => openRow(Math.min(rows.length - 1, openIndex + 1), false));
    byId('rows').addEventListener('keydown', rowKey);
}
