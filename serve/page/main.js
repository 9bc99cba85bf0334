/* What is shown, and when. */

function showTitle() {
    document.title = state.family === '' ? `Colander ${location.host}`
        : `${visible(state.family)} – Colander`;
    byId('family-name').replaceChildren();
    appendText(byId('family-name'), state.family);
}

/* A failure that is the token's opens the form for it. */
function isRefused(failure) {
    if (failure.status !== 401)
        return false;
    const known = sessionStorage.getItem(tokenPlace);

    byId('login-wrong').hidden = known === null;
    sessionStorage.removeItem(tokenPlace);
    if (!byId('login').open)
        byId('login').showModal();
    return true;
}

function showFamilyFacts() {
    const family = familyNamed(state.family);

    byId('family-facts').textContent = family === undefined ? ''
        : `≈ ${countOf(family.get('rows').text, 'row')}, ${bytesText(familyBytes(family))}`;
}

/* Shows the state. `before` is the one that is shown; null: none. */
async function show(before) {
    const isFamily = state.family !== '';

    document.body.classList.toggle('has-family', isFamily);
    byId('overview').hidden = isFamily;
    byId('explorer').hidden = !isFamily;
    byId('side').hidden = byId('menu').hidden = !isFamily;
    closeMenu();
    showTitle();
    if (families === null)
        return;
    showFamilyList();
    nodesTurn.stop();
    if (!isFamily) {
        setLive(false);
        showOverview();
        return;
    }
    if (byId('q').value.trim() !== state.q || before === null) {
        byId('q').value = state.q;
        fitBox();
    }
    byId('fold').checked = state.fold;
    showChips();
    showFamilyFacts();
    await showExplorer(before);
}

/* What rows depend on. */
function sameRows(a, b) {
    const rest = {view: '', facet: []};

    return hashOf({...a, ...rest}) === hashOf({...b, ...rest});
}

async function showExplorer(before) {
    const isNew = before === null || !sameRows(before, state);
    const isSameSearch = before !== null &&
        sameRows({...before, order: '', column: []}, {...state, order: '', column: []});

    if (before === null || before.family !== state.family) {
        byId('column-filter').value = '';
        readColumns().then(() => countFacets());
    } else if (columnsOf === state.family) {
        if (!isSameSearch)
            facetValues.clear();
        showColumns();
    }
    if (!isNew) {
        if (before.view !== state.view)
            showRows();
        countFacets();
        return;
    }
    if (!isSameSearch) {
        histogramTurn.stop();
        facetsTurn.stop();
        showCount(null);
    }
    if (isLive) {
        setLive(true);
    } else if (!await findRows()) {
        return;
    }
    if (!isSameSearch) {
        countRows();
        countFacets(true);
    }
}

async function start() {
    try {
        await readFamilies();
        byId('trouble').replaceChildren();
        await show(null);
    } catch (error) {
        if (!isRefused(error))
            byId('trouble').replaceChildren(failureBox(error, start));
    }
}

/* ----------------------------------------------------------------- keys --- */

function closeMenu() {
    document.body.classList.remove('has-menu');
    byId('menu').setAttribute('aria-expanded', 'false');
}

function toggleMenu() {
    const isOpen = document.body.classList.toggle('has-menu');

    byId('menu').setAttribute('aria-expanded', String(isOpen));
}

const keys = {
    '/': () => byId('q').focus(),
    t: () => go({view: state.view === 'json' ? '' : 'json'}),
    l: () => byId('live').click(),
    c: () => byId('copy').click(),
    e: () => byId('export').click(),
    '?': () => byId('help').showModal(),
};

function pageKey(event) {
    const isTyping = event.target.closest('input, textarea, select, dialog[open]') !== null;

    if (event.key === 'Escape' && !byId('row').hidden && !isTyping) {
        closeRow();
    } else if (event.key === 'Escape' && document.body.classList.contains('has-menu')) {
        closeMenu();
        byId('menu').focus();
    } else if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey &&
        Object.hasOwn(keys, event.key) && (state.family !== '' || event.key === '?')) {
        event.preventDefault();
        keys[event.key]();
    }
}

function startButtons() {
    byId('menu').addEventListener('click', toggleMenu);
    byId('as-table').addEventListener('click', () => go({view: ''}));
    byId('as-json').addEventListener('click', () => go({view: 'json'}));
    byId('copy').addEventListener('click', () => {
        const line = commandLine();

        // a terminal would obey it, even between quotes
        if (/[\u0000-\u001f\u007f-\u009f]/.test(line))
            notice('The search has a control character, which a terminal would not take as text.');
        else
            copyText(line, 'the command');
    });
    byId('nodes-partitions').addEventListener('toggle', showPartitions);
    byId('export').addEventListener('click', exportRows);
    byId('export-cancel').addEventListener('click', () => exportTurn.stop());
    byId('live').addEventListener('click', () => {
        setLive(!isLive);
        if (!isLive)
            findRows();
    });
    byId('waiting').addEventListener('click', () => {
        takeWaiting();
        byId('rows').scrollIntoView({block: 'nearest'});
        for (const scroll of byId('rows').querySelectorAll('.scroll, .json'))
            scroll.scrollTop = 0;
    });
    byId('keys').addEventListener('click', () => byId('help').showModal());
    byId('column-filter').addEventListener('input', showColumns);
    for (const close of document.querySelectorAll('[data-close]'))
        close.addEventListener('click', () => close.closest('dialog').close());
    byId('login-form').addEventListener('submit', (event) => {
        event.preventDefault();
        sessionStorage.setItem(tokenPlace, byId('token').value.trim());
        byId('token').value = '';
        byId('login').close();
        start();
    });
    byId('login').addEventListener('cancel', (event) => event.preventDefault());
}

startSearchBox();
startRowView();
startButtons();
document.addEventListener('keydown', pageKey);
window.addEventListener('popstate', () => {
    const before = state;

    state = readState();
    show(before);
});
new ResizeObserver(() => {
    if (histogram !== null && byId('histogram').clientWidth !== drawnWidth)
        drawHistogram();
    fitBox();
}).observe(byId('histogram'));
start();
