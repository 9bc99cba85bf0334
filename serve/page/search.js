/* The search box: the words of `colander find`, completed, with a mistake
 * marked where the server has found it. */

const checkTurn = new Turn();
let checkTimer;
let offers = []; /* of the completion: {label, note, text} */
let offered = -1; /* the one that Enter takes; -1: none */
let offerWord = null; /* that they complete */

function fitBox() {
    const box = byId('q');

    box.style.height = 'auto';
    box.style.height = `${box.scrollHeight}px`;
}

/* ------------------------------------------------------------- mistakes --- */

function clearMistake() {
    byId('echo').replaceChildren();
    byId('mistake').hidden = true;
    byId('q').removeAttribute('aria-invalid');
}

/* Marks a mistake of the text in the box, and says what it is below. */
function showMistake(failure) {
    const text = byId('q').value;
    const echo = byId('echo');
    const mistake = byId('mistake');
    const mark = element('mark');
    const start = Math.min(indexOfByte(text, failure.at.offset), text.length);
    const rest = text.slice(start);
    const word = /^\S+/.exec(rest);

    mark.textContent = word === null ? '\u00a0' : word[0];
    echo.replaceChildren(text.slice(0, start), mark,
        rest.slice(word === null ? 0 : word[0].length) + '\n');
    mistake.hidden = false;
    appendText(byId('mistake-text'), '');
    byId('mistake-text').replaceChildren();
    appendText(byId('mistake-text'), failure.message);
    byId('q').setAttribute('aria-invalid', 'true');
    byId('mistake-arrow').style.left = `${mark.offsetLeft}px`;
    byId('mistake').dataset.offset = String(start);
}

/* Has the server read the words, which find nothing. */
async function check() {
    const signal = checkTurn.start();
    const q = byId('q').value;

    if (q === state.q)
        return;
    try {
        await allLines(await askFamily('find', state.family, [['q', q], ['limit', '0']], signal));
        clearMistake();
    } catch (error) {
        if (!isAbort(error) && error.at !== null && error.at.parameter === 'q' &&
            byId('q').value === q)
            showMistake(error);
    }
}

function checkSoon() {
    clearTimeout(checkTimer);
    checkTimer = setTimeout(check, 350);
}

/* ----------------------------------------------------------- completion --- */

function hideOffers() {
    offers = [];
    offered = -1;
    byId('offers').replaceChildren();
    byId('offers').hidden = true;
    byId('q').setAttribute('aria-expanded', 'false');
    byId('q').removeAttribute('aria-activedescendant');
}

/* The values of a column that are known. */
function knownValues(column) {
    const counted = facetValues.get(column.path);
    const values = counted === undefined ? column.values
        : counted.values.map(([value]) => value);
    const texts = values.filter((value) => value !== undefined && fitsCondition(value))
        .map((value) => conditionValue(value));

    return [...new Set(texts)].filter((text) => text.length < 60);
}

function offersFor(word) {
    const split = /^((?:\\[^]|[^\\=!<>~?:])+)([=!<>~:]+)([^]*)$/.exec(word);

    if (split !== null) {
        const column = columns.find((one) => conditionPath(one.path) === split[1]);

        if (column === undefined || split[2].includes('~') || split[2].includes(':'))
            return [];
        return knownValues(column)
            .filter((text) => text.startsWith(split[3]) && text !== split[3])
            .map((text) => ({label: text, note: '', text: split[1] + split[2] + text}));
    }
    const typed = word.toLowerCase();
    const found = columns.filter((column) =>
        conditionPath(column.path).toLowerCase().includes(typed));

    found.sort((a, b) => Number(!a.path.toLowerCase().startsWith(typed)) -
        Number(!b.path.toLowerCase().startsWith(typed)));
    return found.map((column) => ({
        label: column.path, note: `${typeText(column)}, ${shareText(column.share)}`,
        text: conditionPath(column.path),
    }));
}

function offer(isAsked) {
    const box = byId('q');
    const caret = box.selectionStart;
    const word = splitWords(box.value.slice(0, caret)).find((one) => one.end === caret && one.start < caret);

    hideOffers();
    if (word === undefined && !isAsked)
        return;
    offerWord = word === undefined ? {text: '', start: caret, end: caret} : word;
    offers = offersFor(offerWord.text).slice(0, 12);
    if (offers.length === 0 || (offers.length === 1 && offers[0].text === offerWord.text))
        return hideOffers();
    byId('offers').replaceChildren(...offers.map((one, index) => element('li', {
        id: `offer-${index}`, role: 'option', 'aria-selected': 'false',
        mousedown: (event) => {
            event.preventDefault();
            takeOffer(index);
        },
    }, appendText(element('span'), plainPath(one.label)), element('span', {class: 'soft'}, one.note))));
    byId('offers').hidden = false;
    box.setAttribute('aria-expanded', 'true');
}

function pointAt(index) {
    const items = [...byId('offers').children];

    offered = (index + items.length) % items.length;
    items.forEach((item, at) => item.setAttribute('aria-selected', String(at === offered)));
    items[offered].scrollIntoView({block: 'nearest'});
    byId('q').setAttribute('aria-activedescendant', `offer-${offered}`);
}

function takeOffer(index) {
    const box = byId('q');
    const text = quoteWord(offers[index].text);

    box.setRangeText(text, offerWord.start, box.selectionStart, 'end');
    hideOffers();
    box.focus();
    typed();
}

/* ------------------------------------------------------------------ box --- */

function typed() {
    fitBox();
    clearMistake();
    checkSoon();
}

function boxKey(event) {
    const isOpen = !byId('offers').hidden;

    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        if (isOpen && offered >= 0)
            return takeOffer(offered);
        hideOffers();
        search();
    } else if (isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
        event.preventDefault();
        pointAt(event.key === 'ArrowDown' ? offered + 1 : offered < 0 ? -1 : offered - 1);
    } else if (isOpen && event.key === 'Tab' && !event.shiftKey) {
        event.preventDefault();
        takeOffer(Math.max(0, offered));
    } else if (event.key === 'Escape' && isOpen) {
        event.preventDefault();
        event.stopPropagation();
        hideOffers();
    } else if (event.key === ' ' && event.ctrlKey) {
        event.preventDefault();
        offer(true);
    }
}

/* Finds what is in the box, even if it is what was found before. */
function search() {
    const q = byId('q').value.trim();

    clearTimeout(checkTimer);
    checkTurn.stop();
    if (q === state.q)
        show(null);
    else
        go({q});
}

/* The conditions that are not words: each can be removed. */
function showChips() {
    const chips = [];

    function chip(label, text, without) {
        chips.push(element('li', {},
            element('span', {}, `${label} `, appendText(element('bdi'), cut(text, 80))),
            button('×', () => go(without), {'aria-label': `remove ${label} ${visible(cut(text, 80))}`})));
    }

    for (const value of state.any)
        chip('any column =', value, {any: state.any.filter((other) => other !== value)});
    if (state.since !== '')
        chip('since', state.since, {since: ''});
    if (state.until !== '')
        chip('until', state.until, {until: ''});
    if (state.order !== '')
        chip('by', plainPath(state.order), {order: ''});
    if (state.column.length > 0)
        chip('columns', state.column.map(plainPath).join(', '), {column: []});
    byId('chips').replaceChildren(...chips);
}

function startSearchBox() {
    const box = byId('q');

    box.addEventListener('input', () => {
        typed();
        offer(false);
    });
    box.addEventListener('keydown', boxKey);
    box.addEventListener('blur', hideOffers);
    box.addEventListener('scroll', () => {
        byId('echo').scrollTop = box.scrollTop;
    });
    byId('find').addEventListener('submit', (event) => {
        event.preventDefault();
        search();
    });
    byId('mistake').addEventListener('click', () => {
        const at = Number(byId('mistake').dataset.offset);

        box.focus();
        box.setSelectionRange(at, at);
    });
    byId('fold').addEventListener('change', (event) => go({
        fold: event.target.checked, q: box.value.trim(),
    }));
}
