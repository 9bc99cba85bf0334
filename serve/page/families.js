/* The families: a list beside the rows, and a table where none is chosen. */

let families = null; /* as /families has them; null: not yet asked */
let hasTimes = null; /* a promise, once families were asked for with their times */

async function readFamilies(path = '/families') {
    const response = await ask(path);

    families = readJson(await response.text()).get('families');
    families.sort((a, b) => a.get('name') < b.get('name') ? -1 : 1);
}

function familyNamed(name) {
    return families === null ? undefined
        : families.find((family) => family.get('name') === name);
}

/* Whether a name means several families, such as those of all days. A find of
 * these has neither an explanation nor cursors. */
function selectsFamilies(name) {
    return /\*|\{(hour|day|month)\}/.test(name);
}

function timeColumn() {
    const family = familyNamed(state.family);

    return family === undefined ? undefined : family.get('time_column');
}

function familyBytes(family) {
    return numberAt(family, 'sst_bytes') + numberAt(family, 'unflushed_bytes');
}

/* Returns {oldest, newest} of a family, texts or undefined. */
async function spanOf(name) {
    if (hasTimes === null) {
        hasTimes = readFamilies('/families?times=1');
        hasTimes.catch(() => {
            hasTimes = null;
        });
    }
    await hasTimes;
    const family = familyNamed(name) || new Map();

    return {oldest: family.get('oldest'), newest: family.get('newest')};
}

function shortTime(text) {
    return text === undefined ? '–' : text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, '$1 $2');
}

function familyLink(family, extra = {}) {
    const name = family.get('name');

    return appendText(element('a', {
        href: hashOf(familyState(name)),
        ...extra,
    }), name);
}

/* ---------------------------------------------------------------- views --- */

function showFamilyList() {
    const list = byId('family-list');

    list.replaceChildren(...families.map((family) => {
        const isChosen = family.get('name') === state.family;

        return element('li', {},
            familyLink(family, isChosen ? {'aria-current': 'page'} : {}),
            element('span', {class: 'count'}, thousands(family.get('rows').text)));
    }));
    byId('family-count').textContent = families.length === 0 ? '' : thousands(families.length);
}

/* All families, with the times of each as they come. */
async function showOverview() {
    const body = byId('overview-rows');
    const places = [];

    showNodes();
    byId('overview-empty').hidden = families.length > 0;
    byId('overview-table').hidden = families.length === 0;
    body.replaceChildren(...families.map((family) => {
        const oldest = element('td', {class: 'time', 'data-label': 'oldest'}, '–');
        const newest = element('td', {class: 'time', 'data-label': 'newest'}, '–');

        places.push({family, oldest, newest});
        return element('tr', {},
            element('th', {scope: 'row'}, familyLink(family)),
            element('td', {class: 'number', 'data-label': 'rows'}, thousands(family.get('rows').text)),
            element('td', {class: 'number', 'data-label': 'size'}, bytesText(familyBytes(family))),
            oldest, newest,
            appendText(element('td', {'data-label': 'time column'}),
                plainPath(family.get('time_column') || '–')));
    }));
    const rows = families.reduce((sum, family) => sum + numberAt(family, 'rows'), 0);
    const bytes = families.reduce((sum, family) => sum + familyBytes(family), 0);

    byId('overview-sum').textContent =
        `${families.length === 1 ? '1 family' : `${thousands(families.length)} families`}, ` +
        `${countOf(rows, 'row')}, ${bytesText(bytes)}`;
    for (const {family, oldest, newest} of places) {
        if (family.get('time_column') === undefined)
            continue;
        try {
            const span = await spanOf(family.get('name'));

            oldest.textContent = visible(shortTime(span.oldest));
            newest.textContent = visible(shortTime(span.newest));
        } catch {
            oldest.textContent = newest.textContent = '?';
        }
    }
}
